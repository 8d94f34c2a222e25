/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the requests of a run, with their response times, to a record file or as CSV: --record. */
#ifndef SIM_RECORDING_H
#define SIM_RECORDING_H

#include "core/ftl/ftl.h"
#include "exit-codes.h"
#include "output-file.h"
#include "record-file.h"
#include "request-stream.h"

struct pending_record;

/**
 * struct recording - an output of requests in the order of their arrival
 * @file: output file
 * @active: the recording has been opened
 * @writer: writer of a record file; NULL for CSV
 * @csv: stream of CSV; NULL for a record file
 * @unit_sectors: sectors in a unit of the device
 * @pending: requests from the oldest incomplete one on, a ring of @room entries
 * @room: length of @pending, a power of two
 * @first: number of the oldest request in @pending
 * @next: number of the next request
 * @failed: a write has failed with @error
 * @error: message of the first failure
 */
struct recording {
	struct output_file file;
	bool active;
	struct record_writer *writer;
	FILE *csv;
	u32 unit_sectors;
	struct pending_record *pending;
	u64 room;
	u64 first;
	u64 next;
	bool failed;
	struct aftl_error error;
};

/**
 * struct recorded_end - the end of a request
 * @response_ns: 0: unknown
 * @waiting_ns: part of the response time in which the flash did not work for the request
 * @reason: enum aftl_wait with the largest part of the waiting time, or AFTL_WAITS
 */
struct recorded_end {
	u64 response_ns;
	u64 waiting_ns;
	u32 reason;
};

/**
 * recording_open() - begin to record @stream
 * @recording: its file was begun with output_file_begin(); a name that ends in .csv means CSV
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
 * Add @request, which arrived at @at_ns since the start of the stream. Return: the number of the
 * request for recording_end_request(), whose calls may come in any order.
 */
u64 recording_begin_request(struct recording *recording, const struct sim_request *request,
			    u64 at_ns);
void recording_end_request(struct recording *recording, u64 number, const struct recorded_end *end);

/* Return 0, or the error number of the first write that failed, with its message in @error. */
int recording_get_error(const struct recording *recording, struct aftl_error *error);

/**
 * recording_finish() - complete the file of a run, or discard it
 * @recording: as output_file_begin() left it, or zeroed
 * @code: exit code of the run; a run that failed leaves no file
 * @error: receives the error message
 *
 * Return: @code, or EXIT_FAILED if only the file failed
 */
enum exit_code __must_check recording_finish(struct recording *recording, enum exit_code code,
					     struct aftl_error *error);

#endif
