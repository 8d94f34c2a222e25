/* SPDX-License-Identifier: GPL-2.0-only */
/* Run one policy with one stream on one device of several shards. */
#ifndef SIM_SHARDED_H
#define SIM_SHARDED_H

#include "run.h"

/**
 * sim_sharded_run() - run the stream of @options on a device with shards
 * @options: options of the command line
 * @policy: policy of every shard
 * @result: as for sim_run()
 * @error: receives the error message
 *
 * With open arrivals the shards run in threads, which does not affect the result. With a closed
 * queue each submission depends on completions in all shards, and they run in one thread.
 *
 * Return: as sim_run()
 */
enum exit_code sim_sharded_run(const struct sim_options *options,
			       const struct aftl_policy_type *policy, struct sim_result *result,
			       struct aftl_error *error);

#endif
