// SPDX-License-Identifier: GPL-2.0-only
/*
 * MiDAS searches its configuration in steps: a host write, which runs under the lock of the device,
 * evaluates the model for one configuration at most. The policy is compiled here with a counter of
 * divisions, of which the model needs one for each point of a curve.
 */
#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

static u64 divisions;

static u64 counted_div64_u64(u64 dividend, u64 divisor)
{
	divisions++;
	return div64_u64(dividend, divisor);
}

#define div64_u64 counted_div64_u64
#define aftl_policy_midas counted_midas
#include "core/policy/midas.c"
#undef aftl_policy_midas
#undef div64_u64

/*
 * Upper limit of the divisions in one evaluation of the model: each binary search determines a time
 * bit by bit, and each group of blocks needs some divisions.
 */
#define EVALUATION_DIVISIONS (31 * 2 * (ROUNDS + 3) + 8 * GROUPS)

static struct test_device device;

static struct midas_state *get_midas_state_of_device(void)
{
	return midas_state(device.ftl->policy);
}

static void open_device(const char *blocks)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, "channels=2 chips=1 layers=4 word_lines=4 op=60");
	test_device_set_params(&device, blocks);
	if (aftl_create(&device.ftl, &device.config, &counted_midas, &device.ops, &device,
			&device.error))
		tap_bail_out("%s", device.error.text);
}

/* Write random units, mostly of the first tenth; return the most divisions that one write took. */
static u64 overwrite_hot_pages(u64 count, struct aftl_random *random)
{
	u32 units = test_unit_count(&device);
	u64 most = 0;

	while (count--) {
		u32 below = aftl_random_below(random, 10) ? units / 10 : units;
		u32 lpn = aftl_random_below(random, below);
		u64 before = divisions;

		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, lpn, 1, AFTL_PRECISE, NULL),
			 0);
		most = max(most, divisions - before);
	}
	return most;
}

static void check_divisions_per_write(const char *blocks)
{
	struct aftl_random random = { 5 };
	u64 before = divisions;
	u64 most;

	open_device(blocks);
	most = overwrite_hot_pages(8 * test_unit_count(&device), &random);
	test_drain_requests(&device);
	CHECK(get_midas_state_of_device()->layout.groups > FIRST);
	CHECK(divisions - before > 20 * most);
	CHECK(most > EVALUATION_DIVISIONS / 4);
	CHECK(most <= EVALUATION_DIVISIONS);
	test_device_audit_and_close(&device);
}

TAP_TEST(a_host_write_evaluates_one_configuration_on_any_device)
{
	check_divisions_per_write("blocks=64");
	check_divisions_per_write("blocks=512");
	check_divisions_per_write("blocks=3000");
}

/* Forge a snapshot whose search continues beyond MiDAS's last group of blocks. */
TAP_TEST(a_hostile_snapshot_leads_the_search_to_no_other_group)
{
	struct aftl_random random = { 5 };
	u32 i;

	open_device("blocks=64");
	overwrite_hot_pages(2 * test_unit_count(&device), &random);
	get_midas_state_of_device()->search = (struct search){
		.phase = SEARCH_SIZE,
		.usable = 128,
		.valid = 100,
		.most = U64_MAX,
		.group = U64_MAX,
		.blocks = U64_MAX,
		.base_q16 = U64_MAX,
		.best_q16 = 1ULL << 60,
	};
	midas_sanitize_loaded_state(device.ftl->policy);
	for (i = 0; i < 4 * SIZES; i++) {
		overwrite_hot_pages(1, &random);
		CHECK(get_midas_state_of_device()->search.group < GROUPS);
	}
}
