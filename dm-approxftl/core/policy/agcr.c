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
#include "core/base/encoding.h"
#include "core/policy/policies.h"
#include "core/policy/by-class.h"
#include "core/policy/parts.h"

/* Heat of a moved page: pages of one cost are programmed together. */
enum cost { MEDIUM, LOW, HIGH, COSTS };

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
#define ENTRIES_IN_WORD sizeof(u64)

/* Bound of a die's queue; assumed. */
#define QUEUE_SIZE 1024

/**
 * struct queue - units of a die that wait to be written again
 * @first: of them
 * @count: how many
 * @unit: ring
 */
struct queue {
	u32 first;
	u32 count;
	aftl_unit_t unit[QUEUE_SIZE];
};

/* A queue in a snapshot: its count, then two units in each word. */
#define QUEUE_WORDS (1 + QUEUE_SIZE / 2)

/**
 * struct agcr - the policy's state
 * @policy: what the core knows of it
 * @entries: by unit, see above
 * @queues: by LUN, NULL if nothing is ever written again
 */
struct agcr {
	struct aftl_policy policy;
	u8 *entries;
	struct queue *queues;
};

static const struct agcr *const_agcr(const struct aftl_policy *policy)
{
	return container_of(policy, struct agcr, policy);
}

static struct agcr *to_agcr(struct aftl_policy *policy)
{
	return container_of(policy, struct agcr, policy);
}

static void destroy(struct aftl_policy *policy)
{
	aftl_policy_free(policy->ftl, to_agcr(policy)->queues);
	aftl_policy_free(policy->ftl, to_agcr(policy)->entries);
	aftl_policy_delete(policy);
}

static u32 entry_words(const struct aftl_policy *policy)
{
	return DIV_ROUND_UP(aftl_policy_geometry(policy)->units, (u32)ENTRIES_IN_WORD);
}

static bool rewrites(const struct aftl_policy *policy)
{
	return aftl_policy_config(policy)->rewrite != AFTL_REWRITE_OFF;
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct aftl_policy *policy =
		aftl_policy_new(ftl, sizeof(struct agcr), sizeof(struct aftl_by_class));
	struct agcr *state;

	if (!policy)
		return NULL;
	state = to_agcr(policy);
	state->entries = aftl_policy_alloc(ftl, entry_words(policy), ENTRIES_IN_WORD);
	if (rewrites(policy))
		state->queues = aftl_policy_alloc(ftl, aftl_policy_luns(ftl),
						  sizeof(struct queue));
	if (state->entries && (state->queues || !rewrites(policy)))
		return policy;
	destroy(policy);
	return NULL;
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
	u32 window = (u32)aftl_policy_config(policy)->history;
	u32 known = min(known_accesses(entry) + 1, window);
	u8 history = (u8)((entry << 1 | write) & (BIT(window) - 1));

	return (entry & (ENTRY_LOW | ENTRY_QUEUED)) | (u8)(known << ENTRY_KNOWN_SHIFT) | history;
}

static void note_write(const struct aftl_policy *policy, u8 *entry)
{
	u8 low = all_alike(*entry, true) ? ENTRY_LOW : 0;

	*entry = push_access(policy, (*entry & ~ENTRY_LOW) | low, true);
}

/* Every unit has its own history and tag; a request has no heat. */
static u32 heat(struct aftl_policy *policy, const struct aftl_write *write)
{
	u8 *entry = to_agcr(policy)->entries + from_unit(write->unit);
	u32 i;

	if (aftl_policy_filling(policy))
		return 0;
	for (i = 0; i < write->units; i++)
		note_write(policy, entry + i);
	return 0;
}

static void hint(const struct aftl_policy *policy, aftl_unit_t unit)
{
	prefetch(&const_agcr(policy)->entries[from_unit(unit)]);
}

static u32 unit_lun(const struct aftl_policy *policy, aftl_unit_t unit)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	const struct aftl_block *block = aftl_policy_old_block(policy, unit);

	return aftl_block_index(media, block) / media->geo->blocks_per_lun;
}

static bool wants_rewrite(const struct aftl_policy *policy, u32 mode)
{
	if (aftl_policy_config(policy)->rewrite == AFTL_REWRITE_LOW)
		return mode == AFTL_MODE_COARSE;
	return mode != AFTL_MODE_FINE && mode != AFTL_MODES;
}

/* A full queue forgets: the next read asks again. */
static void enqueue(struct agcr *state, aftl_unit_t unit, u8 *entry)
{
	struct queue *queue = &state->queues[unit_lun(&state->policy, unit)];

	if (queue->count == QUEUE_SIZE)
		return;
	queue->unit[(queue->first + queue->count++) % QUEUE_SIZE] = unit;
	*entry |= ENTRY_QUEUED;
}

static void host_read(struct aftl_policy *policy, aftl_unit_t unit, u32 mode)
{
	struct agcr *state = to_agcr(policy);
	u8 *entry = &state->entries[from_unit(unit)];

	if (state->queues && !(*entry & ENTRY_QUEUED) && all_alike(*entry, false) &&
	    wants_rewrite(policy, mode))
		enqueue(state, unit, entry);
	*entry = push_access(policy, *entry, false);
}

static aftl_unit_t dequeue(struct agcr *state, struct queue *queue)
{
	aftl_unit_t unit = queue->unit[queue->first];

	queue->first = (queue->first + 1) % QUEUE_SIZE;
	queue->count--;
	state->entries[from_unit(unit)] &= ~ENTRY_QUEUED;
	return unit;
}

