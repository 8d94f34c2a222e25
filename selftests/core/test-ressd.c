// SPDX-License-Identifier: GPL-2.0-only
/*
 * ReSSD: cells, word lines, super layers, hotness classes, candidates and their reclamation, each
 * checked by an independent model.
 */
#include <stdlib.h>

#include "core/nand/reprogram.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/policy/hotness.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define LINE AFTL_REPROGRAM_BITS
/* Bits of the note that the policy keeps for a block, as in core/policy/ressd.c. */
#define NOTE_CANDIDATE 0x100
#define NOTE_RECLAIM 0x200
#define KIND_REPROGRAMMABLE 6

/* A word line's distribution ID depends on how often each of its two pages was reprogrammed. */
TAP_TEST(the_distribution_id_follows_from_the_reprograms_of_each_page)
{
	/* ReSSD's word-line IDs, by the numbers of reprograms of LSB page and MSB page. */
	static const u32 ids[3][3] = { { 0, 0, 1 }, { 1, 2 }, { 3 } };
	u32 lsb;
	u32 msb;

	for (lsb = 0; lsb <= AFTL_REPROGRAMS_MAX; lsb++)
		for (msb = 0; lsb + msb <= AFTL_REPROGRAMS_MAX; msb++)
			CHECK_EQ(aftl_encode_voltage_distribution(lsb, msb), ids[lsb][msb]);
}

/* A listener that tracks the word lines of a device */

struct watcher {
	struct test_listener listener;
	u32 *programs;
	u32 *moved;
	bool *reclaimed;
	u32 reprograms;
	u32 moves;
	bool virtual_layers;
};

static struct test_device device;
static struct watcher watcher;

static const struct aftl_geometry *geo(void)
{
	return aftl_geometry(device.ftl);
}

static u32 word_lines_per_block(void)
{
	return geo()->pages / LINE;
}

/* Pages programmed into word line @line of the block since its erase. */
static u32 *find_word_line_program_count(u32 block, u32 line)
{
	return &watcher.programs[block * word_lines_per_block() + line];
}

static bool is_layer_fully_reprogrammed(u32 block, u32 layer)
{
	u32 line;

	for (line = layer * geo()->word_lines; line < (layer + 1) * geo()->word_lines; line++)
		if (*find_word_line_program_count(block, line) != 4)
			return false;
	return true;
}

static u32 highest_programmed_layer(u32 block)
{
	u32 line;

	for (line = word_lines_per_block(); line; line--)
		if (*find_word_line_program_count(block, line - 1))
			return (line - 1) / geo()->word_lines;
	return 0;
}

/*
 * A layer may begin when all super layers below it are used up. After a reclamation with virtual
 * super layers the layer directly below may be in use, until all lower ones are used up.
 */
static void check_lower_layers_fully_reprogrammed(u32 block, u32 layer)
{
	bool *reclaimed = &watcher.reclaimed[block];
	u32 open = layer;

	while (open && !is_layer_fully_reprogrammed(block, open - 1))
		open--;
	if (open == layer)
		*reclaimed = false;
	else if (watcher.virtual_layers && *reclaimed)
		CHECK_MSG(open + 1 >= layer, "block %u: layer %u begins before %u is spent", block,
			  layer, layer - 2);
	else
		CHECK_MSG(open >= layer - layer % geo()->super_layers,
			  "block %u: layer %u begins before its super layer", block, layer);
}

static void check_reprogram_of_page(u32 block, u32 layer)
{
	u32 highest = highest_programmed_layer(block);

	if (watcher.virtual_layers)
		CHECK_MSG(layer + 1 >= highest, "block %u: layer %u again below %u", block, layer,
			  highest);
	else
		CHECK_MSG(layer / geo()->super_layers == highest / geo()->super_layers,
			  "block %u: layer %u again, not that of %u", block, layer, highest);
}

static void check_programmed_ressd_word_line(struct test_listener *listener, aftl_ppn_t first)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = aftl_block_of_ppn(media, first);
	u32 index = aftl_block_index(media, block);
	u32 line = aftl_page_of_ppn(media, first) % geo()->pages / LINE;
	u32 *programs = find_word_line_program_count(index, line);

	if (block->order != AFTL_ORDER_SUPER_LAYER)
		return;
	if (!*programs)
		check_lower_layers_fully_reprogrammed(index, line / geo()->word_lines);
	if (*programs >= 2) {
		check_reprogram_of_page(index, line / geo()->word_lines);
		watcher.reprograms++;
		watcher.moved[index] = 0;
	}
	++*programs;
	CHECK_MSG(*programs <= 4, "word line %u of block %u takes %u pages", line, index,
		  *programs);
}

