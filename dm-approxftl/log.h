/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How what the module says in the kernel's log begins: DMERR() and its kin.
 */
#ifndef AFTL_LOG_H
#define AFTL_LOG_H

#include <linux/device-mapper.h>

#define DM_MSG_PREFIX "approxftl"

#endif
