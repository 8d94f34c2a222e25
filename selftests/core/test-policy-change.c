// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of policy and parameters: stored data stay, and the new policy works with the state it
 * finds.
 *
 * A seed as argument runs only that seed.
 */
#include <stdlib.h>

#include "core/nand/read-retry.h"

#include "bytes.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SEEDS 1500
#define CHANGES 10
#define REQUESTS 60
#define TRIES 400
#define POLICIES_MAX 64

static struct test_device device;
static u32 changed;
static u32 refused;
static u32 short_luns;
static bool seen[POLICIES_MAX][POLICIES_MAX];

static u32 count_policies(void)
{
	u32 count = 0;

	while (aftl_policy_at(count))
		count++;
	return count;
}

static const struct aftl_policy_type *draw_any_policy(struct aftl_random *random)
{
	return aftl_policy_at(aftl_random_below(random, count_policies()));
}

static u32 index_of_policy(const struct aftl_policy_type *type)
{
	u32 i = 0;

	while (aftl_policy_at(i) != type)
		i++;
	return i;
}

/* Save after buffer_hold has passed, because a flush does not empty a persistent buffer. */
static void save_idle_device(struct test_bytes *bytes)
{
	struct aftl_snapshot_sink sink = test_bytes_sink(bytes);
	u32 tries = 0;
	int ret;

	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	do {
		bytes->size = 0;
		ret = aftl_save(device.ftl, &sink, &device.error);
	} while (ret == -EBUSY && test_process_event(&device) && tries++ < 100000);
	CHECK_EQ(ret, 0);
}

/* A block's read count may change by the reads of one page, because GC may relocate a page. */
static bool are_block_read_counts_nearly_equal(u32 before, u32 after)
{
	return before <= after + 1 + AFTL_SHIFT_MAX && after <= before + 1 + AFTL_SHIFT_MAX;
}

/* Check that a change of policy keeps device time, wear, mapping, and errors of stored data. */
static void check_policy_change_preserves_state(const struct aftl *before, const struct aftl *after)
{
	const struct aftl_media *a = aftl_media(before);
	const struct aftl_media *b = aftl_media(after);
	u32 i;

	CHECK_EQ(aftl_device_time_ns(before), aftl_device_time_ns(after));
	CHECK_EQ(aftl_device_age_hours(before), aftl_device_age_hours(after));
	for (i = 0; i < a->geo->blocks; i++) {
		CHECK_EQ(a->blocks[i].erases, b->blocks[i].erases);
		CHECK_EQ(a->blocks[i].wear, b->blocks[i].wear);
		CHECK(are_block_read_counts_nearly_equal(a->blocks[i].reads, b->blocks[i].reads));
	}
	for (i = 0; i < a->geo->units; i++) {
		struct aftl_errors was = { 0 };
		struct aftl_errors is = { 0 };
		u32 class_was = 0;
		u32 class_is = 0;

		CHECK_EQ(from_ppn(aftl_lookup(before, to_lpn(i), &class_was)),
			 from_ppn(aftl_lookup(after, to_lpn(i), &class_is)));
		CHECK_EQ(class_was, class_is);
		CHECK_EQ(aftl_get_lpn_read_errors(before, to_lpn(i), &was),
			 aftl_get_lpn_read_errors(after, to_lpn(i), &is));
		CHECK(was.flips == is.flips && was.raw == is.raw && was.lost == is.lost);
	}
}

/* A change of policy must clear the kinds and notes that the former policy gave to blocks. */
static void check_block_kinds_and_notes_are_zero(const struct aftl *ftl)
{
	const struct aftl_media *media = aftl_media(ftl);
	u32 i;

	for (i = 0; i < media->geo->blocks; i++)
		CHECK_MSG(!media->blocks[i].kind && !media->blocks[i].note,
			  "block %u keeps kind %u and note %x", i, media->blocks[i].kind,
			  media->blocks[i].note);
}

/* Change parameters that affect neither memory sizes nor stored data. */
static void change_random_params(struct aftl_config *config, struct aftl_random *random)
{
	config->gc = aftl_random_below(random, 3000);
	config->gc_idle_valid = aftl_random_below(random, 10001);
	*test_device_set_param(config, "hot_size") = 4096ULL * aftl_random_below(random, 5);
	*test_device_set_param(config, "promote") = 1 + aftl_random_below(random, 4);
	config->buffer_hold = aftl_random_below(random, 3) * 700000;
	config->controller = aftl_random_below(random, 2) * 5000;
	if (config->bits > 1) {
		config->slc_static = aftl_random_below(random, 2) * 500;
		config->slc_dynamic = aftl_random_below(random, 2) * 3000;
	}
}

static void count_policy_change(const struct aftl_policy_type *from,
				const struct aftl_policy_type *to)
{
	u32 luns = aftl_geometry(device.ftl)->luns;

	changed++;
	seen[index_of_policy(from)][index_of_policy(to)] = true;
	while (luns--)
		short_luns += test_lun_info(&device, luns).free_blocks <= to->reserve;
}

