/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of features that are tested in pairs and triples: selftests/lib/features.txt.
 */
#ifndef FEATURES_H
#define FEATURES_H

#include "core/base/params.h"

#define FEATURES_MAX 24
#define FEATURE_WORDS_MAX 12
#define FEATURE_WORD_SIZE 48

/**
 * struct feature - one line of the feature table
 * @name: name of the feature
 * @word_count: number of @words
 * @words: parameters that turn the feature on, KEY=VALUE
 * @refused: for each other feature, whether the table says that devices refuse the pair
 */
struct feature {
	char name[FEATURE_WORD_SIZE];
	u32 word_count;
	char words[FEATURE_WORDS_MAX][FEATURE_WORD_SIZE];
	bool refused[FEATURES_MAX];
};

/**
 * struct features - the feature table
 * @base: parameters that each device starts with
 * @triple: additional parameters of a device with three features
 * @count: number of features in @all
 * @all: features, in the order of the table
 */
struct features {
	struct feature base;
	struct feature triple;
	u32 count;
	struct feature all[FEATURES_MAX];
};

/**
 * struct feature_set - a device with some of the features
 * @mask: bit mask of the features' numbers in the table
 * @name: names of the features, joined by "+"
 * @config: parameters of the device
 * @policy: policy that the table names for these features
 * @failing: sectors of the device's backing device fail
 * @refused: the table says that the device refuses two of the features together
 */
struct feature_set {
	u32 mask;
	char name[3 * FEATURE_WORD_SIZE];
	struct aftl_config config;
	char policy[FEATURE_WORD_SIZE];
	bool failing;
	bool refused;
};

/* Read the feature table; a mistake in it ends the program. */
void features_read_table(struct features *features);

/* Return the mask of features "NAME+NAME..."; for an unknown feature the program ends. */
u32 features_find_by_names(const struct features *features, const char *names);

/* Fill @set with the parameters of the at most three features of @mask. */
void features_make_set_config(const struct features *features, u32 mask, struct feature_set *set);

#endif
