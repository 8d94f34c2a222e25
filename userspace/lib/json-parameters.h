/* SPDX-License-Identifier: GPL-2.0-only */
/* Print parameters and counters of a device in a JSON document. */
#ifndef AFTL_JSON_PARAMETERS_H
#define AFTL_JSON_PARAMETERS_H

#include "core/base/params.h"
#include "core/base/stats.h"
#include "json-writer.h"

/* Print the object "parameters": keys contain the unit of a number, as in read_ns, op_percent. */
void json_write_parameters(struct json_writer *json, const struct aftl_config *config);

/* Print the object "counters", or the list "placement_handles" from the default handle on. */
void json_write_counters(struct json_writer *json, const struct aftl_counters *counters);
void json_write_placement_handles(struct json_writer *json, const struct aftl_handle_stats *handles,
				  u64 count);

#endif
