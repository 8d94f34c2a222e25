/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse request sizes with weights, the values of --size and --hot-size. */
#ifndef AFTL_REQUEST_SIZES_H
#define AFTL_REQUEST_SIZES_H

#include "core/base/params.h"

struct sim_options;

int __must_check request_sizes_parse(struct sim_options *options, struct aftl_error *error);

#endif
