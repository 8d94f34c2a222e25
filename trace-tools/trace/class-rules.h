/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classes by rule, for traces that carry none.
 *
 *	CLASS:TERM,TERM...	CLASS is approximate or precise
 *
 *	process=NAME		the writing process is called so; NAME may end with *
 *	range=OFFSET+LENGTH	all of the write is in there
 *	size=LEAST..MOST	its size; either may be missing
 *	stream=N		it is of that stream
 *	share=RATIO		that share of the mebibytes of addresses, by seed
 *
 * A rule fits if all its terms do. The first rule that fits decides; a write that no rule
 * fits is precise.
 */
#ifndef AFTL_CLASS_RULES_H
#define AFTL_CLASS_RULES_H

#include "trace-format.h"

/* Addresses so near each other have the same draw. */
#define CLASS_RULE_SHARE_BYTES 1048576ULL

struct class_rule;

/**
 * struct class_rules - in the order in which they are asked
 * @rules: they
 * @count: how many
 * @seed: of shares
 * @by_process: one of them asks for processes
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

/* @name: of the process, or NULL; nothing but writes is changed. */
void class_rules_apply(const struct class_rules *rules, struct trace_request *request,
		       const char *name);

#endif
