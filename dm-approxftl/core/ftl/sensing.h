/* SPDX-License-Identifier: GPL-2.0-only */
/* Senses pages: computes the latency of a read and counts it. */
#ifndef AFTL_SENSING_H
#define AFTL_SENSING_H

#include "core/base/types.h"

struct aftl;
struct aftl_block;

bool aftl_ppn_is_programming(struct aftl *ftl, aftl_ppn_t ppn);
u64 aftl_sense_page(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);
u64 aftl_sense_valid_data(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour);

#endif
