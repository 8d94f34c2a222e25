/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is replayed onto: a block device or a file.
 */
#ifndef AFTL_REPLAY_TARGET_H
#define AFTL_REPLAY_TARGET_H

#include "core/base/params.h"

/**
 * struct target_wish - how a target is to be opened
 * @path: of it
 * @size: that a new file gets, 0: there is one
 * @writes: requests change it
 * @buffered: through the page cache
 * @overwrite: its content may be lost
 * @force: even if somebody uses it
 * @only_look: nothing will be done, and no file is made
 */
struct target_wish {
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
 * @path: of it
 * @fd: of it
 * @size: in bytes
 * @sector: requests are multiples of so many bytes
 * @device: it is a block device
 * @direct: past the page cache
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
 * target_open() - open it, unless that would destroy what it should not
 *
 * Return: 0, -ENOENT if there is none, another negative error number; a sentence in @error.
 */
int __must_check target_open(struct replay_target *target, const struct target_wish *wish,
			     struct aftl_error *error);
void target_close(struct replay_target *target);

/* Blocking; 0 or a negative error number. */
int target_discard(const struct replay_target *target, u64 offset, u64 bytes);
int target_zero(const struct replay_target *target, u64 offset, u64 bytes);

#endif
