/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert the value of an option to the number or text that it stands for. */
#ifndef AFTL_OPTION_VALUES_H
#define AFTL_OPTION_VALUES_H

#include "core/base/params.h"

struct option_row;
struct sim_options;

int __must_check option_set_value(struct sim_options *options, const struct option_row *row,
				  const char *text, struct aftl_error *error);

#endif
