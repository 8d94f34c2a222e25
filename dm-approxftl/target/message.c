// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: dmsetup message DEVICE 0 VERB [ARGUMENT]...
 *
 *   stats [<shard>]        of one shard, or of all together: every counter as "name value",
 *                          one a line; lock_waits, how often a processor has waited for
 *                          another one, and lock_wait_ns, how long in host nanoseconds;
 *                          handovers, how often a worker went on with what took too long for
 *                          a soft interrupt or a submitter; then the units of each stream of
 *                          the policy, of the host and moved; then the lateness of
 *                          completions as late_* in host nanoseconds, and its histogram as
 *                          late_le_<ns> <completions>, for bins that are not empty
 *   reset                  counters and lateness back to zero
 *   age <duration>         let time pass for the cells, nothing else
 *   gc [<lun>]             begin to collect garbage, of one LUN or of all, until nothing is
 *                          worth it. Takes device time: collecting_luns in the status line
 *                          is 0 at the end, and gc_blocks in stats says how much
 *   policy <key> <value>   change a parameter; the table line follows. Parameters that
 *                          size memory, or fix the shape or history of the stored data,
 *                          are refused
 *   fault block <number>   a block has gone bad: its data move, then it is retired
 *   fault die <lun>        a LUN has died: its data are lost
 *   fault unit <number>    a logical page is uncorrectable: reads of it fail until it is written
 *                          or discarded
 *   fault wear <cycles>    every good block has had at least that many P/E cycles
 *   fault life end         blocks go bad until the device is read-only, after their data moved
 *   fault power cut        nothing reaches the store any more, and writes and flushes fail, until
 *                          the device is removed and created again; of one shard, durable
 *   fault age <duration>   as age. With the words "after TRIGGER N" each of these faults happens
 *                          later, once: after write 9 or read 9, host requests to the shard;
 *                          after time 3s, device time; after program 9, the program of a host
 *                          write of that unit. Counts begin with a fault when no other one waits
 *   fault clear            empty that list, except for faults that are due
 *   faults                 a line for each fault that has a trigger, with its state: pending,
 *                          due, happened, or void if the unit was not on flash; after the last
 *                          two, the device time in ns
 *   luns                   a line for each LUN: its number, then good_blocks,
 *                          free_blocks, valid_units, queued, busy_ns and cached_blocks,
 *                          each with its value
 *   blocks <first> <count> a line for each block: number, state, kind, erases, wear,
 *                          valid units, reads; then "next <number>" if there are more
 *                          than asked for or than fit
 *   block <number>         what is in a block, page by page
 *   lost <unit>            the units from that one on that are lost to the block device below or
 *                          a fault: a line for each run, the first and how many; then
 *                          "next <unit>" if there may be more
 *   line <shard>           the table line of a device that is one of the shards by itself
 *   digest                 one number for the state of the FTL of each shard, a line each;
 *                          suspended devices only
 *   audit                  check the FTL's structures; suspended devices only
 */
#include <linux/slab.h>

#include "core/persist/snapshot.h"
#include "log.h"
#include "target/options.h"
#include "target/target.h"

/* Longest line of the answer to the message "blocks", in bytes. */
#define BLOCK_LINE 120

/* Message "lost": longest line in bytes; number of lpns searched before the disk is unlocked. */
#define LOST_LINE 32
#define LOST_SLICE 4096

/**
 * struct message - a message that is being handled
 * @target: target that got it
 * @device: device of @target; NULL if its table does not have the data
 * @words: arguments after the verb
 * @count: number of arguments
 * @result: takes the answer
 * @maxlen: size of @result in bytes
 * @error: takes the error message on failure
 */
struct message {
	struct aftl_target *target;
	struct aftl_device *device;
	char **words;
	unsigned int count;
	char *result;
	unsigned int maxlen;
	struct aftl_error *error;
};

/**
 * struct verb - handler of a message
 * @name: first argument of the message
 * @least: smallest number of further arguments
 * @most: largest number of further arguments
 * @suspended: only for a suspended device, because I/O would have to wait too long for it
 * @run: returns 0, 1 with an answer in the result, or an error code with an error message
 */
struct verb {
	const char *name;
	unsigned int least;
	unsigned int most;
	bool suspended;
	int (*run)(struct message *message);
};

