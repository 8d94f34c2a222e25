/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules by which a victim is chosen: each is what a policy's victim() may be.
 */
#ifndef AFTL_VICTIMS_H
#define AFTL_VICTIMS_H

#include "core/policy/policy.h"

typedef struct aftl_block *(*aftl_victim_fn)(struct aftl_policy *policy,
					     const struct aftl_closed *closed);

#define VICTIM(name)								\
	struct aftl_block *aftl_victim_##name(struct aftl_policy *policy,	\
					      const struct aftl_closed *closed);
#include "core/base/victim-list.h"
#undef VICTIM

/* The rule of enum aftl_victim. */
aftl_victim_fn aftl_victim_rule(u64 victim);

#endif
