// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

const struct aftl_counter_info aftl_counter_info[] = {
#define COUNTER(name, help) { #name, help },
#include "counter-table.h"
#undef COUNTER
};

static_assert(ARRAY_SIZE(aftl_counter_info) == AFTL_COUNTERS, "one entry per counter");
