// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy may be as wrong as it likes: its proposals are refused and counted, and
 * no data is lost.
 */
#include <stdlib.h>

#include "brute-model.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* What the wild policy may do wrong. */
enum wildness {
	WILD_PLACE = 1,
	WILD_COPY = 2,
	WILD_CHORE = 4,
	WILD_ANSWERS = 8,
	WILD_SHORT = 16,
	WILD_CARRY = 32,
	WILD_VICTIM = 64,
	WILD_ALL = WILD_PLACE | WILD_COPY | WILD_CHORE | WILD_ANSWERS | WILD_VICTIM,
};

struct wild {
	struct aftl_policy policy;
	struct aftl_random random;
	struct aftl_block *open[64];
};

static u32 wildness;
static u32 wrong_places;
static struct test_device device;

static const struct aftl_policy_type wild_type;

static struct wild *to_wild(struct aftl_policy *policy)
{
	return container_of(policy, struct wild, policy);
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct wild *wild = aftl_policy_alloc(ftl, 1, sizeof(*wild));

	if (!wild)
		return NULL;
	wild->policy.type = &wild_type;
	wild->policy.ftl = ftl;
	wild->random.state = 4711;
	return &wild->policy;
}

static void destroy(struct aftl_policy *policy)
{
	aftl_policy_free(policy->ftl, to_wild(policy));
}

static void closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct wild *wild = to_wild(policy);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wild->open); i++)
		if (wild->open[i] == block)
			wild->open[i] = NULL;
}

static u32 draw(struct wild *wild, u32 n)
{
	return aftl_random_below(&wild->random, n);
}

static struct aftl_block *any_block(struct wild *wild)
{
	const struct aftl_media *media = aftl_policy_media(&wild->policy);

	return draw(wild, 9) ? &media->blocks[draw(wild, media->geo->blocks)] : NULL;
}

/* Never what is right: right places are left to the sequential helper. */
static void propose_nonsense(struct wild *wild, struct aftl_lun *lun,
			     struct aftl_placement *placement)
{
	const struct aftl_media *media = aftl_policy_media(&wild->policy);
	struct aftl_block *mine = wild->open[aftl_lun_index(lun)];
	struct aftl_block *block = draw(wild, 2) ? mine : any_block(wild);

	placement->block = block;
	placement->page = draw(wild, media->geo->pages + 3);
	if (draw(wild, 3) == 0)
		placement->page = U32_MAX - draw(wild, 3);
	placement->pages = draw(wild, 3) ? media->geo->program_pages : draw(wild, 9);
	placement->mode = draw(wild, 2) ? AFTL_MODE_NORMAL : draw(wild, 20);
	if (block && block == mine && placement->page == block->frontier)
		placement->page++;
	wrong_places++;
}

/* Company for the host's data, from anywhere: taken along or refused. */
static void carry_something(struct wild *wild, struct aftl_placement *placement)
{
	u32 pages = aftl_policy_geometry(&wild->policy)->pages;
	u32 i;

	placement->carry_from = any_block(wild);
	placement->carried = draw(wild, AFTL_CARRY_MAX + 2);
	if (draw(wild, 30) == 0)
		placement->carried = U32_MAX;
	for (i = 0; i < AFTL_CARRY_MAX; i++)
		placement->carry[i] = draw(wild, 40) ? draw(wild, pages) : U32_MAX;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	struct wild *wild = to_wild(policy);
	int ret;

	if (wildness & WILD_PLACE && draw(wild, 4) == 0) {
		propose_nonsense(wild, lun, placement);
		return 0;
	}
	ret = aftl_place_sequential(policy, lun, need, &wild->open[aftl_lun_index(lun)], 0,
				    placement);
	if (!ret && wildness & WILD_SHORT && draw(wild, 8) == 0)
		placement->pages = 1;
	/* After its last step a block is forgotten: that one must not be refused. */
	if (!ret && wildness & WILD_CARRY && wild->open[aftl_lun_index(lun)])
		carry_something(wild, placement);
	return ret;
}

/* Refuses pages, invents heats and classes. */
static bool copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class, u32 *heat)
{
	struct wild *wild = to_wild(policy);

	(void)move;
	if (!(wildness & WILD_COPY))
		return true;
	*class = draw(wild, 2);
	*heat = draw(wild, 100);
	return draw(wild, 2);
}

static void chore(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore)
{
	struct wild *wild = to_wild(policy);

	(void)lun;
	if (!(wildness & WILD_CHORE))
		return;
	chore->kind = draw(wild, AFTL_CHORE_MOVE + 2);
	chore->page = draw(wild, 9) ? draw(wild, 20) : U32_MAX - draw(wild, 5);
	chore->pages = draw(wild, 9) ? draw(wild, 20) : U32_MAX - draw(wild, 5);
	chore->unit = to_unit(draw(wild, 2) ? draw(wild, 1000) : U32_MAX);
	chore->block = any_block(wild);
}

static u32 heat(struct aftl_policy *policy, const struct aftl_write *write)
{
	(void)write;
	return wildness & WILD_ANSWERS ? draw(to_wild(policy), 1000) : 0;
}

static u32 victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_block *block)
{
	(void)lun;
	(void)block;
	return wildness & WILD_ANSWERS ? U32_MAX : draw(to_wild(policy), 100);
}

static struct aftl_block *victim(struct aftl_policy *policy, const struct aftl_closed *closed)
{
	(void)closed;
	return wildness & WILD_VICTIM && draw(to_wild(policy), 2) ? any_block(to_wild(policy)) :
								    NULL;
}

