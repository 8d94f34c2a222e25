/* SPDX-License-Identifier: GPL-2.0-only */
/* Page commands, and the operation that a LUN executes. */
#ifndef AFTL_LUN_WORK_H
#define AFTL_LUN_WORK_H

#include "core/ftl/request.h"
#include "core/policy/placement.h"

/* The program of the write has begun. */
#define AFTL_COMMAND_PROGRAMMING 0x01
/*
 * A newer write of the same logical page was programmed first, or the page was discarded: this
 * write is not mapped after its program.
 */
#define AFTL_COMMAND_SUPERSEDED 0x04
/*
 * With a power-loss protected buffer: the host recorded the write with its destination flash page.
 */
#define AFTL_COMMAND_STORED 0x08
/*
 * The write is in the random write area of its zone: it is in no queue until it is committed.
 */
#define AFTL_COMMAND_HELD 0x10

/**
 * struct aftl_command - one page read, or the write of one logical page
 * @seq: order of arrival at the controller
 * @queued_ns: time of that arrival
 * @request: host request to complete; NULL after a buffered write has been acknowledged
 * @lpn: first logical page
 * @units: reads: number of consecutive logical pages in the same physical page
 * @next: next command in a queue, a program group or the free list
 * @prev: writes: previous command in the queue of the LUN
 * @lun: writes: LUN in whose queue the command is; AFTL_NIL if it is in none
 * @hash_next: writes: next command in the hash chain of pending writes
 * @class: writes: enum aftl_class
 * @level: writes: quality level of the data
 * @stream: writes: write stream that the policy chose
 * @epoch: writes: flush epoch of arrival; a flush waits for all earlier epochs
 * @flags: AFTL_COMMAND_*
 * @sensed: reads: logical pages that the host got when the read joined a multi-plane read; else 0
 * @sensed_page: reads: their physical page, counted through the device
 * @hint: writes: placement id, lifetime and temperature from the host
 */
struct aftl_command {
	u64 seq;
	u64 queued_ns;
	struct aftl_request *request;
	aftl_lpn_t lpn;
	u32 units;
	u32 next;
	u32 prev;
	u32 lun;
	u32 hash_next;
	u8 class;
	u8 level;
	u8 stream;
	u8 epoch;
	u8 flags;
	u8 sensed;
	u32 sensed_page;
	struct aftl_hint hint;
};

/*
 * FIFO of commands, linked by index. @waited counts the commands with a host request that cannot
 * complete before they are programmed.
 */
struct aftl_queue {
	u32 head;
	u32 tail;
	u32 count;
	u32 waited;
};

enum aftl_work_kind {
	AFTL_WORK_NONE,
	AFTL_WORK_READ,
	AFTL_WORK_PROGRAM,
	AFTL_WORK_RELOC_READ,
	AFTL_WORK_RELOC_PROGRAM,
	AFTL_WORK_RELOC_COPY,
	AFTL_WORK_ERASE,
	/* Read a translation page for a request, read it to merge changes, or program it. */
	AFTL_WORK_TP_LOAD,
	AFTL_WORK_TP_MERGE,
	AFTL_WORK_TP_PROGRAM,
	/* RAIN reads a page for a reconstruction in another LUN, or programs parity. */
	AFTL_WORK_STRIPE_READ,
	AFTL_WORK_PARITY_PROGRAM,
};

/* Current phase of a LUN's array. The LUN's event fires at the end of the phase. */
enum aftl_phase {
	AFTL_PHASE_IDLE,
	AFTL_PHASE_SENSE,
	AFTL_PHASE_DATA_OUT,
	AFTL_PHASE_PROGRAM,
	AFTL_PHASE_ERASE,
	/* The die has suspended an operation, and accepts no command yet. */
	AFTL_PHASE_SUSPEND,
	AFTL_PHASE_DEAD,
};

/* Next array operation of a background task of the LUN, or of the CMT. */
enum aftl_step {
	AFTL_STEP_NONE,
	AFTL_STEP_COPY,
	AFTL_STEP_READ,
	AFTL_STEP_PROGRAM,
	AFTL_STEP_FINISH,
	AFTL_STEP_ERASE,
};

/**
 * struct aftl_work - operation that a LUN executes
 * @kind: enum aftl_work_kind
 * @phase: enum aftl_phase
 * @suspends: number of times it has been suspended
 * @yields: erase: host programs that were executed while it was suspended
 * @reads: reads that have started since it was suspended last
 * @commands: list of host commands that it serves
 * @units: read: logical pages to transfer
 * @device_page: read: page number in the device
 * @planes: read: further commands of a multi-plane read whose data are not transferred yet
 * @service_ns: array and channel time spent so far
 * @array_ns: start of the array phase; the operation can be suspended from then on
 * @end_ns: end of the operation; an earlier event of this LUN suspends it
 * @placement: program: pages that are programmed
 */
struct aftl_work {
	u8 kind;
	u8 phase;
	u32 suspends;
	u32 yields;
	u32 reads;
	u32 commands;
	u32 units;
	u32 device_page;
	u32 planes;
	u64 service_ns;
	u64 array_ns;
	u64 end_ns;
	struct aftl_placement placement;
};

#endif
