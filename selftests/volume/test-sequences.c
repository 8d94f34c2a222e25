// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every short history of a tiny device, and every crash in it.
 *
 * A history is up to three of the operations below, on a device that is full and in use; some
 * longer ones are listed or drawn. Before each flush of the medium, and at the end, the power
 * fails: any subset of the unflushed writes may have become durable, and a frame may be torn. Each
 * resulting medium is recovered, audited and compared with its promises; some continue to work and
 * lose power once more. A crash between two flushes leaves a subset of what the second one finds,
 * so that no crash is missed. If there are too many subsets, all prefixes, all that lack one write,
 * all single writes and a sample of the others are tested.
 *
 * test-sequences                           a sample
 * test-sequences all                       all; so does AFTL_CRASH_STATES=0 in the environment
 * test-sequences POLICY BUFFER MODE WORDS  one history, as a failure prints it
 */
#include <stdlib.h>

#include "lib/durable-device.h"
#include "tap.h"

/* Up to this number of unflushed writes all subsets are tested, beyond it samples of them. */
#define WRITES_ALL 10
#define WRITES_ALL_SAMPLE 7
#define SAMPLES 48

/* Every sample_of[N]-th history of N operations is tested. */
static const u32 sample_of[] = { 0, 1, 8, 192 };

/* One recovered device in this many executes further requests, with one of two policies. */
#define GO_ON_OF 61

#define WORDS_MAX 3
#define LONGER_WORDS_MAX 12
#define LONGER_DRAWN 6
#define YEAR_NS (365ULL * 24 * 3600 * 1000000000)

struct operation;

/* A history starts each operation after the end of the last one, or all operations at once. */
enum mode {
	MODE_ONE_BY_ONE,
	MODE_AT_ONCE,
	MODES,
};

/**
 * struct history - one history and the devices that test it
 * @live: device that executes the history
 * @judge: recovers what a crash of @live would leave
 * @policy: present policy of @live
 * @other: policy to which @live may change
 * @mode: when each operation starts
 * @words: operations of the history, a letter for each
 * @operations: table of available operations
 * @letters: number of available operations
 * @random: random number generator for samples
 * @base: content of the medium before the history
 * @base_units: @units of @live before the history
 * @base_finished: @finished of @live before the history
 * @base_stamps: @stamps of @live before the history
 * @all: run every history, not a sample
 * @written: part of each write that a crash leaves: 0 none, 1 whole, 2 first half, 3 second half
 */
struct history {
	struct durable_device live;
	struct durable_device judge;
	const char *policy;
	const char *other;
	enum mode mode;
	char words[LONGER_WORDS_MAX + 1];
	const struct operation *operations;
	u32 letters;
	struct aftl_random random;
	u8 *base;
	struct durable_unit *base_units;
	u8 *base_finished;
	u32 base_stamps;
	bool all;
	u8 *written;
};

static struct {
	u64 histories;
	u64 crashes;
	u64 recovered;
	u64 torn;
	u64 went_on;
	u64 collected;
	u64 sampled;
} tally;

/* Recovery */

static void copy_durability_promises(struct durable_device *to, const struct durable_device *from)
{
	memcpy(to->units, from->units, from->unit_count * sizeof(*from->units));
	memcpy(to->finished, from->finished, from->unit_count);
	to->stamps = from->stamps;
	memcpy(to->levels, from->levels, min(from->stamps + 1, (u32)DURABLE_LEVELS));
}

static void apply_write_to_crashed_disk(struct history *history, const struct lying_write *write,
					u8 how)
{
	struct lying_disk *disk = &history->judge.disk;
	u32 half = write->size / DISK_SECTOR / 2 * DISK_SECTOR;
	u32 first = how == 3 ? half : 0;
	u32 end = how == 2 ? half : write->size;

	if (!how)
		return;
	memcpy(disk->bytes + write->offset + first, write->bytes + first, end - first);
	memcpy(disk->durable + write->offset + first, write->bytes + first, end - first);
}

