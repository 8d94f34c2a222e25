/* SPDX-License-Identifier: GPL-2.0-only */
/* One screen of "approxftl top": the state and activity of a device. */
#ifndef AFTL_TOP_FRAME_H
#define AFTL_TOP_FRAME_H

#include "device-sample.h"
#include "device-verbs.h"

/**
 * struct top_frame - content of one screen of "approxftl top"
 * @view: current state of the device
 * @between: statistics since the last screen
 * @columns: columns of the terminal
 * @rows: rows for this device; 0: unlimited
 * @end: text that ends each line
 */
struct top_frame {
	const struct device_view *view;
	const struct sample *between;
	unsigned int columns;
	unsigned int rows;
	const char *end;
};

void top_frame_print(FILE *out, const struct top_frame *frame);

#endif
