# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-lab and the files that it needs

PROGRAMS += $(plain_dir)/approxftl-lab

$(eval $(call script,userspace/lab/approxftl-lab))

INSTALLED_LINKS += approxftl-lab.1:$(MANDIR)/man1/approxftl-demo.1
INSTALLED += $(foreach f,$(filter-out %/approxftl-lab %.rst %.mk,$(wildcard userspace/lab/*)),\
	$(if $(shell test -x $(f) && echo x),755,644):$(f):$(PREFIX)/lib/approxftl/lab/$(notdir $(f)))