/* Reclamation relocates at most the capacity of one super layer out of an open block. */
static void ressd_check_relocated_unit(struct test_listener *listener, aftl_lpn_t lpn,
				       aftl_ppn_t from, aftl_ppn_t to)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = aftl_block_of_ppn(media, from);
	u32 *moved = &watcher.moved[aftl_block_index(media, block)];
	u32 layers = watcher.virtual_layers ? 1 : geo()->super_layers;

	CHECK_RANGE(aftl_block_of_ppn(media, to)->kind, AFTL_KIND_COLLECTED, AFTL_KIND_DISPLACED);
	if (block->order != AFTL_ORDER_SUPER_LAYER || block->state != AFTL_BLOCK_OPEN)
		return;
	watcher.moves++;
	watcher.reclaimed[aftl_block_index(media, block)] = true;
	++*moved;
	CHECK_MSG(*moved <= layers * geo()->word_lines * 2 * geo()->page_units,
		  "%u units are moved out of a super layer", *moved);
}

static void reset_ressd_state_of_erased_block(struct test_listener *listener, aftl_ppn_t first,
					      u32 slots)
{
	u32 index = aftl_block_index(aftl_media(device.ftl),
				     aftl_block_of_ppn(aftl_media(device.ftl), first));

	memset(find_word_line_program_count(index, 0), 0, word_lines_per_block() * sizeof(u32));
	watcher.moved[index] = 0;
	watcher.reclaimed[index] = false;
}

static void free_ressd_rule_listener(struct test_listener *listener)
{
	free(watcher.programs);
	free(watcher.moved);
	free(watcher.reclaimed);
}

static void install_ressd_rule_listener(void)
{
	watcher = (struct watcher){
		.listener = {
			.programmed = check_programmed_ressd_word_line,
			.copy = ressd_check_relocated_unit,
			.erase = reset_ressd_state_of_erased_block,
			.close = free_ressd_rule_listener,
		},
		.programs = tap_zalloc((size_t)geo()->blocks * word_lines_per_block(), sizeof(u32)),
		.moved = tap_zalloc(geo()->blocks, sizeof(u32)),
		.reclaimed = tap_zalloc(geo()->blocks, sizeof(bool)),
		.virtual_layers = *test_device_set_param(&device.config, "virtual_layers"),
	};
	test_device_add_listener(&device, &watcher.listener);
}

#define SHAPE "bits=3 one_shot=on page=4KiB unit=0 layers=6 word_lines=2"
#define ONE_DIE SHAPE " channels=1 chips=1 op=40"
#define ZONES "zone1=10ms zone2=40ms zone3=100ms"

static const char plain[] = ONE_DIE " blocks=200 " ZONES " candidates=2";
static const char virtual[] = ONE_DIE " blocks=200 " ZONES " candidates=2 virtual_layers=on";
/* Parameters of a device with super layers of four layers, the last one of two layers. */
static const char deep[] = ONE_DIE " blocks=200 " ZONES " candidates=2 super_layers=4";
static const char patient[] = ONE_DIE " blocks=200 zone1=10s candidates=2";
static const char roomy[] = ONE_DIE " blocks=200 zone1=10s candidates=3";

static const char busy[] =
	SHAPE " channels=2 chips=2 op=50 blocks=100 layers=5 " ZONES " buffer=256KiB wear_gap=4 "
	"suspend=both";

static void send_update_requests(u32 requests)
{
	struct test_stream stream;

	test_stream_init(&stream, requests);
	stream.hot = 80;
	stream.approx = 0;
	stream.gap_ns = 2000000;
	test_stream_submit_requests(&stream, &device, requests);
	test_drain_requests(&device);
}

static void open_ressd_device(const char *params)
{
	test_open_demo_profile(&device, "ressd", params);
	install_ressd_rule_listener();
}

static void check_ressd_rules(const char *params)
{
	open_ressd_device(params);
	send_update_requests(12000);
	CHECK_RANGE(watcher.reprograms, 1000, U32_MAX);
	CHECK_EQ(watcher.reprograms, test_counters(&device)->reprogrammed_pages);
	CHECK_RANGE(watcher.moves, 100, U32_MAX);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 100, U32_MAX);
}

