// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "shadow-store.h"
#include "tap.h"

#define POISON 0xdeaddeaddeaddeadULL

/*
 * State of data in the FTL's write buffer, which the FTL identifies by a tag: @unit is valid while
 * @live is set, @slot once @programmed is set.
 */
struct shadow_tag {
	bool live;
	bool programmed;
	u32 unit;
	u32 slot;
	u32 stamp;
	u8 class;
	u8 level;
};

/* Data in a slot. */
struct shadow_slot {
	bool programmed;
	u32 unit;
	u32 stamp;
	u8 class;
	u8 level;
};

/**
 * struct shadow_unit - state of a logical page as the host sees it
 * @newest: stamp of the last write that was accepted, or of a later discard
 * @completed: newest stamp that a completed request has exposed
 * @zero: stamp of the last discard
 * @durable: newest stamp whose program is complete
 * @given_up: newest stamp of a write that the device dropped
 * @best: slot with the newest stamp
 * @shown: stamp of the last data read
 * @generation: write generation of the last data read
 * @flips: bit flips of the last data read
 */
struct shadow_unit {
	u32 newest;
	u32 completed;
	u32 zero;
	u32 durable;
	u32 given_up;
	u32 best;
	u32 shown;
	u16 generation;
	u32 flips;
};

/* A flush in progress, identified by @flush, must make version @stamp of @unit durable. */
struct shadow_promise {
	u32 flush;
	u32 unit;
	u32 stamp;
	struct shadow_promise *next;
};

static struct shadow_store *shadow_store_of_listener(struct test_listener *listener)
{
	return container_of(listener, struct shadow_store, listener);
}

static u64 shadow_pattern_word(u32 unit, u32 stamp, u32 word)
{
	return aftl_hash64_pair((u64)stamp << 32 | unit, word);
}

static u64 *shadow_data_of_buffer_tag(struct shadow_store *store, u32 tag)
{
	return store->content + (size_t)tag * store->words;
}

static u64 *shadow_slot_data(struct shadow_store *store, u32 slot)
{
	return shadow_data_of_buffer_tag(store, aftl_count_buffer_tags(store->device->ftl) + slot);
}

static void fill_shadow_pattern(u64 *words, u32 count, u32 unit, u32 stamp)
{
	u32 i;

	for (i = 0; i < count; i++)
		words[i] = shadow_pattern_word(unit, stamp, i);
}

static bool is_page_partial(const struct aftl_request *request, u32 index)
{
	return (request->head_skip && !index) ||
	       (request->tail_skip && index == request->units - 1);
}

/* A partial write of @unit must keep the other bytes of the unit's newest version. */
static void check_partial_write_keeps_other_bytes(struct shadow_store *store,
						  const struct test_request *request, u32 index,
						  u32 unit)
{
	u32 rest = request->rest[index != 0];

	if (!is_page_partial(&request->request, index) || store->lost_writes)
		return;
	store->rests++;
	CHECK_MSG(rest == store->units[unit].newest,
		  "unit %u: a write keeps state %u, the newest is %u", unit, rest,
		  store->units[unit].newest);
}

static void shadow_on_write_accepted(struct test_listener *listener, struct test_request *request,
				     aftl_lpn_t lpn, u32 tag)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	struct shadow_tag *mine = &store->tags[tag];
	u32 index = from_lpn(lpn) - request->request.unit;

	if (!CHECK_MSG(tag < aftl_count_buffer_tags(store->device->ftl), "tag %u is too large",
		       tag))
		return;
	CHECK_MSG(!mine->live, "tag %u is accepted twice", tag);
	CHECK_MSG(index < request->request.units, "unit %u is not in the request", from_lpn(lpn));
	check_partial_write_keeps_other_bytes(store, request, index, from_lpn(lpn));
	*mine = (struct shadow_tag){
		.live = true,
		.unit = from_lpn(lpn),
		.stamp = ++store->stamps,
		.class = request->request.class,
		.level = request->request.level,
	};
	request->floor[index % TEST_REQUEST_UNITS] = mine->stamp;
	store->units[mine->unit].newest = mine->stamp;
	fill_shadow_pattern(shadow_data_of_buffer_tag(store, tag), store->words, mine->unit,
			    mine->stamp);
}

