// SPDX-License-Identifier: GPL-2.0-only
/*
 * No policy can talk the chip into anything: adversaries answer what would be best for them, or
 * at random, and pay what their commands cost.
 */
#include <stdlib.h>

#include "core/ftl/device.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* A policy of the list, some of whose methods are replaced. */
struct adversary {
	struct aftl_policy_type type;
	struct aftl_random random;
};

static struct test_device device;
static struct adversary adversary;

static void adversary_init(const char *policy)
{
	adversary = (struct adversary){
		.type = *aftl_policy_find(policy),
		.random = { aftl_mix(policy[0]) },
	};
}

static void open_adversary(const char *profile, const char *const *pairs)
{
	test_device_init(&device, profile);
	test_device_set_all(&device, pairs);
	if (aftl_create(&device.ftl, &device.config, &adversary.type, &device.ops, &device,
			&device.error))
		tap_bail_out("%s", device.error.text);
}

#define PRESSED "channels", "2", "chips", "1", "blocks", "64", "layers", "4", "word_lines", "8", \
	"op", "50"

static const char *const pressed[] = { PRESSED, NULL };

/* Erases: what a second account of contents and answers says. */
struct wear {
	struct test_listener listener;
	u8 full[4096];
	u8 without_margins[4096];
	u8 gentle[4096];
	u64 erases;
	u64 low;
	u64 residues;
	u64 sum;
	u64 ns;
};

static struct wear wear;

static bool always_gentle(struct aftl_policy *policy, const struct aftl_block *block)
{
	wear.gentle[aftl_block_index(aftl_policy_media(policy), block)] = true;
	return true;
}

static bool sometimes_gentle(struct aftl_policy *policy, const struct aftl_block *block)
{
	bool gentle = aftl_random_below(&adversary.random, 2);

	wear.gentle[aftl_block_index(aftl_policy_media(policy), block)] = gentle;
	return gentle;
}

static void note_content(aftl_slot_t slot)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u16 attr = media->attr[aftl_slot_device_page(media, slot)];
	u32 block = aftl_block_index(media, aftl_slot_block(media, slot));

	if (aftl_page_mode(attr) != AFTL_MODE_REDUCED)
		wear.full[block] = true;
	else if (aftl_page_class(attr) == AFTL_PRECISE)
		wear.without_margins[block] = true;
}

static void wear_program(struct test_listener *listener, u32 tag, aftl_unit_t unit,
			 aftl_slot_t slot)
{
	(void)listener;
	(void)tag;
	(void)unit;
	note_content(slot);
}

static void wear_copy(struct test_listener *listener, aftl_unit_t unit, aftl_slot_t from,
		      aftl_slot_t to)
{
	(void)listener;
	(void)unit;
	(void)from;
	note_content(to);
}

/* 7.0 % more cycles without margins; 62 % of the wear with the lower voltage. */
static u64 full_erase(u32 block)
{
	return !wear.full[block] && wear.without_margins[block] ? 10000 * 65536ULL / 70134 : 10000;
}

static void wear_erase(struct test_listener *listener, aftl_slot_t first, u32 slots)
{
	u32 block = from_slot(first) / slots;
	bool gentle = wear.gentle[block];
	bool enough = !wear.full[block] && !wear.without_margins[block];

	(void)listener;
	wear.erases++;
	wear.low += gentle && enough;
	wear.residues += gentle && !enough;
	wear.sum += gentle ? 6200 : 0;
	wear.sum += gentle && enough ? 0 : full_erase(block);
	wear.ns += gentle && !enough ? 7000000 : 3500000;
	wear.full[block] = false;
	wear.without_margins[block] = false;
}

static void press(u32 requests, const char *const *pairs)
{
	struct shadow_store store;
	struct test_stream stream;
	u32 i;

	wear = (struct wear){
		.listener = { .program = wear_program, .copy = wear_copy, .erase = wear_erase },
	};
	open_adversary("demo", pairs);
	test_device_listen(&device, &wear.listener);
	shadow_open(&store, &device, false);
	test_stream_init(&stream, requests);
	stream.approx = 60;
	for (i = 0; i < requests && !tap_failures(); i++)
		test_stream_step(&stream, &device);
	test_drain(&device);
	CHECK(wear.erases > 100);
	CHECK_EQ(test_counters(&device)->array_erases, wear.erases);
	CHECK_EQ(test_counters(&device)->array_low_erases, wear.low);
	CHECK_EQ(test_counters(&device)->erase_residues, wear.residues);
	CHECK_EQ(test_counters(&device)->wear_sum, wear.sum);
	CHECK_EQ(test_counters(&device)->array_erase_ns, wear.ns);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	shadow_lookup_all(&store);
	test_audit(&device);
	shadow_close(&store);
	test_device_close(&device);
}

