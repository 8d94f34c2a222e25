/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prefix of the module's messages in the kernel log, for DMERR() and the similar macros.
 */
#ifndef AFTL_LOG_H
#define AFTL_LOG_H

#include <linux/device-mapper.h>

#define DM_MSG_PREFIX "approxftl"

#endif
