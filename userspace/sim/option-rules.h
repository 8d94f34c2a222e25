/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that require or exclude each other. */
#ifndef AFTL_OPTION_RULES_H
#define AFTL_OPTION_RULES_H

#include "core/base/params.h"

struct sim_options;

/* Check the options. Choose the kind of arrivals unless --arrival was given. */
int __must_check option_rules_check(struct sim_options *options, struct aftl_error *error);

#endif