static void a_gentle_erase_of_everything_gains_nothing(void)
{
	adversary_init("baseline");
	adversary.type.gentle = always_gentle;
	press(20000, pressed);
	CHECK_EQ(wear.residues, wear.erases);
	CHECK_EQ(wear.sum, wear.erases * 16200);
}

static void wear_follows_from_voltage_and_content(void)
{
	static const char *const short_lived[] = { PRESSED, "tvr_mode", "tagged", NULL };
	static const char *const names[] = { "vth_b", "approxftl", "delta_b", "hybrid" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		adversary_init(names[i]);
		adversary.type.gentle = sometimes_gentle;
		press(20000, pressed);
		CHECK(wear.residues > 20 && (wear.low > 20 || i > 1));
	}
	adversary_init("tvr");
	adversary.type.gentle = sometimes_gentle;
	press(20000, short_lived);
	CHECK(wear.residues > 20 && wear.sum % 100);
}

/* Programs: a place by the policy, the rest of the command by the adversary. */

static int (*place_honestly)(struct aftl_policy *policy, struct aftl_lun *lun,
			     const struct aftl_need *need, struct aftl_placement *placement);

static void adversary_place(const char *policy,
			    int (*place)(struct aftl_policy *policy, struct aftl_lun *lun,
					 const struct aftl_need *need,
					 struct aftl_placement *placement))
{
	adversary_init(policy);
	place_honestly = adversary.type.place;
	adversary.type.place = place;
}

static int place_after(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	placement->mode = AFTL_MODE_AFTER;
	return ret;
}

static int place_between(struct aftl_policy *policy, struct aftl_lun *lun,
			 const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	placement->mode = AFTL_MODE_BETWEEN;
	return ret;
}

static u32 colour_of(const struct aftl_policy *policy, const struct aftl_placement *placement)
{
	return aftl_colour(aftl_policy_geometry(policy), placement->page, placement->block->flip);
}

/* Only where they may be, but with precise neighbours to follow. */
static int place_half_between(struct aftl_policy *policy, struct aftl_lun *lun,
			      const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	if (!ret && colour_of(policy, placement))
		placement->mode = AFTL_MODE_BETWEEN;
	return ret;
}

/* A checkerboard whose squares are all of the other colour. */
static int place_in_wrong_colour(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	if (ret)
		return ret;
	if (need->class == AFTL_APPROX)
		placement->mode = AFTL_MODE_REDUCED;
	else if (!colour_of(policy, placement))
		placement->mode = AFTL_MODE_BETWEEN;
	return 0;
}

static int place_mlc(struct aftl_policy *policy, struct aftl_lun *lun,
		     const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	placement->mode = AFTL_MODE_MLC;
	return ret;
}

/* Precise writes into one die, one at a time; how long their programs take on average. */
static u64 mean_program_ns(const char *profile, const char *const *pairs, u32 class)
{
	const struct aftl_counters *counters;
	u64 mean_ns;
	u32 i;

	open_adversary(profile, pairs);
	for (i = 0; i < 300; i++)
		test_do(&device, AFTL_OP_WRITE, i * 8 % (test_units(&device) - 8), 8,
			class == AFTL_CLASSES ? i % 2 : class, NULL);
	counters = test_counters(&device);
	mean_ns = counters->array_program_ns / counters->array_programs;
	test_audit(&device);
	return mean_ns;
}

static void is_refused(const char *policy, const char *profile,
		       int (*place)(struct aftl_policy *policy, struct aftl_lun *lun,
				    const struct aftl_need *need,
				    struct aftl_placement *placement))
{
	adversary_place(policy, place);
	CHECK_EQ(mean_program_ns(profile, pressed, AFTL_PRECISE), 700000);
	CHECK(test_counters(&device)->policy_bugs > 50);
	test_device_close(&device);
}

