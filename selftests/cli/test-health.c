// SPDX-License-Identifier: GPL-2.0-only
/* The health of a device is reported as good, needs attention, or failed. */
#include "health-verdict.h"
#include "tap.h"

static struct health health;

/* Set up a healthy device: 100 blocks, each erased ten times. */
static void make_healthy_device(void)
{
	health = (struct health){
		.survey = { .blocks = 100, .erases_sum = 1000, .erases_max = 10 },
	};
	scnprintf(health.status.mode, sizeof(health.status.mode), "rw");
}

static void check_health(enum health_verdict verdict, const char *reason)
{
	health_judge_device(&health);
	CHECK_TEXT(health_verdict_words[health.verdict], health_verdict_words[verdict]);
	CHECK_EQ(health.reason_count, 1);
	CHECK_TEXT(health.reasons[0], reason);
}

TAP_TEST(a_device_without_faults_is_good)
{
	make_healthy_device();
	health_judge_device(&health);
	CHECK_EQ(health.verdict, HEALTH_GOOD);
	CHECK_EQ(health.reason_count, 0);
}

TAP_TEST(a_device_near_its_endurance_needs_attention)
{
	make_healthy_device();
	health.endurance = 12;
	CHECK_EQ(health_compute_used_endurance(&health), 8333);
	health_judge_device(&health);
	CHECK_EQ(health.verdict, HEALTH_GOOD);
	health.endurance = 11;
	check_health(HEALTH_ATTENTION, "90 % of the endurance is used");
	health.endurance = 0;
	CHECK_EQ(health_compute_used_endurance(&health), 0);
}

TAP_TEST(bad_blocks_do_not_count_as_wear)
{
	make_healthy_device();
	health.endurance = 20;
	health.survey.bad = 50;
	CHECK_EQ(health_compute_used_endurance(&health), 10000);
	health.survey.bad = 100;
	CHECK_EQ(health_compute_used_endurance(&health), 0);
}

TAP_TEST(each_fault_is_a_reason_for_the_health_state)
{
	make_healthy_device();
	health.counters.retired_blocks = 2;
	check_health(HEALTH_ATTENTION, "2 blocks went bad in use");
	make_healthy_device();
	health.status.dead_luns = 1;
	check_health(HEALTH_ATTENTION, "1 LUNs have no good block left");
	make_healthy_device();
	health.counters.programmed_rebuild_units = 7;
	check_health(HEALTH_ATTENTION, "7 units of dead dies have been rebuilt");
	make_healthy_device();
	health.counters.read_lost_units = 1;
	health.counters.moved_lost_units = 2;
	check_health(HEALTH_ATTENTION, "3 units could not be read any more");
	make_healthy_device();
	health.status.lost_units = 3;
	check_health(HEALTH_ATTENTION,
		     "3 units are lost to the block device below or a fault, until written");
	make_healthy_device();
	health.counters.host_failed_requests = 4;
	check_health(HEALTH_ATTENTION, "4 requests ended with an error");
	make_healthy_device();
	health.counters.policy_bugs = 5;
	check_health(HEALTH_ATTENTION, "the core refused 5 proposals of the policy: it has a bug");
	make_healthy_device();
	scnprintf(health.status.mode, sizeof(health.status.mode), "ro");
	check_health(HEALTH_FAILED,
		     "there are too few good blocks to write on: the device is read-only");
}

TAP_TEST(the_worst_reason_determines_the_health_state)
{
	memset(&health, 0xff, sizeof(health));
	make_healthy_device();
	scnprintf(health.status.mode, sizeof(health.status.mode), "ro");
	health.status.dead_luns = 1;
	health.status.lost_units = 1;
	memset(&health.counters, 1, sizeof(health.counters));
	health.endurance = 1;
	health_judge_device(&health);
	CHECK_EQ(health.verdict, HEALTH_FAILED);
	CHECK_EQ(health.reason_count, 9);
}