/* Return true if the host has overwritten or discarded the data in @slot. */
static bool slot_has_obsolete_data(const struct shadow_store *store, u32 slot)
{
	const struct shadow_unit *unit = &store->units[store->slots[slot].unit];

	return unit->best != slot || unit->zero > store->slots[slot].stamp;
}

static bool may_program_slot(struct shadow_store *store, u32 slot)
{
	const struct aftl_media *media = aftl_media(store->device->ftl);

	if (!store->slots[slot].programmed)
		return true;
	return aftl_block_of_ppn(media, to_ppn(slot))->order == AFTL_ORDER_SUPER_LAYER &&
	       slot_has_obsolete_data(store, slot);
}

static void forget_slot_data(struct shadow_store *store, u32 slot)
{
	struct shadow_unit *unit = &store->units[store->slots[slot].unit];

	if (store->slots[slot].programmed && unit->best == slot)
		unit->best = U32_MAX;
}

/* A unit's valid version is the one with the newest stamp, whatever the order of programs. */
static void remember_newest_slot(struct shadow_store *store, u32 slot)
{
	struct shadow_unit *unit = &store->units[store->slots[slot].unit];

	if (unit->best == U32_MAX || store->slots[unit->best].stamp <= store->slots[slot].stamp)
		unit->best = slot;
}

static void store_slot_data(struct shadow_store *store, u32 slot, struct shadow_slot data,
			    const u64 *words)
{
	CHECK_MSG(may_program_slot(store, slot), "slot %u is programmed without an erase", slot);
	forget_slot_data(store, slot);
	store->slots[slot] = data;
	memcpy(shadow_slot_data(store, slot), words, store->words * sizeof(u64));
	remember_newest_slot(store, slot);
}

/* Return true if the program of @slot was in progress when its LUN died. */
static bool slot_lun_has_died(struct shadow_store *store, u32 slot)
{
	const struct aftl_media *media = aftl_media(store->device->ftl);

	return aftl_block_of_ppn(media, to_ppn(slot))->state == AFTL_BLOCK_BAD;
}

static void shadow_on_program(struct test_listener *listener, u32 tag, aftl_lpn_t lpn,
			      aftl_ppn_t ppn)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	struct shadow_tag *mine = &store->tags[tag];

	CHECK_MSG(mine->live, "tag %u is programmed after its release", tag);
	CHECK_MSG(!mine->programmed || slot_lun_has_died(store, mine->slot),
		  "tag %u is programmed twice", tag);
	CHECK_EQ(from_lpn(lpn), mine->unit);
	mine->programmed = true;
	mine->slot = from_ppn(ppn);
	store_slot_data(store, from_ppn(ppn), (struct shadow_slot){
		.programmed = true,
		.unit = mine->unit,
		.stamp = mine->stamp,
		.class = mine->class,
		.level = mine->level,
	}, shadow_data_of_buffer_tag(store, tag));
}

static bool is_buffered_version_outdated(struct shadow_store *store, const struct shadow_tag *tag)
{
	u32 i;

	if (store->units[tag->unit].zero > tag->stamp)
		return true;
	for (i = 0; i < aftl_count_buffer_tags(store->device->ftl); i++)
		if (store->tags[i].live && store->tags[i].unit == tag->unit &&
		    store->tags[i].stamp > tag->stamp)
			return true;
	return store->units[tag->unit].best != U32_MAX &&
	       store->slots[store->units[tag->unit].best].stamp > tag->stamp;
}

/* Record that the device dropped a write, so that reads may return an older version again. */
static void note_lost_write(struct shadow_store *store, const struct shadow_tag *tag)
{
	CHECK_MSG(store->full_disk, "unit %u: a write is dropped without a successor", tag->unit);
	store->lost_writes++;
	store->units[tag->unit].completed = 0;
	store->units[tag->unit].given_up = max(store->units[tag->unit].given_up, tag->stamp);
}

