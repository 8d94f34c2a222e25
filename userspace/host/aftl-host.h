/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C environment of the FTL core in userspace.
 *
 * The core includes this header and nothing else from outside its own directory;
 * dm-approxftl/host/aftl-host.h defines the same names in the kernel.
 */
#ifndef AFTL_HOST_H
#define AFTL_HOST_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#ifdef __CHECKER__
#define __bitwise __attribute__((bitwise))
#define __force __attribute__((force))
#else
#define __bitwise
#define __force
#endif

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define S64_MAX ((s64)(U64_MAX >> 1))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(nr) (1UL << (nr))
#define noinline __attribute__((noinline))
/* Some C libraries lack __always_inline, a macro of glibc. */
#ifndef __always_inline
#define __always_inline __attribute__((always_inline))
#endif
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define static_assert _Static_assert
#define __printf(string, first) __attribute__((format(printf, string, first)))
#define __must_check __attribute__((warn_unused_result))
#define __maybe_unused __attribute__((unused))
#define fallthrough __attribute__((fallthrough))

/* Without the asm statement gcc may drop a function that only prefetches, as without effect. */
static inline void prefetch(const void *address)
{
	__builtin_prefetch(address);
	__asm__ volatile("" : : "r"(address));
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* Tests fail by a shift that the kernel's version lacks on architectures without __int128. */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	if (shift > 32)
		__builtin_unreachable();
	return (u64)(((unsigned __int128)a * mul) >> shift);
}

static inline unsigned int fls64(u64 x)
{
	return x ? 64 - (unsigned int)__builtin_clzll(x) : 0;
}

static inline unsigned int hweight64(u64 x)
{
	return (unsigned int)__builtin_popcountll(x);
}

static inline unsigned int __ffs(unsigned long x)
{
	return (unsigned int)__builtin_ctzl(x);
}

/* Return true if the processor has SSE 4.2, which includes an instruction for CRC-32C. */
static inline bool aftl_cpu_has_crc32c(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("sse4.2");
#else
	return false;
#endif
}

/* Like the kernel's vscnprintf(): return the number of bytes written, at most size - 1. */
static inline int vscnprintf(char *buffer, size_t size, const char *format, va_list args)
{
	int wanted = vsnprintf(buffer, size, format, args);

	if (!size || wanted < 0)
		return 0;
	return (size_t)wanted < size ? wanted : (int)size - 1;
}

__printf(3, 4) static inline int scnprintf(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	int written;

	va_start(args, format);
	written = vscnprintf(buffer, size, format, args);
	va_end(args);
	return written;
}

#endif
