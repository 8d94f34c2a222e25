// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "brute-model.h"
#include "tap.h"

static struct brute_model *model_of(struct test_listener *listener)
{
	return container_of(listener, struct brute_model, listener);
}

static void on_submitted(struct test_listener *listener, struct test_request *request)
{
	struct brute_model *model = model_of(listener);
	u32 i;

	if (request->request.op != AFTL_OP_DISCARD && request->request.op != AFTL_OP_WRITE_ZEROES)
		return;
	model->orders++;
	for (i = 0; i < request->request.units; i++) {
		struct brute_unit *unit = &model->units[request->request.unit + i];

		unit->order = model->orders;
		unit->slot = U32_MAX;
		unit->slot_order = model->orders;
	}
}

static void on_accept(struct test_listener *listener, struct test_request *request,
		      aftl_lpn_t lpn, u32 tag)
{
	struct brute_model *model = model_of(listener);

	model->tags[tag] = (struct brute_tag){
		.unit = from_lpn(lpn),
		.order = ++model->orders,
		.class = request->request.class,
		.level = request->request.level,
	};
	model->units[from_lpn(lpn)].order = model->orders;
}

static void on_program(struct test_listener *listener, u32 tag, aftl_lpn_t lpn,
		       aftl_ppn_t ppn)
{
	struct brute_model *model = model_of(listener);
	const struct brute_tag *mine = &model->tags[tag];
	struct brute_unit *known = &model->units[from_lpn(lpn)];

	model->slots_used++;
	model->slot_unit[from_ppn(ppn)] = from_lpn(lpn);
	model->slot_told[from_ppn(ppn)] = true;
	if (mine->order < known->slot_order)
		return;
	known->slot = from_ppn(ppn);
	known->slot_order = mine->order;
	known->class = mine->class;
	known->level = mine->level;
}

static void on_copy(struct test_listener *listener, aftl_lpn_t lpn, aftl_ppn_t from,
		    aftl_ppn_t to)
{
	struct brute_model *model = model_of(listener);
	struct brute_unit *known = &model->units[from_lpn(lpn)];

	model->slots_used++;
	model->slot_unit[from_ppn(to)] = from_lpn(lpn);
	model->slot_told[from_ppn(to)] = true;
	if (known->slot == from_ppn(from))
		known->slot = from_ppn(to);
}

/* Translation pages have no bytes: the last programmed copy is the valid one. */
static void program_sheet(struct brute_model *model, u32 slot)
{
	const struct aftl_media *media = aftl_media(model->device->ftl);
	u32 unit = from_lpn(aftl_ppn_lpn(media, to_ppn(slot)));
	bool tp = unit >= media->geo->units &&
		     unit - media->geo->units < media->geo->trans_pages;

	model->slot_unit[slot] = tp ? unit : U32_MAX;
	if (!tp)
		return;
	model->slots_used++;
	model->units[unit].slot = slot;
}

/* Slots that the core has not announced are padding. */
static void on_programmed(struct test_listener *listener, aftl_ppn_t first)
{
	struct brute_model *model = model_of(listener);
	const struct aftl_media *media = aftl_media(model->device->ftl);
	u32 slot = from_ppn(first);
	u32 end = slot + media->geo->page_units;

	/* A coarse pass does not count as a programmed page. */
	model->pages_programmed += !aftl_page_foggy(aftl_ppn_attr(media, to_ppn(slot)));
	for (; slot < end; slot++) {
		if (!model->slot_told[slot])
			program_sheet(model, slot);
		model->slot_told[slot] = false;
	}
}

static void on_erase(struct test_listener *listener, aftl_ppn_t first, u32 slots)
{
	struct brute_model *model = model_of(listener);

	memset(&model->slot_unit[from_ppn(first)], 0xff, slots * sizeof(u32));
}

static void compare_unit(struct brute_model *model, u32 index)
{
	struct brute_unit *unit = &model->units[index];
	aftl_ppn_t ppn;
	u32 class = AFTL_PRECISE;

	ppn = aftl_lookup(model->device->ftl, to_lpn(index), &class);
	CHECK_MSG(from_ppn(ppn) == unit->slot, "unit %u is in slot %x, not %x", index,
		  from_ppn(ppn), unit->slot);
	if (unit->slot == U32_MAX)
		return;
	CHECK_MSG(class == unit->class || unit->class == AFTL_APPROX,
		  "unit %u became approximate", index);
	CHECK_MSG(aftl_lpn_level(model->device->ftl, to_lpn(index)) ==
			  (class == AFTL_APPROX ? max_t(u32, unit->level, 1) : 0),
		  "unit %u has another level than %u", index, unit->level);
	unit->class = class;
	model->block_valid[unit->slot / aftl_geometry(model->device->ftl)->block_ppns]++;
	model->block_approx[unit->slot / aftl_geometry(model->device->ftl)->block_ppns] +=
		class == AFTL_APPROX;
}

