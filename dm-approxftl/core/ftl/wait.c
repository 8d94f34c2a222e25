// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting time of requests, divided by the reasons of the wait.
 *
 * The array of a LUN is busy with one thing at a time. So each LUN has a clock for each reason, one
 * of which runs at any time: their sum is device time. The differences between two readings of all
 * clocks are the reasons for which a command waited at the LUN. The time before the command was
 * queued is added, the time that the flash worked for the request is subtracted. Of a request with
 * several commands the one that ends last counts.
 */
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/wait.h"

/**
 * struct lun_clocks - time of a LUN by what its array did
 * @ns: time by reason, up to @since_ns
 * @since_ns: time up to which @ns counts
 * @bus_ns: time until which the array waits for the channel
 * @end_ns: time until which the array is busy
 * @activity: enum aftl_wait of the operation
 */
struct lun_clocks {
	u64 ns[AFTL_WAITS];
	u64 since_ns;
	u64 bus_ns;
	u64 end_ns;
	u32 activity;
};

/**
 * struct command_start - clocks of the LUN when a command was queued
 * @ns: clocks, minus the time that the request had waited before
 * @lun: index of the LUN
 */
struct command_start {
	u64 ns[AFTL_WAITS];
	u32 lun;
};

struct aftl_wait_state {
	size_t bytes;
	struct lun_clocks *luns;
	struct command_start commands[];
};

