// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "features.h"
#include "tap.h"
#include "test-device.h"

#define TABLE "selftests/lib/features.txt"
#define SEPARATORS " \t\n"

static void copy_word(char *to, const char *from)
{
	if (!from || strlen(from) >= FEATURE_WORD_SIZE)
		tap_bail_out(TABLE ": a word is missing or too long");
	memcpy(to, from, strlen(from) + 1);
}

static void read_words(struct feature *feature, char **rest)
{
	const char *word = strtok_r(NULL, SEPARATORS, rest);

	for (; word; word = strtok_r(NULL, SEPARATORS, rest)) {
		if (feature->word_count == FEATURE_WORDS_MAX)
			tap_bail_out(TABLE ": %s has too many parameters", feature->name);
		copy_word(feature->words[feature->word_count++], word);
	}
}

static void read_feature(struct features *features, char **rest)
{
	struct feature *feature = &features->all[features->count];

	if (features->count++ == FEATURES_MAX)
		tap_bail_out(TABLE ": too many features");
	copy_word(feature->name, strtok_r(NULL, SEPARATORS, rest));
	read_words(feature, rest);
}

static void read_refused(struct features *features, char **rest)
{
	char first[FEATURE_WORD_SIZE];
	char second[FEATURE_WORD_SIZE];

	copy_word(first, strtok_r(NULL, SEPARATORS, rest));
	copy_word(second, strtok_r(NULL, SEPARATORS, rest));
	features->all[features_find(features, first)].refused[features_find(features, second)] =
		true;
}

static void read_line(struct features *features, char *line)
{
	char *rest;
	const char *kind = strtok_r(line, SEPARATORS, &rest);

	if (!kind || *kind == '#')
		return;
	if (!strcmp(kind, "base"))
		read_words(&features->base, &rest);
	else if (!strcmp(kind, "feature"))
		read_feature(features, &rest);
	else if (!strcmp(kind, "refused"))
		read_refused(features, &rest);
	else
		tap_bail_out(TABLE ": there is no kind of line \"%s\"", kind);
}

void features_read(struct features *features)
{
	FILE *file = fopen(TABLE, "r");
	char line[1024];

	if (!file)
		tap_bail_out(TABLE " cannot be read; run this in the top of the tree");
	*features = (struct features){ 0 };
	while (fgets(line, sizeof(line), file))
		read_line(features, line);
	fclose(file);
}

u32 features_find(const struct features *features, const char *name)
{
	u32 i;

	for (i = 0; i < features->count; i++)
		if (!strcmp(features->all[i].name, name))
			return i;
	tap_bail_out(TABLE " has no feature \"%s\"", name);
	return 0;
}

static void apply_word(struct feature_pair *pair, struct test_device *device, const char *word)
{
	char key[FEATURE_WORD_SIZE];
	char *value;

	copy_word(key, word);
	value = strchr(key, '=');
	if (!value)
		tap_bail_out(TABLE ": \"%s\" is not KEY=VALUE", word);
	*value++ = '\0';
	if (!strcmp(key, "policy"))
		copy_word(pair->policy, value);
	else if (strcmp(key, "medium") != 0)
		test_device_set(device, key, value);
	pair->failing |= !strcmp(word, "medium=failing");
	pair->nested |= !strcmp(word, "medium=nested");
}

static void apply_feature(struct feature_pair *pair, struct test_device *device,
			  const struct feature *feature)
{
	u32 i;

	for (i = 0; i < feature->word_count; i++)
		apply_word(pair, device, feature->words[i]);
}

void features_pair(const struct features *features, u32 first, u32 second,
		   struct feature_pair *pair)
{
	struct test_device device;

	*pair = (struct feature_pair){ .first = first, .second = second, .policy = "baseline" };
	test_device_init(&device, "demo");
	apply_feature(pair, &device, &features->base);
	apply_feature(pair, &device, &features->all[first]);
	apply_feature(pair, &device, &features->all[second]);
	pair->config = device.config;
}
