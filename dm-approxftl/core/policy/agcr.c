// SPDX-License-Identifier: GPL-2.0-only
/*
 * AGCR: a write in coarse voltage steps is cheap and makes reads dear, one in fine
 * steps is dear and makes reads cheap. What has only been written of late is written
 * at low cost, all else at medium cost; what has only been read is written once more
 * at high cost when its die is idle.
 *
 * li is the scheme it is compared with, which looks at queues in place of data: low
 * cost while others wait for the die, else high cost.
 *
 * In a page of several units the first unit decides for all of them.
 */
#include "core/policy/policies.h"
#include "core/policy/by-class.h"

enum rewrite { REWRITE_OFF, REWRITE_LOW, REWRITE_ANY };

static const char *const rewrite_words[] = { "off", "low", "any", NULL };

#define PARAMS(PARAM)								\
	PARAM(history, COUNT, 0, 2, 1,						\
	      "accesses of a unit that are remembered beside the present (agcr)") \
	PARAM(rewrite, CHOICE, 0, 2, REWRITE_ANY,					\
	      "read-only data that idle dies write again: none, low cost, any but high (agcr)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/* Stream of a moved page: pages of one cost are programmed together. */
enum cost { MEDIUM, LOW, HIGH, COSTS };

#define COST_NAMES "medium_cost", "low_cost", "high_cost"

/*
 * What is known of a unit: its last accesses, a set bit being a write and the lowest
 * bit the last one; how many of them there have been; the low-cost tag of its last
 * write; whether it stands in a queue.
 */
#define ENTRY_HISTORY 0x03
#define ENTRY_KNOWN 0x0c
#define ENTRY_KNOWN_SHIFT 2
#define ENTRY_LOW 0x10
#define ENTRY_QUEUED 0x20

/* Bound of a die's queue; assumed. */
#define QUEUE_SIZE 1024

/**
 * struct queue - units of a die that wait to be written again; all numbers, for a snapshot
 * @count: how many
 * @first: of them
 * @unit: ring
 */
struct queue {
	u32 count;
	u32 first;
	u32 unit[QUEUE_SIZE];
};

/* Arrays: what is known of units, see above; queues of LUNs, if something is written again. */
enum { UNITS, QUEUED };

static const struct own *own(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static u8 *entry_of(const struct aftl_policy *policy, aftl_unit_t unit)
{
	return (u8 *)policy->arrays[UNITS] + from_unit(unit);
}

static struct queue *queue_of(const struct aftl_policy *policy, u32 lun)
{
	return (struct queue *)policy->arrays[QUEUED] + lun;
}

static bool rewrites(const struct aftl_policy *policy)
{
	return own(policy)->rewrite != REWRITE_OFF;
}

static u32 known_accesses(u8 entry)
{
	return (entry & ENTRY_KNOWN) >> ENTRY_KNOWN_SHIFT;
}

/* Were all accesses that are remembered writes, or all of them reads? */
static bool all_alike(u8 entry, bool write)
{
	u8 mask = BIT(known_accesses(entry)) - 1;

	return (entry & mask) == (write ? mask : 0);
}

static u8 push_access(const struct aftl_policy *policy, u8 entry, bool write)
{
	u32 window = (u32)own(policy)->history;
	u32 known = min(known_accesses(entry) + 1, window);
	u8 history = (u8)((entry << 1 | write) & (BIT(window) - 1));

	return (entry & (ENTRY_LOW | ENTRY_QUEUED)) | (u8)(known << ENTRY_KNOWN_SHIFT) | history;
}

static void note_write(const struct aftl_policy *policy, u8 *entry)
{
	u8 low = all_alike(*entry, true) ? ENTRY_LOW : 0;

	*entry = push_access(policy, (*entry & ~ENTRY_LOW) | low, true);
}

/* Every unit has its own history and tag; a request has no stream. */
static u32 stream(struct aftl_policy *policy, const struct aftl_write *write)
{
	u8 *entry = entry_of(policy, write->unit);
	u32 i;

	if (aftl_policy_filling(policy))
		return 0;
	for (i = 0; i < write->units; i++)
		note_write(policy, entry + i);
	return 0;
}

static void expect(const struct aftl_policy *policy, aftl_unit_t unit)
{
	prefetch(entry_of(policy, unit));
}

static u32 unit_lun(const struct aftl_policy *policy, aftl_unit_t unit)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	const struct aftl_block *block = aftl_policy_old_block(policy, unit);

	return aftl_block_index(media, block) / media->geo->blocks_per_lun;
}

static bool wants_rewrite(const struct aftl_policy *policy, u32 mode)
{
	if (own(policy)->rewrite == REWRITE_LOW)
		return mode == AFTL_MODE_COARSE;
	return mode != AFTL_MODE_FINE && mode != AFTL_MODES;
}

/* A full queue forgets: the next read asks again. */
static void enqueue(struct aftl_policy *policy, aftl_unit_t unit, u8 *entry)
{
	struct queue *queue = queue_of(policy, unit_lun(policy, unit));

	if (queue->count == QUEUE_SIZE)
		return;
	queue->unit[(queue->first + queue->count++) % QUEUE_SIZE] = from_unit(unit);
	*entry |= ENTRY_QUEUED;
}

static void host_read(struct aftl_policy *policy, aftl_unit_t unit, u32 mode)
{
	u8 *entry = entry_of(policy, unit);

	if (policy->arrays[QUEUED] && !(*entry & ENTRY_QUEUED) && all_alike(*entry, false) &&
	    wants_rewrite(policy, mode))
		enqueue(policy, unit, entry);
	*entry = push_access(policy, *entry, false);
}

static aftl_unit_t dequeue(struct aftl_policy *policy, struct queue *queue)
{
	aftl_unit_t unit = to_unit(queue->unit[queue->first]);

	queue->first = (queue->first + 1) % QUEUE_SIZE;
	queue->count--;
	*entry_of(policy, unit) &= ~ENTRY_QUEUED;
	return unit;
}

/* Since it was queued it may have been written, moved or discarded. */
static void chore(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore)
{
	u32 index = aftl_lun_index(lun);

	while (policy->arrays[QUEUED] && queue_of(policy, index)->count) {
		aftl_unit_t unit = dequeue(policy, queue_of(policy, index));

		if (!all_alike(*entry_of(policy, unit), false) ||
		    !wants_rewrite(policy, aftl_policy_mode(policy, unit)) ||
		    unit_lun(policy, unit) != index)
			continue;
		chore->kind = AFTL_CHORE_REWRITE;
		chore->unit = unit;
		return;
	}
}

static u32 cost_of(u32 mode)
{
	if (mode == AFTL_MODE_COARSE)
		return LOW;
	return mode == AFTL_MODE_FINE ? HIGH : MEDIUM;
}

static u32 mode_of(u32 cost)
{
	static const u8 modes[COSTS] = {
		[MEDIUM] = AFTL_MODE_NORMAL,
		[LOW] = AFTL_MODE_COARSE,
		[HIGH] = AFTL_MODE_FINE,
	};

	return cost < COSTS ? modes[cost] : AFTL_MODE_NORMAL;
}

/* Copies keep their cost. */
static bool copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class, u32 *stream)
{
	(void)policy;
	(void)class;
	*stream = move->cause == AFTL_CAUSE_REWRITE ? HIGH : cost_of(move->mode);
	return move->cause == AFTL_CAUSE_REWRITE || move->pass == *stream;
}