const char *const aftl_wait_names[AFTL_WAITS] = {
#define WAIT(NAME, name, text) \
	[AFTL_WAIT_##NAME] = #name,
#include "core/base/wait-list.h"
#undef WAIT
};

/* Leave wait statistics out of memory_bytes, which is equal on hosts with and without these. */
int aftl_wait_alloc_stats(struct aftl *ftl)
{
	size_t commands = ftl->command_count * sizeof(struct command_start);
	size_t bytes = sizeof(struct aftl_wait_state) + commands +
		       ftl->geo.luns * sizeof(struct lun_clocks);

	if (!ftl->ops->waits)
		return 0;
	ftl->waits = ftl->ops->alloc(ftl->host, bytes);
	if (!ftl->waits)
		return -ENOMEM;
	ftl->waits->bytes = bytes;
	ftl->waits->luns = (struct lun_clocks *)((char *)ftl->waits->commands + commands);
	return 0;
}

void aftl_wait_free_stats(struct aftl *ftl)
{
	if (ftl->waits)
		ftl->ops->free(ftl->host, ftl->waits, ftl->waits->bytes);
}

static void add_lun_time_to_wait_reason(struct lun_clocks *clocks, u32 reason, u64 end_ns)
{
	if (clocks->since_ns >= end_ns)
		return;
	clocks->ns[reason] += end_ns - clocks->since_ns;
	clocks->since_ns = end_ns;
}

static struct lun_clocks *lun_clocks_at_now(struct aftl *ftl, u32 lun)
{
	struct lun_clocks *clocks = &ftl->waits->luns[lun];

	add_lun_time_to_wait_reason(clocks, AFTL_WAIT_BUS, min(clocks->bus_ns, ftl->now_ns));
	add_lun_time_to_wait_reason(clocks, clocks->activity, min(clocks->end_ns, ftl->now_ns));
	add_lun_time_to_wait_reason(clocks, AFTL_WAIT_HELD, ftl->now_ns);
	return clocks;
}

static u32 classify_lun_activity(const struct aftl *ftl, const struct aftl_lun *lun)
{
	switch (lun->work.kind) {
	case AFTL_WORK_READ:
		return AFTL_WAIT_READ;
	case AFTL_WORK_PROGRAM:
		return AFTL_WAIT_PROGRAM;
	case AFTL_WORK_ERASE:
		return AFTL_WAIT_ERASE;
	case AFTL_WORK_TP_LOAD:
	case AFTL_WORK_TP_MERGE:
	case AFTL_WORK_TP_PROGRAM:
		return AFTL_WAIT_MAP;
	case AFTL_WORK_STRIPE_READ:
	case AFTL_WORK_PARITY_PROGRAM:
		return AFTL_WAIT_PARITY;
	default:
		return aftl_gc_is_urgent(ftl, lun) || aftl_superblock_gc_is_urgent(ftl, lun) ?
			       AFTL_WAIT_URGENT_GC : AFTL_WAIT_RELOCATION;
	}
}

void aftl_note_lun_operation(struct aftl *ftl, const struct aftl_lun *lun, u64 bus_ns, u64 end_ns)
{
	struct lun_clocks *clocks = lun_clocks_at_now(ftl, lun->index);

	clocks->activity = classify_lun_activity(ftl, lun);
	clocks->bus_ns = bus_ns;
	clocks->end_ns = end_ns;
}

void aftl_note_lun_suspend(struct aftl *ftl, const struct aftl_lun *lun, u64 end_ns)
{
	struct lun_clocks *clocks = lun_clocks_at_now(ftl, lun->index);

	clocks->activity = AFTL_WAIT_SUSPEND;
	clocks->bus_ns = 0;
	clocks->end_ns = end_ns;
}

/* Subtract wait times; the arrays do not overlap, so the compiler may do several at a time. */
static void subtract_wait_times_of_reasons(u64 *__restrict to, const u64 *__restrict from,
					   const u64 *__restrict subtrahend)
{
	u32 i;

	for (i = 0; i < AFTL_WAITS; i++)
		to[i] = from[i] - subtrahend[i];
}

/* Charge the waiting time of the request to its current wait reason. */
static void charge_wait_to_current_reason(const struct aftl *ftl,
					  const struct aftl_request *request,
					  struct aftl_waits *waits)
{
	u64 since_ns = max(waits->until_ns, request->arrival_ns);

	waits->before[waits->reason] += ftl->now_ns - since_ns;
	waits->until_ns = ftl->now_ns;
}

void aftl_note_wait_reason(struct aftl *ftl, struct aftl_request *request, enum aftl_wait reason)
{
	struct aftl_waits *waits = ftl->ops->waits(ftl->host, request);

	if (!waits)
		return;
	charge_wait_to_current_reason(ftl, request, waits);
	waits->reason = reason;
}

void aftl_note_queued_command(struct aftl *ftl, struct aftl_request *request, u32 index, u32 lun)
{
	struct aftl_waits *waits = ftl->ops->waits(ftl->host, request);
	struct command_start *start = &ftl->waits->commands[index];

	if (!waits)
		return;
	charge_wait_to_current_reason(ftl, request, waits);
	start->lun = lun;
	subtract_wait_times_of_reasons(start->ns, lun_clocks_at_now(ftl, lun)->ns, waits->before);
}

void aftl_note_moved_command(struct aftl *ftl, u32 index, u32 lun)
{
	struct command_start *start = &ftl->waits->commands[index];
	const struct lun_clocks *from = lun_clocks_at_now(ftl, start->lun);
	const struct lun_clocks *to = lun_clocks_at_now(ftl, lun);
	u32 i;

	for (i = 0; i < AFTL_WAITS; i++)
		start->ns[i] += to->ns[i] - from->ns[i];
	start->lun = lun;
}

static u64 deduct_ns_from_wait(u64 *from_ns, u64 wanted_ns)
{
	u64 ns = min(*from_ns, wanted_ns);

	*from_ns -= ns;
	return wanted_ns - ns;
}

/*
 * Subtract @service_ns, the flash time for the request itself, which is no wait: first from reason
 * @own, then from AFTL_WAIT_SUSPEND, as the operation may have been suspended, then from all other
 * reasons, as a reconstruction reads other LUNs.
 */
static void deduct_service_time_from_waits(struct aftl_waits *waits, u32 own, u64 service_ns)
{
	u32 i;

	service_ns = deduct_ns_from_wait(&waits->ns[own], service_ns);
	service_ns = deduct_ns_from_wait(&waits->ns[AFTL_WAIT_SUSPEND], service_ns);
	for (i = 0; i < AFTL_WAITS && service_ns; i++)
		service_ns = deduct_ns_from_wait(&waits->ns[i], service_ns);
}

void aftl_note_ended_command(struct aftl *ftl, u32 index, u64 service_ns)
{
	const struct aftl_command *command = &ftl->commands[index];
	const struct command_start *start = &ftl->waits->commands[index];
	struct aftl_waits *waits;

	if (!command->request)
		return;
	waits = ftl->ops->waits(ftl->host, command->request);
	if (!waits)
		return;
	subtract_wait_times_of_reasons(waits->ns, lun_clocks_at_now(ftl, start->lun)->ns,
				       start->ns);
	deduct_service_time_from_waits(waits,
				       command->request->op == AFTL_OP_WRITE ? AFTL_WAIT_PROGRAM :
									       AFTL_WAIT_READ,
				       service_ns);
	waits->ended_ns = ftl->now_ns + 1;
	waits->service_ns = service_ns;
}

void aftl_note_ended_request(struct aftl *ftl, struct aftl_request *request, u64 link_ns,
			     u64 complete_ns)
{
	struct aftl_waits *waits = ftl->ops->waits(ftl->host, request);

	if (!waits)
		return;
	/*
	 * No command served the part of @request that ended last, so its time was not spent at a
	 * LUN, even if a command of another part ended at the same time.
	 */
	if (waits->ended_ns != ftl->now_ns + 1 || waits->service_ns != request->service_ns) {
		if (request->op > AFTL_OP_FLUSH)
			waits->reason = AFTL_WAIT_OTHER;
		charge_wait_to_current_reason(ftl, request, waits);
		memcpy(waits->ns, waits->before, sizeof(waits->ns));
	}
	waits->ns[AFTL_WAIT_LINK] += link_ns - ftl->now_ns;
	waits->ns[AFTL_WAIT_CONTROLLER] += complete_ns - link_ns;
}