static void compare_sheet(struct brute_model *model, u32 index)
{
	u32 slot = model->units[index].slot;

	if (slot != U32_MAX)
		model->block_valid[slot / aftl_geometry(model->device->ftl)->block_ppns]++;
}

static void compare_slot(struct brute_model *model, u32 slot)
{
	const struct aftl_media *media = aftl_media(model->device->ftl);
	u32 unit = model->slot_unit[slot];
	bool valid = unit != U32_MAX && model->units[unit].slot == slot;

	CHECK_MSG(aftl_ppn_valid(media, to_ppn(slot)) == valid, "slot %u is %svalid", slot,
		  valid ? "in" : "");
	if (unit != U32_MAX)
		CHECK_EQ(from_lpn(aftl_ppn_lpn(media, to_ppn(slot))), unit);
}

static void compare_block(struct brute_model *model, u32 index)
{
	const struct aftl_media *media = aftl_media(model->device->ftl);
	const struct aftl_block *block = &media->blocks[index];
	u32 programmed = 0;
	u32 page;

	for (page = 0; page < media->geo->pages; page++)
		programmed += aftl_page_programmed(media, block, page);
	CHECK_MSG(block->valid == model->block_valid[index], "block %u has %u valid, not %u",
		  index, block->valid, model->block_valid[index]);
	CHECK_MSG(block->valid_approx == model->block_approx[index],
		  "block %u has %u valid approximate, not %u", index, block->valid_approx,
		  model->block_approx[index]);
	CHECK_EQ(block->programmed, programmed);
	CHECK_MSG(block->state != AFTL_BLOCK_FREE || !programmed, "block %u is free and used",
		  index);
}

void brute_compare(struct brute_model *model)
{
	const struct aftl_geometry *geo = aftl_geometry(model->device->ftl);
	u32 i;

	memset(model->block_valid, 0, geo->blocks * sizeof(u32));
	memset(model->block_approx, 0, geo->blocks * sizeof(u32));
	for (i = 0; i < geo->units; i++)
		compare_unit(model, i);
	for (i = geo->units; i < geo->units + geo->trans_pages; i++)
		compare_sheet(model, i);
	for (i = 0; i < geo->ppns; i++)
		compare_slot(model, i);
	for (i = 0; i < geo->blocks; i++)
		compare_block(model, i);
}

void brute_compare_counters(struct brute_model *model)
{
	const struct aftl_geometry *geo = aftl_geometry(model->device->ftl);

	CHECK_EQ(test_programmed_units(model->device), model->slots_used);
	CHECK_EQ(test_programmed_units(model->device) + test_counters(model->device)->padded_units,
		 model->pages_programmed * geo->page_units);
}

static void brute_finish(struct test_listener *self)
{
	struct brute_model *model = container_of(self, struct brute_model, listener);

	brute_compare(model);
	if (!model->reloaded)
		brute_compare_counters(model);
}

static void brute_release(struct test_listener *self)
{
	struct brute_model *model = container_of(self, struct brute_model, listener);

	free(model->units);
	free(model->tags);
	free(model->slot_unit);
	free(model->slot_told);
	free(model->block_valid);
	free(model->block_approx);
}

void brute_open(struct brute_model *model, struct test_device *device)
{
	const struct aftl_geometry *geo = aftl_geometry(device->ftl);
	u32 i;

	*model = (struct brute_model){
		.listener = {
			.submitted = on_submitted,
			.accept = on_accept,
			.program = on_program,
			.copy = on_copy,
			.programmed = on_programmed,
			.erase = on_erase,
			.finish = brute_finish,
			.close = brute_release,
		},
		.device = device,
		.units = tap_zalloc(geo->units + geo->trans_pages, sizeof(*model->units)),
		.tags = tap_zalloc(aftl_tag_count(device->ftl), sizeof(*model->tags)),
		.slot_unit = tap_zalloc(geo->ppns, sizeof(u32)),
		.slot_told = tap_zalloc(geo->ppns, sizeof(bool)),
		.block_valid = tap_zalloc(geo->blocks, sizeof(u32)),
		.block_approx = tap_zalloc(geo->blocks, sizeof(u32)),
	};
	memset(model->slot_unit, 0xff, geo->ppns * sizeof(u32));
	for (i = 0; i < geo->units + geo->trans_pages; i++)
		model->units[i].slot = U32_MAX;
	device->level = AFTL_LEVELS;
	test_device_listen(device, &model->listener);
}