/**
 * struct snap - statistics that the message "stats" prints: sums over the disks of the device
 * @stats: sum of the FTLs' counters, and device time of the last reset
 * @streams: names of the policy's write streams
 * @handles: number of placement handles beside the default one
 * @device_ns: device time now
 * @lock_waits: number of requests and messages that had to wait for a disk's lock
 * @lock_wait_ns: host time for which they waited
 * @handovers: number of times that the worker was queued for work that takes long
 * @late: lateness of completions, in host nanoseconds
 */
struct snap {
	struct aftl_stats stats;
	const char *const *streams;
	u32 handles;
	u64 device_ns;
	u64 lock_waits;
	u64 lock_wait_ns;
	u64 handovers;
	struct aftl_histogram late;
};

/*
 * Print the largest time of all shards, not the sum: shards work in parallel, and with "timing off"
 * the device time of each shard advances separately.
 */
static void accumulate_disk_times(struct aftl_disk *disk, struct snap *snap)
{
	u64 now_ns = aftl_disk_now_ns(disk);
	u64 span_ns = now_ns - aftl_get_stats(disk->ftl)->since_ns;

	span_ns = max(span_ns, snap->device_ns - snap->stats.since_ns);
	snap->device_ns = max(now_ns, snap->device_ns);
	snap->stats.since_ns = snap->device_ns - span_ns;
}

static void accumulate_disk_stats(struct aftl_disk *disk, struct snap *snap)
{
	spin_lock_bh(&disk->lock);
	aftl_stats_accumulate(&snap->stats, aftl_get_stats(disk->ftl));
	snap->streams = aftl_policy_type(disk->ftl)->streams;
	snap->handles = (u32)aftl_config(disk->ftl)->placement_handles;
	snap->lock_waits += disk->lock_waits;
	snap->lock_wait_ns += disk->lock_wait_ns;
	snap->handovers += disk->handovers;
	accumulate_disk_times(disk, snap);
	spin_unlock_bh(&disk->lock);
	spin_lock_bh(&disk->late_lock);
	aftl_histogram_merge(&snap->late, &disk->late);
	spin_unlock_bh(&disk->late_lock);
}

static unsigned int print_stats_counters(const struct snap *snap, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i;

	for (i = 0; i < AFTL_COUNTERS; i++)
		DMEMIT("%s %llu\n", aftl_counter_info[i].name,
		       aftl_counter_get(&snap->stats.counters, i));
	DMEMIT("device_ns %llu\nsince_ns %llu\n", snap->device_ns, snap->stats.since_ns);
	DMEMIT("lock_waits %llu\nlock_wait_ns %llu\n", snap->lock_waits, snap->lock_wait_ns);
	DMEMIT("handovers %llu\n", snap->handovers);
	return sz;
}

static unsigned int print_stream_unit_counts(const struct snap *snap, char *result,
					     unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i;

	for (i = 0; i < AFTL_STREAMS && snap->streams[i]; i++)
		DMEMIT("stream_%s_host_units %llu\nstream_%s_moved_units %llu\n", snap->streams[i],
		       snap->stats.stream_units[0][i], snap->streams[i],
		       snap->stats.stream_units[1][i]);
	return sz;
}

static unsigned int print_counters_of_placement_handles(const struct snap *snap, char *result,
							unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i, j;

	for (i = 0; snap->handles && i <= snap->handles; i++)
		for (j = 0; j < AFTL_HANDLE_COUNTERS; j++)
			DMEMIT("handle_%u_%s %llu\n", i, aftl_handle_counter_info[j].name,
			       aftl_get_handle_counter(&snap->stats.handles[i], j));
	return sz;
}

static unsigned int print_lateness_histogram(const struct aftl_histogram *late, char *result,
					     unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i;

	DMEMIT("late_count %llu\nlate_sum_ns %llu\nlate_max_ns %llu\n", late->count, late->sum,
	       late->largest);
	DMEMIT("late_p50_ns %llu\nlate_p99_ns %llu\n", aftl_histogram_quantile(late, 5000),
	       aftl_histogram_quantile(late, 9900));
	for (i = 0; i < AFTL_HISTOGRAM_BINS; i++)
		if (late->bins[i])
			DMEMIT("late_le_%llu %llu\n", aftl_histogram_max_of_bin(i), late->bins[i]);
	return sz;
}

