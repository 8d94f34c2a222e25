/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the requests of the stream in the simulator instead of on a device. */
#ifndef AFTL_SIMULATE_H
#define AFTL_SIMULATE_H

#include "exit-codes.h"
#include "replay-options.h"
#include "replay-stream.h"

/**
 * simulate_stream() - execute "approxftl sim" on the stream as a target would receive it
 *
 * A changed stream is first written to an unnamed file. The function returns only if that fails or
 * the simulator cannot be executed.
 */
enum exit_code simulate_stream(const struct replay_options *options, struct replay_stream *stream,
			       bool changed);

#endif
