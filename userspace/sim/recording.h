/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the requests of a run to a record file: --record. */
#ifndef SIM_RECORDING_H
#define SIM_RECORDING_H

#include "core/ftl/ftl.h"
#include "output-file.h"
#include "record-file.h"
#include "request-stream.h"

/**
 * struct recording - a record file that is being written
 * @file: output file
 * @writer: writer of @file; NULL without --record
 * @unit_sectors: sectors in a unit of the device
 */
struct recording {
	struct output_file file;
	struct record_writer *writer;
	u32 unit_sectors;
};

/**
 * recording_open() - begin to record @stream
 * @recording: its file was begun with output_file_begin()
 * @stream: tells whether quality levels occur
 * @geo: geometry of the device
 * @units: capacity of all shards
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int __must_check recording_open(struct recording *recording, const struct sim_stream *stream,
				const struct aftl_geometry *geo, u64 units,
				struct aftl_error *error);

/*
 * Record @request, which arrived at @at_ns since the start of the stream. No-op without
 * --record.
 */
int recording_put(struct recording *recording, const struct sim_request *request, u64 at_ns,
		  struct aftl_error *error);

/**
 * recording_finish() - complete the file, or discard it
 * @recording: as output_file_begin() left it, or zeroed
 * @keep: keep the file
 * @was_interrupted: the file does not have all requests
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int __must_check recording_finish(struct recording *recording, bool keep, bool was_interrupted,
				  struct aftl_error *error);

#endif