static void a_page_is_the_last_of_its_neighbours_or_not(void)
{
	is_refused("baseline", "demo", place_after);
	is_refused("baseline", "tcad18", place_after);
}

static void precise_neighbours_need_guards(void)
{
	is_refused("baseline", "demo", place_between);
	adversary_place("baseline", place_half_between);
	CHECK_RANGE(mean_program_ns("demo", pressed, AFTL_PRECISE), 699000, 700000);
	CHECK(test_counters(&device)->policy_bugs > 50);
	test_device_close(&device);
}

/* By hand: a block that is programmed up to @page, where @between is such a page. */
static struct aftl_block *half_full(u32 page, u32 between)
{
	struct aftl_media *media = &device.ftl->media;
	struct aftl_block *block = &media->blocks[3];
	u32 i;

	*block = (struct aftl_block){ .state = AFTL_BLOCK_OPEN, .between = 1, .frontier = page };
	for (i = 0; i < media->geo->pages; i++)
		media->attr[aftl_device_page(media, block, i)] =
			i < page ? aftl_page_attr(AFTL_PRECISE, i == between ? AFTL_MODE_BETWEEN :
						  AFTL_MODE_NORMAL, 0) : 0;
	return block;
}

/* Beside it, and above it; not across a corner, and not around the end of a layer. */
static void pages_couple_in_two_directions(void)
{
	u32 layer;
	u32 page;

	adversary_init("baseline");
	open_adversary("demo", pressed);
	layer = aftl_geometry(device.ftl)->word_lines;
	for (page = 0; page < 2 * layer; page++) {
		struct aftl_program program = {
			.page = 2 * layer + 3, .pages = 1, .mode = AFTL_MODE_NORMAL,
		};
		bool couples = page == layer + 3;

		program.block = half_full(program.page, page);
		CHECK_MSG(aftl_chip_allows(&device.ftl->chip, &program) == !couples,
			  "page %u above page %u", program.page, page);
		program.mode = AFTL_MODE_REDUCED;
		program.class = AFTL_APPROX;
		CHECK(aftl_chip_allows(&device.ftl->chip, &program));
		program = (struct aftl_program){
			.block = half_full(page + 1, page), .page = page + 1, .pages = 1,
		};
		CHECK_EQ(aftl_chip_allows(&device.ftl->chip, &program), (page + 1) % layer == 0);
	}
	aftl_destroy(device.ftl);
}

/* A refuge that was a checkerboard before: its pages are disturbed rather than data lost. */
static void the_refuge_takes_what_has_no_other_place(void)
{
	struct aftl_need need = { .units = 1, .cause = AFTL_CAUSE_GC };
	struct aftl_placement placement;
	struct aftl_lun *lun;
	u32 page;

	adversary_init("approxftl");
	open_adversary("demo", pressed);
	lun = &device.ftl->luns[0];
	lun->cramped = true;
	for (page = 1; page < 8; page++) {
		lun->refuge = half_full(page, page - 1);
		CHECK_EQ(aftl_program_place(device.ftl, lun, &need, &placement), 0);
		CHECK_EQ(placement.page, page);
	}
	aftl_destroy(device.ftl);
}

/* Every precise page, which is half of them, is refused where it has less guard. */
static void a_wrong_colour_is_refused(void)
{
	adversary_place("vth_b", place_in_wrong_colour);
	mean_program_ns("demo", pressed, AFTL_CLASSES);
	CHECK(test_counters(&device)->policy_bugs > 50);
	CHECK_EQ(aftl_stats(device.ftl)->mode_pages[AFTL_MODE_BETWEEN], 0);
	test_device_close(&device);
}

static void two_bits_are_no_three(void)
{
	static const char *const pairs[] = { "blocks", "32", "op", "60", NULL };

	adversary_place("baseline", place_mlc);
	CHECK_EQ(mean_program_ns("tos22", pairs, AFTL_PRECISE), 3000000);
	CHECK(test_counters(&device)->policy_bugs > 50);
	test_device_close(&device);
}

/* Steps */

static struct aftl_ispp steps;

static int place_with_steps(struct aftl_policy *policy, struct aftl_lun *lun,
			    const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	placement->ispp = steps;
	return ret;
}

