/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host that stores the data that the core only maps, and checks the core's guarantees. Each
 * accepted write and each discard gets an ascending stamp. A read may return any version from the
 * newest completed before it was submitted onwards, never an older one.
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
 * @device: device under test
 * @words: 64-bit words of content per unit; 1 or the whole unit
 * @tags: state of the data in the write buffer, by tag
 * @slots: data on flash, by slot
 * @units: state of each logical page
 * @promises: writes that flushes in progress must make durable
 * @bytes: scratch buffer of one unit
 * @stamps: last assigned stamp
 * @reads: number of units whose reads were compared
 * @rests: number of units of which a request wrote only a part
 * @flipped: number of flipped bits
 * @lost_writes: acknowledged writes that the device dropped
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
	u64 rests;
	u64 flipped;
	u64 lost_writes;
	bool full_disk;
};

/**
 * shadow_attach_to_device() - attach a store to the unused @device
 * @whole: store whole units instead of eight bytes of each unit
 *
 * test_device_audit_and_close() compares the store with the device and frees the store.
 * Approximate writes get all quality levels in turn.
 */
void shadow_attach_to_device(struct shadow_store *store, struct test_device *device, bool whole);

/* Compare the device's L2P table, classes and levels with the store's data; audit the device. */
void shadow_compare_device_with_store(struct shadow_store *store);

#endif
