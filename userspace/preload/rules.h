/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of approxrun(1), which name the approximate files of a program.
 */
#ifndef APPROXRUN_RULES_H
#define APPROXRUN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Environment variable with the path of the rules, for the preloaded library. */
#define APPROXRUN_RULES "APPROXRUN_RULES"

/* Environment variable with the verbosity: "quiet" or "verbose". */
#define APPROXRUN_TALK "APPROXRUN_TALK"

#define RULE_COMPLAINT 256

/**
 * struct rule - a rule, from one line
 * @pattern: pattern of the file's path, or of its name if it contains no slash
 * @process: pattern of the program's name; NULL matches any
 * @header: number of bytes at the beginning that stay precise
 * @precise: the whole file is precise
 * @remember: store the tag in the file's extended attribute, too
 */
struct rule {
	char *pattern;
	char *process;
	off_t header;
	bool precise;
	bool remember;
};

/**
 * struct rules - the rules of a file
 * @rules: rules in order; the first match decides
 * @count: number of rules
 */
struct rules {
	struct rule *rules;
	size_t count;
};

/**
 * rules_read() - read a file of rules
 * @rules: takes the rules; call rules_free() even after an error
 * @complaint: takes a message with the line number
 *
 * Return: 0 or a negative error number.
 */
int rules_read(struct rules *rules, const char *path, char complaint[RULE_COMPLAINT]);

void rules_free(struct rules *rules);

/* Find the rule for a file with the absolute path @path. Return: NULL if no rule matches. */
const struct rule *rules_find_match(const struct rules *rules, const char *path,
				    const char *process);

#endif
