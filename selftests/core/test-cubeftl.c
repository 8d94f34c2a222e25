// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL's allocation of word lines: leaders, followers, and what they gain.
 */
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels", "2", "chips", "1", "blocks", "48", "layers", "6", "word_lines", "4", \
	"bits", "3", "one_shot", "on", "page", "16KiB", "unit", "0"

/* Checks every program that the host hears of. */
struct watch {
	struct test_listener listener;
	u64 leaders;
	u64 followers;
	u32 layer_switches;
	u32 last_layer;
};

static struct test_device device;
static struct watch watch;

static void check_program(aftl_slot_t slot)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = aftl_slot_block(media, slot);
	u32 pages = media->geo->pages;
	u32 page = aftl_slot_device_page(media, slot) % pages;
	u32 in_line = page % 3;
	u32 line = page / 3 % 4;
	u32 layer = page / 12;
	u32 mode = aftl_page_mode(media->attr[aftl_device_page(media, block, page)]);

	if (in_line)
		return;
	CHECK_MSG(line == 0 || aftl_page_programmed(media, block, layer * 12),
		  "follower %u of layer %u before its leader", line, layer);
	CHECK_EQ(mode, line ? AFTL_MODE_FOLLOWER : AFTL_MODE_NORMAL);
	*(line ? &watch.followers : &watch.leaders) += 1;
	watch.layer_switches += layer != watch.last_layer;
	watch.last_layer = layer;
}

static void on_program(struct test_listener *listener, u32 tag, aftl_unit_t unit,
		       aftl_slot_t slot)
{
	(void)listener;
	(void)tag;
	(void)unit;
	check_program(slot);
}

static void on_copy(struct test_listener *listener, aftl_unit_t unit, aftl_slot_t from,
		    aftl_slot_t to)
{
	(void)listener;
	(void)unit;
	(void)from;
	check_program(to);
}

static void open_device(const char *policy, const char *const *pairs)
{
	test_device_init(&device, "demo");
	test_device_open(&device, policy, pairs);
	watch = (struct watch){ .listener = { .program = on_program, .copy = on_copy } };
}

static void close_device(void)
{
	test_audit(&device);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	test_device_close(&device);
}

static void check_open_blocks(u32 limit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 lun;
	u32 i;

	for (lun = 0; lun < media->geo->luns; lun++) {
		u32 open = 0;

		for (i = 0; i < media->geo->blocks_per_lun; i++)
			open += media->blocks[lun * media->geo->blocks_per_lun + i].state ==
				AFTL_BLOCK_OPEN;
		CHECK(open <= limit);
	}
}

/* CU-2, under collection and with a buffer that fills and drains. */
static void check_leaders(const char *policy, u32 limit)
{
	static const char *const pairs[] = { SHAPE, "op", "50", "buffer", "1MiB", NULL };
	struct shadow_store store;
	struct test_stream stream;
	u32 i;

	open_device(policy, pairs);
	test_device_listen(&device, &watch.listener);
	shadow_open(&store, &device, false);
	test_stream_init(&stream, limit);
	for (i = 0; i < 20000 && !tap_failures(); i++) {
		stream.gap_ns = i / 1000 % 2 ? 100000 : 3000000;
		test_stream_step(&stream, &device);
		check_open_blocks(limit);
	}
	test_drain(&device);
	CHECK(test_counters(&device)->gc_blocks > 50);
	CHECK(watch.leaders > 1000 && watch.followers > watch.leaders);
	shadow_close(&store);
	close_device();
}

static void followers_come_after_their_leader(void)
{
	check_leaders("cubeftl", 2);
}

static void followers_of_cubeftl_minus_too(void)
{
	check_leaders("cubeftl_minus", 1);
}

/* With room in the buffer leaders are written first, under pressure followers. */
static void the_buffer_chooses(void)
{
	static const char *const pairs[] = {
		SHAPE, "channels", "1", "op", "50", "buffer", "1MiB", "burst", "50", NULL
	};
	u32 i;

	open_device("cubeftl", pairs);
	test_device_listen(&device, &watch.listener);
	/* Six layers in each of two blocks: twelve word lines of three pages. */
	for (i = 0; i < 12; i++) {
		test_do(&device, AFTL_OP_WRITE, 3 * i, 3, AFTL_PRECISE, NULL);
		test_do(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	}
	CHECK_EQ(watch.leaders, 12);
	CHECK_EQ(watch.followers, 0);
	/* 64 tags, more than half of them taken: the 36 followers come. */
	for (i = 0; i < 50; i++)
		test_submit(&device, AFTL_OP_WRITE, 100 + 3 * i, 3, AFTL_PRECISE, 0, 0);
	while (watch.followers + watch.leaders < 36 && test_step(&device))
		;
	CHECK_EQ(watch.leaders, 12);
	CHECK_EQ(watch.followers, 24);
	test_drain(&device);
	close_device();
}

static void cubeftl_minus_goes_layer_by_layer(void)
{
	static const char *const pairs[] = { SHAPE, "channels", "1", "op", "50", NULL };
	u32 i;

	open_device("cubeftl_minus", pairs);
	test_device_listen(&device, &watch.listener);
	for (i = 0; i < 48; i++)
		test_do(&device, AFTL_OP_WRITE, 3 * i, 3, AFTL_PRECISE, NULL);
	CHECK_EQ(watch.leaders, 12);
	CHECK_EQ(watch.followers, 36);
	CHECK_EQ(watch.layer_switches, 11);
	close_device();
}

/* Nanoseconds for a stream of writes that keeps every die busy. */
static u64 saturated_ns(const char *policy)
{
	static const char *const pairs[] = {
		SHAPE, "op", "30", "blocks", "200", "bus", "100000", "buffer", "4MiB", NULL
	};
	u64 end;
	u32 i;

	open_device(policy, pairs);
	for (i = 0; i < 12000; i++) {
		test_submit(&device, AFTL_OP_WRITE, 3 * i % (test_units(&device) / 3 * 3), 3,
			    AFTL_PRECISE, 0, 0);
		test_drain_to(&device, 16);
	}
	test_drain(&device);
	test_do(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	end = aftl_now(device.ftl);
	CHECK_EQ(test_counters(&device)->array_programs, 12000);
	close_device();
	return end;
}

/* CU-3: f = 0.30 on three of four word lines gives 1 / (1 - 0.75 f) = 1.290. */
static void saturated_writes_gain_29_percent(void)
{
	double page = saturated_ns("pageftl");
	double cube = saturated_ns("cubeftl");
	double minus = saturated_ns("cubeftl_minus");

	tap_note("over pageftl: cubeftl %.3f, cubeftl_minus %.3f", page / cube, page / minus);
	CHECK(page / cube > 1.26 && page / cube < 1.32);
	CHECK(page / minus > 1.26 && page / minus < 1.32);
}

int main(void)
{
	tap_run("CU-2: followers come after their leader", followers_come_after_their_leader);
	tap_run("CU-2: those of cubeftl_minus too", followers_of_cubeftl_minus_too);
	tap_run("the buffer chooses leaders or followers", the_buffer_chooses);
	tap_run("cubeftl_minus goes layer by layer", cubeftl_minus_goes_layer_by_layer);
	tap_run("CU-3: saturated writes gain 29 %", saturated_writes_gain_29_percent);
	return tap_finish();
}
