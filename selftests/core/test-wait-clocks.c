// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting times by reason, compared with a model that records the operation of each LUN in each
 * nanosecond, with fake neighbours: no device exists.
 */
#include <stdlib.h>

#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/wait.h"
#include "tap.h"

#define LUNS 3U
#define COMMANDS 8U
#define END_NS 2000U
#define RESERVE 2U

/**
 * struct waiter - a request with one command
 * @queued_ns: time at which the command was queued; 0: there is no request
 * @lun: LUN in whose queue the command is
 * @expected: waiting times so far
 */
struct waiter {
	struct aftl_request request;
	struct aftl_waits waits;
	u64 queued_ns;
	u32 lun;
	u64 expected[AFTL_WAITS];
};

static struct aftl ftl;
static struct aftl_lun luns[LUNS];
static struct aftl_command commands[COMMANDS];
static struct waiter waiters[COMMANDS];
/* By LUN and nanosecond: the reason, an enum aftl_wait, for which commands of the LUN wait. */
static u8 history[LUNS][2 * END_NS];
static u64 busy_until_ns[LUNS];

static void *fake_alloc(void *host __maybe_unused, size_t bytes)
{
	return calloc(1, bytes);
}

static void fake_free(void *host __maybe_unused, void *memory, size_t bytes __maybe_unused)
{
	free(memory);
}

static struct aftl_waits *fake_waits(void *host __maybe_unused, struct aftl_request *request)
{
	return &container_of(request, struct waiter, request)->waits;
}

static const struct aftl_policy_type type = { .reserve = RESERVE };

static const struct aftl_host_ops ops = {
	.alloc = fake_alloc, .free = fake_free, .waits = fake_waits,
};

static void reset_fake_device(void)
{
	u32 i;

	ftl = (struct aftl){ .type = &type, .ops = &ops, .luns = luns, .commands = commands };
	ftl.geo.luns = LUNS;
	ftl.command_count = COMMANDS;
	ftl.now_ns = 1;
	memset(waiters, 0, sizeof(waiters));
	memset(history, AFTL_WAIT_HELD, sizeof(history));
	for (i = 0; i < LUNS; i++) {
		luns[i] = (struct aftl_lun){ .index = i };
		busy_until_ns[i] = 0;
	}
	CHECK_EQ(aftl_wait_alloc_stats(&ftl), 0);
}

static void start_operation(struct aftl_random *random, u32 lun)
{
	static const struct { u8 kind, reason; } kinds[] = {
		{ AFTL_WORK_READ, AFTL_WAIT_READ },
		{ AFTL_WORK_PROGRAM, AFTL_WAIT_PROGRAM },
		{ AFTL_WORK_ERASE, AFTL_WAIT_ERASE },
		{ AFTL_WORK_TP_MERGE, AFTL_WAIT_MAP },
		{ AFTL_WORK_PARITY_PROGRAM, AFTL_WAIT_PARITY },
		{ AFTL_WORK_RELOC_READ, AFTL_WAIT_RELOCATION },
	};
	u32 which = (u32)aftl_random_below(random, ARRAY_SIZE(kinds));
	u64 bus_ns = ftl.now_ns + aftl_random_below(random, 10);
	u64 end_ns = bus_ns + 1 + aftl_random_below(random, 60);
	u8 reason = kinds[which].reason;

	luns[lun].work.kind = kinds[which].kind;
	luns[lun].free_blocks = (u32)aftl_random_below(random, 2 * RESERVE + 1);
	if (reason == AFTL_WAIT_RELOCATION && luns[lun].free_blocks <= RESERVE)
		reason = AFTL_WAIT_URGENT_GC;
	memset(&history[lun][ftl.now_ns], AFTL_WAIT_BUS, bus_ns - ftl.now_ns);
	memset(&history[lun][bus_ns], reason, end_ns - bus_ns);
	busy_until_ns[lun] = end_ns;
	aftl_note_lun_operation(&ftl, &luns[lun], bus_ns, end_ns);
}

/* The rest of the operation comes later: the LUN is idle after the suspend. */
static void suspend_operation(struct aftl_random *random, u32 lun)
{
	u64 end_ns = ftl.now_ns + 1 + aftl_random_below(random, 8);

	memset(&history[lun][ftl.now_ns], AFTL_WAIT_HELD, sizeof(history[lun]) - ftl.now_ns);
	memset(&history[lun][ftl.now_ns], AFTL_WAIT_SUSPEND, end_ns - ftl.now_ns);
	busy_until_ns[lun] = end_ns;
	aftl_note_lun_suspend(&ftl, &luns[lun], end_ns);
}

/* Add the time since the command of @waiter came to its LUN. */
static void add_time_at_lun(struct waiter *waiter)
{
	for (; waiter->queued_ns < ftl.now_ns; waiter->queued_ns++)
		waiter->expected[history[waiter->lun][waiter->queued_ns]]++;
}

static void queue_command(struct aftl_random *random, u32 index)
{
	struct waiter *waiter = &waiters[index];
	u64 waited_ns = min(aftl_random_below(random, 40), ftl.now_ns - 1);

	*waiter = (struct waiter){
		.request.arrival_ns = ftl.now_ns - waited_ns,
		.request.op = aftl_random_below(random, 2) ? AFTL_OP_READ : AFTL_OP_WRITE,
		.queued_ns = ftl.now_ns,
		.lun = (u32)aftl_random_below(random, LUNS),
		.expected[AFTL_WAIT_BUFFER] = waited_ns,
	};
	commands[index].request = &waiter->request;
	aftl_note_queued_command(&ftl, &waiter->request, index, waiter->lun);
}

