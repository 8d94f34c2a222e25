/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of features that are tested pair by pair: selftests/lib/features.txt.
 */
#ifndef FEATURES_H
#define FEATURES_H

#include "core/base/params.h"

#define FEATURES_MAX 24
#define FEATURE_WORDS_MAX 12
#define FEATURE_WORD_SIZE 48

/**
 * struct feature - one line of the table
 * @name: of the feature
 * @word_count: of @words
 * @words: parameters that turn it on, KEY=VALUE
 * @refused: by feature: the table says that the device refuses the pair
 */
struct feature {
	char name[FEATURE_WORD_SIZE];
	u32 word_count;
	char words[FEATURE_WORDS_MAX][FEATURE_WORD_SIZE];
	bool refused[FEATURES_MAX];
};

/**
 * struct features - the table
 * @base: parameters that each pair starts with
 * @count: of @all
 * @all: features, in the order of the table
 */
struct features {
	struct feature base;
	u32 count;
	struct feature all[FEATURES_MAX];
};

/**
 * struct feature_pair - a device with two features, or with one if both are the same
 * @first: number in the table
 * @second: at least @first
 * @config: parameters of the device
 * @policy: that the table names
 * @failing: sectors of its backing device fail
 * @nested: its backing device is one of ours
 */
struct feature_pair {
	u32 first;
	u32 second;
	struct aftl_config config;
	char policy[FEATURE_WORD_SIZE];
	bool failing;
	bool nested;
};

/* Read the table. A mistake in it ends the program. */
void features_read(struct features *features);

/* Return: the number of the feature called @name; if there is none, the program ends. */
u32 features_find(const struct features *features, const char *name);

/* Fill @pair with the parameters of features @first and @second. */
void features_pair(const struct features *features, u32 first, u32 second,
		   struct feature_pair *pair);

#endif
