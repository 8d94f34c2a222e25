// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "features.h"
#include "tap.h"
#include "test-device.h"

#define TABLE "selftests/lib/features.txt"
#define SEPARATORS " \t\n"

static void copy_feature_table_word(char *to, const char *from)
{
	if (!from || strlen(from) >= FEATURE_WORD_SIZE)
		tap_bail_out(TABLE ": a word is missing or too long");
	memcpy(to, from, strlen(from) + 1);
}

static void read_feature_words(struct feature *feature, char **rest)
{
	const char *word = strtok_r(NULL, SEPARATORS, rest);

	for (; word; word = strtok_r(NULL, SEPARATORS, rest)) {
		if (feature->word_count == FEATURE_WORDS_MAX)
			tap_bail_out(TABLE ": %s has too many parameters", feature->name);
		copy_feature_table_word(feature->words[feature->word_count++], word);
	}
}

static void read_feature(struct features *features, char **rest)
{
	struct feature *feature = &features->all[features->count];

	if (features->count++ == FEATURES_MAX)
		tap_bail_out(TABLE ": too many features");
	copy_feature_table_word(feature->name, strtok_r(NULL, SEPARATORS, rest));
	read_feature_words(feature, rest);
}

static u32 find_feature(const struct features *features, const char *name)
{
	u32 i;

	for (i = 0; i < features->count; i++)
		if (!strcmp(features->all[i].name, name))
			return i;
	tap_bail_out(TABLE " has no feature \"%s\"", name);
	return 0;
}

static void read_refused_feature_pair(struct features *features, char **rest)
{
	char first[FEATURE_WORD_SIZE];
	char second[FEATURE_WORD_SIZE];

	copy_feature_table_word(first, strtok_r(NULL, SEPARATORS, rest));
	copy_feature_table_word(second, strtok_r(NULL, SEPARATORS, rest));
	features->all[find_feature(features, first)].refused[find_feature(features, second)] = true;
}

static void read_feature_line(struct features *features, char *line)
{
	char *rest;
	const char *kind = strtok_r(line, SEPARATORS, &rest);

	if (!kind || *kind == '#')
		return;
	if (!strcmp(kind, "base"))
		read_feature_words(&features->base, &rest);
	else if (!strcmp(kind, "triple"))
		read_feature_words(&features->triple, &rest);
	else if (!strcmp(kind, "feature"))
		read_feature(features, &rest);
	else if (!strcmp(kind, "refused"))
		read_refused_feature_pair(features, &rest);
	else
		tap_bail_out(TABLE ": there is no kind of line \"%s\"", kind);
}

void features_read_table(struct features *features)
{
	FILE *file = fopen(TABLE, "r");
	char line[1024];

	if (!file)
		tap_bail_out(TABLE " cannot be read; run this in the top of the tree");
	*features = (struct features){ 0 };
	while (fgets(line, sizeof(line), file))
		read_feature_line(features, line);
	fclose(file);
}

u32 features_find_by_names(const struct features *features, const char *names)
{
	char words[3 * FEATURE_WORD_SIZE];
	char *rest = words;
	char *name;
	u32 mask = 0;

	if (strlen(names) >= sizeof(words))
		tap_bail_out("\"%s\" are too many features", names);
	memcpy(words, names, strlen(names) + 1);
	while ((name = strsep(&rest, "+")))
		mask |= BIT(find_feature(features, name));
	return mask;
}

static void apply_mqsim_param(struct feature_set *set, struct test_device *device, const char *word)
{
	char key[FEATURE_WORD_SIZE];
	char *value;

	copy_feature_table_word(key, word);
	value = strchr(key, '=');
	if (!value)
		tap_bail_out(TABLE ": \"%s\" is not KEY=VALUE", word);
	*value++ = '\0';
	if (!strcmp(key, "policy"))
		copy_feature_table_word(set->policy, value);
	else if (strcmp(key, "medium") != 0)
		test_device_set_param_text(device, key, value);
	set->failing |= !strcmp(word, "medium=failing");
}

static void apply_feature(struct feature_set *set, struct test_device *device,
			  const struct feature *feature)
{
	u32 i;

	for (i = 0; i < feature->word_count; i++)
		apply_mqsim_param(set, device, feature->words[i]);
}

/* The feature table may name a refused pair of features in either order. */
static bool does_set_have_refused_feature_pair(const struct features *features, u32 mask)
{
	u32 i;
	u32 j;

	for (i = 0; i < features->count; i++)
		for (j = 0; j < features->count; j++)
			if (mask & BIT(i) && mask & BIT(j) && features->all[i].refused[j])
				return true;
	return false;
}

void features_make_set_config(const struct features *features, u32 mask, struct feature_set *set)
{
	struct test_device device;
	u32 i;

	*set = (struct feature_set){ .mask = mask, .policy = "baseline" };
	test_device_init(&device, "demo");
	apply_feature(set, &device, &features->base);
	if (hweight64(mask) == 3)
		apply_feature(set, &device, &features->triple);
	for (i = 0; i < features->count; i++) {
		if (!(mask & BIT(i)))
			continue;
		apply_feature(set, &device, &features->all[i]);
		if (*set->name)
			strcat(set->name, "+");
		strcat(set->name, features->all[i].name);
	}
	set->config = device.config;
	set->refused = does_set_have_refused_feature_pair(features, mask);
}