static void move_command(struct aftl_random *random, u32 index)
{
	add_time_at_lun(&waiters[index]);
	waiters[index].lun = (u32)aftl_random_below(random, LUNS);
	aftl_note_moved_command(&ftl, index, waiters[index].lun);
}

/* Subtract the time that flash worked for the request from what the LUN did for requests. */
static u64 subtract_service_time(u64 *ns, u64 service_ns)
{
	u64 part_ns = min(*ns, service_ns);

	*ns -= part_ns;
	return service_ns - part_ns;
}

static void end_command(struct aftl_random *random, u32 index)
{
	struct waiter *waiter = &waiters[index];
	u64 left_ns = ftl.now_ns - waiter->queued_ns;
	u32 own = waiter->request.op == AFTL_OP_WRITE ? AFTL_WAIT_PROGRAM : AFTL_WAIT_READ;
	u64 service_ns = aftl_random_below(random, 2) ? aftl_random_below(random, left_ns + 1) : 0;
	u64 total_ns = ftl.now_ns - waiter->request.arrival_ns - service_ns;
	u64 link_ns = ftl.now_ns + aftl_random_below(random, 5);
	u64 complete_ns = link_ns + aftl_random_below(random, 5);
	u64 sum_ns = 0;
	u32 i;

	add_time_at_lun(waiter);
	left_ns = subtract_service_time(&waiter->expected[own], service_ns);
	left_ns = subtract_service_time(&waiter->expected[AFTL_WAIT_SUSPEND], left_ns);
	for (i = 0; i < AFTL_WAITS; i++)
		left_ns = subtract_service_time(&waiter->expected[i], left_ns);
	waiter->expected[AFTL_WAIT_LINK] += link_ns - ftl.now_ns;
	waiter->expected[AFTL_WAIT_CONTROLLER] += complete_ns - link_ns;
	aftl_note_ended_command(&ftl, index, service_ns);
	waiter->request.service_ns = service_ns;
	aftl_note_ended_request(&ftl, &waiter->request, link_ns, complete_ns);
	for (i = 0; i < AFTL_WAITS; i++) {
		CHECK_MSG(waiter->waits.ns[i] == waiter->expected[i], "%s is %llu, not %llu",
			  aftl_wait_names[i], (unsigned long long)waiter->waits.ns[i],
			  (unsigned long long)waiter->expected[i]);
		sum_ns += waiter->waits.ns[i];
	}
	CHECK_EQ(sum_ns, total_ns + complete_ns - ftl.now_ns);
	waiter->queued_ns = 0;
}

static void step_command(struct aftl_random *random, u32 index)
{
	if (!waiters[index].queued_ns)
		queue_command(random, index);
	else if (aftl_random_below(random, 3))
		end_command(random, index);
	else
		move_command(random, index);
}

TAP_TEST(each_nanosecond_of_a_wait_has_the_reason_of_its_lun)
{
	struct aftl_random random = { .state = 70 };
	u32 ended = 0;
	u32 i;
	u32 lun;

	for (i = 0; i < 300 && !tap_failure_count(); i++) {
		reset_fake_device();
		for (; ftl.now_ns < END_NS; ftl.now_ns += 1 + aftl_random_below(&random, 6)) {
			for (lun = 0; lun < LUNS; lun++) {
				if (ftl.now_ns >= busy_until_ns[lun] &&
				    aftl_random_below(&random, 3))
					start_operation(&random, lun);
				else if (ftl.now_ns < busy_until_ns[lun] &&
					 !aftl_random_below(&random, 20))
					suspend_operation(&random, lun);
			}
			step_command(&random, (u32)aftl_random_below(&random, COMMANDS));
			ended++;
		}
		aftl_wait_free_stats(&ftl);
	}
	CHECK_RANGE(ended, 100000, 300 * END_NS);
}

/* A request that ends without a command waited all the time for its last reasons. */
TAP_TEST(a_request_without_a_command_has_the_reasons_that_were_noted)
{
	struct waiter *waiter = &waiters[0];

	reset_fake_device();
	waiter->request = (struct aftl_request){ .op = AFTL_OP_WRITE, .arrival_ns = 1 };
	ftl.now_ns = 11;
	aftl_note_wait_reason(&ftl, &waiter->request, AFTL_WAIT_MAP_MISS);
	ftl.now_ns = 31;
	aftl_note_wait_reason(&ftl, &waiter->request, AFTL_WAIT_REST);
	ftl.now_ns = 61;
	aftl_note_ended_request(&ftl, &waiter->request, 65, 70);
	CHECK_EQ(waiter->waits.ns[AFTL_WAIT_BUFFER], 10);
	CHECK_EQ(waiter->waits.ns[AFTL_WAIT_MAP_MISS], 20);
	CHECK_EQ(waiter->waits.ns[AFTL_WAIT_REST], 30);
	CHECK_EQ(waiter->waits.ns[AFTL_WAIT_LINK], 4);
	CHECK_EQ(waiter->waits.ns[AFTL_WAIT_CONTROLLER], 5);
	aftl_wait_free_stats(&ftl);
}