static void shadow_on_release(struct test_listener *listener, u32 tag)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	struct shadow_tag *mine = &store->tags[tag];
	struct shadow_unit *unit = &store->units[mine->unit];

	CHECK_MSG(mine->live, "tag %u is released twice", tag);
	mine->live = false;
	if (mine->programmed)
		unit->durable = max(unit->durable, mine->stamp);
	else if (!is_buffered_version_outdated(store, mine))
		note_lost_write(store, mine);
	*shadow_data_of_buffer_tag(store, tag) = POISON;
}

static void shadow_on_copy(struct test_listener *listener, aftl_lpn_t lpn, aftl_ppn_t from,
			   aftl_ppn_t to)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	const struct shadow_slot *source = &store->slots[from_ppn(from)];

	CHECK_MSG(source->programmed, "slot %u is copied after its erase", from_ppn(from));
	CHECK_EQ(source->unit, from_lpn(lpn));
	store_slot_data(store, from_ppn(to), *source, shadow_slot_data(store, from_ppn(from)));
}

static void erase_slot_data(struct shadow_store *store, u32 slot)
{
	struct shadow_slot *mine = &store->slots[slot];
	struct shadow_unit *unit = &store->units[mine->unit];

	if (mine->programmed && unit->best == slot) {
		CHECK_MSG(unit->zero > mine->stamp,
			  "unit %u: its newest content is erased in slot %u", mine->unit, slot);
		unit->best = U32_MAX;
	}
	mine->programmed = false;
	*shadow_slot_data(store, slot) = POISON;
}

static void shadow_on_erase(struct test_listener *listener, aftl_ppn_t first, u32 slots)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	u32 i;

	CHECK_EQ(slots, aftl_geometry(store->device->ftl)->block_ppns);
	CHECK_EQ(from_ppn(first) % slots, 0);
	for (i = 0; i < slots; i++)
		erase_slot_data(store, from_ppn(first) + i);
}

/* A read that was in progress when the newest write was dropped may return an older version. */
static void check_read_stamp(const struct shadow_store *store, const struct test_request *request,
			     u32 unit, u32 stamp)
{
	u32 floor = request->floor[(unit - request->request.unit) % TEST_REQUEST_UNITS];

	CHECK_MSG(stamp >= floor || store->units[unit].given_up >= floor,
		  "unit %u: stale data: state %u was complete, state %u is read", unit, floor,
		  stamp);
}

/* Flip the bits reported as wrong in a copy of the data; return how many bits then differ. */
static u32 flip_reported_bits(struct shadow_store *store, const struct aftl_read *read)
{
	const struct aftl_cell *cell = aftl_cell(store->device->ftl);
	u32 differing = 0;
	u32 i;

	for (i = 0; i < read->flips; i++) {
		u32 at = aftl_get_bit_flip_position(cell, read->lpn, read->generation, i);

		store->scratch[at / 64] ^= 1ULL << at % 64;
	}
	for (i = 0; i < store->words; i++)
		differing += __builtin_popcountll(store->scratch[i] ^
						  shadow_slot_data(store, from_ppn(read->ppn))[i]);
	return differing;
}

/* Relocated data keep their write generation, and their bit errors never decrease. */
static void check_slot_history(struct shadow_store *store, const struct shadow_slot *slot,
			       const struct aftl_read *read)
{
	struct shadow_unit *unit = &store->units[slot->unit];

	if (unit->shown == slot->stamp) {
		CHECK_MSG(unit->generation == read->generation,
			  "unit %u: a copy changed the write generation", slot->unit);
		CHECK_MSG(unit->flips <= read->flips, "unit %u: errors fell from %u to %u",
			  slot->unit, unit->flips, read->flips);
	}
	unit->shown = slot->stamp;
	unit->generation = read->generation;
	unit->flips = read->flips;
}

static void check_reported_flips(struct shadow_store *store, const struct shadow_slot *slot,
				 const struct aftl_read *read)
{
	if (read->lost)
		return;
	CHECK_MSG(slot->class == AFTL_APPROX || !read->flips, "unit %u: %u flips in precise data",
		  slot->unit, read->flips);
	if (!aftl_config(store->device->ftl)->errors)
		CHECK_EQ(read->flips, 0);
	if (store->words * 64 == aftl_geometry(store->device->ftl)->unit_bits && read->flips)
		CHECK_EQ(flip_reported_bits(store, read), read->flips);
	store->flipped += read->flips;
	check_slot_history(store, slot, read);
}

