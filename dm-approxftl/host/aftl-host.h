/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the FTL core needs from the C environment, kernel edition.
 *
 * userspace/host/aftl-host.h gives the same names to simulator and tests.
 */
#ifndef AFTL_HOST_H
#define AFTL_HOST_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>
#include <linux/string.h>
#include <linux/types.h>

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#ifndef CONFIG_64BIT
#error dm-approxftl needs a kernel of 64 bits: tags of files are indexed by bytes, in unsigned long
#endif

/* Has the processor SSE 4.2, and in it an instruction for CRC-32C? */
static inline bool aftl_has_crc32c(void)
{
#ifdef CONFIG_X86_64
	return boot_cpu_has(X86_FEATURE_XMM4_2);
#else
	return false;
#endif
}

#endif
