// SPDX-License-Identifier: GPL-2.0-only
/*
 * AGCR (FAST 2016): access-history-guided program costs. A program with coarse ISPP steps is fast
 * but slows later reads; one with fine steps is slow but speeds them up. Data that was only written
 * recently is programmed at low cost, other data at medium cost; data that was only read is
 * rewritten at high cost while its die is idle.
 *
 * Policy "li" is the scheme that the paper compares with: it looks at queues instead of data, and
 * uses low cost while other commands wait for the die, else high cost.
 *
 * In a flash page with several logical pages the first one decides for all.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

enum rewrite { REWRITE_OFF, REWRITE_LOW, REWRITE_ANY };

static const char *const rewrite_words[] = { "off", "low", "any", NULL };

#define PARAMS(PARAM)								\
	PARAM(history, COUNT, 0, 2, 1,						\
	      "past accesses of a logical page that are remembered (agcr)") \
	PARAM(rewrite, CHOICE, 0, 2, REWRITE_ANY,					\
	      "read-only data that idle dies rewrite: none, of low cost, any but high cost (agcr)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/* Cost of a program, and number of the stream of relocated pages: each cost has a stream. */
enum cost { MEDIUM, LOW, HIGH, COSTS };

#define COST_NAMES "medium_cost", "low_cost", "high_cost"

/*
 * History entry of an lpn: its last accesses (1: write; lowest bit: the last one), the number of
 * accesses known, the low-cost tag of its last write, and whether a rewrite queue contains it.
 */
#define ENTRY_HISTORY 0x03
#define ENTRY_KNOWN 0x0c
#define ENTRY_KNOWN_SHIFT 2
#define ENTRY_LOW 0x10
#define ENTRY_QUEUED 0x20

/* Capacity of the rewrite queue of a die (assumed). */
#define QUEUE_SIZE 1024

/**
 * struct queue - ring buffer of lpns of a die that wait for a rewrite; only u32, because it is
 *	saved as an array
 * @count: number of entries
 * @first: index of the first entry
 * @unit: lpns
 */
struct queue {
	u32 count;
	u32 first;
	u32 unit[QUEUE_SIZE];
};

/* Arrays of the policy: history entries by lpn, and rewrite queues by LUN. */
enum { UNITS, QUEUED };

static const struct own *agcr_params(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static u8 *agcr_history_entry(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	return (u8 *)policy->arrays[UNITS] + from_lpn(lpn);
}

static struct queue *agcr_lun_queue(const struct aftl_policy *policy, u32 lun)
{
	return (struct queue *)policy->arrays[QUEUED] + lun;
}

static bool agcr_is_rewriting_enabled(const struct aftl_policy *policy)
{
	return agcr_params(policy)->rewrite != REWRITE_OFF;
}

static u32 count_known_accesses(u8 entry)
{
	return (entry & ENTRY_KNOWN) >> ENTRY_KNOWN_SHIFT;
}

/* Return true if all known accesses of an entry are writes or, if @write is false, reads. */
static bool are_known_accesses_of_one_type(u8 entry, bool write)
{
	u8 mask = BIT(count_known_accesses(entry)) - 1;

	return (entry & mask) == (write ? mask : 0);
}

static u8 push_access_to_history(const struct aftl_policy *policy, u8 entry, bool write)
{
	u32 window = (u32)agcr_params(policy)->history;
	u32 known = min(count_known_accesses(entry) + 1, window);
	u8 history = (u8)((entry << 1 | write) & (BIT(window) - 1));

	return (entry & (ENTRY_LOW | ENTRY_QUEUED)) | (u8)(known << ENTRY_KNOWN_SHIFT) | history;
}

static void record_write_in_history(const struct aftl_policy *policy, u8 *entry)
{
	u8 low = are_known_accesses_of_one_type(*entry, true) ? ENTRY_LOW : 0;

	*entry = push_access_to_history(policy, (*entry & ~ENTRY_LOW) | low, true);
}

/* Update the history of each lpn of the request; host requests have no write stream in AGCR. */
static u32 agcr_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u8 *entry = agcr_history_entry(policy, write->lpn);
	u32 i;

	if (aftl_policy_is_preconditioning(policy))
		return 0;
	for (i = 0; i < write->units; i++)
		record_write_in_history(policy, entry + i);
	return 0;
}

