/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A slow model of map, classes and valid counts that hears only what a host
 * hears, and is compared with the core's own books.
 */
#ifndef BRUTE_MODEL_H
#define BRUTE_MODEL_H

#include "test-device.h"

/**
 * struct brute_unit - what is known of a unit
 * @order: place of its newest accepted write or discard in the order of all
 * @slot: where its newest programmed version is, U32_MAX nowhere
 * @slot_order: order of that version
 * @class: of that version; a move may make it precise
 * @level: of that version while it is approximate
 */
struct brute_unit {
	u32 order;
	u32 slot;
	u32 slot_order;
	u8 class;
	u8 level;
};

struct brute_tag {
	u32 unit;
	u32 order;
	u8 class;
	u8 level;
};

/**
 * struct brute_model - the model of one device
 * @slot_unit: by slot, the unit programmed there, U32_MAX none
 * @slot_told: by slot, its page is being programmed
 * @slots_used: slots programmed with data since the start
 * @pages_programmed: pages programmed since the start, again or not
 */
struct brute_model {
	struct test_listener listener;
	struct test_device *device;
	struct brute_unit *units;
	struct brute_tag *tags;
	u32 *slot_unit;
	bool *slot_told;
	u32 *block_valid;
	u32 *block_approx;
	u32 orders;
	u64 slots_used;
	u64 pages_programmed;
};

void brute_open(struct brute_model *model, struct test_device *device);
void brute_close(struct brute_model *model);

/**
 * brute_compare() - map, class, valid bits and counts of every unit, slot and block
 */
void brute_compare(struct brute_model *model);

/**
 * brute_compare_counters() - what was programmed adds up; from the first request on
 */
void brute_compare_counters(struct brute_model *model);

#endif
