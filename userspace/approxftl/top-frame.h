/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One picture of what a device does, for "approxftl top".
 */
#ifndef AFTL_TOP_FRAME_H
#define AFTL_TOP_FRAME_H

#include "device-sample.h"
#include "device-verbs.h"

/**
 * struct top_frame - what is to be seen
 * @view: the device as it is
 * @between: what it has done since the last picture
 * @columns: of the screen
 * @rows: of it that this device may have; 0: as many as it takes
 * @end: of each line
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