/* Parse a number below @count; @what names the numbered thing, such as "block", in the error. */
static int parse_message_number(struct message *message, const char *text, const char *what,
				u64 count, u64 *number)
{
	if (kstrtou64(text, 10, number) || *number >= count)
		return aftl_fail(message->error, -EINVAL,
				 "\"%.40s\" is not a %s; there are 0 to %llu", text, what,
				 count - 1);
	return 0;
}

static int parse_message_index(struct message *message, const char *text, const char *what,
			       u32 count, u32 *index)
{
	u64 number;
	int ret = parse_message_number(message, text, what, count, &number);

	if (!ret)
		*index = (u32)number;
	return ret;
}

/* Select the shards [@first, @end): the shard that the first argument names, or all shards. */
static int parse_shard_argument(struct message *message, u32 *first, u32 *end)
{
	int ret = 0;

	*first = 0;
	*end = message->device->shards.count;
	if (message->count) {
		ret = parse_message_index(message, message->words[0], "shard", *end, first);
		*end = *first + 1;
	}
	return ret;
}

static int handle_stats_message(struct message *message)
{
	struct snap *snap;
	unsigned int sz;
	u32 i, end;
	int ret = parse_shard_argument(message, &i, &end);

	if (ret)
		return ret;
	snap = kvzalloc(sizeof(*snap), GFP_NOIO);
	if (!snap)
		return aftl_fail(message->error, -ENOMEM, "not enough memory for statistics");
	for (; i < end; i++)
		accumulate_disk_stats(message->device->disks[i], snap);
	sz = print_stats_counters(snap, message->result, message->maxlen);
	sz += print_stream_unit_counts(snap, message->result + sz, message->maxlen - sz);
	sz += print_counters_of_placement_handles(snap, message->result + sz, message->maxlen - sz);
	print_lateness_histogram(&snap->late, message->result + sz, message->maxlen - sz);
	kvfree(snap);
	return 1;
}

static void reset_disk_stats(struct aftl_disk *disk)
{
	spin_lock_bh(&disk->lock);
	aftl_reset_stats(disk->ftl);
	disk->lock_waits = 0;
	disk->lock_wait_ns = 0;
	disk->handovers = 0;
	spin_unlock_bh(&disk->lock);
	spin_lock_bh(&disk->late_lock);
	memset(&disk->late, 0, sizeof(disk->late));
	spin_unlock_bh(&disk->late_lock);
}

static int handle_reset_message(struct message *message)
{
	aftl_each_disk(disk, message->device)
		reset_disk_stats(*disk);
	return 0;
}

/*
 * Lock @disk and advance it to the present. On success the caller may make one call that changes
 * the FTL. It must call aftl_disk_unlock_and_end_bios() in any case.
 */
static int lock_disk_for_message(struct message *message, struct aftl_disk *disk)
{
	int ret = aftl_disk_lock_and_advance(disk, true);

	if (ret == -EBUSY)
		return aftl_fail(message->error, ret,
				 "the store of a suspended device has no room for more; resume it first");
	return ret ? aftl_fail(message->error, ret, "interrupted") : 0;
}

static int advance_disk_age(struct message *message, struct aftl_disk *disk, u64 ns)
{
	int ret = lock_disk_for_message(message, disk);

	if (!ret)
		aftl_advance_age(disk->ftl, ns);
	aftl_disk_unlock_and_end_bios(disk);
	return ret;
}

static int handle_age_message(struct message *message)
{
	u64 ns;
	int ret = aftl_parse_value(AFTL_PARAM_TIME, NULL, message->words[0], &ns, message->error);
	u32 i;

	for (i = 0; !ret && i < message->device->shards.count; i++)
		ret = advance_disk_age(message, message->device->disks[i], ns);
	return ret;
}

/* Users number blocks and LUNs consecutively over all shards: beginning with shard 0. */
static u32 count_device_blocks(const struct message *message)
{
	return message->device->shards.geo.blocks * message->device->shards.count;
}

static u32 count_device_luns(const struct message *message)
{
	return message->device->shards.geo.luns * message->device->shards.count;
}

/**
 * struct part - disk and number of a block or LUN that a message names by its number in the device
 * @disk: disk of its shard
 * @index: number within the shard
 */
struct part {
	struct aftl_disk *disk;
	u32 index;
};

static struct part locate_part_in_shard(const struct message *message, u32 number, u32 of_each)
{
	return (struct part){ message->device->disks[number / of_each], number % of_each };
}

static struct part locate_block_in_shard(const struct message *message, u32 number)
{
	return locate_part_in_shard(message, number, message->device->shards.geo.blocks);
}

