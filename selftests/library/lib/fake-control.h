/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control device without a kernel, in place of userspace/libapproxftl/control-device.c.
 *
 * It keeps one list of ranges per file. Each approximate unit has the configured number of flips.
 * Each call appends a line to the file that the environment variable FAKE_CONTROL_LOG names, if
 * set.
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
 * struct fake_control - settings of the fake device, and the last requests
 * @missing: opening fails with this error number, unless 0
 * @refuse: ioctls with the number @refuse_number fail with this error number
 * @refuse_number: 0 means all ioctls but CAPS
 * @reason: reason that refused ioctls return
 * @elsewhere: no file is on an approxftl device
 * @flips: flipped bits in each approximate unit
 * @most: ranges or units in one answer, to make callers ask again
 * @scope: last scope set for the thread
 * @scope_label: its label
 * @note: last note
 * @watched: the last watch request started a watch
 * @calls: ioctls so far
 * @whole_files: files tagged by APPROXFTL_TAG_FD so far
 * @files: files and their ranges
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
	uint64_t whole_files;
	struct fake_file files[FAKE_FILES];
};

extern struct fake_control fake_control;

/* Reset the fake control device to its state at program start. */
void reset_fake_control_device(void);

#endif
