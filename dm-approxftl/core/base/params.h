/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of a device: keys, ranges, words and error sentences.
 *
 * The simulator's command line and the table line go through the same parser.
 */
#ifndef AFTL_PARAMS_H
#define AFTL_PARAMS_H

#include "core/base/types.h"

/* The values of choices, in the order of their words. */

enum aftl_switch {
	AFTL_OFF,
	AFTL_ON,
};

enum aftl_plane_mode {
	AFTL_PLANES_SHARED,
	AFTL_PLANES_INDEPENDENT,
	AFTL_PLANES_WIDE,
};

enum aftl_sched {
	AFTL_SCHED_READ_FIRST,
	AFTL_SCHED_FCFS,
};

enum aftl_allocate {
	AFTL_ALLOCATE_ROTATE,
	AFTL_ALLOCATE_STATIC,
};

enum aftl_victim {
#define VICTIM(name) AFTL_VICTIM_##name,
#include "core/base/victim-list.h"
#undef VICTIM
	AFTL_VICTIMS,
};

enum aftl_suspend {
	AFTL_SUSPEND_OFF,
	AFTL_SUSPEND_PROGRAM,
	AFTL_SUSPEND_ERASE,
	AFTL_SUSPEND_BOTH,
};

enum aftl_fill {
	AFTL_FILL_NONE,
	AFTL_FILL_SEQUENTIAL,
	AFTL_FILL_RANDOM,
};

enum aftl_cell_model {
	AFTL_CELL_CONSTANT,
	AFTL_CELL_VOLTAGE,
};

enum aftl_rewrite {
	AFTL_REWRITE_OFF,
	AFTL_REWRITE_LOW,
	AFTL_REWRITE_ANY,
};

enum aftl_tvr_mode {
	AFTL_TVR_BLOCK,
	AFTL_TVR_DEVICE,
	AFTL_TVR_TAGGED,
};

enum aftl_param_type {
	AFTL_PARAM_COUNT,
	AFTL_PARAM_BYTES,
	AFTL_PARAM_TIME,
	AFTL_PARAM_PERCENT,
	AFTL_PARAM_RATE,
	AFTL_PARAM_CHOICE,
};

/**
 * struct aftl_config - one value per line of param-table.h, in stored units
 */
struct aftl_config {
#define PARAM(name, type, smallest, largest, standard, help) u64 name;
#include "core/base/param-table.h"
#undef PARAM
};

#define AFTL_PARAMS (sizeof(struct aftl_config) / sizeof(u64))

/* Longest text of a value, and of a key. */
#define AFTL_VALUE_SIZE 32

/* When a parameter of a device that exists may change. */
enum aftl_change {
	AFTL_CHANGE_RELOAD,	/* when it is loaded again: aftl_load_as() */
	AFTL_CHANGE_LIVE,	/* at any time: aftl_set_param() */
	AFTL_CHANGE_NEVER,	/* it is the shape or the past of what is stored */
};

/**
 * struct aftl_param - what is known of one parameter
 * @key: its name on a command line
 * @help: one phrase for a person
 * @words: the words of a choice, NULL-terminated; NULL for other types
 * @type: how text becomes the stored value
 * @smallest: in stored units
 * @largest: in stored units
 * @standard: value of the profile "demo"
 */
struct aftl_param {
	const char *key;
	const char *help;
	const char *const *words;
	enum aftl_param_type type;
	u64 smallest;
	u64 largest;
	u64 standard;
};

extern const struct aftl_param aftl_params[];

/**
 * struct aftl_error - one sentence that names the cause and the remedy
 */
struct aftl_error {
	char text[240];
};

/**
 * aftl_fail() - put a sentence into @error and hand back @code
 * @error: takes the sentence on failure
 * @code: negative error code
 * @format: as for printf()
 */
__printf(3, 4) int aftl_fail(struct aftl_error *error, int code, const char *format, ...);

/**
 * aftl_param_find() - index of the parameter called @key, or -ENOENT
 * @key: name of a parameter
 */
int aftl_param_find(const char *key);

static inline u64 *aftl_param_value(struct aftl_config *config, unsigned int index)
{
	return (u64 *)config + index;
}

static inline u64 aftl_param_get(const struct aftl_config *config, unsigned int index)
{
	return ((const u64 *)config)[index];
}

/**
 * aftl_param_set() - parse @text as the value of @key
 * @config: configuration
 * @key: name of a parameter
 * @text: as it stands on a command line
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with @error saying which key, what was wrong with the
 * value and what would be right; @config is then as it was.
 */
int __must_check aftl_param_set(struct aftl_config *config, const char *key, const char *text,
				struct aftl_error *error);

/**
 * aftl_param_print() - write a stored value so that aftl_param_set() reads it back
 * @param: its description
 * @value: in stored units
 * @text: as it stands on a command line
 */
void aftl_param_print(const struct aftl_param *param, u64 value, char text[AFTL_VALUE_SIZE]);

/**
 * aftl_param_change() - when the parameter @index may change
 * @index: below AFTL_PARAMS
 */
enum aftl_change aftl_param_change(unsigned int index);

/**
 * aftl_config_check() - may a device made as @made go on as @wanted?
 * @made: its configuration
 * @wanted: the configuration to come
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with a sentence that names key and both values.
 */
int __must_check aftl_config_check(const struct aftl_config *made,
				   const struct aftl_config *wanted, struct aftl_error *error);

/**
 * aftl_parse_value() - text to stored value by type alone, for a host's own options
 * @type: how the value is written
 * @words: as in struct aftl_param, for AFTL_PARAM_CHOICE
 * @text: as it stands on a command line
 * @value: in stored units
 * @error: takes the sentence on failure
 *
 * Return: 0, -EINVAL, or -ERANGE past 64 bits; the complaint (without the key) in
 * @error.
 */
int __must_check aftl_parse_value(enum aftl_param_type type, const char *const *words,
				  const char *text, u64 *value, struct aftl_error *error);

/**
 * aftl_type_example() - a phrase like "a duration such as 700us"
 * @type: how the value is written
 */
const char *aftl_type_example(enum aftl_param_type type);

/* Profiles: profiles.c */

/**
 * aftl_profile_load() - start a configuration from a named profile
 * @config: configuration
 * @name: as on a command line
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with @error listing the profiles there are.
 */
int __must_check aftl_profile_load(struct aftl_config *config, const char *name,
				   struct aftl_error *error);

/**
 * aftl_profile_name() - name of profile @index, NULL past the last
 * @index: position, from 0
 */
const char *aftl_profile_name(unsigned int index);

/**
 * aftl_profile_about() - one phrase on profile @index
 * @index: position, from 0
 */
const char *aftl_profile_about(unsigned int index);

#endif
