# SPDX-License-Identifier: GPL-2.0-only
#
# libapproxftl-sim: the simulator for the Python package, which loads it. setup.py builds the same
# library from the same sources for a wheel.

sees_userspace/libsim := $(own) userspace/sim trace-tools/reader

libsim := $(plain_dir)/libapproxftl-sim.so
libsim_map := userspace/libsim/libsim.map
# Position-independent code with link-time optimisation, for the speed of the command
libsim_dir := $(plain_dir)/libsim
libsim_cc = $(CC)
libsim_flags = $(plain_flags) -fPIC -fno-semantic-interposition $(if $(findstring clang,$(CC))$(SAN),,-flto=auto)
$(eval $(call variant,libsim))

$(libsim): $(call objects,libsim,$(CORE) $(LIB) $(SIM) $(wildcard userspace/libsim/*.c)) \
		$(libsim_map)
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $(libsim_flags) $(LDFLAGS) -shared -Wl,-z,defs,-Bsymbolic-functions \
		-Wl,--version-script=$(libsim_map) -o $@ $(filter %.o,$^) $(LDLIBS) -pthread

EXAMPLES += $(libsim)
INSTALLED += 755:$(libsim):$(PYTHONDIR)/approxftl/libapproxftl-sim.so