TAP_TEST(super_layers_are_used_in_order_word_lines_updated_twice)
{
	check_ressd_rules(plain);
}

TAP_TEST(super_layers_of_any_depth_are_used_in_order)
{
	check_ressd_rules(deep);
}

TAP_TEST(virtual_super_layers_are_used_in_order)
{
	check_ressd_rules(virtual);
}

TAP_TEST(super_layers_are_used_in_order_under_load)
{
	check_ressd_rules(busy);
}

/* Hash of the states of all word lines, derived from page metadata only. */
static u64 hash_word_line_states(const struct aftl *ftl)
{
	const struct aftl_media *media = aftl_media(ftl);
	u64 hash = 0;
	u32 block;
	u32 page;

	for (block = 0; block < media->geo->blocks; block++) {
		const struct aftl_block *at = &media->blocks[block];

		if (at->order != AFTL_ORDER_SUPER_LAYER)
			continue;
		for (page = 0; page < media->geo->pages; page += LINE) {
			struct aftl_word_line status = aftl_word_line_status(media, at, page);

			CHECK_EQ(status.reprograms,
				 aftl_get_reprogram_count_of_word_line(media, at, page));
			hash = aftl_hash64_pair(hash, (u64)status.reprograms << 16 |
							      status.id << 8 | status.valid);
		}
	}
	return hash;
}

static u32 count_open_blocks_with_ressd_flags(const struct aftl *ftl, u32 bits)
{
	const struct aftl_media *media = aftl_media(ftl);
	u32 count = 0;
	u32 i;

	for (i = 0; i < media->geo->blocks; i++)
		count += media->blocks[i].state == AFTL_BLOCK_OPEN &&
			 media->blocks[i].kind == KIND_REPROGRAMMABLE &&
			 media->blocks[i].note & bits;
	return count;
}

TAP_TEST(word_line_state_survives_a_restart)
{
	u64 hash;
	u32 candidates;

	open_ressd_device(plain);
	send_update_requests(4000);
	hash = hash_word_line_states(device.ftl);
	candidates = count_open_blocks_with_ressd_flags(device.ftl, NOTE_CANDIDATE);
	CHECK_RANGE(candidates, 1, 6);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(hash_word_line_states(device.ftl), hash);
	CHECK_EQ(count_open_blocks_with_ressd_flags(device.ftl, NOTE_CANDIDATE), candidates);
}

/* Single writes */

static void write_single_unit(u32 unit, u64 *latency_ns)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 1, 0, latency_ns), 0);
}

static const struct aftl_block *home_of_unit(u32 unit, u32 *page)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 class;
	aftl_ppn_t ppn = aftl_lookup(device.ftl, to_lpn(unit), &class);

	*page = aftl_page_of_ppn(media, ppn) % geo()->pages;
	return aftl_block_of_ppn(media, ppn);
}

/* Hotness class of the block of @unit, or 0 for a normal block. */
static u32 hotness_class_of_unit(u32 unit)
{
	u32 page;
	const struct aftl_block *block = home_of_unit(unit, &page);

	return block->kind == KIND_REPROGRAMMABLE ? (block->note >> 6 & 3) + 1 : 0;
}

/* An update is classified by the time since the first write to the block of the old version. */
TAP_TEST(updates_are_classified_by_the_age_of_their_block)
{
	static const u64 wait_ms[] = { 5, 30, 60, 200 };
	static const u32 level[] = { 1, 2, 3, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(level); i++) {
		open_ressd_device(plain);
		write_single_unit(0, NULL);
		CHECK_EQ(hotness_class_of_unit(0), 0);
		test_advance_clock_by(&device, wait_ms[i] * 1000000);
		write_single_unit(0, NULL);
		CHECK_MSG(hotness_class_of_unit(0) == level[i], "after %llu ms: level %u, not %u",
			  (unsigned long long)wait_ms[i], hotness_class_of_unit(0), level[i]);
	}
}

/* Policy tlc, the comparison baseline, uses the same hotness classes in normal blocks. */
TAP_TEST(policy_tlc_uses_the_same_hotness_classes)
{
	u32 page;

	test_open_demo_profile(&device, "tlc", plain);
	write_single_unit(0, NULL);
	CHECK_EQ(home_of_unit(0, &page)->kind, AFTL_HOTNESS_COLD);
	test_advance_clock_by(&device, 30000000);
	write_single_unit(0, NULL);
	CHECK_EQ(home_of_unit(0, &page)->kind, 2);
}

