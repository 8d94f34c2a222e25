// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that makes a module of the FTL core: what is compiled and linked here is the
 * core's sources, in kernel mode.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("FTL core of dm-approxftl, built by itself");
MODULE_LICENSE("GPL");
