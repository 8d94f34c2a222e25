/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a device: keys, ranges, words and error messages.
 *
 * The simulator's command line and the device-mapper table line use the same parser.
 */
#ifndef AFTL_PARAMS_H
#define AFTL_PARAMS_H

#include "core/base/types.h"

/* Values of parameters of type AFTL_PARAM_CHOICE, in the order of the words in param-table.h */

enum aftl_switch {
	AFTL_OFF,
	AFTL_ON,
};

enum aftl_plane_mode {
	AFTL_PLANES_SHARED,
	AFTL_PLANES_INDEPENDENT,
	AFTL_PLANES_WIDE,
};

/*
 * Pages that a multi-plane read may combine: none; pages of equal block and page number; pages of
 * equal page number; any pages.
 */
enum aftl_multi_plane_read {
	AFTL_PLANE_READ_OFF,
	AFTL_PLANE_READ_SAME_BLOCK,
	AFTL_PLANE_READ_ANY_BLOCK,
	AFTL_PLANE_READ_ANY_PAGE,
};

enum aftl_sched {
	AFTL_SCHED_READ_FIRST,
	AFTL_SCHED_FCFS,
};

enum aftl_allocate {
#define LUN_RULE(name) AFTL_ALLOCATE_##name,
#include "core/base/lun-list.h"
#undef LUN_RULE
	AFTL_ALLOCATES,
};

enum aftl_victim {
#define VICTIM(name) AFTL_VICTIM_##name,
#include "core/base/victim-list.h"
#undef VICTIM
	AFTL_VICTIMS,
};

/* Values of the parameter "gc_mode": how garbage collection shares a die with host writes */
enum aftl_gc_mode {
	AFTL_GC_BLOCK,
	AFTL_GC_PACED,
};

/* Values of the parameter "gc_idle_limit": free blocks up to which idle dies collect */
enum aftl_gc_idle_limit {
	AFTL_GC_IDLE_FIXED,
	AFTL_GC_IDLE_ADAPTIVE,
};

enum aftl_cache_commands {
	AFTL_CACHE_COMMANDS_OFF,
	AFTL_CACHE_COMMANDS_READ,
	AFTL_CACHE_COMMANDS_PROGRAM,
	AFTL_CACHE_COMMANDS_BOTH,
};

enum aftl_suspend {
	AFTL_SUSPEND_OFF,
	AFTL_SUSPEND_PROGRAM,
	AFTL_SUSPEND_ERASE,
	AFTL_SUSPEND_BOTH,
};

enum aftl_isolation {
	AFTL_ISOLATION_INITIAL,
	AFTL_ISOLATION_PERSISTENT,
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

enum aftl_param_type {
	AFTL_PARAM_COUNT,
	AFTL_PARAM_BYTES,
	AFTL_PARAM_TIME,
	AFTL_PARAM_PERCENT,
	AFTL_PARAM_RATE,
	AFTL_PARAM_CHOICE,
	AFTL_PARAM_WEIGHTS,
};

/* Maximum number of parameters that all policies and rules together may define. */
#define AFTL_OWN_PARAMS 32

/**
 * struct aftl_config - values of all parameters, one for each line of param-table.h, in the stored
 *	unit of its type, such as ns for TIME
 * @own: values of the parameters of policies and rules, see core/policy/param-registry.h
 */
struct aftl_config {
#define PARAM(name, type, smallest, largest, standard, help) u64 name;
#include "core/base/param-table.h"
#undef PARAM
	u64 own[AFTL_OWN_PARAMS];
};

#define AFTL_CORE_PARAMS (offsetof(struct aftl_config, own) / sizeof(u64))
#define AFTL_PARAMS_MAX (sizeof(struct aftl_config) / sizeof(u64))

/* Size of a string with the value of a parameter, or with its key. */
#define AFTL_VALUE_SIZE 32

/* When a parameter of an existing device may change: at a reload, at any time or never */
enum aftl_change {
	AFTL_CHANGE_RELOAD,	/* a reload may change the parameter */
	AFTL_CHANGE_LIVE,	/* aftl_set_param() may change the parameter at any time */
	AFTL_CHANGE_NEVER,	/* never: stored data depend on the parameter */
};

/**
 * struct aftl_param - description of a parameter
 * @key: name on a command line
 * @help: one phrase for the user
 * @words: words of a choice, NULL-terminated; NULL for other types
 * @type: how text is converted to the stored value
 * @smallest: smallest value, in stored units
 * @largest: largest value, in stored units
 * @standard: value in the profile "demo"
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

extern const struct aftl_param aftl_core_params[];
extern const char *const aftl_switch_words[];

/* PARAM() that makes a struct aftl_param; the array <name>_words has the words of a CHOICE. */
#define AFTL_WORDS_COUNT(name) NULL
#define AFTL_WORDS_BYTES(name) NULL
#define AFTL_WORDS_TIME(name) NULL
#define AFTL_WORDS_PERCENT(name) NULL
#define AFTL_WORDS_RATE(name) NULL
#define AFTL_WORDS_WEIGHTS(name) NULL
#define AFTL_WORDS_CHOICE(name) name##_words

#define AFTL_PARAM(name, kind, least, most, usual, phrase) {		\
	.key = #name,							\
	.help = phrase,							\
	.words = AFTL_WORDS_##kind(name),				\
	.type = AFTL_PARAM_##kind,					\
	.smallest = least,						\
	.largest = most,						\
	.standard = usual,						\
},