/* Undo the unflushed writes that were applied to the disk from which a crash is recovered. */
static void undo_applied_writes(struct history *history)
{
	const struct lying_disk *live = &history->live.disk;
	struct lying_disk *disk = &history->judge.disk;
	const struct lying_write *write;

	for (write = live->writes; write; write = write->next) {
		memcpy(disk->bytes + write->offset, live->durable + write->offset, write->size);
		memcpy(disk->durable + write->offset, live->durable + write->offset, write->size);
	}
}

static void copy_disk_content(struct lying_disk *to, const u8 *from)
{
	memcpy(to->bytes, from, to->medium.bytes);
	memcpy(to->durable, from, to->medium.bytes);
}

static u32 count_units_per_zone(const struct durable_device *durable)
{
	return aftl_geometry(durable->device.ftl)->zone_units;
}

/* On zoned devices a write may be impossible: the zone is full, or too many are active. */
static void write_unit_if_possible(struct durable_device *durable, u32 unit)
{
	struct test_device *device = &durable->device;
	bool zones = count_units_per_zone(durable);

	if (zones)
		unit -= unit % count_units_per_zone(durable);
	CHECK_EQ(test_submit_io(device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE,
				zones ? AFTL_REQUEST_APPEND : 0, aftl_device_time_ns(device->ftl)),
		 0);
	test_drain_requests(device);
	CHECK_EQ(test_execute_request(device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_drain_all_ops(durable), 0);
	CHECK_EQ(test_execute_request(device, zones ? AFTL_OP_ZONE_RESET : AFTL_OP_DISCARD, unit,
				      !zones, 0, NULL),
		 0);
	CHECK_EQ(durable_drain_all_ops(durable), 0);
}

/* Write to the recovered device, and crash it again. */
static void write_to_recovered_device_and_crash(struct history *history, const char *policy)
{
	struct durable_device *judge = &history->judge;
	u32 unit = (u32)aftl_random_below(&history->random, judge->unit_count);
	int ret = durable_start_device(judge, policy, false);

	if (!CHECK_MSG(!ret, "%s: not started: %d: %s", policy, ret, judge->device.error.text))
		return;
	write_unit_if_possible(judge, unit);
	durable_crash(judge, DISK_CRASH_WRITES, &history->random);
	ret = durable_load_device(judge, policy, false);
	if (CHECK_MSG(!ret, "%s: load: %d: %s", policy, ret, judge->device.error.text)) {
		test_audit_device(&judge->device);
		durable_check_all_data(judge);
	}
	durable_stop(judge);
	copy_disk_content(&judge->disk, history->live.disk.durable);
	tally.went_on++;
}

static void recover_and_check_crashed_device(struct history *history)
{
	struct durable_device *judge = &history->judge;
	int ret;

	copy_durability_promises(judge, &history->live);
	tally.recovered++;
	if (tally.recovered % GO_ON_OF == 0) {
		write_to_recovered_device_and_crash(history, tally.recovered / GO_ON_OF & 1 ?
								     history->policy :
								     history->other);
		return;
	}
	ret = durable_load_device(judge, history->policy, false);
	if (CHECK_MSG(!ret, "load: %d: %s", ret, judge->device.error.text)) {
		test_audit_device(&judge->device);
		durable_check_all_data(judge);
	}
	durable_stop(judge);
	CHECK_EQ(judge->disk.changes, 0);
}

/* Crashes */

static void describe_write_subset(const struct history *history, u32 writes)
{
	char text[65];
	u32 i;

	for (i = 0; i < writes && i < sizeof(text) - 1; i++)
		text[i] = (char)('0' + history->written[i]);
	text[i] = '\0';
	tap_printf("test-sequences %s %llu %u %s: flush %llu, writes %s", history->policy,
		   (unsigned long long)history->live.super.config.buffer, history->mode,
		   history->words, (unsigned long long)history->live.disk.flushes, text);
}

static void try_write_subset(struct history *history, u32 writes)
{
	const struct lying_write *write = history->live.disk.writes;
	unsigned int failures = tap_failure_count();
	u32 i;

	for (i = 0; i < writes; i++, write = write->next)
		apply_write_to_crashed_disk(history, write, history->written[i]);
	recover_and_check_crashed_device(history);
	undo_applied_writes(history);
	if (tap_failure_count() != failures)
		describe_write_subset(history, writes);
}

static void try_crash_with_one_deviating_write(struct history *history, u32 writes, u32 odd,
					       u8 rest, u8 how)
{
	memset(history->written, rest, writes);
	history->written[odd] = how;
	try_write_subset(history, writes);
}

static void try_crash_with_write_prefix(struct history *history, u32 writes, u32 end)
{
	memset(history->written, 0, writes);
	memset(history->written, 1, end);
	try_write_subset(history, writes);
}

static void try_random_subset_of_writes(struct history *history, u32 writes)
{
	u32 i;

	for (i = 0; i < writes; i++)
		history->written[i] = aftl_random_below(&history->random, 2);
	try_write_subset(history, writes);
}

static void check_recovery_from_sampled_write_subsets(struct history *history, u32 writes)
{
	u32 i;

	for (i = 0; i <= writes; i++)
		try_crash_with_write_prefix(history, writes, i);
	for (i = 0; i < writes; i++) {
		try_crash_with_one_deviating_write(history, writes, i, 1, 0);
		try_crash_with_one_deviating_write(history, writes, i, 0, 1);
	}
	for (i = 0; i < SAMPLES; i++)
		try_random_subset_of_writes(history, writes);
	tally.sampled++;
}

static void try_all_subsets_of_writes(struct history *history, u32 writes)
{
	u32 mask;
	u32 i;

	for (mask = 0; mask < 1U << writes; mask++) {
		for (i = 0; i < writes; i++)
			history->written[i] = mask >> i & 1;
		try_write_subset(history, writes);
	}
}

static void check_recovery_from_torn_writes(struct history *history, u32 writes)
{
	const struct lying_write *write = history->live.disk.writes;
	u32 i;

	for (i = 0; i < writes; i++, write = write->next) {
		if (write->size == DISK_SECTOR)
			continue;
		try_crash_with_one_deviating_write(history, writes, i, 1, 2);
		try_crash_with_one_deviating_write(history, writes, i, 1, 3);
		tally.torn += 2;
	}
	memset(history->written, 2, writes);
	try_write_subset(history, writes);
	memset(history->written, 3, writes);
	try_write_subset(history, writes);
	tally.torn += 2;
}

/* Before a flush of the disk, test all crashes since the disk's previous flush. */
static void try_crashes_before_flush(void *context)
{
	struct history *history = context;
	u32 writes = lying_disk_count_writes(&history->live.disk);

	if (tap_failure_count())
		return;
	copy_disk_content(&history->judge.disk, history->live.disk.durable);
	history->written = realloc(history->written, writes + 1);
	tally.crashes++;
	if (writes <= (history->all ? WRITES_ALL : WRITES_ALL_SAMPLE))
		try_all_subsets_of_writes(history, writes);
	else
		check_recovery_from_sampled_write_subsets(history, writes);
	check_recovery_from_torn_writes(history, writes);
}

/* Operations */

static void open_volume_for_history(struct history *history, const char *policy)
{
	int ret = durable_start_device(&history->live, policy, false);

	CHECK_MSG(!ret, "%s: not started: %d: %s", policy, ret, history->live.device.error.text);
}

static void submit_request(struct history *history, enum aftl_op op, u32 unit, u32 units, u32 class,
			   u32 flags)
{
	struct test_device *device = &history->live.device;

	CHECK_EQ(test_submit_io(device, op, unit, units, class, flags,
				aftl_device_time_ns(device->ftl)),
		 0);
}

static void write_one_unit(struct history *history)
{
	submit_request(history, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, 0);
}

static void write_three_units(struct history *history)
{
	submit_request(history, AFTL_OP_WRITE, 0, 3, AFTL_PRECISE, 0);
}

static void write_approximate_units(struct history *history)
{
	submit_request(history, AFTL_OP_WRITE, 1, 2, AFTL_APPROX, 0);
}

static void write_unit_with_fua(struct history *history)
{
	submit_request(history, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, AFTL_REQUEST_FUA);
}

static void discard_two_units(struct history *history)
{
	submit_request(history, AFTL_OP_DISCARD, 0, 2, 0, 0);
}

static void submit_flush(struct history *history)
{
	submit_request(history, AFTL_OP_FLUSH, 0, 0, 0, 0);
}

static void advance_device_age(struct history *history)
{
	aftl_advance_age(history->live.device.ftl, YEAR_NS);
}

static void collect_garbage(struct history *history)
{
	struct aftl *ftl = history->live.device.ftl;
	u32 i;

	for (i = 0; i < aftl_geometry(ftl)->luns; i++)
		CHECK_EQ(aftl_start_lun_gc(ftl, i), 0);
	while (aftl_count_luns_in_gc(ftl) && test_process_event(&history->live.device))
		;
	tally.collected += test_counters(&history->live.device)->gc_blocks > 0;
}

static void reload_device(struct history *history)
{
	CHECK_EQ(durable_close_cleanly(&history->live), 0);
	open_volume_for_history(history, history->policy);
}

static void change_policy(struct history *history)
{
	const char *policy = history->policy;

	CHECK_EQ(durable_close_cleanly(&history->live), 0);
	history->policy = history->other;
	history->other = policy;
	open_volume_for_history(history, history->policy);
}

static const struct operation {
	char word;
	void (*run)(struct history *history);
} operations[] = {
	{ 'w', write_one_unit },
	{ 'W', write_three_units },
	{ 'a', write_approximate_units },
	{ 'u', write_unit_with_fua },
	{ 'd', discard_two_units },
	{ 'f', submit_flush },
	{ 'o', advance_device_age },
	{ 'c', collect_garbage },
	{ 'r', reload_device },
	{ 'p', change_policy },
};

/* Operations of the histories of a zoned device: they write one zone, and use another zone. */

static void submit_zone_append(struct history *history, u32 zone, u32 units, u32 flags)
{
	submit_request(history, AFTL_OP_WRITE, zone * count_units_per_zone(&history->live), units,
		       AFTL_PRECISE, flags | AFTL_REQUEST_APPEND);
}

static void append_one_unit(struct history *history)
{
	submit_zone_append(history, 0, 1, 0);
}

static void append_three_units(struct history *history)
{
	submit_zone_append(history, 0, 3, 0);
}

static void append_unit_with_fua(struct history *history)
{
	submit_zone_append(history, 0, 1, AFTL_REQUEST_FUA);
}

static void append_units_to_second_zone(struct history *history)
{
	submit_zone_append(history, 1, 3, 0);
}

static void write_unit_at_zone_write_pointer(struct history *history)
{
	u32 written;

	aftl_zone_state(history->live.device.ftl, 0, &written);
	submit_request(history, AFTL_OP_WRITE,
		       min(written, count_units_per_zone(&history->live) - 1), 1, AFTL_PRECISE, 0);
}

static void reset_first_zone(struct history *history)
{
	submit_request(history, AFTL_OP_ZONE_RESET, 0, 0, 0, 0);
}

static void finish_first_zone(struct history *history)
{
	submit_request(history, AFTL_OP_ZONE_FINISH, 0, 0, 0, 0);
}

static const struct operation zone_operations[] = {
	{ 'w', append_one_unit },
	{ 'W', append_three_units },
	{ 'u', append_unit_with_fua },
	{ 'e', append_units_to_second_zone },
	{ 'p', write_unit_at_zone_write_pointer },
	{ 'd', reset_first_zone },
	{ 'n', finish_first_zone },
	{ 'f', submit_flush },
	{ 'r', reload_device },
};

static void execute_history_operation(struct history *history, char word)
{
	u32 i;

	for (i = 0; i < history->letters; i++)
		if (history->operations[i].word == word)
			history->operations[i].run(history);
	if (history->mode == MODE_ONE_BY_ONE)
		CHECK_EQ(durable_drain_all_ops(&history->live), 0);
}

/* Histories */

static void restore_snapshot(struct history *history, const char *policy, const char *other)
{
	struct durable_device *live = &history->live;

	live->disk.before_flush = NULL;
	while (live->disk.writes)
		lying_disk_crash(&live->disk, DISK_CRASH_NOTHING, &history->random);
	copy_disk_content(&live->disk, history->base);
	memcpy(live->units, history->base_units, live->unit_count * sizeof(*live->units));
	memcpy(live->finished, history->base_finished, live->unit_count);
	live->stamps = history->base_stamps;
	live->disk.changes = 0;
	live->disk.flushes = 0;
	history->policy = policy;
	history->other = other;
	history->random = (struct aftl_random){ aftl_hash64(tally.histories) };
}

static void run_whole_history(struct history *history)
{
	const char *policy = history->policy;
	const char *other = history->other;
	const char *word;

	restore_snapshot(history, policy, other);
	open_volume_for_history(history, policy);
	history->live.disk.before_flush = try_crashes_before_flush;
	history->live.disk.watcher = history;
	for (word = history->words; *word && !tap_failure_count(); word++)
		execute_history_operation(history, *word);
	if (!tap_failure_count()) {
		CHECK_EQ(durable_drain_all_ops(&history->live), 0);
		try_crashes_before_flush(history);
	}
	durable_stop(&history->live);
	restore_snapshot(history, policy, other);
	tally.histories++;
}

/* Initial state with half of one zone written, full zones, and one zone reset and rewritten. */
static void prepare_zoned_device_state(struct history *history)
{
	struct durable_device *live = &history->live;
	struct test_device *device = &live->device;
	u32 zone;
	u32 i;

	open_volume_for_history(history, history->policy);
	zone = count_units_per_zone(live);
	for (i = 0; i < live->unit_count; i++)
		if (i < zone / 2 || i >= zone)
			CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE,
						      NULL),
				 0);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(test_execute_request(device, AFTL_OP_ZONE_RESET, zone, 0, 0, NULL), 0);
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, zone, 3, AFTL_PRECISE, NULL),
			 0);
	}
	CHECK_EQ(durable_drain_all_ops(live), 0);
	CHECK_EQ(durable_close_cleanly(live), 0);
}