static struct part locate_lun_in_shard(const struct message *message, u32 number)
{
	return locate_part_in_shard(message, number, message->device->shards.geo.luns);
}

static int parse_block_argument(struct message *message, const char *text, u32 *number)
{
	return parse_message_index(message, text, "block", count_device_blocks(message), number);
}

static int parse_lun_argument(struct message *message, const char *text, u32 *number)
{
	return parse_message_index(message, text, "LUN", count_device_luns(message), number);
}

static int start_gc_in_lun(struct message *message, u32 number)
{
	struct part lun = locate_lun_in_shard(message, number);
	int ret = lock_disk_for_message(message, lun.disk);

	if (!ret)
		ret = aftl_start_lun_gc(lun.disk->ftl, lun.index);
	aftl_disk_unlock_and_end_bios(lun.disk);
	return ret;
}

static int handle_gc_message(struct message *message)
{
	u32 i = 0;
	int ret = message->count ? parse_lun_argument(message, message->words[0], &i) : 0;
	u32 end = message->count ? i + 1 : count_device_luns(message);

	for (; !ret && i < end; i++)
		ret = start_gc_in_lun(message, i);
	if (!ret)
		aftl_each_disk(disk, message->device)
			aftl_disk_queue_gc(*disk);
	return ret;
}

/*
 * Print the shard's value of the parameter. It differs from the device's value for resources that
 * are divided among the shards, but these cannot be changed. noinline: struct aftl_config is large
 * and shall not stay on the caller's stack.
 */
static noinline_for_stack void print_own_value(const struct message *message,
					       const struct aftl_config *config, u32 index,
					       char *value)
{
	int key = aftl_param_find(message->words[0]);
	struct aftl_config own;

	aftl_derive_shard_config(&own, config, index);
	aftl_param_format(aftl_param_at(key), aftl_param_get(&own, key), value);
}

/* Check that a shard accepts the parameter and its store has room for the change. */
static int check_shard_param(struct message *message, u32 index, const struct aftl_config *config)
{
	struct aftl_disk *disk = message->device->disks[index];
	char value[AFTL_VALUE_SIZE];
	int ret;

	print_own_value(message, config, index, value);
	ret = lock_disk_for_message(message, disk);
	if (!ret)
		ret = aftl_check_param(disk->ftl, message->words[0], value, message->error);
	aftl_disk_unlock_and_end_bios(disk);
	return ret;
}

/*
 * Change a parameter of a shard. This cannot fail after check_shard_param(): a signal does not
 * interrupt it, and the store still has room, because nothing else fills its queue while the device
 * is suspended.
 */
static void set_shard_param(struct message *message, u32 index, const struct aftl_config *config)
{
	struct aftl_disk *disk = message->device->disks[index];
	char value[AFTL_VALUE_SIZE];
	int ret;

	print_own_value(message, config, index, value);
	ret = aftl_disk_lock_and_advance(disk, false);
	if (!ret)
		ret = aftl_set_param(disk->ftl, message->words[0], value, message->error);
	aftl_disk_unlock_and_end_bios(disk);
	WARN_ON_ONCE(ret);
}

/*
 * Change a parameter in all shards or in none: all are checked before the first one changes. The
 * table line changes, too, so that a reload of it keeps the FTLs.
 */
static int handle_policy_message(struct message *message)
{
	struct aftl_options *options = &message->target->options;
	struct aftl_config config = options->config;
	int ret = aftl_param_set(&config, message->words[0], message->words[1], message->error);
	u32 i;

	if (!ret)
		ret = aftl_config_check(&options->config, &config, message->error);
	for (i = 0; !ret && i < message->device->shards.count; i++)
		ret = check_shard_param(message, i, &config);
	if (ret)
		return ret;
	for (i = 0; i < message->device->shards.count; i++)
		set_shard_param(message, i, &config);
	options->config = config;
	return 0;
}

/**
 * struct fault_place - shards in which a fault is armed
 * @first: first shard
 * @end: shard after the last one
 */
struct fault_place {
	u32 first;
	u32 end;
};

/*
 * Replace *@number, the number in the device of a logical page, block or LUN, by the number in its
 * shard; @place takes the shard. @kind is an enum aftl_fault_action.
 */
