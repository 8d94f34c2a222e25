# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-nvme

PROGRAMS += $(plain_dir)/approxftl-nvme

$(eval $(call script,userspace/nvme/approxftl-nvme))
