/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the FTL core needs from its C environment: kernel version.
 *
 * userspace/host/aftl-host.h declares the same names for the simulator and the tests.
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

/* Return true if the CPU has SSE 4.2, and thus an instruction for CRC-32C. */
static inline bool aftl_cpu_has_crc32c(void)
{
#ifdef CONFIG_X86_64
	return boot_cpu_has(X86_FEATURE_XMM4_2);
#else
	return false;
#endif
}

#endif