#define AFTL_PARAM_FIELD(name, kind, least, most, usual, phrase) u64 name;

/**
 * struct aftl_param_group - parameters of a policy or a rule
 * @params: table of the parameters
 * @count: number of parameters
 * @live: the parameters may change at any time; otherwise only at a reload
 */
struct aftl_param_group {
	const struct aftl_param *params;
	u32 count;
	bool live;
};

/*
 * Define a struct with a field for each parameter, and the table for AFTL_PARAM_GROUP(). LIST is a
 * macro that calls its argument, a macro like PARAM() of param-table.h, once for each parameter.
 */
#define AFTL_PARAM_TABLE(name, LIST)						\
	struct name {								\
		LIST(AFTL_PARAM_FIELD)						\
	};									\
	static const struct aftl_param name##_table[] = { LIST(AFTL_PARAM) }

#define AFTL_PARAM_GROUP(name, changes)						\
	{ .params = name##_table, .count = ARRAY_SIZE(name##_table), .live = changes }

/**
 * struct aftl_error - error message that names the cause and the remedy
 */
struct aftl_error {
	char text[240];
};

/**
 * aftl_fail() - format a message into @error
 * @error: takes the message
 * @code: negative error code
 * @format: as for printf()
 *
 * Return: @code
 */
__printf(3, 4) int aftl_fail(struct aftl_error *error, int code, const char *format, ...);

/* Number of queue weights encoded in @value, 0 for none. */
static inline u32 aftl_queue_weight_count(u64 value)
{
	return DIV_ROUND_UP(fls64(value), 8);
}

/* Weight of host queue @index encoded in @value; a missing weight counts as 1. */
static inline u32 aftl_queue_weight_at(u64 value, u32 index)
{
	return max((u32)(value >> 8 * index) & 0xff, 1U);
}

static inline u64 *aftl_config_param_ptr(struct aftl_config *config, unsigned int index)
{
	return (u64 *)config + index;
}

static inline u64 aftl_param_get(const struct aftl_config *config, unsigned int index)
{
	return ((const u64 *)config)[index];
}

/**
 * aftl_param_format() - format a stored value as aftl_param_set() parses it
 * @param: description of the parameter
 * @value: in stored units
 * @text: takes the text
 */
void aftl_param_format(const struct aftl_param *param, u64 value, char text[AFTL_VALUE_SIZE]);

/**
 * aftl_parse_value() - parse a value that is no parameter of a device, such as an option of a tool
 * @type: type of the value
 * @words: as in struct aftl_param, for AFTL_PARAM_CHOICE
 * @text: text of the value
 * @value: takes the value, in stored units
 * @error: takes the message on failure
 *
 * Return: 0, -EINVAL, or -ERANGE if the value does not fit 64 bits, with a message without the key.
 */
int __must_check aftl_parse_value(enum aftl_param_type type, const char *const *words,
				  const char *text, u64 *value, struct aftl_error *error);

/**
 * aftl_describe_param_type_by_example() - describe a type: "a duration such as 700us"
 * @type: type of the value
 */
const char *aftl_describe_param_type_by_example(enum aftl_param_type type);

/* Index in param-table.h of the parameter @key, or -ENOENT. */
int aftl_core_param_find(const char *key);

/* Index in struct aftl_config of the parameter @name. */
#define AFTL_PARAM_AT(name) (offsetof(struct aftl_config, name) / sizeof(u64))

/* Return whether parameter @index of param-table.h may change live, at a reload, or never. */
enum aftl_change aftl_core_param_change(unsigned int index);

/* Parse @text as a value of @param and check its range; on failure @error has a message. */
int __must_check aftl_param_parse(const struct aftl_param *param, const char *text, u64 *value,
				  struct aftl_error *error);

/**
 * aftl_config_check() - check that a device created with @made may be reloaded with @wanted
 * @made: configuration at the creation of the device
 * @wanted: the new configuration
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message that names the key and both values.
 */
int __must_check aftl_config_check(const struct aftl_config *made,
				   const struct aftl_config *wanted, struct aftl_error *error);

/* Profiles (profiles.c) */

/* Set the parameters of param-table.h from a named profile; hosts call aftl_profile_load(). */
int __must_check aftl_profile_apply(struct aftl_config *config, const char *name,
				    struct aftl_error *error);

/**
 * aftl_profile_name() - name of profile @index, NULL after the last
 * @index: index, from 0
 */
const char *aftl_profile_name(unsigned int index);

/**
 * aftl_profile_description() - description of profile @index
 * @index: index, from 0
 */
const char *aftl_profile_description(unsigned int index);

#endif