/* Initial state of a device without zones: full, overwritten, collected, and cleanly closed. */
static void prepare_device_state(struct history *history)
{
	struct durable_device *live = &history->live;
	struct test_device *device = &live->device;
	u32 i;

	open_volume_for_history(history, history->policy);
	for (i = 0; i < live->unit_count; i++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i, 1,
					      i % 3 ? AFTL_PRECISE : AFTL_APPROX, NULL),
			 0);
	for (i = 0; i < 2 * live->unit_count; i++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i * 7 % live->unit_count, 1,
					      AFTL_PRECISE, NULL), 0);
	CHECK_EQ(durable_drain_all_ops(live), 0);
	CHECK_EQ(durable_close_cleanly(live), 0);
}

#define TINY "channels=1 chips=1 dies=1 layers=2 unit=512 op=90"

/* For each policy the smallest device on which it works, and another policy to change to. */
static const struct subject {
	const char *policy;
	const char *other;
	const char *shape;
} subjects[] = {
	{ "baseline", "vth_b", TINY " blocks=6 word_lines=1 bits=2 page=1KiB" },
	{ "approxftl", "baseline", TINY " blocks=22 word_lines=1 bits=2 page=512" },
	{ "ressd", "baseline", TINY " blocks=12 word_lines=1 bits=3 page=1KiB" },
	{ "cubeftl", "baseline", TINY " blocks=8 word_lines=2 bits=3 page=512 one_shot=on" },
	{ "baseline", "tlc",
	  TINY " blocks=12 slc_static=8% slc_dynamic=10% word_lines=2 bits=4 page=512 one_shot=on "
	  "passes=2" },
	/* One device caches one of two translation pages, the next one has parity on two dies. */
	{ "separated", "separated",
	  TINY " op=30 blocks=32 word_lines=2 bits=2 page=512 map_cache=1KiB" },
	{ "vth_b", "vth_b",
	  TINY " channels=2 blocks=16 word_lines=1 bits=2 page=512 superblock=2 rain=on" },
	{ "streams", "streams", TINY " word_lines=1 page=512 buffer_safe=on buffer_hold=1s" },
	{ "delta_b", "delta_b",
	  TINY " op=60 blocks=12 word_lines=1 bits=2 page=1KiB one_shot=on zoned=4KiB "
	  "max_active_zones=2 buffer_safe=on" },
};

