/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same requests in the simulator.
 */
#ifndef AFTL_SIMULATE_H
#define AFTL_SIMULATE_H

#include "exit-codes.h"
#include "replay-options.h"
#include "replay-stream.h"

/**
 * simulate() - become "approxftl sim" on the stream as it would go to a target
 *
 * A stream with changes is written to a file without a name first. Returns only if that, or
 * running the simulator, has failed.
 */
enum exit_code simulate(const struct replay_options *options, struct replay_stream *stream,
			bool changed);

#endif