/* What leaves out more than the word line has spare is done again, or pays with each read. */
static void greed_pays_with_errors(struct aftl_ispp greed, u64 program_ns)
{
	static const char *const pairs[] = { PRESSED, "ecc_retry", "45us", NULL };
	u32 i;

	steps = greed;
	adversary_place("baseline", place_with_steps);
	CHECK_EQ(mean_program_ns("demo", pairs, AFTL_PRECISE), program_ns);
	CHECK_EQ(test_counters(&device)->overshot_programs, test_counters(&device)->array_programs);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(test_do(&device, AFTL_OP_READ, i, 1, 0, NULL), 0);
	CHECK(test_counters(&device)->read_retry_levels >= 2 * 100);
	test_device_close(&device);
}

static void margins_that_are_not_there_cannot_be_spent(void)
{
	greed_pays_with_errors((struct aftl_ispp){ .start_mv = 234, .final_mv = 234 }, 499047);
	greed_pays_with_errors((struct aftl_ispp){ .final_mv = 468 }, 499047);
}

static void registers_end_somewhere(void)
{
	static const struct aftl_ispp beyond[] = {
		{ .start_mv = 469 }, { .final_mv = 469 }, { .start_mv = 300, .final_mv = 300 },
		{ .start_mv = U32_MAX & 0xffff, .final_mv = 1 }, { .skip = 5 }, { .skip = 255 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		steps = beyond[i];
		is_refused("baseline", "demo", place_with_steps);
	}
}

/* Verifies that are needed: in the slow layers four loops can be left out, elsewhere fewer. */
static void needed_verifies_cannot_be_skipped(void)
{
	const struct aftl_counters *counters;

	steps = (struct aftl_ispp){ .skip = 4 };
	adversary_place("baseline", place_with_steps);
	CHECK_EQ(mean_program_ns("demo", pressed, AFTL_PRECISE), 539906);
	counters = test_counters(&device);
	CHECK_RANGE(counters->overshot_programs, counters->array_programs * 6 / 10,
		    counters->array_programs * 9 / 10);
	test_device_close(&device);
	steps.skip = 2;
	CHECK_EQ(mean_program_ns("demo", pressed, AFTL_PRECISE), 626624);
	CHECK_EQ(test_counters(&device)->overshot_programs, 0);
	test_device_close(&device);
}

/* Modes with less guard or voltage have spent what there was. */
static void margins_are_spent_once(void)
{
	static const char *const all[] = { PRESSED, "tvr_mode", "device", NULL };

	steps = (struct aftl_ispp){ .final_mv = 117 };
	adversary_place("tvr", place_with_steps);
	CHECK_EQ(mean_program_ns("demo", all, AFTL_PRECISE), 350000 * 651429ULL / 700000);
	CHECK_EQ(test_counters(&device)->overshot_programs, test_counters(&device)->array_programs);
	test_device_close(&device);
	adversary_place("baseline", place_with_steps);
	mean_program_ns("demo", pressed, AFTL_PRECISE);
	CHECK_EQ(test_counters(&device)->overshot_programs, 0);
	test_device_close(&device);
}

/* Layers are what they are, whatever the chip has been asked before, and change with erases. */
static void questions_change_no_answer(void)
{
	static struct aftl_chip fresh;
	u32 i;

	adversary_init("baseline");
	open_adversary("demo", pressed);
	for (i = 0; i < 4000; i++) {
		u32 index = aftl_random_below(&adversary.random, device.ftl->geo.blocks);
		u32 page = aftl_random_below(&adversary.random, device.ftl->geo.pages);
		struct aftl_block *block = &device.ftl->media.blocks[index];
		struct aftl_outcome told = aftl_chip_monitor(&device.ftl->chip, block, page);

		aftl_chip_init(&fresh, &device.ftl->media, &device.ftl->config);
		CHECK_EQ(told.errors, aftl_chip_monitor(&fresh, block, page).errors);
		CHECK_EQ(told.early, aftl_chip_monitor(&fresh, block, page).early);
		block->erases += i % 4 == 0;
	}
	aftl_destroy(device.ftl);
}

/* Adversaries: every program, erase and byte is looked at. */

/* Least time of a program in a mode that needs no permission, whatever is left out. */
static u64 least_program_ns(void)
{
	const struct aftl_config *config = &device.config;
	const u64 modes[] = {
		config->program, config->program_reduced, config->program_between,
		config->program_after, config->program_coarse, config->program_fine,
		/* Without retention margins: 19 of 38 steps, or 8 of 16 and 11 of 22. */
		config->program / 2,
	};
	u64 least = config->program;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		least = min(least, modes[i]);
	if (config->program_fast)
		least = least * config->program_fast / config->program;
	/* Four loops less, and four of verifies; 36 % faster at the end of TVR's measurements. */
	least = least * 385647 / 700000 * (config->wear_times ? 64 : 100) / 100;
	least = min(least, min(config->program_slc, config->program_tlc));
	return min(least, min(config->program_mlc, config->reprogram));
}

static u64 least_ns;
static u64 fastest_ns;

static void watch_array(void *host, const struct aftl_array_event *event)
{
	(void)host;
	if (event->op == AFTL_ARRAY_PROGRAM)
		fastest_ns = min(fastest_ns, event->array_ns);
	if (event->op == AFTL_ARRAY_ERASE)
		CHECK(event->array_ns >= device.config.erase);
}

static u32 draw(u32 n)
{
	return aftl_random_below(&adversary.random, n);
}

/* The best that a register can be set to, and the mode that would be fastest. */
static int place_greedily(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);

	if (!aftl_mode_bits(placement->mode))
		placement->ispp = (struct aftl_ispp){ 234, 234, 4 };
	return ret;
}