static void open_history_devices(struct history *history, const struct subject *subject, u64 buffer)
{
	const char *policy = subject->policy;
	struct test_device device;
	bool zones;

	*history = (struct history){ .policy = policy, .other = subject->other };
	test_device_init(&device, "demo");
	test_device_set_params(&device, subject->shape);
	device.config.buffer = buffer;
	if (durable_open(&history->live, &device.config, policy) ||
	    durable_open(&history->judge, &device.config, policy) ||
	    durable_format(&history->live))
		tap_bail_out("no such device: %s", history->live.device.error.text);
	history->judge.super = history->live.super;
	zones = device.config.zoned;
	history->operations = zones ? zone_operations : operations;
	history->letters = zones ? ARRAY_SIZE(zone_operations) : ARRAY_SIZE(operations);
	if (zones)
		prepare_zoned_device_state(history);
	else
		prepare_device_state(history);
	history->base_finished = calloc(history->live.unit_count, 1);
	memcpy(history->base_finished, history->live.finished, history->live.unit_count);
	history->base = malloc(history->live.disk.medium.bytes);
	memcpy(history->base, history->live.disk.durable, history->live.disk.medium.bytes);
	history->base_units = calloc(history->live.unit_count, sizeof(*history->base_units));
	memcpy(history->base_units, history->live.units,
	       history->live.unit_count * sizeof(*history->base_units));
	history->base_stamps = history->live.stamps;
}

