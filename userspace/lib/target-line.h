/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's table line, as dm-approxftl/target/options.c parses and prints it.
 *
 * Errors that the target would report to the kernel log are reported here first, in the same
 * words.
 */
#ifndef AFTL_TARGET_LINE_H
#define AFTL_TARGET_LINE_H

#include "core/base/shards.h"
#include "core/policy/nand-policy.h"

#define TARGET_NAME "approxftl"

#define TARGET_SECTOR 512

/* Buffer size for the path of a block device. */
#define TARGET_STORE_SIZE 256

/* Buffer size for a line with a value for every key. */
#define TARGET_LINE_SIZE 8192

/* Value of target_line.scale for "timing off". */
#define TARGET_TIMING_OFF 0

/**
 * struct target_line - a parsed table line
 * @store: none, ram or the path of a block device
 * @profile: name of the profile
 * @policy: FTL policy
 * @scale: host nanoseconds per device nanosecond, or TARGET_TIMING_OFF
 * @class: enum aftl_class of every write
 * @ioprio_hint: hint in the I/O priority that marks approximate writes; 0 for none
 * @carriers: value of tag_carrier, bits as in disk/carriers.h; 0 if it is not given
 * @standard: parameters of the profile
 * @config: parameters of the profile with the line's changes
 */
struct target_line {
	char store[TARGET_STORE_SIZE];
	const char *profile;
	const struct aftl_policy_type *policy;
	u32 scale;
	u32 class;
	u32 ioprio_hint;
	u32 carriers;
	struct aftl_config standard;
	struct aftl_config config;
};

/**
 * struct target_size - size of the device that a line describes
 * @shards: layout of the shards
 * @sectors: capacity
 * @memory_bytes: memory of the FTL; 0 if this machine has too little memory to create one
 */
struct target_size {
	struct aftl_shards shards;
	u64 sectors;
	u64 memory_bytes;
};

/* Policy of a device or volume for which the user chose none; also that of "approxftl sim". */
#define TARGET_LINE_POLICY "baseline"

/* Set the target's defaults: store ram, profile demo, policy approxftl, timing real. */
void target_line_init(struct target_line *line);

/**
 * target_line_set_option() - set the store or any key of the line
 * @line: the line; "profile" must be set before the parameters that modify it
 * @key: "store", a key of the target or a parameter
 * @value: as it stands on a command line
 * @error: receives the error message
 *
 * Return: 0, -EINVAL, or -ENOENT for an unknown key.
 */
int __must_check target_line_set_option(struct target_line *line, const char *key,
					const char *value, struct aftl_error *error);

/**
 * target_line_compute_device_size() - compute the size of the device with the core's own code
 *
 * Return: 0, or -EINVAL with the core's error message if such a device is impossible.
 */
int __must_check target_line_compute_device_size(const struct target_line *line,
						 struct target_size *size,
						 struct aftl_error *error);

/**
 * target_line_fit_block_count() - set the smallest number of blocks that provides @sectors
 */
int __must_check target_line_fit_block_count(struct target_line *line, u64 sectors,
					     struct aftl_error *error);

/**
 * target_line_print() - print the target's arguments in the target's own format
 */
void target_line_print(const struct target_line *line, char text[TARGET_LINE_SIZE]);

/**
 * target_line_parse() - parse arguments that the target printed
 * @text: the arguments, without start, length and target name
 *
 * Unknown keys belong to a newer target and are skipped.
 *
 * Return: 0, or -EINVAL with an error message.
 */
int __must_check target_line_parse(struct target_line *line, const char *text,
				   struct aftl_error *error);

/* Print the timing of @line: "real", "off" or "scale:N". */
void target_line_format_timing(const struct target_line *line, char text[AFTL_VALUE_SIZE]);

#endif