static int place_randomly(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = place_honestly(policy, lun, need, placement);
	/* A refused last step of a block would have let go of it. */
	bool refusable = !ret && placement->block->programmed + 2 * placement->pages <
					 aftl_block_pages(aftl_policy_geometry(policy),
							  placement->block);

	if (ret || !refusable)
		return ret;
	if (!draw(2))
		placement->mode = draw(2 * AFTL_MODES);
	if (!draw(2))
		placement->ispp = (struct aftl_ispp){ draw(300), draw(300), draw(6) };
	return 0;
}

static bool at_random(struct aftl_policy *policy, struct aftl_lun *lun,
		      const struct aftl_placement *placement, const struct aftl_outcome *outcome)
{
	(void)policy;
	(void)lun;
	(void)placement;
	(void)outcome;
	return !draw(30);
}

/* Classes that do not exist; precise data as approximate. */
static bool copy_randomly(struct aftl_policy *policy, const struct aftl_move *move, u32 *class,
			  u32 *stream)
{
	(void)policy;
	(void)move;
	*stream = draw(1000);
	*class = draw(1000);
	return draw(3);
}

static void make_random(const char *policy)
{
	adversary_place(policy, place_randomly);
	adversary.type.copy = copy_randomly;
	adversary.type.copy_passes = AFTL_CLASSES;
	adversary.type.gentle = sometimes_gentle;
	if (!adversary.type.programmed)
		adversary.type.programmed = at_random;
}

static void make_greedy(const char *policy)
{
	adversary_place(policy, place_greedily);
	adversary.type.gentle = always_gentle;
	adversary.type.programmed = NULL;
}

/* A tenth of each profile's blocks at most; new, or with a life behind it. */
static void open_small(const char *profile, bool aged)
{
	static const char *const new[] = {
		"channels", "2", "chips", "1", "dies", "1", "blocks", "48", "op", "60", NULL
	};
	static const char *const old[] = {
		"channels", "2", "chips", "1", "dies", "1", "blocks", "48", "op", "60",
		"cell_model", "voltage", "cycles", "2000", NULL
	};

	test_device_init(&device, profile);
	test_device_set_all(&device, aged ? old : new);
	test_device_set_all(&device, (const char *const[]){ "planes", "1", NULL });
	device.ops.array = watch_array;
	if (aftl_create(&device.ftl, &device.config, &adversary.type, &device.ops, &device,
			&device.error))
		tap_bail_out("%s", device.error.text);
}

/* Every erase wears, the gentle ones as much as the profile says. */
static void check_wear_sum(void)
{
	const struct aftl_counters *counters = test_counters(&device);
	u64 full = counters->array_erases - counters->array_low_erases;

	CHECK(counters->wear_sum >= full * (10000 * 65536ULL / 70134) +
					    counters->array_low_erases * device.config.wear_low);
}