static void close_history_devices(struct history *history)
{
	durable_close(&history->live);
	durable_close(&history->judge);
	free(history->base);
	free(history->base_units);
	free(history->base_finished);
	free(history->written);
}

static u32 count_histories(const struct history *history, u32 length)
{
	u32 count = 1;

	while (length--)
		count *= history->letters;
	return count;
}

static void name_history_by_number(struct history *history, u32 number, u32 length)
{
	memset(history->words, 0, sizeof(history->words));
	for (; length--; number /= history->letters)
		history->words[length] = history->operations[number % history->letters].word;
}

static bool is_history_selected(const struct history *history, u32 number, u32 length)
{
	return history->all || aftl_hash64_pair(number, history->mode) % sample_of[length] == 0;
}

static void try_histories_of_length(struct history *history, u32 length)
{
	u32 number;

	for (number = 0; number < count_histories(history, length) && !tap_failure_count();
	     number++) {
		if (!is_history_selected(history, number, length))
			continue;
		name_history_by_number(history, number, length);
		run_whole_history(history);
	}
}

/* Histories in which a block, all of whose units are discarded, is erased without relocation. */
static const char *const longer[] = { "uuuudc", "uuuuuuuudc" };

static void draw_random_operations_of_history(struct history *history, struct aftl_random *random)
{
	u32 words = WORDS_MAX + 1 + (u32)aftl_random_below(random, LONGER_WORDS_MAX - WORDS_MAX);

	memset(history->words, 0, sizeof(history->words));
	while (words--)
		history->words[words] =
			history->operations[aftl_random_below(random, history->letters)].word;
}

