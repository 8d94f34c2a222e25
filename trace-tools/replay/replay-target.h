/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target of a replay: a block device or a file.
 */
#ifndef AFTL_REPLAY_TARGET_H
#define AFTL_REPLAY_TARGET_H

#include "core/base/params.h"

/**
 * struct target_options - how to open a target
 * @path: path of the target
 * @size: size of a new file; 0: the target must exist
 * @writes: the requests change the target
 * @buffered: use the page cache
 * @overwrite: the content of the target may be lost
 * @force: open the target even if it is in use
 * @only_look: dry run: issue no request and create no file
 */
struct target_options {
	const char *path;
	u64 size;
	bool writes;
	bool buffered;
	bool overwrite;
	bool force;
	bool only_look;
};

/**
 * struct replay_target - an open target
 * @path: path of the target
 * @fd: open descriptor
 * @size: in bytes
 * @sector: alignment of requests in bytes
 * @device: the target is a block device
 * @direct: the page cache is bypassed
 */
struct replay_target {
	const char *path;
	int fd;
	u64 size;
	u32 sector;
	bool device;
	bool direct;
};

/**
 * target_open() - open a target, unless that would destroy data unasked
 *
 * Return: 0, -ENOENT if it does not exist, or another negative error number; a message in @error.
 */
int __must_check target_open(struct replay_target *target, const struct target_options *options,
			     struct aftl_error *error);
void target_close(struct replay_target *target);

/* Discard a byte range of the target synchronously. Return: 0 or a negative error number. */
int target_discard_range(const struct replay_target *target, u64 offset, u64 bytes);
int target_zero_range(const struct replay_target *target, u64 offset, u64 bytes);

#endif