static bool accept_free(struct aftl_policy *policy, const struct aftl_block *block)
{
	(void)policy;
	(void)block;
	return !(wildness & WILD_ANSWERS);
}

static bool programmed(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_placement *placement)
{
	(void)lun;
	(void)placement;
	return wildness & WILD_ANSWERS && draw(to_wild(policy), 20) == 0;
}

static const struct aftl_policy_type wild_type = {
	.name = "wild",
	.about = "wrong wherever it can be",
	.kinds = { "wild" },
	.open_blocks = 1,
	.reserve = 3,
	.copy_passes = 2,
	.create = create,
	.destroy = destroy,
	.closed = closed,
	.heat = heat,
	.place = place,
	.programmed = programmed,
	.victim = victim,
	.victim_rank = victim_rank,
	.copy = copy,
	.accept_free = accept_free,
	.chore = chore,
};

#define SHAPE "channels", "2", "chips", "1", "blocks", "40", "layers", "4", "word_lines", "4", \
	"op", "60"

static void open_wild(u32 kind, const char *const *pairs)
{
	test_device_init(&device, "demo");
	test_device_set_all(&device, pairs);
	wildness = kind;
	wrong_places = 0;
	if (aftl_create(&device.ftl, &device.config, &wild_type, &device.ops, &device,
			&device.error))
		tap_bail_out("%s", device.error.text);
}

static void survive(u32 kind, const char *const *pairs, u32 requests)
{
	struct brute_model model;
	struct shadow_store store;
	struct test_stream stream;
	u32 i;

	open_wild(kind, pairs);
	brute_open(&model, &device);
	shadow_open(&store, &device, false);
	test_stream_init(&stream, kind);
	stream.gap_ns = kind & WILD_CHORE ? 5000000 : 300000;
	for (i = 0; i < requests && !tap_failures(); i++) {
		test_stream_step(&stream, &device);
		if (i % 64 == 0)
			brute_compare(&model);
	}
	test_drain(&device);
	brute_compare(&model);
	brute_compare_counters(&model);
	shadow_lookup_all(&store);
	test_audit(&device);
	CHECK_EQ(device.failed, 0);
	shadow_close(&store);
	brute_close(&model);
}

static const char *const plain[] = { SHAPE, NULL };
static const char *const one_shot[] = { SHAPE, "bits", "3", "one_shot", "on", NULL };
static const char *const buffered[] = { SHAPE, "buffer", "64KiB", NULL };

static void check(u32 kind)
{
	static const char *const *const shapes[] = { plain, one_shot, buffered };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes) && !tap_failures(); i++) {
		survive(kind, shapes[i], 6000);
		CHECK_EQ(test_counters(&device)->policy_bugs, wrong_places);
		CHECK(kind != WILD_PLACE || wrong_places > 500);
		test_device_close(&device);
	}
}

static void a_good_policy_has_no_bugs(void)
{
	check(0);
}

static void wrong_places_are_refused(void)
{
	check(WILD_PLACE);
}

static void wrong_copies_lose_nothing(void)
{
	check(WILD_COPY);
}

static void wrong_chores_are_ignored(void)
{
	check(WILD_CHORE);
}

static void wrong_answers_are_tamed(void)
{
	check(WILD_ANSWERS);
}

/* A page of a word line that is programmed as a whole: refused, or survived. */
static void short_programs_lose_nothing(void)
{
	survive(WILD_SHORT, one_shot, 6000);
	test_device_close(&device);
}

/* Which of them are legal is not told here. */
static void company_loses_nothing(void)
{
	survive(WILD_CARRY, one_shot, 6000);
	CHECK_RANGE(test_counters(&device)->policy_bugs, 500, U64_MAX);
	CHECK_RANGE(test_counters(&device)->programmed_rewrite_units, 20, U64_MAX);
	test_device_close(&device);
}

/* Open ones, free ones, those of other LUNs, full ones. */
static void victims_that_are_none_are_refused(void)
{
	survive(WILD_VICTIM, plain, 6000);
	CHECK_RANGE(test_counters(&device)->policy_bugs, 100, U64_MAX);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 50, U64_MAX);
	test_device_close(&device);
}

static void everything_at_once(void)
{
	survive(WILD_ALL, plain, 6000);
	test_device_close(&device);
	survive(WILD_ALL, buffered, 6000);
	test_device_close(&device);
}

static void every_policy_is_complete(void)
{
	unsigned int i;

	for (i = 0; aftl_policy_at(i); i++) {
		const struct aftl_policy_type *type = aftl_policy_at(i);

		CHECK(aftl_policy_find(type->name) == type);
		CHECK(type->about && type->about[0]);
		CHECK(type->create && type->destroy && type->place);
		CHECK(type->kinds[0] && type->open_blocks && type->reserve);
		CHECK(type->copy_passes || !type->copy);
	}
	CHECK(i >= 7);
	CHECK(!aftl_policy_find("nonsense"));
	CHECK(!aftl_policy_at(1000));
}

int main(void)
{
	tap_run("every policy is complete", every_policy_is_complete);
	tap_run("a good policy has no bugs", a_good_policy_has_no_bugs);
	tap_run("wrong places are refused and counted", wrong_places_are_refused);
	tap_run("wrong copies lose nothing", wrong_copies_lose_nothing);
	tap_run("wrong chores are ignored", wrong_chores_are_ignored);
	tap_run("wrong answers are tamed", wrong_answers_are_tamed);
	tap_run("short programs lose nothing", short_programs_lose_nothing);
	tap_run("company for host data is taken along or refused", company_loses_nothing);
	tap_run("victims that are none are refused", victims_that_are_none_are_refused);
	tap_run("everything at once", everything_at_once);
	return tap_finish();
}