static void try_longer_histories(struct history *history)
{
	struct aftl_random random = { aftl_hash64_pair(history->mode, LONGER_DRAWN) };
	u32 drawn = history->all ? 100 * LONGER_DRAWN : LONGER_DRAWN;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(longer) && !tap_failure_count(); i++) {
		snprintf(history->words, sizeof(history->words), "%s", longer[i]);
		run_whole_history(history);
	}
	for (i = 0; i < drawn && !tap_failure_count(); i++) {
		draw_random_operations_of_history(history, &random);
		run_whole_history(history);
	}
}

static void try_all_histories(const struct subject *subject, u64 buffer, bool all)
{
	struct history history;
	u32 length;

	tap_begin("%s, changed to %s, write buffer of %llu bytes", subject->policy,
		  subject->other, (unsigned long long)buffer);
	open_history_devices(&history, subject, buffer);
	history.all = all;
	for (history.mode = 0; history.mode < MODES; history.mode++) {
		for (length = 1; length <= WORDS_MAX; length++)
			try_histories_of_length(&history, length);
		try_longer_histories(&history);
	}
	close_history_devices(&history);
	tap_end();
}

static void print_history_counts(void)
{
	tap_printf("%llu histories, %llu of them collect; %llu crashes, of %llu a sample",
		   (unsigned long long)tally.histories, (unsigned long long)tally.collected,
		   (unsigned long long)tally.crashes, (unsigned long long)tally.sampled);
	tap_printf("%llu recovered, %llu of them torn; %llu went on",
		   (unsigned long long)tally.recovered, (unsigned long long)tally.torn,
		   (unsigned long long)tally.went_on);
}

