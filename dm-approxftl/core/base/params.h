/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a device: keys, ranges, words and error messages.
 *
 * The simulator's command line and the device-mapper table line use the same parser.
 */
#ifndef AFTL_PARAMS_H
#define AFTL_PARAMS_H

#include "core/base/error.h"
#include "core/base/param-values.h"
#include "core/base/write-stream.h"

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

#endif