static void reload_device_with_changed_policy(struct aftl_random *random,
					      const struct aftl_policy_type *type)
{
	const struct aftl_policy_type *from = aftl_policy_type(device.ftl);
	struct aftl_config config = *aftl_config(device.ftl);
	struct test_bytes bytes = { 0 };
	struct aftl_snapshot_source source;
	struct aftl *next = NULL;
	int ret;

	save_idle_device(&bytes);
	source = test_bytes_source(&bytes);
	change_random_params(&config, random);
	ret = aftl_load_with_policy_and_params(&next, &source, type, &config, &device.ops, &device,
					       &device.error);
	if (ret) {
		refused++;
		CHECK_EQ(ret, -EINVAL);
		CHECK_MSG(strstr(device.error.text, type->name), "\"%s\"", device.error.text);
	} else {
		check_policy_change_preserves_state(device.ftl, next);
		if (type != from)
			check_block_kinds_and_notes_are_zero(next);
		aftl_destroy(device.ftl);
		device.ftl = next;
		count_policy_change(from, type);
		CHECK(aftl_policy_type(device.ftl) == type);
		test_audit_device(&device);
	}
	free_test_bytes(&bytes);
}

/* Change the policy repeatedly, first to @next, and check the device after each change. */
static void change_policy_repeatedly_under_load(struct aftl_random *random,
						const struct aftl_policy_type *next)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 changes;
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.read = aftl_random_below(random, 40);
	stream.hot = aftl_random_below(random, 101);
	stream.approx = aftl_random_below(random, 101);
	stream.units_max = 1 + aftl_random_below(random, 12);
	stream.gap_ns = aftl_random_below(random, 2) * 400000;
	shadow_attach_to_device(&store, &device, false);
	if (aftl_random_below(random, 3))
		test_stream_write_all_units(&stream, &device);
	for (changes = 0; changes < CHANGES && !tap_failure_count(); changes++) {
		for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
			device.hint.life = aftl_random_below(random, AFTL_LIFETIMES);
			device.hint.stream = aftl_random_below(random, 9);
			test_stream_submit_request(&stream, &device);
		}
		shadow_compare_device_with_store(&store);
		CHECK_EQ(test_counters(&device)->policy_bugs, 0);
		reload_device_with_changed_policy(random, changes ? draw_any_policy(random) : next);
		shadow_compare_device_with_store(&store);
		CHECK_MSG(!aftl_is_read_only(device.ftl), "%s is read-only after change %u",
			  aftl_policy_type(device.ftl)->name, changes);
	}
}

static void change_random_device_policy(u64 seed, struct aftl_random *random,
					const struct aftl_policy_type *from,
					const struct aftl_policy_type *to)
{
	test_device_init(&device, "demo");
	test_randomize_geometry(&device, random);
	test_randomize_options(&device, random);
	device.config.bits = 1 + aftl_random_below(random, 4);
	if (!test_device_create(&device, from->name))
		change_policy_repeatedly_under_load(random, to);
	test_finish_device_or_print_config(&device, from->name, seed);
}

static void check_policy_change_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	const struct aftl_policy_type *from = draw_any_policy(&random);

	change_random_device_policy(seed, &random, from, draw_any_policy(&random));
}

/* Test a change between two policies that the random draws missed: few geometries suit both. */
static void try_policy_pair_not_yet_tested(u32 from, u32 to)
{
	struct aftl_random random = { aftl_hash64(from * POLICIES_MAX + to) };
	u32 tries;

	for (tries = 0; !seen[from][to] && !tap_failure_count() && tries < TRIES; tries++)
		change_random_device_policy(0, &random, aftl_policy_at(from), aftl_policy_at(to));
	CHECK_MSG(seen[from][to], "never from %s to %s", aftl_policy_at(from)->name,
		  aftl_policy_at(to)->name);
}

TAP_TEST(each_policy_follows_each_other_one)
{
	u32 policies = count_policies();
	u32 from;
	u32 to;

	for (from = 0; from < policies; from++)
		for (to = 0; to < policies; to++)
			try_policy_pair_not_yet_tested(from, to);
}

TAP_TEST(random_devices_survive_repeated_changes_of_policy)
{
	u64 seed;

	for (seed = 1; seed <= SEEDS && !tap_failure_count(); seed++)
		check_policy_change_with_seed(seed);
	tap_printf("%u changes, %u refused; %u LUNs short of free blocks", changed, refused,
		   short_luns);
	CHECK_MSG(tap_failure_count() || short_luns > 20, "only %u LUNs were short of blocks",
		  short_luns);
}

/* Load the device with one parameter changed. */
static int reload_device_with_changed_param(struct test_bytes *bytes, unsigned int index)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);
	struct aftl_config config = *aftl_config(device.ftl);
	u64 *value = aftl_config_param_ptr(&config, index);
	struct aftl *next = NULL;
	int ret;

	*value = *value < aftl_param_at(index)->largest ? *value + 1 : *value - 1;
	device.error.text[0] = '\0';
	ret = aftl_load_with_policy_and_params(&next, &source, NULL, &config, &device.ops, &device,
					       &device.error);
	if (!ret) {
		check_policy_change_preserves_state(device.ftl, next);
		aftl_destroy(next);
	}
	return ret;
}