/* Since it was queued it may have been written, moved or discarded. */
static void chore(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore)
{
	struct agcr *state = to_agcr(policy);
	u32 index = aftl_lun_index(lun);

	while (state->queues && state->queues[index].count) {
		aftl_unit_t unit = dequeue(state, &state->queues[index]);

		if (!all_alike(state->entries[from_unit(unit)], false) ||
		    !wants_rewrite(policy, aftl_policy_mode(policy, unit)) ||
		    unit_lun(policy, unit) != index)
			continue;
		chore->kind = AFTL_CHORE_REWRITE;
		chore->unit = unit;
		return;
	}
}

bool aftl_agcr_low_cost(const struct aftl_policy *policy, aftl_unit_t unit)
{
	return const_agcr(policy)->entries[from_unit(unit)] & ENTRY_LOW;
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
static bool copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class, u32 *heat)
{
	(void)policy;
	(void)class;
	*heat = move->cause == AFTL_CAUSE_REWRITE ? HIGH : cost_of(move->mode);
	return move->cause == AFTL_CAUSE_REWRITE || move->pass == *heat;
}

static int place_at_cost(struct aftl_policy *policy, struct aftl_lun *lun,
			 const struct aftl_need *need, u32 cost, struct aftl_placement *placement)
{
	int ret = aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);

	placement->mode = mode_of(cost);
	return ret;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 cost = need->heat;

	if (need->cause == AFTL_CAUSE_HOST)
		cost = aftl_agcr_low_cost(policy, need->unit) ? LOW : MEDIUM;
	return place_at_cost(policy, lun, need, cost, placement);
}

static int place_li(struct aftl_policy *policy, struct aftl_lun *lun,
		    const struct aftl_need *need, struct aftl_placement *placement)
{
	u32 cost = need->heat;

	if (need->cause == AFTL_CAUSE_HOST && !aftl_policy_filling(policy))
		cost = aftl_lun_queued(lun) > need->units ? LOW : HIGH;
	return place_at_cost(policy, lun, need, cost, placement);
}

/* Words of a snapshot: the entries, then the queues. */

static u64 queued_unit(const struct queue *queue, u32 i)
{
	return i < queue->count ? from_unit(queue->unit[(queue->first + i) % QUEUE_SIZE]) : 0;
}

static bool save_queue(const struct agcr *state, u64 index, u64 *word)
{
	const struct queue *queue = &state->queues[div64_u64(index, QUEUE_WORDS)];
	u32 pair = (u32)(index % QUEUE_WORDS);

	if (pair)
		*word = queued_unit(queue, 2 * pair - 1) << 32 | queued_unit(queue, 2 * pair - 2);
	else
		*word = queue->count;
	return true;
}

static u64 all_queue_words(const struct agcr *state)
{
	return state->queues ? (u64)aftl_policy_luns(state->policy.ftl) * QUEUE_WORDS : 0;
}

static bool save(const struct aftl_policy *policy, u64 index, u64 *word)
{
	const struct agcr *state = const_agcr(policy);
	u32 words = entry_words(policy);

	if (index >= words + all_queue_words(state))
		return false;
	if (index >= words)
		return save_queue(state, index - words, word);
	*word = aftl_get(state->entries + index * ENTRIES_IN_WORD, ENTRIES_IN_WORD);
	return true;
}

/* Whether a unit is queued the queues will tell. */
static void restore_entries(struct agcr *state, u64 index, u64 word)
{
	u32 window = (u32)aftl_policy_config(&state->policy)->history;
	u8 *entry = state->entries + index * ENTRIES_IN_WORD;
	u32 i;

	aftl_put(entry, word, ENTRIES_IN_WORD);
	for (i = 0; i < ENTRIES_IN_WORD; i++) {
		entry[i] &= ENTRY_KNOWN | ENTRY_HISTORY | ENTRY_LOW;
		if (known_accesses(entry[i]) > window)
			entry[i] &= ENTRY_LOW;
	}
}

static void restore_unit(struct agcr *state, struct queue *queue, u32 i, u32 unit)
{
	if (i >= queue->count)
		return;
	unit %= aftl_policy_geometry(&state->policy)->units;
	queue->unit[i] = to_unit(unit);
	state->entries[unit] |= ENTRY_QUEUED;
}

static void restore_queue(struct agcr *state, u64 index, u64 word)
{
	struct queue *queue = &state->queues[div64_u64(index, QUEUE_WORDS)];
	u32 pair = (u32)(index % QUEUE_WORDS);

	if (!pair) {
		queue->first = 0;
		queue->count = (u32)min(word, (u64)QUEUE_SIZE);
		return;
	}
	restore_unit(state, queue, 2 * pair - 2, (u32)word);
	restore_unit(state, queue, 2 * pair - 1, (u32)(word >> 32));
}

static void restore(struct aftl_policy *policy, u64 index, u64 word)
{
	struct agcr *state = to_agcr(policy);
	u32 words = entry_words(policy);

	if (index < words)
		restore_entries(state, index, word);
	else if (index - words < all_queue_words(state))
		restore_queue(state, index - words, word);
}

const struct aftl_policy_type aftl_policy_agcr = {
	.name = "agcr",
	.about = "cost of writes by the access history of the data, re-writes in idle time",
	.kinds = { "mixed" },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	.create = create,
	.destroy = destroy,
	.adopt = aftl_by_class_adopt,
	.save = save,
	.restore = restore,
	.closed = aftl_by_class_closed,
	.heat = heat,
	.hint = hint,
	.host_read = host_read,
	.place = place,
	.copy = copy,
	.chore = chore,
};

const struct aftl_policy_type aftl_policy_li = {
	.name = "li",
	.about = "writes of low cost while others wait for the die, else of high cost",
	.kinds = { "mixed" },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	AFTL_BY_CLASS_METHODS,
	.place = place_li,
	.copy = copy,
};
