/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a medium hold anything that somebody may need? The only user of libblkid.
 */
#ifndef AFTL_MEDIUM_CONTENT_H
#define AFTL_MEDIUM_CONTENT_H

#include "medium-file.h"

/* At either end of a medium that is taken for empty, all bytes are zero. */
#define MEDIUM_END_BYTES (16U << 20)

/* Between the ends, so many places of so many bytes. */
#define MEDIUM_PLACES 1000
#define MEDIUM_PLACE_BYTES 4096ULL

/**
 * medium_place() - where the place of number @index is on a medium of @bytes bytes
 *
 * Drawn once for every size: who looks twice sees the same twice.
 */
u64 medium_place(u64 bytes, u32 index);

/**
 * medium_check_empty() - refuse what holds something
 * @file: open; is read for up to some seconds, with a line of progress
 * @error: takes the sentence on failure
 *
 * Return: 0; -EEXIST with what it holds: a volume, whatever libblkid knows, or bytes that
 * are not zero; or what reading returned.
 */
int __must_check medium_check_empty(struct medium_file *file, struct aftl_error *error);

#endif
