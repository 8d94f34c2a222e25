# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-demo and the file that it needs

PROGRAMS += $(plain_dir)/approxftl-demo

$(eval $(call script,userspace/demo/approxftl-demo))

INSTALLED += 644:userspace/demo/in-guest.sh:$(PREFIX)/lib/approxftl/demo/in-guest.sh