/* Bytes are right, or a request fails. */
static void attack(const char *profile, bool aged, u32 requests)
{
	struct shadow_store store;
	struct test_stream stream;
	u32 i;

	open_small(profile, aged);
	least_ns = least_program_ns();
	fastest_ns = U64_MAX;
	shadow_open(&store, &device, false);
	/* A policy whose places are refused has blocks that never become full. */
	store.full_disk = adversary.type.place == place_randomly;
	test_stream_init(&stream, requests);
	for (i = 0; i < requests && !tap_failures(); i++) {
		test_stream_step(&stream, &device);
		if (aged && i % 500 == 499)
			aftl_age(device.ftl, 10 * AFTL_DAY_NS);
	}
	test_drain(&device);
	CHECK_MSG(fastest_ns >= least_ns, "%s %s: a program of %llu ns, at least %llu", profile,
		  adversary.type.name, (unsigned long long)fastest_ns,
		  (unsigned long long)least_ns);
	if (tap_failures())
		tap_note("%s on %s%s: %llu bugs, %llu failed", adversary.type.name, profile,
			 aged ? ", aged" : "",
			 (unsigned long long)test_counters(&device)->policy_bugs,
			 (unsigned long long)device.failed);
	check_wear_sum();
	shadow_lookup_all(&store);
	test_audit(&device);
	shadow_close(&store);
	test_device_close(&device);
}

/* Requests of each attack. */
static u32 attacks(void)
{
	const char *text = getenv("AFTL_ATTACKS");

	return text ? (u32)strtoul(text, NULL, 10) : 1000;
}

/* Some policies want whole word lines, or more steps than a block has. */
static bool fits(const char *policy, const char *profile)
{
	int ret;

	test_device_init(&device, profile);
	test_device_set_all(&device, (const char *const[]){
		"channels", "2", "chips", "1", "dies", "1", "blocks", "48", "op", "60", "planes",
		"1", NULL
	});
	adversary_init(policy);
	ret = aftl_create(&device.ftl, &device.config, &adversary.type, &device.ops, &device,
			  &device.error);
	if (!ret)
		test_device_close(&device);
	return !ret;
}

static void attack_everything(void (*make)(const char *policy))
{
	unsigned int policy;
	unsigned int profile;

	for (policy = 0; aftl_policy_at(policy); policy++) {
		for (profile = 0; aftl_profile_name(profile) && !tap_failures(); profile++) {
			const char *name = aftl_policy_at(policy)->name;

			if (!fits(name, aftl_profile_name(profile)))
				continue;
			make(name);
			attack(aftl_profile_name(profile), (policy + profile) % 2, attacks());
		}
	}
}

static void random_policies_gain_nothing(void)
{
	attack_everything(make_random);
}

static void greedy_policies_gain_nothing(void)
{
	attack_everything(make_greedy);
}

int main(void)
{
	tap_run("programs: a page is the last of its neighbours or not",
		a_page_is_the_last_of_its_neighbours_or_not);
	tap_run("programs: precise neighbours need guards", precise_neighbours_need_guards);
	tap_run("programs: pages couple in two directions", pages_couple_in_two_directions);
	tap_run("programs: the refuge takes what has no other place",
		the_refuge_takes_what_has_no_other_place);
	tap_run("programs: a wrong colour is refused", a_wrong_colour_is_refused);
	tap_run("programs: two bits in a cell are no three", two_bits_are_no_three);
	tap_run("programs: margins that are not there cannot be spent",
		margins_that_are_not_there_cannot_be_spent);
	tap_run("programs: margins are spent once", margins_are_spent_once);
	tap_run("programs: needed verifies cannot be skipped", needed_verifies_cannot_be_skipped);
	tap_run("programs: registers end somewhere", registers_end_somewhere);
	tap_run("programs: questions change no answer", questions_change_no_answer);
	tap_run("random policies gain nothing", random_policies_gain_nothing);
	tap_run("greedy policies gain nothing", greedy_policies_gain_nothing);
	tap_run("erases: a gentle erase of everything gains nothing",
		a_gentle_erase_of_everything_gains_nothing);
	tap_run("erases: wear follows from voltage and content",
		wear_follows_from_voltage_and_content);
	return tap_finish();
}