static const struct subject *find_subject_by_policy(const char *policy)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		if (!strcmp(subjects[i].policy, policy))
			return &subjects[i];
	tap_bail_out("no histories of %s", policy);
	return NULL;
}

static void try_named_history(char **argv)
{
	struct history history;

	tap_begin("%s %s %s %s", argv[1], argv[2], argv[3], argv[4]);
	open_history_devices(&history, find_subject_by_policy(argv[1]),
			     strtoull(argv[2], NULL, 10));
	history.mode = strtoul(argv[3], NULL, 10) ? MODE_AT_ONCE : MODE_ONE_BY_ONE;
	snprintf(history.words, sizeof(history.words), "%s", argv[4]);
	run_whole_history(&history);
	close_history_devices(&history);
	tap_end();
	print_history_counts();
}

TAP_TEST(the_random_histories_covered_every_case)
{
	CHECK_RANGE(tally.histories, 500, U64_MAX);
	CHECK_RANGE(tally.crashes, 2000, U64_MAX);
	CHECK_RANGE(tally.recovered, 15000, U64_MAX);
	CHECK_RANGE(tally.torn, 3000, U64_MAX);
	CHECK_RANGE(tally.went_on, 250, U64_MAX);
	CHECK_RANGE(tally.collected, 50, U64_MAX);
}

int main(int argc, char **argv)
{
	const char *states = getenv("AFTL_CRASH_STATES");
	bool all = (argc > 1 && !strcmp(argv[1], "all")) || (states && !strcmp(states, "0"));
	u32 i;

	if (argc == 5) {
		try_named_history(argv);
		return tap_finish();
	}
	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		bool zones = !strcmp(subjects[i].policy, "delta_b");

		if (strcmp(subjects[i].policy, "baseline") &&
		    strcmp(subjects[i].policy, subjects[i].other))
			try_all_histories(&subjects[i], 0, all);
		try_all_histories(&subjects[i], zones ? 8192 : 4096, all);
	}
	print_history_counts();
	return tap_run_all();
}
