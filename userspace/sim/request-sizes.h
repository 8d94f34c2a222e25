/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes of requests with their weights, as --size and --hot-size list them.
 */
#ifndef AFTL_REQUEST_SIZES_H
#define AFTL_REQUEST_SIZES_H

#include "core/base/params.h"

struct sim_options;

int __must_check request_sizes_parse(struct sim_options *options, struct aftl_error *error);

#endif
