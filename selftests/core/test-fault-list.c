// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers of armed faults, compared with a model, with fake neighbours: no device exists.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/fault-list.h"
#include "core/ftl/request.h"
#include "tap.h"

#define LPNS 20

static struct aftl ftl;
static u64 when[3];
static u32 winner[8];

/* Arm a full list of random faults whose counts begin at device time @since_ns. */
static void arm_random_faults(struct aftl_random *random, u64 since_ns)
{
	struct aftl_fault_list *list = &ftl.faults;
	u32 i;

	*list = (struct aftl_fault_list){ .count = AFTL_FAULTS_MAX, .since_ns = since_ns };
	for (i = 0; i < list->count; i++) {
		list->all[i] = (struct aftl_fault){
			.trigger = (u8)aftl_random_below(random, AFTL_FAULT_NOW),
			.after = 1 + aftl_random_below(random, LPNS),
			.state = aftl_random_below(random, 5) ? AFTL_FAULT_PENDING :
								AFTL_FAULT_HAPPENED,
		};
		list->programs += list->all[i].trigger == AFTL_FAULT_PROGRAM &&
				  list->all[i].state == AFTL_FAULT_PENDING;
	}
	aftl_faults_schedule_next_event(&ftl);
}

/**
 * struct progress - what has happened since the faults were armed
 * @reached: by trigger: number of requests, or device time
 * @programmed: by lpn: it was programmed
 */
struct progress {
	u64 reached[AFTL_FAULT_PROGRAM];
	bool programmed[LPNS + 1];
};

static bool model_fault_is_due(const struct progress *progress, const struct aftl_fault *fault)
{
	return fault->trigger == AFTL_FAULT_PROGRAM ?
		       progress->programmed[fault->after] :
		       fault->after <= progress->reached[fault->trigger];
}

static void check_list(const struct progress *progress, const bool *armed)
{
	const struct aftl_fault_list *list = &ftl.faults;
	u64 next_ns = AFTL_NEVER;
	u32 programs = 0;
	u32 due = 0;
	u32 i;

	for (i = 0; i < list->count; i++) {
		const struct aftl_fault *fault = &list->all[i];
		bool is_due = armed[i] && model_fault_is_due(progress, fault);

		CHECK_EQ(fault->state, !armed[i] ? AFTL_FAULT_HAPPENED :
				       is_due ? AFTL_FAULT_DUE : AFTL_FAULT_PENDING);
		due += is_due;
		programs += armed[i] && !is_due && fault->trigger == AFTL_FAULT_PROGRAM;
		if (armed[i] && !is_due && fault->trigger == AFTL_FAULT_TIME)
			next_ns = min(next_ns, list->since_ns + fault->after);
	}
	CHECK_EQ(list->due, due);
	CHECK_EQ(list->programs, programs);
	if (due)
		CHECK(when[ftl.event_faults] <= ftl.now_ns);
	else
		CHECK_EQ(when[ftl.event_faults], next_ns);
}

/* Let a request, a program or a nanosecond of device time happen. */
static void make_progress(struct aftl_random *random, struct progress *progress)
{
	static const u8 ops[] = { AFTL_OP_WRITE, AFTL_OP_READ, AFTL_OP_FLUSH };
	u32 op = (u32)aftl_random_below(random, 5);
	u32 lpn = (u32)aftl_random_below(random, LPNS + 1);
	struct aftl_request request = { .op = ops[op % 3] };

	if (op < 3) {
		aftl_faults_count_request(&ftl, &request);
		progress->reached[AFTL_FAULT_WRITE] += request.op == AFTL_OP_WRITE;
		progress->reached[AFTL_FAULT_READ] += request.op == AFTL_OP_READ;
	} else if (op == 3) {
		aftl_mark_faults_of_programmed_lpn_as_due(&ftl, to_lpn(lpn));
		progress->programmed[lpn] = true;
	} else {
		ftl.now_ns++;
		aftl_mark_triggered_faults_due(&ftl, AFTL_FAULT_TIME,
					       ++progress->reached[AFTL_FAULT_TIME]);
	}
}

TAP_TEST(each_fault_is_due_from_its_trigger_on)
{
	struct aftl_random random = { .state = 46 };
	u32 lists;

	ftl.events = (struct aftl_events){ .when = when, .winner = winner };
	aftl_events_set_number_of_sources(&ftl.events, 1, 1);
	aftl_events_init(&ftl.events);
	ftl.event_faults = 1;
	for (lists = 0; lists < 300 && !tap_failure_count(); lists++) {
		struct progress progress = { 0 };
		bool armed[AFTL_FAULTS_MAX];
		u32 i;

		ftl.now_ns += 7;
		arm_random_faults(&random, ftl.now_ns);
		for (i = 0; i < AFTL_FAULTS_MAX; i++)
			armed[i] = ftl.faults.all[i].state == AFTL_FAULT_PENDING;
		for (i = 0; i < 60; i++) {
			make_progress(&random, &progress);
			check_list(&progress, armed);
		}
	}
}
