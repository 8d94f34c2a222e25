/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Variants of open() that the C library's headers call with -D_FORTIFY_SOURCE.
 */
#ifndef APPROXRUN_FORTIFIED_H
#define APPROXRUN_FORTIFIED_H

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

#endif