/* If one unit is overwritten repeatedly, each word line takes two reprograms. */
TAP_TEST(a_word_line_takes_four_pages)
{
	s64 opened_ns;
	u32 page;
	u32 before;
	u32 i;

	open_ressd_device(plain);
	write_single_unit(0, NULL);
	write_single_unit(0, NULL);
	CHECK_EQ(home_of_unit(0, &before)->kind, KIND_REPROGRAMMABLE);
	CHECK_EQ(before, 0);
	/* Each of the first four writes opens a word line, with one page of data and padding. */
	for (i = 1; i < 4; i++)
		write_single_unit(0, NULL);
	home_of_unit(0, &page);
	CHECK_EQ(page, 3 * LINE);
	CHECK_EQ(test_counters(&device)->reprogrammed_pages, 0);
	for (i = 0; i < 8; i++)
		write_single_unit(0, NULL);
	CHECK_EQ(test_counters(&device)->reprogrammed_pages, 8);
	home_of_unit(0, &page);
	CHECK_EQ(page / LINE, 3);
	/* The block age, by which updates are classified, restarts with each super layer. */
	opened_ns = home_of_unit(0, &page)->opened_ns;
	write_single_unit(0, NULL);
	CHECK(home_of_unit(0, &page)->opened_ns > opened_ns);
	CHECK_MSG(page == 4 * LINE, "the next super layer begins at page %u, not %u", page,
		  4 * LINE);
}

/* A device with the times of table 4 of the ReSSD paper, one page per unit, negligible bus time. */
TAP_TEST(program_and_read_times_are_the_papers)
{
	const u64 bus_ns = 16384 * 1000 / 100000 + 1;
	u64 ns;

	test_device_init(&device, "tos22");
	test_device_open(&device, "ressd",
			 "channels=1 chips=1 dies=1 planes=1 blocks=200 op=50% bus=100000");
	write_single_unit(0, &ns);
	CHECK_RANGE(ns, 3000000, 3000000 + 3 * bus_ns);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, &ns), 0);
	CHECK_RANGE(ns, 66000, 66000 + bus_ns);
	write_single_unit(0, &ns);
	CHECK_RANGE(ns, 2675000, 2675000 + 2 * bus_ns);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, &ns), 0);
	CHECK_RANGE(ns, 53000, 53000 + bus_ns);
	write_single_unit(0, &ns);
	write_single_unit(0, &ns);
	write_single_unit(0, &ns);
	CHECK_EQ(test_counters(&device)->reprogrammed_pages, 0);
	write_single_unit(0, &ns);
	CHECK_EQ(test_counters(&device)->reprogrammed_pages, 1);
	CHECK_RANGE(ns, 2705000, 2705000 + bus_ns);
}

/* Write new units of hotness class 1 until a candidate block must be reclaimed. */
static void write_units_until_block_needs_reclaim(u32 *unit)
{
	u64 moved = test_counters(&device)->programmed_rewrite_units;

	while (count_open_blocks_with_ressd_flags(device.ftl, NOTE_RECLAIM) == 0 &&
	       !tap_failure_count()) {
		write_single_unit(*unit, NULL);
		write_single_unit(*unit, NULL);
		++*unit;
		if (!CHECK_MSG(*unit < 300, "no candidate is reclaimed"))
			return;
	}
	CHECK(test_counters(&device)->programmed_rewrite_units >= moved);
}

/* Write new units until a block becomes a reclamation candidate; return the block, or NULL. */
static const struct aftl_block *wait_for_candidate(u32 *unit)
{
	u32 page;

	for (; *unit < 100 && !tap_failure_count(); ++*unit) {
		write_single_unit(*unit, NULL);
		write_single_unit(*unit, NULL);
		if (count_open_blocks_with_ressd_flags(device.ftl, NOTE_CANDIDATE))
			return home_of_unit(0, &page);
	}
	return NULL;
}

/* An update of data in a candidate block puts the block back into use before its reclamation. */
TAP_TEST(an_update_returns_a_candidate_to_use)
{
	const struct aftl_block *block;
	u32 unit = 0;
	u32 i;

	open_ressd_device(patient);
	block = wait_for_candidate(&unit);
	if (CHECK(block && block->note & NOTE_CANDIDATE)) {
		write_single_unit(0, NULL);
		for (i = 0; i < 40 && block->note & NOTE_CANDIDATE; i++) {
			write_single_unit(++unit, NULL);
			write_single_unit(unit, NULL);
		}
		CHECK(!(block->note & (NOTE_CANDIDATE | NOTE_RECLAIM)));
	}
}