static void agcr_prefetch_state(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	prefetch(agcr_history_entry(policy, lpn));
}

static u32 agcr_lun_of_lpn(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	const struct aftl_block *block = aftl_policy_lpn_block(policy, lpn);

	return aftl_block_index(media, block) / media->geo->blocks_per_lun;
}

static bool agcr_wants_rewrite(const struct aftl_policy *policy, u32 mode)
{
	if (agcr_params(policy)->rewrite == REWRITE_LOW)
		return mode == AFTL_MODE_COARSE;
	return mode != AFTL_MODE_FINE && mode != AFTL_MODES;
}

/* Queue @lpn for a rewrite. If the queue is full, the next read of @lpn tries again. */
static void agcr_enqueue_rewrite(struct aftl_policy *policy, aftl_lpn_t lpn, u8 *entry)
{
	struct queue *queue = agcr_lun_queue(policy, agcr_lun_of_lpn(policy, lpn));

	if (queue->count == QUEUE_SIZE)
		return;
	queue->unit[(queue->first + queue->count++) % QUEUE_SIZE] = from_lpn(lpn);
	*entry |= ENTRY_QUEUED;
}

static void agcr_record_host_read(struct aftl_policy *policy, aftl_lpn_t lpn, u32 mode)
{
	u8 *entry = agcr_history_entry(policy, lpn);

	if (policy->arrays[QUEUED] && !(*entry & ENTRY_QUEUED) &&
	    are_known_accesses_of_one_type(*entry, false) && agcr_wants_rewrite(policy, mode))
		agcr_enqueue_rewrite(policy, lpn, entry);
	*entry = push_access_to_history(policy, *entry, false);
}

static aftl_lpn_t agcr_dequeue_rewrite(struct aftl_policy *policy, struct queue *queue)
{
	aftl_lpn_t lpn = to_lpn(queue->unit[queue->first]);

	queue->first = (queue->first + 1) % QUEUE_SIZE;
	queue->count--;
	*agcr_history_entry(policy, lpn) &= ~ENTRY_QUEUED;
	return lpn;
}

/* Rewrite the next queued lpn that was not written, relocated or discarded in the meantime. */
static void agcr_choose_idle_task(struct aftl_policy *policy, struct aftl_lun *lun,
				  struct aftl_idle_task *task)
{
	u32 index = aftl_lun_index(lun);

	while (policy->arrays[QUEUED] && agcr_lun_queue(policy, index)->count) {
		aftl_lpn_t lpn = agcr_dequeue_rewrite(policy, agcr_lun_queue(policy, index));

		if (!are_known_accesses_of_one_type(*agcr_history_entry(policy, lpn), false) ||
		    !agcr_wants_rewrite(policy, aftl_policy_lpn_mode(policy, lpn)) ||
		    agcr_lun_of_lpn(policy, lpn) != index)
			continue;
		task->kind = AFTL_IDLE_TASK_REWRITE;
		task->lpn = lpn;
		return;
	}
}

static u32 agcr_program_mode_to_cost(u32 mode)
{
	if (mode == AFTL_MODE_COARSE)
		return LOW;
	return mode == AFTL_MODE_FINE ? HIGH : MEDIUM;
}

static u32 agcr_program_cost_to_mode(u32 cost)
{
	static const u8 modes[COSTS] = {
		[MEDIUM] = AFTL_MODE_NORMAL,
		[LOW] = AFTL_MODE_COARSE,
		[HIGH] = AFTL_MODE_FINE,
	};

	return cost < COSTS ? modes[cost] : AFTL_MODE_NORMAL;
}

/* Relocated pages keep the program cost of their source page. */
static bool agcr_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				   u32 *class, u32 *stream)
{
	(void)policy;
	(void)class;
	*stream = move->cause == AFTL_CAUSE_REWRITE ? HIGH : agcr_program_mode_to_cost(move->mode);
	return move->cause == AFTL_CAUSE_REWRITE || move->pass == *stream;
}

