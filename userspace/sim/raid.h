/* SPDX-License-Identifier: GPL-2.0-only */
/* Run one policy with one stream on several devices that form a RAID of level 5. */
#ifndef AFTL_RAID_H
#define AFTL_RAID_H

#include "run.h"

/**
 * sim_raid_run() - run the stream of @options on an array of devices with @policy
 *
 * Arguments and return value are those of sim_run(). The result is the sum of the members,
 * except for requests, response times and host units, which are the array's.
 */
enum exit_code sim_raid_run(const struct sim_options *options,
			    const struct aftl_policy_type *policy, struct sim_result *result,
			    struct aftl_error *error);

#endif
