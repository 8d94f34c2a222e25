/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One policy, several devices, one stream: a RAID of level 5.
 */
#ifndef AFTL_RAID_H
#define AFTL_RAID_H

#include "run.h"

/**
 * sim_raid_run() - run the stream of @options on an array of devices with @policy
 *
 * The arguments and what it returns are those of sim_run(). The result is the sum of the
 * members, but for requests, response times and units of the host, which are the array's.
 */
enum exit_code sim_raid_run(const struct sim_options *options,
			    const struct aftl_policy_type *policy, struct sim_result *result,
			    struct aftl_error *error);

#endif