static int locate_fault_in_shard(struct message *message, u8 kind, u64 *number,
				 struct fault_place *place)
{
	const struct aftl_shards *shards = &message->device->shards;
	const u64 of_each[] = { 0, shards->geo.blocks, shards->geo.luns };
	u64 count = kind ? of_each[kind] * shards->count : shards->units;
	u32 shard;

	if (*number >= count)
		return aftl_fail(message->error, -EINVAL,
				 "\"%llu\" is not a %s; there are 0 to %llu", *number,
				 aftl_fault_actions[kind], count - 1);
	shard = kind ? (u32)div64_u64(*number, of_each[kind]) : aftl_shard_of_lpn(shards, *number);
	*number = kind ? *number - shard * of_each[kind] : aftl_lpn_within_shard(shards, *number);
	if (shard < place->first || shard >= place->end)
		return aftl_fail(message->error, -EINVAL,
				 "the fault and its trigger are in different shards; choose others");
	*place = (struct fault_place){ shard, shard + 1 };
	return 0;
}

/* Return the number in the device of a logical page, block or LUN of shard @shard. */
static u64 get_fault_address_in_device(const struct message *message, u32 shard, u8 kind,
				       u64 number)
{
	const struct aftl_shards *shards = &message->device->shards;
	const u64 of_each[] = { 0, shards->geo.blocks, shards->geo.luns };

	if (kind == AFTL_FAULT_UNIT)
		return aftl_device_lpn_of_shard_lpn(shards, shard, (u32)number);
	return (kind <= AFTL_FAULT_DIE ? shard * of_each[kind] : 0) + number;
}

static unsigned int print_action_of_fault(const struct message *message, u32 shard,
					  const struct aftl_fault *fault, char *result,
					  unsigned int maxlen)
{
	const char *word = aftl_get_name_of_fault_action(fault->action);
	unsigned int sz = 0;

	DMEMIT("%s ", aftl_fault_actions[fault->action]);
	if (word)
		DMEMIT("%s", word);
	else
		DMEMIT("%llu", get_fault_address_in_device(message, shard, fault->action,
							   fault->number));
	return sz;
}

static int arm_fault_in_shard(struct message *message, u32 shard, const struct aftl_fault *fault)
{
	struct aftl_disk *disk = message->device->disks[shard];
	int ret = lock_disk_for_message(message, disk);

	if (!ret)
		ret = aftl_arm_fault(disk->ftl, fault, message->error);
	aftl_disk_unlock_and_end_bios(disk);
	return ret;
}

static void clear_disk_faults(struct aftl_disk *disk)
{
	spin_lock_bh(&disk->lock);
	aftl_clear_faults(disk->ftl);
	spin_unlock_bh(&disk->lock);
}

static unsigned int emit_disk_faults(const struct message *message, u32 shard, char *result,
				     unsigned int maxlen)
{
	struct aftl_disk *disk = message->device->disks[shard];
	const struct aftl_fault *fault;
	unsigned int sz = 0;
	u32 count;

	spin_lock_bh(&disk->lock);
	for (count = aftl_get_faults(disk->ftl, &fault); count; count--, fault++) {
		sz += print_action_of_fault(message, shard, fault, result + sz, maxlen - sz);
		DMEMIT(" after %s %llu %s", aftl_fault_triggers[fault->trigger],
		       fault->trigger == AFTL_FAULT_PROGRAM ?
			       get_fault_address_in_device(message, shard, AFTL_FAULT_UNIT,
							   fault->after) :
			       fault->after,
		       aftl_fault_states[fault->state]);
		if (fault->state >= AFTL_FAULT_HAPPENED)
			DMEMIT(" %llu", fault->when_ns);
		DMEMIT("\n");
	}
	spin_unlock_bh(&disk->lock);
	return sz;
}

static int handle_faults_message(struct message *message)
{
	unsigned int sz = 0;
	u32 i;

	for (i = 0; i < message->device->shards.count; i++)
		sz += emit_disk_faults(message, i, message->result + sz, message->maxlen - sz);
	return 1;
}