static void check_pattern_words(struct shadow_store *store, const u64 *words, u32 unit, u32 stamp)
{
	u32 i;

	for (i = 0; i < store->words; i++)
		if (words[i] != shadow_pattern_word(unit, stamp, i))
			break;
	CHECK_MSG(i == store->words, "unit %u: word %u is not what was written", unit, i);
}

static void shadow_read_flash(struct shadow_store *store, const struct test_request *request,
			      const struct aftl_read *read)
{
	const struct shadow_slot *slot = &store->slots[from_ppn(read->ppn)];

	if (!CHECK_MSG(slot->programmed, "unit %u is read from an erased slot",
		       from_lpn(read->lpn)))
		return;
	CHECK_EQ(slot->unit, from_lpn(read->lpn));
	CHECK_MSG(store->units[slot->unit].zero <= slot->stamp, "unit %u: discarded data is read",
		  slot->unit);
	check_read_stamp(store, request, slot->unit, slot->stamp);
	memcpy(store->scratch, shadow_slot_data(store, from_ppn(read->ppn)),
	       store->words * sizeof(u64));
	check_pattern_words(store, store->scratch, slot->unit, slot->stamp);
	check_reported_flips(store, slot, read);
}

static void shadow_read_buffer(struct shadow_store *store, const struct test_request *request,
			       const struct aftl_read *read)
{
	const struct shadow_tag *tag = &store->tags[read->tag];

	if (!CHECK_MSG(tag->live, "unit %u is read from a free tag", from_lpn(read->lpn)))
		return;
	CHECK_EQ(tag->unit, from_lpn(read->lpn));
	CHECK_EQ(read->flips, 0);
	check_read_stamp(store, request, tag->unit, tag->stamp);
	check_pattern_words(store, shadow_data_of_buffer_tag(store, read->tag), tag->unit,
			    tag->stamp);
}

static void record_stamp_read_for_partial_write(struct shadow_store *store,
						struct test_request *request,
						const struct aftl_read *read)
{
	u32 unit = from_lpn(read->lpn);
	u32 *rest = &request->rest[unit != request->request.unit];

	if (read->source == AFTL_SOURCE_BUFFER)
		*rest = store->tags[read->tag].stamp;
	else if (read->source == AFTL_SOURCE_FLASH)
		*rest = store->slots[from_ppn(read->ppn)].stamp;
	else
		*rest = store->units[unit].zero;
}

static void shadow_on_read(struct test_listener *listener, struct test_request *request,
			   const struct aftl_read *read)
{
	struct shadow_store *store = shadow_store_of_listener(listener);

	store->reads++;
	if (read->lost && read->ppn == AFTL_NO_PPN)
		return;
	if (request->request.op == AFTL_OP_WRITE) {
		record_stamp_read_for_partial_write(store, request, read);
		return;
	}
	switch (read->source) {
	case AFTL_SOURCE_FLASH:
		shadow_read_flash(store, request, read);
		break;
	case AFTL_SOURCE_BUFFER:
		shadow_read_buffer(store, request, read);
		break;
	case AFTL_SOURCE_ZERO:
		check_read_stamp(store, request, from_lpn(read->lpn),
				 store->units[from_lpn(read->lpn)].zero);
		break;
	}
}

static void expect_version_durable_after_flush(struct shadow_store *store, u32 flush,
					       const struct shadow_tag *tag)
{
	struct shadow_promise *mine = malloc(sizeof(*mine));

	if (!mine)
		tap_bail_out("out of memory");
	*mine = (struct shadow_promise){ flush, tag->unit, tag->stamp, store->promises };
	store->promises = mine;
}

/* Note the completed writes not yet on flash, which the submitted flush must make durable. */
static void shadow_note_submitted_flush(struct shadow_store *store,
					const struct test_request *request)
{
	u32 i;

	if (aftl_config(store->device->ftl)->buffer_safe)
		return;
	for (i = 0; i < aftl_count_buffer_tags(store->device->ftl); i++) {
		const struct shadow_tag *tag = &store->tags[i];

		if (tag->live && store->units[tag->unit].completed >= tag->stamp)
			expect_version_durable_after_flush(store, request->version, tag);
	}
}