static u32 mode(struct aftl_policy *policy, const struct aftl_need *need)
{
	if (need->cause == AFTL_CAUSE_HOST)
		return mode_of(*entry_of(policy, need->unit) & ENTRY_LOW ? LOW : MEDIUM);
	return mode_of(need->stream);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	int ret = aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);

	placement->mode = mode(policy, need);
	return ret;
}

static int place_li(struct aftl_policy *policy, struct aftl_lun *lun,
		    const struct aftl_need *need, struct aftl_placement *placement)
{
	int ret = aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);
	u32 cost = need->stream;

	if (need->cause == AFTL_CAUSE_HOST && !aftl_policy_filling(policy))
		cost = aftl_policy_queued(policy, lun) > need->units ? LOW : HIGH;
	placement->mode = mode_of(cost);
	return ret;
}

/* A snapshot may hold anything. Whether a unit is queued the queues tell. */

static void restored_entry(const struct aftl_policy *policy, u8 *entry)
{
	*entry &= ENTRY_KNOWN | ENTRY_HISTORY | ENTRY_LOW;
	if (known_accesses(*entry) > own(policy)->history)
		*entry &= ENTRY_LOW;
}

static void restored_queue(const struct aftl_policy *policy, struct queue *queue)
{
	u32 i;

	queue->count = min_t(u32, queue->count, QUEUE_SIZE);
	queue->first %= QUEUE_SIZE;
	for (i = 0; i < queue->count; i++) {
		u32 *unit = &queue->unit[(queue->first + i) % QUEUE_SIZE];

		*unit = min(*unit, aftl_policy_geometry(policy)->units - 1);
		*entry_of(policy, to_unit(*unit)) |= ENTRY_QUEUED;
	}
}

static void restored(struct aftl_policy *policy)
{
	u32 i;

	for (i = 0; i < aftl_policy_geometry(policy)->units; i++)
		restored_entry(policy, entry_of(policy, to_unit(i)));
	for (i = 0; policy->arrays[QUEUED] && i < aftl_policy_geometry(policy)->luns; i++)
		restored_queue(policy, queue_of(policy, i));
}

const struct aftl_policy_type aftl_policy_agcr = {
	.name = "agcr",
	.about = "cost of writes by the access history of the data, re-writes in idle time",
	.kinds = { "mixed" },
	.streams = { COST_NAMES },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	.arrays = {
		[UNITS] = { .count = 1, .width = sizeof(u8), .each = AFTL_EACH_UNIT },
		[QUEUED] = { .count = sizeof(struct queue) / sizeof(u32), .width = sizeof(u32),
			     .each = AFTL_EACH_LUN, .wanted = rewrites },
	},
	.params = { &group },
	AFTL_BY_CLASS_METHODS,
	.restored = restored,
	.stream = stream,
	.expect = expect,
	.host_read = host_read,
	.place = place,
	.mode = mode,
	.copy = copy,
	.chore = chore,
};

const struct aftl_policy_type aftl_policy_li = {
	.name = "li",
	.about = "writes of low cost while others wait for the die, else of high cost",
	.kinds = { "mixed" },
	.streams = { COST_NAMES },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	AFTL_BY_CLASS_METHODS,
	.place = place_li,
	.copy = copy,
};