static int handle_fault_message(struct message *message)
{
	struct fault_place place = { 0, message->device->shards.count };
	struct aftl_fault fault;
	int ret;

	if (message->count == 1 && !strcmp(message->words[0], "clear")) {
		aftl_each_disk(disk, message->device)
			clear_disk_faults(*disk);
		return 0;
	}
	ret = aftl_fault_parse(&fault, message->words, message->count, message->error);
	if (!ret && fault.action == AFTL_FAULT_POWER && place.end > 1)
		ret = aftl_fail(message->error, -EINVAL,
				"the shards of a device lose power at different times; use shards=1");
	if (!ret && fault.action <= AFTL_FAULT_DIE)
		ret = locate_fault_in_shard(message, fault.action, &fault.number, &place);
	if (!ret && fault.trigger == AFTL_FAULT_PROGRAM)
		ret = locate_fault_in_shard(message, AFTL_FAULT_UNIT, &fault.after, &place);
	for (; !ret && place.first < place.end; place.first++)
		ret = arm_fault_in_shard(message, place.first, &fault);
	return ret;
}

/* Take the disk's lock for each line only: printing all LUNs of a large device would delay I/O. */
static int handle_luns_message(struct message *message)
{
	unsigned int maxlen = message->maxlen;
	char *result = message->result;
	struct aftl_lun_info info;
	unsigned int sz = 0;
	u32 i;

	for (i = 0; i < count_device_luns(message); i++) {
		struct part lun = locate_lun_in_shard(message, i);

		spin_lock_bh(&lun.disk->lock);
		aftl_get_lun_info(lun.disk->ftl, lun.index, &info);
		spin_unlock_bh(&lun.disk->lock);
		DMEMIT("%u good_blocks %u free_blocks %u valid_units %u queued %u ", i,
		       info.good_blocks, info.free_blocks, info.valid_units, info.queued);
		DMEMIT("busy_ns %llu cached_blocks %u\n", info.busy_ns, info.cached_blocks);
	}
	return 1;
}

static const char *get_text_of_block_state(const struct aftl_block *block)
{
	static const char *const names[] = { "free", "open", "closed", "bad" };

	return names[block->state];
}

static const char *get_text_of_block_kind(const struct aftl *ftl, const struct aftl_block *block)
{
	const char *kind = block->bits == 1 ? "cache" : aftl_policy_type(ftl)->kinds[block->kind];

	return kind ? kind : "-";
}

static struct aftl_block get_block_of_part(struct part part)
{
	struct aftl_block block;

	spin_lock_bh(&part.disk->lock);
	block = aftl_media(part.disk->ftl)->blocks[part.index];
	spin_unlock_bh(&part.disk->lock);
	return block;
}

static int handle_blocks_message(struct message *message)
{
	const struct aftl *ftl = message->device->disks[0]->ftl;
	u32 blocks = count_device_blocks(message);
	unsigned int maxlen = message->maxlen;
	char *result = message->result;
	unsigned int sz = 0;
	u32 count;
	u32 i;

	if (parse_block_argument(message, message->words[0], &i) ||
	    parse_message_index(message, message->words[1], "number of blocks", blocks + 1, &count))
		return -EINVAL;
	for (; i < blocks && count && sz + 2 * BLOCK_LINE < maxlen; i++, count--) {
		struct aftl_block block = get_block_of_part(locate_block_in_shard(message, i));

		DMEMIT("%u %s %s %u %u %u %u\n", i, get_text_of_block_state(&block),
		       get_text_of_block_kind(ftl, &block), block.erases, block.wear, block.valid,
		       block.reads);
	}
	if (i < blocks)
		DMEMIT("next %u\n", i);
	return 1;
}

/*
 * Find the first logical page of @spot, from offset @from on, that is lost (or, if @lost is false,
 * not lost). Returns its offset in @spot, or the length of @spot if there is none.
 */
static u32 find_next_lost_or_readable_lpn(struct aftl_spot spot, u32 from, bool lost)
{
	u32 end = spot.unit + spot.units;
	u32 unit;

	spin_lock_bh(&spot.disk->lock);
	unit = aftl_find_lost_lpns(spot.disk->ftl, spot.unit + from, end, lost);
	spin_unlock_bh(&spot.disk->lock);
	return unit - spot.unit;
}

static u64 count_lost_units_of_device(const struct aftl_device *device)
{
	u64 lost = 0;

	aftl_each_disk(disk, device) {
		spin_lock_bh(&(*disk)->lock);
		lost += aftl_count_lost_units((*disk)->ftl);
		spin_unlock_bh(&(*disk)->lock);
	}
	return lost;
}