/* Write each unit twice, so that the second write is an update. */
static void write_units_twice(u32 first, u32 end)
{
	for (; first < end; first++) {
		write_single_unit(first, NULL);
		write_single_unit(first, NULL);
	}
}

/* Reclaiming a candidate relocates eight units, or six if the block has a used-up word line. */
TAP_TEST(the_cheapest_candidate_is_reclaimed)
{
	const struct aftl_block *eight;
	const struct aftl_block *six;
	u32 page;

	open_ressd_device(patient);
	write_units_twice(0, 9);
	eight = home_of_unit(0, &page);
	six = home_of_unit(8, &page);
	write_units_twice(9, 12);
	write_single_unit(8, NULL);
	write_single_unit(8, NULL);
	write_units_twice(12, 15);
	CHECK(eight->note & NOTE_CANDIDATE);
	write_units_twice(15, 16);
	CHECK(eight->note & NOTE_CANDIDATE);
	CHECK(six->note & NOTE_RECLAIM);
	/* Reclamation does not relocate data of a word line that cannot be reprogrammed again. */
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(watcher.moves, 6);
	CHECK(home_of_unit(8, &page) == six);
}

static void reclaim_candidate_block(const struct aftl_block *block, u32 left)
{
	CHECK(block->note & NOTE_CANDIDATE);
	device.ftl->type->out_of_blocks(device.ftl->policy, device.ftl->luns);
	CHECK_EQ(count_open_blocks_with_ressd_flags(device.ftl, NOTE_CANDIDATE), left);
	CHECK_EQ(block->state, AFTL_BLOCK_CLOSED);
}

/* If GC finds no victim, the reprogrammable block with the least valid data becomes normal. */
TAP_TEST(candidates_become_normal_blocks_if_gc_needs_them)
{
	const struct aftl_block *fuller;
	const struct aftl_block *other;
	u32 page;

	open_ressd_device(roomy);
	write_units_twice(0, 17);
	fuller = home_of_unit(0, &page);
	other = home_of_unit(8, &page);
	CHECK_EQ(count_open_blocks_with_ressd_flags(device.ftl, NOTE_CANDIDATE), 2);
	test_execute_request(&device, AFTL_OP_DISCARD, 8, 1, AFTL_PRECISE, NULL);
	CHECK_RANGE(other->valid, 1, fuller->valid - 1);
	reclaim_candidate_block(other, 1);
	reclaim_candidate_block(fuller, 0);
}

TAP_TEST(idle_time_reclaims_candidates)
{
	u64 host_programs;
	u32 unit = 0;

	open_ressd_device(patient);
	write_units_until_block_needs_reclaim(&unit);
	CHECK_EQ(count_open_blocks_with_ressd_flags(device.ftl, NOTE_RECLAIM), 1);
	host_programs = test_counters(&device)->programmed_host_units;
	watcher.moves = 0;
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, host_programs);
	CHECK_RANGE(watcher.moves, 1, 8);
	/* A candidate block whose data were overwritten takes writes again. */
	write_single_unit(unit - 1, NULL);
	CHECK_EQ(count_open_blocks_with_ressd_flags(device.ftl, NOTE_RECLAIM), 0);
	CHECK_RANGE(test_counters(&device)->reprogrammed_pages, 1, U64_MAX);
}

static u32 does_policy_offer_reclamation(struct aftl_lun *lun, u32 free_blocks)
{
	struct aftl_idle_task task = { .kind = AFTL_IDLE_TASK_NONE };
	u32 free = lun->free_blocks;

	lun->free_blocks = free_blocks;
	device.ftl->type->idle_task(device.ftl->policy, lun, &task);
	lun->free_blocks = free;
	return task.kind;
}

static struct aftl_block *find_open_block_of_displaced_data(void)
{
	struct aftl_block *block = device.ftl->media.blocks;

	while (block->state != AFTL_BLOCK_OPEN || block->kind != AFTL_KIND_DISPLACED)
		block++;
	return block;
}

