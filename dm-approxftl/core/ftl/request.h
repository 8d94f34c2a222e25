/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of the host, their waiting times and their data. */
#ifndef AFTL_REQUEST_H
#define AFTL_REQUEST_H

#include "core/base/types.h"

enum aftl_op {
	AFTL_OP_READ,
	AFTL_OP_WRITE,
	AFTL_OP_FLUSH,
	AFTL_OP_DISCARD,
	AFTL_OP_WRITE_ZEROES,
	AFTL_OPS,
	/* Zone operations; they are not part of request recordings. */
	AFTL_OP_ZONE_OPEN = AFTL_OPS,
	AFTL_OP_ZONE_CLOSE,
	AFTL_OP_ZONE_FINISH,
	AFTL_OP_ZONE_RESET,
	AFTL_OP_ZONE_RESET_ALL,
	AFTL_OP_ZONE_COMMIT,
	AFTL_ZONE_OPS,
};

/* Request flag: complete a write only when its data are on flash. */
#define AFTL_REQUEST_FUA 0x01
/* Request flag: append the write to its zone; the core sets @unit to the first page written. */
#define AFTL_REQUEST_APPEND 0x02

/**
 * struct aftl_request - a request of the host, in the host's memory until it is complete
 * @arrival_ns: device time of arrival; the core raises a past time to the current time
 * @unit: first logical page; for a zone operation or an append the first of the zone; for
 *	AFTL_OP_ZONE_COMMIT the last one to be committed
 * @units: number of logical pages; 0 for a flush or a zone operation
 * @op: enum aftl_op
 * @class: write: enum aftl_class
 * @level: quality level of an approximate write, below AFTL_LEVELS; 0 stands for 1, the default
 * @flags: AFTL_REQUEST_*
 * @hint: write: placement id, lifetime and temperature of the data
 * @queue: host queue, below AFTL_QUEUES_MAX; used if "queue_weights" configures more than one
 * @head_skip: read, write or discard: sectors at the start of the first logical page that the
 * request leaves out; a discard leaves such a page alone, a write to a zone must have none. Class
 * and level of a write hold for the whole page
 * @tail_skip: sectors at the end of the last logical page that the request leaves out
 * @complete_ns: set at completion: device time
 * @service_ns: set at completion: chip time of the part that ended last
 * @status: set at completion: 0, -EIO (data lost, or invalid in the state of the zone), -ENOSPC,
 * -EOVERFLOW (too many active zones) or -EBUSY (too many open zones)
 *
 * The remaining members are private to the core while the request is in flight.
 */
struct aftl_request {
	u64 arrival_ns;
	u32 unit;
	u32 units;
	u8 op;
	u8 class;
	u8 level;
	u8 flags;
	struct aftl_hint hint;
	u8 queue;
	u16 head_skip;
	u16 tail_skip;
	u64 complete_ns;
	u64 service_ns;
	s32 status;

	u32 parts;
	struct aftl_request *next;
	u32 admitted;
	u8 stream;
	u8 path;
	u8 epoch;
	u8 placed;
	u8 asked;
	u8 rest;
};

/* Reasons for which a request waits. */
enum aftl_wait {
#define WAIT(NAME, name, text) \
	AFTL_WAIT_##NAME,
#include "core/base/wait-list.h"
#undef WAIT
	AFTL_WAITS
};

/* Names of the reasons for which a request waits, as in wait-list.h. */
extern const char *const aftl_wait_names[AFTL_WAITS];

/**
 * struct aftl_waits - what a request waited for, in the host's memory until it is complete
 * @ns: waiting times by enum aftl_wait; their sum is complete_ns - arrival_ns - service_ns
 *
 * The host zeroes all members before aftl_submit(). Completion sets @ns; the rest is private.
 */
struct aftl_waits {
	u64 ns[AFTL_WAITS];
	u64 before[AFTL_WAITS];
	u64 until_ns;
	u64 ended_ns;
	u64 service_ns;
	u8 reason;
};

/* Source of the content of a logical page. */
enum aftl_source {
	AFTL_SOURCE_ZERO,
	AFTL_SOURCE_BUFFER,
	AFTL_SOURCE_FLASH,
};

/**
 * struct aftl_read - how a host obtains the content of one logical page
 * @lpn: logical page
 * @source: zeroes, a buffered write (@tag) or flash (@ppn)
 * @tag: buffer tag, see accept() in struct aftl_host_ops
 * @ppn: physical page; AFTL_NO_PPN if it is lost with its LUN
 * @flips: bits to invert, at aftl_get_bit_flip_position(cell, lpn, generation, 0 .. flips - 1)
 * @generation: write generation, an argument of aftl_get_bit_flip_position()
 * @lost: the read will fail; there is no content
 */
struct aftl_read {
	aftl_lpn_t lpn;
	enum aftl_source source;
	u32 tag;
	aftl_ppn_t ppn;
	u32 flips;
	u16 generation;
	bool lost;
};

#endif
