/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of the parameters that only one policy or one rule has. */
#ifndef AFTL_PARAM_GROUP_H
#define AFTL_PARAM_GROUP_H

#include "core/base/params.h"

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

#endif