static u32 agcr_choose_program_mode(struct aftl_policy *policy,
				    const struct aftl_program_request *need)
{
	return agcr_program_cost_to_mode(need->cause != AFTL_CAUSE_HOST ? need->stream :
					 *agcr_history_entry(policy, need->lpn) & ENTRY_LOW ?
					 LOW : MEDIUM);
}

static int agcr_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			      const struct aftl_program_request *need,
			      struct aftl_placement *placement)
{
	int ret = aftl_open_blocks_place_program(policy, lun, need, AFTL_PRECISE, placement);

	placement->mode = agcr_choose_program_mode(policy, need);
	return ret;
}

static int place_program_by_queue_length(struct aftl_policy *policy, struct aftl_lun *lun,
					 const struct aftl_program_request *need,
					 struct aftl_placement *placement)
{
	int ret = aftl_open_blocks_place_program(policy, lun, need, AFTL_PRECISE, placement);
	u32 cost = need->stream;

	if (need->cause == AFTL_CAUSE_HOST && !aftl_policy_is_preconditioning(policy))
		cost = aftl_policy_count_queued_commands(policy, lun) > need->units ? LOW : HIGH;
	placement->mode = agcr_program_cost_to_mode(cost);
	return ret;
}

/*
 * Make arrays that were loaded from a snapshot, which may contain anything, consistent: the rewrite
 * queues determine which history entries are marked as queued.
 */

static void sanitize_history_entry(const struct aftl_policy *policy, u8 *entry)
{
	*entry &= ENTRY_KNOWN | ENTRY_HISTORY | ENTRY_LOW;
	if (count_known_accesses(*entry) > agcr_params(policy)->history)
		*entry &= ENTRY_LOW;
}

static void sanitize_rewrite_queue(const struct aftl_policy *policy, struct queue *queue)
{
	u32 i;

	queue->count = min_t(u32, queue->count, QUEUE_SIZE);
	queue->first %= QUEUE_SIZE;
	for (i = 0; i < queue->count; i++) {
		u32 *unit = &queue->unit[(queue->first + i) % QUEUE_SIZE];

		*unit = min(*unit, aftl_policy_geometry(policy)->units - 1);
		*agcr_history_entry(policy, to_lpn(*unit)) |= ENTRY_QUEUED;
	}
}

static void agcr_sanitize_arrays(struct aftl_policy *policy)
{
	u32 i;

	for (i = 0; i < aftl_policy_geometry(policy)->units; i++)
		sanitize_history_entry(policy, agcr_history_entry(policy, to_lpn(i)));
	for (i = 0; policy->arrays[QUEUED] && i < aftl_policy_geometry(policy)->luns; i++)
		sanitize_rewrite_queue(policy, agcr_lun_queue(policy, i));
}

const struct aftl_policy_type aftl_policy_agcr = {
	.name = "agcr",
	.about = "program cost by the access history of the data, rewrites in idle time",
	.kinds = { "mixed" },
	.streams = { COST_NAMES },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	.arrays = {
		[UNITS] = { .count = 1, .width = sizeof(u8), .each = AFTL_PER_LPN },
		[QUEUED] = { .count = sizeof(struct queue) / sizeof(u32), .width = sizeof(u32),
			     .each = AFTL_PER_LUN, .wanted = agcr_is_rewriting_enabled },
	},
	.params = { &group },
	AFTL_OPEN_BLOCKS_METHODS,
	.sanitize_arrays = agcr_sanitize_arrays,
	.stream = agcr_choose_stream,
	.prefetch_state = agcr_prefetch_state,
	.host_read = agcr_record_host_read,
	.place = agcr_place_program,
	.fill_run = aftl_fill_to_block_end,
	.mode = agcr_choose_program_mode,
	.relocate = agcr_choose_relocation,
	.idle_task = agcr_choose_idle_task,
};

const struct aftl_policy_type aftl_policy_li = {
	.name = "li",
	.about = "low-cost programs while other commands wait for the die, else high-cost ones",
	.kinds = { "mixed" },
	.streams = { COST_NAMES },
	.open_blocks = 1,
	.reserve = 1,
	.copy_passes = COSTS,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = place_program_by_queue_length,
	.fill_run = aftl_fill_to_block_end,
	.relocate = agcr_choose_relocation,
};
