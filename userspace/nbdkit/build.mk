# SPDX-License-Identifier: GPL-2.0-only
#
# The plugin of nbdkit, from the position-independent objects of libapproxftl-sim.

sees_userspace/nbdkit := $(own) userspace/approxftl
sees_selftests/nbdkit := $(own) userspace/nbdkit selftests/core/lib
tested_nbdkit := userspace/nbdkit/timer-lead.c

nbd_plugin := $(plain_dir)/nbdkit-approxftl-plugin.so

$(nbd_plugin): $(call objects,libsim,$(wildcard userspace/nbdkit/*.c) \
		userspace/approxftl/medium-file.c userspace/approxftl/unix-socket.c $(CORE) $(LIB)) userspace/nbdkit/plugin.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $(libsim_flags) $(LDFLAGS) -shared \
		-Wl,--version-script=userspace/nbdkit/plugin.map -o $@ $(filter %.o,$^) $(LDLIBS) -pthread

nbd_built := $(call needing,nbdkit-plugin.h=nbdkit-plugin-dev,$(nbd_plugin))
EXAMPLES += $(nbd_built)
# Executable, as "approxftl serve" looks for it as for a program beside itself
INSTALLED += $(patsubst %,755:%:$(PREFIX)/lib/approxftl/nbdkit-approxftl-plugin.so,$(nbd_built))
# nbdkit looks for short names in its own directory only, so another PREFIX gets no link there.
nbdkit_dir = $(if $(filter /usr /usr/local,$(PREFIX)),$(shell pkg-config --variable=plugindir nbdkit))
INSTALLED_LINKS += $(if $(nbdkit_dir),$(patsubst \
	%,$(PREFIX)/lib/approxftl/$(notdir $(nbd_plugin)):$(nbdkit_dir)/$(notdir $(nbd_plugin)),$(nbd_built)))
