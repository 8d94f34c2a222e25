/* SPDX-License-Identifier: GPL-2.0-only */
/* Check whether a medium holds data that must be preserved; the only user of libblkid. */
#ifndef AFTL_MEDIUM_CONTENT_H
#define AFTL_MEDIUM_CONTENT_H

#include "medium-file.h"

/* Bytes at either end of a medium that must be zero for it to count as empty. */
#define MEDIUM_END_BYTES (16U << 20)

/* Number and size of samples between both ends that must be zero for a medium to count as empty. */
#define MEDIUM_PLACES 1000
#define MEDIUM_PLACE_BYTES 4096ULL

/**
 * medium_compute_sampled_offset() - return the offset of sample @index on a medium of @bytes bytes
 *
 * The offsets depend on the size only: a repeated check looks at the same samples.
 */
u64 medium_compute_sampled_offset(u64 bytes, u32 index);

/**
 * medium_check_empty() - refuse a medium that holds data
 * @file: open medium; the check reads for up to some seconds and shows its progress
 * @error: receives the error message
 *
 * Return: 0; -EEXIST with a description of the content: a volume, a signature that libblkid
 * knows, or bytes that are not zero; or the error of a read.
 */
int __must_check medium_check_empty(struct medium_file *file, struct aftl_error *error);

#endif
