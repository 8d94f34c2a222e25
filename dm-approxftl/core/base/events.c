// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/events.h"

void aftl_events_init(struct aftl_events *events)
{
	u32 node;

	for (node = 0; node < events->leaves; node++) {
		events->when[node] = AFTL_NEVER;
		events->winner[events->leaves + node] = node;
	}
	for (node = events->leaves - 1; node; node--)
		events->winner[node] = events->winner[(size_t)2 * node];
}
