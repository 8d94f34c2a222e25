// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses rules and finds the rule for a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define BLANKS " \t\n"

static const char *parse_size_unit_shift(const char *text, unsigned int *shift)
{
	static const char letters[] = "KMGT";
	const char *letter = *text ? strchr(letters, *text) : NULL;

	*shift = letter ? 10 * (letter - letters + 1) : 0;
	if (!letter)
		return *text == 'B' ? text + 1 : text;
	return strcmp(text + 1, "iB") ? text : text + 3;
}

/* Parse a size in bytes, KiB, MiB, GiB or TiB. */
static int parse_size_bytes(const char *text, off_t *bytes)
{
	unsigned int shift;
	long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *parse_size_unit_shift(end, &shift) || value > INT64_MAX >> shift)
		return -EINVAL;
	*bytes = (off_t)value << shift;
	return 0;
}

static const char *get_value_if_key_matches(const char *word, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

/* Parse a word after the pattern of a rule. Return: the error, or NULL. */
static const char *parse_rule_word(struct rule *rule, const char *word)
{
	const char *header = get_value_if_key_matches(word, "precise");
	const char *process = get_value_if_key_matches(word, "process");

	if (header)
		return parse_size_bytes(header, &rule->header) ?
			       "precise= takes bytes, such as 4096 or 4KiB" : NULL;
	if (process && *process && !rule->process) {
		rule->process = strdup(process);
		return rule->process ? NULL : "there is no memory";
	}
	if (process)
		return "process= takes one name, once";
	if (!strcmp(word, "precise"))
		rule->precise = true;
	else if (!strcmp(word, "remember"))
		rule->remember = true;
	else
		return "the words behind a pattern are precise[=BYTES], process=NAME and remember";
	return NULL;
}

static struct rule *add_preload_rule(struct rules *rules, const char *pattern)
{
	struct rule *more = reallocarray(rules->rules, rules->count + 1, sizeof(*more));
	struct rule *rule;

	if (!more)
		return NULL;
	rules->rules = more;
	rule = &more[rules->count++];
	*rule = (struct rule){ .pattern = strdup(pattern) };
	return rule->pattern ? rule : NULL;
}

/* Parse a line of the rules. Return: the error, or NULL. */
static const char *parse_rule_line(struct rules *rules, char *line)
{
	const char *wrong = NULL;
	struct rule *rule;
	char *rest, *word;

	word = strtok_r(line, BLANKS, &rest);
	if (!word || *word == '#')
		return NULL;
	rule = add_preload_rule(rules, word);
	if (!rule)
		return "there is no memory";
	while (!wrong && (word = strtok_r(NULL, BLANKS, &rest)) && *word != '#')
		wrong = parse_rule_word(rule, word);
	if (!wrong && rule->precise && (rule->header || rule->remember))
		wrong = "a file that is precise has no header, and nothing to remember";
	return wrong;
}

static int read_rule_lines(struct rules *rules, FILE *file, const char *path,
			   char complaint[RULE_COMPLAINT])
{
	const char *wrong = NULL;
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	int code;

	while (!wrong && getline(&line, &room, file) > 0) {
		number++;
		wrong = parse_rule_line(rules, line);
	}
	code = ferror(file) ? errno : 0;
	free(line);
	if (wrong)
		snprintf(complaint, RULE_COMPLAINT, "%s:%u: %s", path, number, wrong);
	else if (code)
		snprintf(complaint, RULE_COMPLAINT, "%s: %s", path, strerror(code));
	return wrong ? -EINVAL : -code;
}

int rules_read(struct rules *rules, const char *path, char complaint[RULE_COMPLAINT])
{
	FILE *file = fopen(path, "re");
	int ret;

	*rules = (struct rules){ .rules = NULL };
	if (!file) {
		ret = -errno;
		snprintf(complaint, RULE_COMPLAINT, "%s: %s", path, strerror(errno));
		return ret;
	}
	ret = read_rule_lines(rules, file, path, complaint);
	fclose(file);
	return ret;
}

void rules_free(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->rules[i].pattern);
		free(rules->rules[i].process);
	}
	free(rules->rules);
	*rules = (struct rules){ .rules = NULL };
}

static bool does_rule_match_path(const struct rule *rule, const char *path, const char *process)
{
	const char *name = strrchr(path, '/');

	if (rule->process && fnmatch(rule->process, process, 0))
		return false;
	if (strchr(rule->pattern, '/') || !name)
		return !fnmatch(rule->pattern, path, 0);
	return !fnmatch(rule->pattern, name + 1, 0);
}

const struct rule *rules_find_match(const struct rules *rules, const char *path,
				    const char *process)
{
	for (size_t i = 0; i < rules->count; i++)
		if (does_rule_match_path(&rules->rules[i], path, process))
			return &rules->rules[i];
	return NULL;
}