static void check_unit_durable(struct shadow_store *store, u32 unit, u32 stamp, const char *what)
{
	const struct shadow_unit *mine = &store->units[unit];

	CHECK_MSG(mine->durable >= stamp || mine->zero > stamp || store->full_disk,
		  "unit %u: %s is complete and its data is not on flash", unit, what);
}

static void shadow_check_completed_flush(struct shadow_store *store,
					 const struct test_request *request)
{
	struct shadow_promise **link = &store->promises;

	while (*link) {
		struct shadow_promise *mine = *link;

		if (mine->flush != request->version) {
			link = &mine->next;
			continue;
		}
		if (!request->request.status)
			check_unit_durable(store, mine->unit, mine->stamp, "a flush");
		*link = mine->next;
		free(mine);
	}
}

static bool write_must_be_durable(const struct shadow_store *store,
				  const struct aftl_request *request)
{
	const struct aftl_config *config = aftl_config(store->device->ftl);

	return !config->buffer || (request->flags & AFTL_REQUEST_FUA && !config->buffer_safe);
}

static void shadow_note_completed_write(struct shadow_store *store,
					const struct test_request *request)
{
	u32 i;

	if (request->request.status)
		return;
	for (i = 0; i < request->request.units; i++) {
		struct shadow_unit *unit = &store->units[request->request.unit + i];

		unit->completed = max(unit->completed, request->floor[i]);
		if (write_must_be_durable(store, &request->request))
			check_unit_durable(store, request->request.unit + i, request->floor[i],
					   "a write");
	}
}

static void shadow_note_completed_discard(struct shadow_store *store,
					  const struct test_request *request)
{
	u32 i;

	for (i = 0; i < request->request.units; i++) {
		struct shadow_unit *unit = &store->units[request->request.unit + i];

		unit->completed = max(unit->completed, request->floor[0]);
	}
}

static void shadow_note_completed_read(const struct test_request *request)
{
	CHECK_MSG(request->request.status || request->seen == request->request.units,
		  "a read of %u units fetched %u", request->request.units, request->seen);
	CHECK_MSG(!request->request.status == !request->lost, "status %d of a read with%s loss",
		  request->request.status, request->lost ? "" : "out");
}

static void shadow_on_complete(struct test_listener *listener, struct test_request *request)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	bool may_fail = store->full_disk || aftl_geometry(store->device->ftl)->zones;

	/* A partial write fails if the rest of its unit cannot be read. */
	may_fail |= request->request.op == AFTL_OP_READ ||
		    (request->request.op == AFTL_OP_WRITE && request->lost);
	CHECK_MSG(!request->request.status || may_fail,
		  "op %u fails with %d", request->request.op, request->request.status);
	switch (request->request.op) {
	case AFTL_OP_READ:
		shadow_note_completed_read(request);
		break;
	case AFTL_OP_WRITE:
		shadow_note_completed_write(store, request);
		break;
	case AFTL_OP_FLUSH:
		shadow_check_completed_flush(store, request);
		break;
	default:
		shadow_note_completed_discard(store, request);
	}
}

static void shadow_note_submitted_discard(struct shadow_store *store, struct test_request *request)
{
	u32 i;

	request->floor[0] = ++store->stamps;
	for (i = 0; i < request->request.units; i++) {
		store->units[request->request.unit + i].zero = request->floor[0];
		store->units[request->request.unit + i].newest = request->floor[0];
	}
}

/* Handle unmapping by zone resets only: host discards are recorded when they are submitted. */
static void shadow_on_unmap(struct test_listener *listener, aftl_lpn_t first, u32 units)
{
	struct shadow_store *store = shadow_store_of_listener(listener);
	u32 i;

	if (!aftl_geometry(store->device->ftl)->zones)
		return;
	store->stamps++;
	for (i = from_lpn(first); i < from_lpn(first) + units; i++) {
		store->units[i].zero = store->stamps;
		store->units[i].newest = store->stamps;
	}
}