/* Print the runs of lost logical pages, cut where a search slice or a shard's chunk ends. */
static int handle_lost_units_message(struct message *message)
{
	u64 units = message->device->shards.units;
	unsigned int maxlen = message->maxlen;
	char *result = message->result;
	unsigned int sz = 0;
	u64 unit;

	if (parse_message_number(message, message->words[0], "unit", units, &unit))
		return -EINVAL;
	while (count_lost_units_of_device(message->device) && unit < units &&
	       sz + 2 * LOST_LINE < maxlen) {
		struct aftl_spot spot = aftl_device_locate_unit(message->device, unit,
							    min_t(u64, units - unit, LOST_SLICE));
		u32 first = find_next_lost_or_readable_lpn(spot, 0, true);
		u32 end = find_next_lost_or_readable_lpn(spot, first, false);

		if (end > first)
			DMEMIT("%llu %u\n", unit + first, end - first);
		unit += end;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	if (count_lost_units_of_device(message->device) && unit < units)
		DMEMIT("next %llu\n", unit);
	return 1;
}

static unsigned int print_block_row(const struct aftl *ftl, const struct aftl_block *block,
				    char *result, unsigned int maxlen)
{
	unsigned int sz = 0;

	DMEMIT("state %s\nkind %s\nvalid_units %u\napprox_units %u\nprogrammed_pages %u\n",
	       get_text_of_block_state(block), get_text_of_block_kind(ftl, block), block->valid,
	       block->valid_approx, block->programmed);
	DMEMIT("erases %u\nwear %u\nreads %u\n", block->erases, block->wear, block->reads);
	return sz;
}

/**
 * struct page_info - state of a flash page
 * @attr: attributes of the page: class, program mode, number of reprograms
 * @valid: number of valid units
 */
struct page_info {
	u16 attr;
	u32 valid;
};

static struct page_info get_page_counts(struct aftl_disk *disk, u32 block, u32 page)
{
	const struct aftl_media *media = aftl_media(disk->ftl);
	u32 index = block * media->geo->pages + page;
	struct page_info info = { 0 };
	u32 i;

	spin_lock_bh(&disk->lock);
	info.attr = *aftl_page_attr_ptr(media, index);
	for (i = 0; i < media->geo->page_units; i++)
		info.valid += aftl_ppn_is_valid(media, to_ppn(index * media->geo->page_units + i));
	spin_unlock_bh(&disk->lock);
	return info;
}

/* Print each programmed page: number, class, program mode, number of valid units. */
static void print_page_rows(struct aftl_disk *disk, u32 block, char *result, unsigned int maxlen)
{
	unsigned int sz = 0;
	u32 page;

	for (page = 0; page < aftl_geometry(disk->ftl)->pages; page++) {
		struct page_info info = get_page_counts(disk, block, page);

		if (info.attr & AFTL_PAGE_PROGRAMMED)
			DMEMIT("page %u class %u mode %u valid %u\n", page,
			       aftl_page_class(info.attr), aftl_page_mode(info.attr), info.valid);
	}
}

static int handle_block_message(struct message *message)
{
	struct aftl_block block;
	struct part part;
	unsigned int sz;
	u32 number;
	int ret = parse_block_argument(message, message->words[0], &number);

	if (ret)
		return ret;
	part = locate_block_in_shard(message, number);
	block = get_block_of_part(part);
	sz = print_block_row(part.disk->ftl, &block, message->result, message->maxlen);
	print_page_rows(part.disk, part.index, message->result + sz, message->maxlen - sz);
	return 1;
}

static int handle_digest_message(struct message *message)
{
	unsigned int maxlen = message->maxlen;
	char *result = message->result;
	unsigned int sz = 0;

	aftl_each_disk(disk, message->device)
		DMEMIT("%016llx\n", aftl_compute_device_digest((*disk)->ftl));
	return 1;
}

static int handle_audit_message(struct message *message)
{
	unsigned int maxlen = message->maxlen;
	char *result = message->result;
	unsigned int sz = 0;

	aftl_each_disk(disk, message->device)
		if (aftl_audit((*disk)->ftl, message->error))
			return -EUCLEAN;
	DMEMIT("clean\n");
	return 1;
}

/* Print the table line that makes a device of one shard equal to the given shard of the target. */
static int handle_table_line_message(struct message *message)
{
	struct aftl_options *options;
	u32 first, end;
	int ret = parse_shard_argument(message, &first, &end);

	if (ret)
		return ret;
	options = kmemdup(&message->target->options, sizeof(*options), GFP_NOIO);
	if (!options)
		return aftl_fail(message->error, -ENOMEM, "not enough memory for a table line");
	options->config = *aftl_config(message->device->disks[first]->ftl);
	aftl_options_print(options, message->result, message->maxlen);
	kfree(options);
	return 1;
}

static const struct verb verbs[] = {
	{ .name = "stats", .most = 1, .run = handle_stats_message },
	{ .name = "reset", .run = handle_reset_message },
	{ .name = "age", .least = 1, .most = 1, .run = handle_age_message },
	{ .name = "gc", .most = 1, .run = handle_gc_message },
	{ .name = "policy", .least = 2, .most = 2, .run = handle_policy_message },
	{ .name = "fault", .least = 1, .most = 5, .run = handle_fault_message },
	{ .name = "faults", .run = handle_faults_message },
	{ .name = "luns", .run = handle_luns_message },
	{ .name = "blocks", .least = 2, .most = 2, .run = handle_blocks_message },
	{ .name = "block", .least = 1, .most = 1, .run = handle_block_message },
	{ .name = "lost", .least = 1, .most = 1, .run = handle_lost_units_message },
	{ .name = "line", .least = 1, .most = 1, .run = handle_table_line_message },
	{ .name = "digest", .suspended = true, .run = handle_digest_message },
	{ .name = "audit", .suspended = true, .run = handle_audit_message },
};

static const struct verb *find_message_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcasecmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Report an unknown message, with a list of all messages such as "stats, reset and audit". */
static int report_unknown_message(const char *name, struct aftl_error *error)
{
	char list[120];
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		used += scnprintf(list + used, sizeof(list) - used, "%s%s",
				  !i ? "" : i + 1 < ARRAY_SIZE(verbs) ? ", " : " and ",
				  verbs[i].name);
	return aftl_fail(error, -EINVAL, "unknown message \"%.40s\"; there are %s", name, list);
}

static int report_wrong_argument_count(const struct verb *verb, unsigned int count,
				       struct aftl_error *error)
{
	if (verb->least == verb->most)
		return aftl_fail(error, -EINVAL, "message %s takes %u arguments, not %u",
				 verb->name, verb->most, count);
	return aftl_fail(error, -EINVAL, "message %s takes %u to %u arguments, not %u",
			 verb->name, verb->least, verb->most, count);
}

/* Explain why a message cannot be executed: a table in @state does not own the device's data. */
static const char *get_text_why_table_owns_no_device(enum aftl_table_state state)
{
	switch (state) {
	case AFTL_TABLE_RESUMING:
		return "the device is being resumed; wait for that";
	case AFTL_TABLE_FAILED:
		return "the device could not be resumed; the log of the kernel says why";
	case AFTL_TABLE_SUPERSEDED:
		return "another table has taken the device over";
	default:
		return "the device has not been resumed yet";
	}
}

static int check_message_arguments(const struct verb *verb, const struct message *message)
{
	const struct aftl_table *table = &message->target->table;

	if (message->count < verb->least || message->count > verb->most)
		return report_wrong_argument_count(verb, message->count, message->error);
	if (!message->device)
		return aftl_fail(message->error, -ENXIO, "%s",
				 get_text_why_table_owns_no_device(table->state));
	if (verb->suspended && table->state == AFTL_TABLE_LIVE)
		return aftl_fail(message->error, -EBUSY,
				 "message %s needs the device at rest; suspend it first",
				 verb->name);
	return 0;
}

/*
 * The gate keeps the device from being suspended, resumed or taken over while a message uses it.
 * Suspend and resume wait for the gate, so no message may wait for device time or for I/O.
 */
static int execute_message(const struct verb *verb, struct message *message)
{
	struct mutex *gate = &message->target->gate;
	int ret;

	mutex_lock(gate);
	message->device = message->target->table.device;
	ret = check_message_arguments(verb, message);
	if (!ret)
		ret = verb->run(message);
	mutex_unlock(gate);
	return ret;
}

int aftl_target_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			unsigned int maxlen)
{
	const struct verb *verb = find_message_verb(argv[0]);
	struct aftl_error error = { "" };
	struct message message = {
		.target = ti->private,
		.words = argv + 1,
		.count = argc - 1,
		.result = result,
		.maxlen = maxlen,
		.error = &error,
	};
	int ret = verb ? execute_message(verb, &message) : report_unknown_message(argv[0], &error);

	if (ret < 0)
		DMERR("%s: %s", dm_table_device_name(ti->table), error.text);
	return ret;
}
