/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of approxrun(1): which files of a program are approximate.
 */
#ifndef APPROXRUN_RULES_H
#define APPROXRUN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where the rules are, for the library in the program. */
#define APPROXRUN_RULES "APPROXRUN_RULES"

/* How much it says: "quiet", "verbose". */
#define APPROXRUN_TALK "APPROXRUN_TALK"

#define RULE_COMPLAINT 256

/**
 * struct rule - one line
 * @pattern: of the file's path, or of its name if there is no slash in it
 * @process: pattern of the program's name; NULL any
 * @header: bytes at the beginning that stay precise
 * @precise: all of the file is precise
 * @remember: in its attribute, too
 */
struct rule {
	char *pattern;
	char *process;
	off_t header;
	bool precise;
	bool remember;
};

/**
 * struct rules - a file of them
 * @rules: in order; the first that matches decides
 * @count: how many
 */
struct rules {
	struct rule *rules;
	size_t count;
};

/**
 * rules_read() - read a file of rules
 * @rules: takes them; rules_free() frees them, also after an error
 * @complaint: takes a sentence with the line's number
 *
 * Return: 0 or a negative error number.
 */
int rules_read(struct rules *rules, const char *path, char complaint[RULE_COMPLAINT]);

void rules_free(struct rules *rules);

/* The rule for a file, of which @path is the whole path; NULL if there is none. */
const struct rule *rules_match(const struct rules *rules, const char *path, const char *process);

#endif
