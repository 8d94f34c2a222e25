// SPDX-License-Identifier: GPL-2.0-only
#include "request-stream.h"
#include "sim-options.h"

bool sim_are_requests_whole_units(const struct sim_options *options,
				  const struct aftl_geometry *geo)
{
	return options->whole_units || options->raid || geo->zones;
}

int sim_stream_open(struct sim_stream **out, const struct sim_options *options,
		    const struct aftl_config *config, const struct aftl_geometry *geo,
		    u64 units, struct aftl_error *error)
{
	return options->trace ? sim_trace_open(out, options, config, geo, units, error) :
				sim_generator_open(out, options, config, geo, units, error);
}
