/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of a run as a record file: --record.
 */
#ifndef SIM_RECORDING_H
#define SIM_RECORDING_H

#include "core/ftl/ftl.h"
#include "output-file.h"
#include "record-file.h"
#include "request-stream.h"

/**
 * struct recording - a record file under way
 * @file: its name
 * @writer: into it; NULL without --record
 * @unit_sectors: of the device
 */
struct recording {
	struct output_file file;
	struct record_writer *writer;
	u32 unit_sectors;
};

/**
 * recording_open() - begin the records of @stream for a device
 * @recording: whose file was begun
 * @stream: says whether quality levels come
 * @geo: of the device
 * @units: of all its shards
 * @error: the sentence
 *
 * Return: 0 or a negative error number
 */
int __must_check recording_open(struct recording *recording, const struct sim_stream *stream,
				const struct aftl_geometry *geo, u64 units,
				struct aftl_error *error);

/* @request has come at @at_ns, since the begin of the stream. Nothing happens without --record. */
int recording_put(struct recording *recording, const struct sim_request *request, u64 at_ns,
		  struct aftl_error *error);

/**
 * recording_finish() - complete the file, or drop it
 * @recording: as it is after output_file_begin(), or zeroed
 * @keep: the file is wanted
 * @was_interrupted: it has not all requests
 * @error: the sentence
 *
 * Return: 0 or a negative error number
 */
int __must_check recording_finish(struct recording *recording, bool keep, bool was_interrupted,
				  struct aftl_error *error);

#endif
