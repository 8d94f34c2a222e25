/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules that assign classes to the writes of a trace without classes.
 *
 *	CLASS:TERM,TERM...	CLASS is approximate or precise
 *
 *	process=NAME the writing process is called so; NAME may end with * range=OFFSET+LENGTH the
 *	whole write is in this range size=LEAST..MOST the size of the write; LEAST or MOST may be
 *	missing stream=N the write belongs to this stream share=RATIO the write is in a drawn
 *	mebibyte of addresses: a share of RATIO of them is drawn by the seed
 *
 * A rule matches if all its terms do. The first matching rule decides; a write without a matching
 * rule is precise.
 */
#ifndef AFTL_CLASS_RULES_H
#define AFTL_CLASS_RULES_H

#include "trace-format.h"

/* A rule with share= matches all writes to a block of this many bytes, or none of them. */
#define CLASS_RULE_SHARE_BYTES 1048576ULL

struct class_rule;

/**
 * struct class_rules - an ordered list of rules
 * @rules: the rules
 * @count: number of rules
 * @seed: seed of the draws for share=
 * @by_process: a rule depends on process names
 */
struct class_rules {
	struct class_rule *rules;
	u32 count;
	u64 seed;
	bool by_process;
};

int __must_check class_rules_parse(struct class_rules *rules, const char *const *texts, u32 count,
				   u64 seed, struct aftl_error *error);
void class_rules_free(struct class_rules *rules);

/* Set the class of a write by the rules; other requests are unchanged. @name: process or NULL. */
void class_rules_apply(const struct class_rules *rules, struct trace_request *request,
		       const char *name);

#endif
