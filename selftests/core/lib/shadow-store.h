/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host that keeps real bytes beside the core, moves them only as the core says,
 * and holds the core to what it promises about them.
 *
 * Every write that the controller accepts gets a stamp, ascending; so does every
 * discard. A read may return any state from the newest one completed before it
 * was submitted on, never an older one.
 */
#ifndef SHADOW_STORE_H
#define SHADOW_STORE_H

#include "test-device.h"

struct shadow_tag;
struct shadow_slot;
struct shadow_unit;
struct shadow_promise;

/**
 * struct shadow_store - the store of one device
 * @listener: first; called by the device
 * @device: whose bytes these are
 * @words: 64-bit words of content per unit; 1 or the whole unit
 * @tags: by tag
 * @slots: by slot
 * @units: by unit
 * @promises: what the flushes under way have to make durable
 * @bytes: scratch, one unit
 * @stamps: last stamp given out
 * @reads: units compared
 * @flipped: bits found flipped
 * @lost_writes: acknowledged writes that the device gave up
 * @full_disk: the test expects writes to fail
 */
struct shadow_store {
	struct test_listener listener;
	struct test_device *device;
	u32 words;
	u64 *content;
	struct shadow_tag *tags;
	struct shadow_slot *slots;
	struct shadow_unit *units;
	struct shadow_promise *promises;
	u64 *scratch;
	u32 stamps;
	u64 reads;
	u64 flipped;
	u64 lost_writes;
	bool full_disk;
};

/**
 * shadow_open() - start to keep the bytes of @device, which has done nothing yet
 * @whole: keep whole units instead of eight bytes of each
 */
void shadow_open(struct shadow_store *store, struct test_device *device, bool whole);

void shadow_close(struct shadow_store *store);

/**
 * shadow_lookup_all() - compare the map with the store, unit by unit
 *
 * Only while nothing is under way.
 */
void shadow_lookup_all(struct shadow_store *store);

#endif