static void shadow_note_submitted_read(struct shadow_store *store, struct test_request *request)
{
	u32 i;

	for (i = 0; i < request->request.units; i++)
		request->floor[i] = store->units[request->request.unit + i].completed;
}

static void shadow_on_submitted(struct test_listener *listener, struct test_request *request)
{
	struct shadow_store *store = shadow_store_of_listener(listener);

	if (request->request.units > TEST_REQUEST_UNITS)
		tap_bail_out("requests of more than %u units are not followed",
			     TEST_REQUEST_UNITS);
	switch (request->request.op) {
	case AFTL_OP_READ:
		shadow_note_submitted_read(store, request);
		break;
	case AFTL_OP_WRITE:
		break;
	case AFTL_OP_FLUSH:
		shadow_note_submitted_flush(store, request);
		break;
	default:
		shadow_note_submitted_discard(store, request);
	}
}

/* Relocation may make approximate data precise, and precise data have no quality level. */
static void check_unit_class_and_level(struct shadow_store *store, u32 unit, u32 class)
{
	const struct shadow_slot *slot = &store->slots[store->units[unit].best];

	CHECK_MSG(class == slot->class || slot->class == AFTL_APPROX, "unit %u became approximate",
		  unit);
	CHECK_MSG(aftl_lpn_quality_level(store->device->ftl, to_lpn(unit)) ==
			  (class == AFTL_APPROX ? max_t(u32, slot->level, 1) : 0),
		  "unit %u has another level than %u", unit, slot->level);
}

void shadow_compare_device_with_store(struct shadow_store *store)
{
	u32 unit;

	for (unit = 0; unit < test_unit_count(store->device); unit++) {
		u32 best = store->units[unit].best;
		bool mapped = best != U32_MAX &&
			      store->slots[best].stamp > store->units[unit].zero;
		u32 class;
		aftl_ppn_t ppn = aftl_lookup(store->device->ftl, to_lpn(unit), &class);

		CHECK_EQ(from_ppn(ppn), mapped ? best : from_ppn(AFTL_NO_PPN));
		if (mapped)
			check_unit_class_and_level(store, unit, class);
	}
	test_audit_device(store->device);
}

static void shadow_on_finish(struct test_listener *self)
{
	shadow_compare_device_with_store(container_of(self, struct shadow_store, listener));
}

static void shadow_free_store(struct test_listener *self)
{
	struct shadow_store *store = container_of(self, struct shadow_store, listener);
	struct shadow_promise *promise_left;

	while ((promise_left = store->promises)) {
		store->promises = promise_left->next;
		free(promise_left);
	}
	free(store->content);
	free(store->tags);
	free(store->slots);
	free(store->units);
	free(store->scratch);
}

void shadow_attach_to_device(struct shadow_store *store, struct test_device *device, bool whole)
{
	const struct aftl_geometry *geo = aftl_geometry(device->ftl);
	u32 tags = aftl_count_buffer_tags(device->ftl);
	u32 i;

	*store = (struct shadow_store){
		.listener = {
			.submitted = shadow_on_submitted,
			.complete = shadow_on_complete,
			.accept = shadow_on_write_accepted,
			.program = shadow_on_program,
			.release = shadow_on_release,
			.copy = shadow_on_copy,
			.unmap = shadow_on_unmap,
			.erase = shadow_on_erase,
			.read = shadow_on_read,
			.finish = shadow_on_finish,
			.close = shadow_free_store,
		},
		.device = device,
		.words = whole ? geo->unit_bytes / 8 : 1,
		.tags = tap_zalloc(tags, sizeof(*store->tags)),
		.slots = tap_zalloc(geo->ppns, sizeof(*store->slots)),
		.units = tap_zalloc(geo->units, sizeof(*store->units)),
		.scratch = tap_zalloc(geo->unit_bytes, 1),
	};
	store->content = tap_zalloc((size_t)(tags + geo->ppns) * store->words, sizeof(u64));
	for (i = 0; i < geo->units; i++)
		store->units[i].best = U32_MAX;
	device->level = AFTL_LEVELS;
	test_device_add_listener(device, &store->listener);
}