TAP_TEST(geometry_and_history_parameters_cannot_be_changed)
{
	struct test_bytes bytes = { 0 };
	char sentence[60];
	unsigned int i;

	test_open_demo_profile(&device, "approxftl",
			       "op=60 blocks=48 bits=2 read_cache=1MiB placement_handles=2");
	save_idle_device(&bytes);
	for (i = 0; i < aftl_param_count(); i++) {
		int ret = reload_device_with_changed_param(&bytes, i);

		if (aftl_param_change(i) != AFTL_CHANGE_NEVER) {
			CHECK_MSG(!ret, "%s: %s", aftl_param_at(i)->key, device.error.text);
			continue;
		}
		scnprintf(sentence, sizeof(sentence), "the device was made with %s ",
			  aftl_param_at(i)->key);
		CHECK_EQ(ret, -EINVAL);
		CHECK_MSG(strstr(device.error.text, sentence), "%s: \"%s\"", aftl_param_at(i)->key,
			  device.error.text);
	}
	test_device_set_param_text(&device, "op", "22.5");
	CHECK_EQ(aftl_config_check(aftl_config(device.ftl), &device.config, &device.error),
		 -EINVAL);
	CHECK_MSG(!strcmp(device.error.text,
			  "the device was made with op 60, which cannot become 22.5"), "\"%s\"",
		  device.error.text);
	free_test_bytes(&bytes);
}

TAP_TEST(live_parameters_change_on_a_loaded_device)
{
	unsigned int i;

	test_open_demo_profile(&device, "approxftl", "op=60 blocks=48");
	for (i = 0; i < aftl_param_count(); i++) {
		u64 was = aftl_param_get(aftl_config(device.ftl), i);
		u64 wanted = was < aftl_param_at(i)->largest ? was + 1 : was - 1;
		bool live = aftl_param_change(i) == AFTL_CHANGE_LIVE;
		char text[AFTL_VALUE_SIZE];
		int ret;

		aftl_param_format(aftl_param_at(i), wanted, text);
		ret = aftl_check_param(device.ftl, aftl_param_at(i)->key, text, &device.error);
		CHECK_EQ(ret, live ? 0 : -EINVAL);
		CHECK_EQ(aftl_param_get(aftl_config(device.ftl), i), was);
		ret = aftl_set_param(device.ftl, aftl_param_at(i)->key, text, &device.error);
		CHECK_MSG(ret == (live ? 0 : -EINVAL), "%s: %d", aftl_param_at(i)->key, ret);
		CHECK_EQ(aftl_param_get(aftl_config(device.ftl), i), live ? wanted : was);
		CHECK(live || strstr(device.error.text, aftl_param_at(i)->key));
	}
	CHECK_EQ(aftl_set_param(device.ftl, "erase", "1h", &device.error), -EINVAL);
	CHECK_EQ(aftl_set_param(device.ftl, "depth", "2048", &device.error), 0);
	CHECK_EQ(aftl_set_param(device.ftl, "depth", "4096", &device.error), -EINVAL);
	CHECK_MSG(!strcmp(device.error.text, "depth stays 2048 as long as the device is loaded"),
		  "\"%s\"", device.error.text);
}

TAP_TEST(changed_times_apply_at_once)
{
	u64 latency;

	test_open_demo_profile(&device, "baseline", NULL);
	test_execute_request(&device, AFTL_OP_WRITE, 0, 2, 0, &latency);
	CHECK_EQ(aftl_set_param(device.ftl, "program", "1ms", &device.error), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 2, 0, NULL), 0);
	test_execute_request(&device, AFTL_OP_WRITE, 0, 2, 0, &latency);
	CHECK_RANGE(latency, 1000000, 1000000 + 41000);
}

/* Parameters that change often under load must not cause a loss of data. */
TAP_TEST(parameters_change_under_load_without_data_loss)
{
	struct aftl_random random = { 5 };
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	test_open_demo_profile(&device, "approxftl", "blocks=64 op=40");
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, 9);
	for (i = 0; i < 4000 && !tap_failure_count(); i++) {
		u32 index = aftl_random_below(&random, aftl_param_count());
		const struct aftl_param *param = aftl_param_at(index);
		u64 wanted = aftl_random_next(&random) % 3 * param->standard / 2;
		char text[AFTL_VALUE_SIZE];

		test_stream_submit_request(&stream, &device);
		if (aftl_param_change(index) != AFTL_CHANGE_LIVE || !strncmp(param->key, "rber", 4))
			continue;
		wanted = min(max(wanted, param->smallest), param->largest);
		aftl_param_format(param, wanted, text);
		CHECK_EQ(aftl_set_param(device.ftl, param->key, text, &device.error), 0);
	}
}

TAP_SEED(check_policy_change_with_seed)
