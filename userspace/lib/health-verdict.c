// SPDX-License-Identifier: GPL-2.0-only
#include "health-verdict.h"
#include "human-units.h"

/* Used endurance, in 1/10000, from which a device needs attention. */
#define USED_MUCH 9000

const char *const health_verdict_words[] = {
	[HEALTH_GOOD] = "good",
	[HEALTH_ATTENTION] = "needs attention",
	[HEALTH_FAILED] = "failed",
};

__printf(3, 4) static void add_reason(struct health *health, enum health_verdict verdict,
				      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(health->reasons[health->reason_count++], sizeof(health->reasons[0]), format,
		   args);
	va_end(args);
	health->verdict = max(health->verdict, verdict);
}

u64 health_compute_used_endurance(const struct health *health)
{
	return scaled_ratio(health->survey.erases_sum,
			    block_states_count_good_blocks(&health->survey) * health->endurance,
			    10000);
}

static void add_health_reasons_about_blocks(struct health *health)
{
	u64 used = health_compute_used_endurance(health);

	if (!strcmp(health->status.mode, "ro"))
		add_reason(health, HEALTH_FAILED,
			   "there are too few good blocks to write on: the device is read-only");
	if (health->status.dead_luns)
		add_reason(health, HEALTH_ATTENTION, "%llu LUNs have no good block left",
			   (unsigned long long)health->status.dead_luns);
	if (health->counters.programmed_rebuild_units)
		add_reason(health, HEALTH_ATTENTION, "%llu units of dead dies have been rebuilt",
			   (unsigned long long)health->counters.programmed_rebuild_units);
	if (health->counters.retired_blocks)
		add_reason(health, HEALTH_ATTENTION, "%llu blocks went bad in use",
			   (unsigned long long)health->counters.retired_blocks);
	if (used >= USED_MUCH)
		add_reason(health, HEALTH_ATTENTION, "%llu %% of the endurance is used",
			   (unsigned long long)used / 100);
}

static void add_health_reasons_about_errors(struct health *health)
{
	const struct aftl_counters *counters = &health->counters;
	u64 lost = counters->read_lost_units + counters->moved_lost_units;

	if (health->status.lost_units)
		add_reason(health, HEALTH_ATTENTION,
			   "%llu units are lost to the block device below or a fault, until written",
			   (unsigned long long)health->status.lost_units);
	if (lost)
		add_reason(health, HEALTH_ATTENTION, "%llu units could not be read any more",
			   (unsigned long long)lost);
	if (counters->host_failed_requests)
		add_reason(health, HEALTH_ATTENTION, "%llu requests ended with an error",
			   (unsigned long long)counters->host_failed_requests);
	if (counters->policy_bugs)
		add_reason(health, HEALTH_ATTENTION,
			   "the core refused %llu proposals of the policy: it has a bug",
			   (unsigned long long)counters->policy_bugs);
}

void health_judge_device(struct health *health)
{
	health->verdict = HEALTH_GOOD;
	health->reason_count = 0;
	add_health_reasons_about_blocks(health);
	add_health_reasons_about_errors(health);
}
