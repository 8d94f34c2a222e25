/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slow model of the L2P table, classes and valid counts, built from host callbacks alone and
 * compared with the core's tables.
 */
#ifndef BRUTE_MODEL_H
#define BRUTE_MODEL_H

#include "test-device.h"

/**
 * struct brute_unit - model of a logical page
 * @order: sequence number of its newest accepted write or discard
 * @slot: slot of its newest programmed version, or U32_MAX
 * @slot_order: sequence number of that version
 * @class: of that version; relocation may make it precise
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
 * @slot_told: by slot, the core has announced its program
 * @slots_used: slots programmed with data since the start
 * @pages_programmed: pages programmed since the start, including reprograms
 * @reloaded: the device has been loaded since then, and its counters begin anew
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
	bool reloaded;
};

/* Attach a model to the unused @device; it lives as long as the device. */
void brute_open(struct brute_model *model, struct test_device *device);

/**
 * brute_compare() - compare L2P table, classes, valid bits and counts
 */
void brute_compare(struct brute_model *model);

/**
 * brute_compare_counters() - compare program counters; needs a model since the first request
 */
void brute_compare_counters(struct brute_model *model);

#endif
