/* SPDX-License-Identifier: GPL-2.0-only */
/* Audit. */
#ifndef AFTL_INSPECT_H
#define AFTL_INSPECT_H

struct aftl;
struct aftl_error;

/* Check the invariants that aftl_audit() can check without a visit of every physical page. */
int __must_check aftl_audit_counters_and_block_lists(const struct aftl *ftl,
						     struct aftl_error *error);

#endif