/* Reclamation may open a free block for relocated data, but not use the GC reserve. */
TAP_TEST(reclamation_does_not_use_the_gc_reserve)
{
	struct aftl_lun *lun;
	u32 unit = 0;

	open_ressd_device(patient);
	lun = device.ftl->luns;
	write_units_until_block_needs_reclaim(&unit);
	aftl_close_unfilled_block(device.ftl, lun, find_open_block_of_displaced_data());
	CHECK_EQ(does_policy_offer_reclamation(lun, device.ftl->type->reserve),
		 AFTL_IDLE_TASK_NONE);
	CHECK_EQ(does_policy_offer_reclamation(lun, device.ftl->type->reserve + 1),
		 AFTL_IDLE_TASK_RELOCATE);
	watcher.moves = 0;
	test_advance_clock_by(&device, 1000000000);
	CHECK_RANGE(watcher.moves, 1, 8);
}

static void write_cold_data(const char *policy, struct aftl_counters *counters)
{
	u32 i;

	test_open_demo_profile(&device, policy, plain);
	for (i = 0; i < 6 * test_unit_count(&device); i++) {
		test_submit_io(&device, AFTL_OP_WRITE, i % test_unit_count(&device), 1, 0, 0, 0);
		test_drain_requests_to_depth(&device, 8);
	}
	test_drain_requests(&device);
	*counters = *test_counters(&device);
}

TAP_TEST(cold_data_are_stored_as_by_policy_tlc)
{
	struct aftl_counters ressd;
	struct aftl_counters tlc;

	write_cold_data("ressd", &ressd);
	write_cold_data("tlc", &tlc);
	CHECK_EQ(ressd.reprogrammed_pages, 0);
	CHECK_RANGE(ressd.gc_blocks, 100, U64_MAX);
	CHECK_EQ(ressd.array_programs, tlc.array_programs);
	/* Policies ressd and tlc may differ by one erase: their reserves differ by one block. */
	CHECK_RANGE(ressd.array_erases, tlc.array_erases - 1, tlc.array_erases + 1);
}

/* Overwrite few units often on a device that programs single pages, to compare two policies. */
static void write_hot_single_pages(const char *policy, struct aftl_counters *counters)
{
	struct aftl_random random = { 5 };
	u32 i;

	test_open_demo_profile(&device, policy,
			       ONE_DIE " one_shot=off blocks=200 " ZONES " candidates=2");
	CHECK_EQ(geo()->program_pages, 1);
	for (i = 0; i < 20000; i++)
		write_single_unit(aftl_random_below(&random, 16), NULL);
	*counters = *test_counters(&device);
}

TAP_TEST(ressd_on_other_geometries_behaves_as_policy_tlc)
{
	struct aftl_counters ressd;
	struct aftl_counters tlc;

	write_hot_single_pages("ressd", &ressd);
	write_hot_single_pages("tlc", &tlc);
	CHECK_EQ(ressd.policy_bugs, 0);
	CHECK_EQ(ressd.reprogrammed_pages, 0);
	CHECK_EQ(ressd.array_programs, tlc.array_programs);
	CHECK_EQ(ressd.array_program_ns, tlc.array_program_ns);
}

/* Tests of random devices with policy ressd, which test-property-random.c seldom draws. */

static void submit_random_updates_and_check_ressd_rules(struct aftl_random *random)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.hot = 50 + aftl_random_below(random, 50);
	stream.depth = aftl_random_below(random, 40);
	stream.gap_ns = aftl_random_below(random, 3) * 1000000;
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < 1200 && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (i % 16 == 0)
			shadow_compare_device_with_store(&store);
	}
}

TAP_TEST(random_devices_agree_with_the_models)
{
	u64 reprograms = 0;
	u32 lived = 0;
	u64 seed;

	for (seed = 1; seed <= 300 && !tap_failure_count(); seed++) {
		struct aftl_random random = { aftl_hash64(seed) };

		test_device_init(&device, "demo");
		test_randomize_geometry(&device, &random);
		test_randomize_options(&device, &random);
		device.config.bits = 3;
		device.config.one_shot = AFTL_ON;
		device.config.plane_mode = AFTL_PLANES_INDEPENDENT;
		if (!test_device_create(&device, "ressd")) {
			lived++;
			install_ressd_rule_listener();
			submit_random_updates_and_check_ressd_rules(&random);
			reprograms += watcher.reprograms;
		}
		test_finish_device_or_print_config(&device, "ressd", seed);
	}
	tap_printf("%u devices lived, %llu pages were reprogrammed", lived,
		   (unsigned long long)reprograms);
	CHECK(lived > 80 && reprograms > 5000);
}
