/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table line of the target, as dm-approxftl/target/options.c reads and prints it.
 *
 * What is refused here is refused by the target in the same words, so that a user need not
 * look for them in the kernel's log.
 */
#ifndef AFTL_TARGET_LINE_H
#define AFTL_TARGET_LINE_H

#include "core/base/shards.h"
#include "core/policy/policy.h"

#define TARGET_NAME "approxftl"

#define TARGET_SECTOR 512

/* Longest path of a block device. */
#define TARGET_STORE_SIZE 256

/* Longest line: every key with a value. */
#define TARGET_LINE_SIZE 8192

/* Value of struct target_line.scale for "timing off". */
#define TARGET_TIMING_OFF 0

/**
 * struct target_line - a table line, understood
 * @store: none, ram or the path of a block device
 * @profile: name of the profile
 * @policy: kind of FTL
 * @scale: host nanoseconds in a nanosecond of the device, or TARGET_TIMING_OFF
 * @class: enum aftl_class that every write is treated as
 * @ioprio_hint: hint in the I/O priority of approximate writes; 0 for none
 * @standard: the profile's parameters
 * @config: those with the line's changes
 */
struct target_line {
	char store[TARGET_STORE_SIZE];
	const char *profile;
	const struct aftl_policy_type *policy;
	u32 scale;
	u32 class;
	u32 ioprio_hint;
	struct aftl_config standard;
	struct aftl_config config;
};

/**
 * struct target_size - what a line asks for
 * @shards: how the device is divided, and its shape
 * @sectors: that the device has room for
 * @memory_bytes: of the FTL; 0 if this machine has not enough to find out
 */
struct target_size {
	struct aftl_shards shards;
	u64 sectors;
	u64 memory_bytes;
};

/* Profile demo, policy approxftl, timing real, in memory. */
void target_line_init(struct target_line *line);

/**
 * target_line_set() - set the store or any key of the line
 * @line: the line; "profile" must come before what is set on top of it
 * @key: "store", a key of the target or a parameter
 * @value: as it stands on a command line
 * @error: takes the sentence on failure
 *
 * Return: 0, -EINVAL, or -ENOENT for an unknown key.
 */
int __must_check target_line_set(struct target_line *line, const char *key, const char *value,
				 struct aftl_error *error);

/**
 * target_line_size() - the size of the device, by the core itself
 *
 * Return: 0, or -EINVAL with the core's sentence if there can be no such device.
 */
int __must_check target_line_size(const struct target_line *line, struct target_size *size,
				  struct aftl_error *error);

/**
 * target_line_fit() - set the number of blocks to the least that has room for @sectors
 */
int __must_check target_line_fit(struct target_line *line, u64 sectors, struct aftl_error *error);

/**
 * target_line_print() - the arguments of the target, as the target prints them
 */
void target_line_print(const struct target_line *line, char text[TARGET_LINE_SIZE]);

/**
 * target_line_parse() - read what the target printed
 * @text: the arguments, without sectors and name of the target
 *
 * Keys that are unknown here belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check target_line_parse(struct target_line *line, const char *text,
				   struct aftl_error *error);

/* "real", "off" or "scale:N". */
void target_line_timing(const struct target_line *line, char text[AFTL_VALUE_SIZE]);

#endif
