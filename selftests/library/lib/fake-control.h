/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control device without a kernel, in place of userspace/libapproxftl/control-device.c.
 *
 * It keeps one list of ranges for each file, and every unit of a tagged range is stored with
 * the flips that it was told. Each call is a line in the file that the environment variable
 * FAKE_CONTROL_LOG names, if it does.
 */
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_UNIT 4096
#define FAKE_FILES 16
#define FAKE_RANGES 2048

struct fake_range {
	uint64_t first;
	uint64_t last;
	uint32_t kind;
};

struct fake_file {
	uint64_t device;
	uint64_t number;
	uint32_t count;
	struct fake_range ranges[FAKE_RANGES];
};

/**
 * struct fake_control - what it is and what it was told
 * @missing: opening fails with this error number
 * @refuse: ioctls fail with this error number, if their number is @refuse_number
 * @refuse_number: or 0, for all but CAPS
 * @reason: that they give
 * @elsewhere: no file is on one of our devices
 * @flips: in each approximate unit
 * @most: ranges or units in one answer, to make callers ask again
 * @scope: what was said of the thread last; and its label
 * @note: the last one
 * @watched: whether the last watch was a beginning
 * @calls: ioctls so far
 * @files: and their ranges
 */
struct fake_control {
	int missing;
	int refuse;
	unsigned long refuse_number;
	uint32_t reason;
	bool elsewhere;
	uint32_t flips;
	uint32_t most;
	uint32_t scope;
	char scope_label[80];
	char note[80];
	bool watched;
	uint64_t calls;
	struct fake_file files[FAKE_FILES];
};

extern struct fake_control fake_control;

/* As it is when a program begins. */
void fake_control_reset(void);

#endif
