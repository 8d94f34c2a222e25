/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One policy, one device of several shards, one stream.
 */
#ifndef SIM_SHARDED_H
#define SIM_SHARDED_H

#include "run.h"

/**
 * sim_sharded_run() - run the stream of @options on a device that is divided
 * @options: of the command line
 * @policy: of every shard
 * @result: as that of sim_run()
 * @error: the sentence
 *
 * With open arrivals shards are driven in threads, which nothing of the result tells; with a
 * closed queue, where one waits for the other, in one.
 *
 * Return: as sim_run()
 */
enum exit_code sim_sharded_run(const struct sim_options *options,
			       const struct aftl_policy_type *policy, struct sim_result *result,
			       struct aftl_error *error);

#endif
