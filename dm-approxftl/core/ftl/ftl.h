/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the FTL core for its hosts.
 *
 * A host creates a device, submits requests with their arrival times, and advances device time. The
 * core calls back when a request is complete and when data have to move. The core has no clock,
 * takes no lock, and allocates memory in aftl_create() only, unless the host offers alloc_later().
 * The host serialises all calls for one device.
 *
 * The state after N requests depends on the configuration, the policy and the requests with their
 * arrival times alone, never on when the host advanced time.
 */
#ifndef AFTL_FTL_H
#define AFTL_FTL_H

#include "core/nand/cell.h"
#include "core/nand/chip.h"
#include "core/policy/nand-policy.h"
#include "core/policy/param-registry.h"
#include "core/base/stats.h"

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

/* Operations of a flash array that the host can observe. */
enum aftl_array_op {
	AFTL_ARRAY_READ,
	AFTL_ARRAY_PROGRAM,
	AFTL_ARRAY_ERASE,
	AFTL_ARRAY_SUSPEND,
	AFTL_ARRAY_RESUME,
};

/**
 * struct aftl_array_event - an operation of a flash array, for traces and statistics
 * @begin_ns: device time at which the array starts; the data of a program are transferred before.
 *	A cache read is reported late: it began during the transfer that has just ended
 * @array_ns: duration; for SUSPEND and RESUME the remaining time of the operation; 0 for a page of
 *	a multi-plane read whose first page has the next event
 * @lun: number of the LUN
 * @block: number of the block in the device
 * @page: first page in the block
 * @pages: number of pages; all pages of the block for an erase
 * @op: enum aftl_array_op
 * @mode: enum aftl_mode of the page
 * @cause: enum aftl_cause; AFTL_CAUSE_HOST for a host read
 */
struct aftl_array_event {
	u64 begin_ns;
	u64 array_ns;
	u32 lun;
	u32 block;
	u32 page;
	u32 pages;
	u8 op;
	u8 mode;
	u8 cause;
};

/* Zone states, named as in NVMe and the kernel. */
enum aftl_zone_state {
	AFTL_ZONE_EMPTY,
	AFTL_ZONE_IMPLICIT,
	AFTL_ZONE_EXPLICIT,
	AFTL_ZONE_CLOSED,
	AFTL_ZONE_FULL,
	AFTL_ZONE_READ_ONLY,
	AFTL_ZONE_OFFLINE,
	AFTL_ZONE_STATES,
};

/**
 * struct aftl_host_ops - callbacks of the core into its host
 *
 * Only alloc, free and complete are required. With the others a host keeps real data beside the
 * core. They are called in the order in which the emulated controller moves data, during
 * aftl_submit() or aftl_process_events_until().
 *
 * program() and copy() are called when a program begins, erase() when an erase ends. The old
 * physical page of a logical page may be erased on one LUN while the new one is still being
 * programmed on another: a host whose data must survive a crash makes its changes durable in the
 * order of these calls. A host that records programmed(), unmap(), erase() and retire() can rebuild
 * the mapping, see volume.h.
 */
struct aftl_host_ops {
	/* Return zeroed memory, or NULL. Called in aftl_create() and aftl_precondition() only. */
	void *(*alloc)(void *host, size_t bytes);
	/*
	 * Like alloc(), but may be called at any time and must not return NULL. Without
	 * alloc_later() the core allocates at creation even metadata that few blocks ever need.
	 */
	void *(*alloc_later)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);

	/*
	 * Called between two slices of aftl_precondition(), aftl_audit(),
	 * aftl_compute_device_digest(), aftl_save() and aftl_load(), with the device in a
	 * consistent state. May sleep; must not call the device.
	 * Return: 0, or an error code with which the call ends.
	 */
	int (*pause)(void *host);

	/*
	 * The request is complete and belongs to the host again. The callback may submit another
	 * one.
	 */
	void (*complete)(void *host, struct aftl_request *request);

	/*
	 * A write was accepted: keep the data of @lpn under @tag. If @request covers only a part of
	 * @lpn, take the other bytes from the last read() for @request and @lpn.
	 */
	void (*accept)(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag);

	/*
	 * The data under @tag are being programmed to @ppn. Called again with another @ppn if the
	 * LUN dies before the program has ended.
	 */
	void (*program)(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn);

	/* The program of @tag failed, as its LUN dies; retire() of the LUN's blocks follows. */
	void (*unstored)(void *host, u32 tag);

	/* The data under @tag are not needed any more. */
	void (*release)(void *host, u32 tag);

	/* The data of physical page @from are being relocated to @to. */
	void (*copy)(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to);

	/*
	 * The page that starts at @first has been programmed, with the data of the program() and
	 * copy() calls before. The valid bits and the L2P table show which of its ppns still hold
	 * the newest data of a logical page. Called again if data of the page are lost later.
	 */
	void (*programmed)(void *host, aftl_ppn_t first);

	/* The @units logical pages from @first on lost their data by a discard or a zone reset. */
	void (*unmap)(void *host, aftl_lpn_t first, u32 units);

	/*
	 * Optional: free the data of a part of a zone that is being reset; unmap() reports the
	 * whole zone later. It spares the host a long unmap().
	 */
	void (*unmapping)(void *host, aftl_lpn_t first, u32 units);

	/*
	 * The state of @zone has changed, but not by a write: it was reset (EMPTY) or finished
	 * (FULL), or is READ_ONLY or OFFLINE.
	 */
	void (*zone)(void *host, u32 zone, enum aftl_zone_state state);

	/*
	 * Optional: power is lost; nothing that later callbacks report may become durable. Without
	 * this callback a host cannot arm the fault "cut".
	 */
	void (*cut_power)(void *host);

	/* The block of the @slots physical pages from @first on has been erased. */
	void (*erase)(void *host, aftl_ppn_t first, u32 slots);

	/* Blocks @first to @first + @blocks - 1 are retired; some may have been reported before. */
	void (*retire)(void *host, u32 first, u32 blocks);

	/*
	 * Return the structure to which the core adds the waiting times of @request; NULL: none.
	 * Without this callback accounting costs nothing.
	 */
	struct aftl_waits *(*waits)(void *host, struct aftl_request *request);

	/* An array starts, suspends or resumes an operation. */
	void (*array)(void *host, const struct aftl_array_event *event);

	/*
	 * Fetch the data that @request returns for one logical page. A write that covers a part of
	 * a page fetches the page before accept(), possibly again if it is discarded meanwhile.
	 */
	void (*read)(void *host, struct aftl_request *request, const struct aftl_read *read);
};

/**
 * aftl_create() - create a device
 * @out: the device, on success only
 * @config: checked against itself and against the policy
 * @type: policy type
 * @ops: callbacks of the host, kept by reference
 * @host: first argument of the callbacks
 * @error: error message, on failure
 *
 * Return: 0, -EINVAL (the message says what does not fit) or -ENOMEM.
 */
int __must_check aftl_create(struct aftl **out, const struct aftl_config *config,
			     const struct aftl_policy_type *type, const struct aftl_host_ops *ops,
			     void *host, struct aftl_error *error);

/* Destroy a device, or NULL. Requests in flight are dropped without completion. */
void aftl_destroy(struct aftl *ftl);

/**
 * aftl_precondition() - precondition the device as configured
 * @ftl: device
 *
 * Runs the FTL without advancing time, then resets the statistics. Call it once, before the first
 * request. The preconditioned data have no content: the host sees relocations and erases of
 * physical pages that it never programmed, and decides what they read as.
 *
 * Return: 0; -ENOSPC if the policy ran out of blocks; or the error code of the host's pause().
 *	After an error only aftl_destroy() may be called.
 */
int __must_check aftl_precondition(struct aftl *ftl);

/**
 * aftl_submit() - submit a request
 * @ftl: device
 * @request: in the host's memory until it is complete
 *
 * Processes all events before its arrival time first. Immediate consequences that take long, such
 * as a zone reset, are left to aftl_process_next_event(), a slice in each call;
 * aftl_next_event_ns() is then the present.
 *
 * Return: 0, or -EINVAL if the request is malformed or beyond the end of the device; it is not
 *	completed then.
 */
int __must_check aftl_submit(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_try_read_fastpath() - submit and complete a read of an otherwise idle device
 * @ftl: device
 * @request: a read, in the host's memory until it is complete
 *
 * A shortcut for hosts that would let time pass until the read is complete: if no other event
 * occurs before that, the read is executed in one step and complete() is called. The resulting
 * state is that of aftl_submit() and aftl_process_next_event().
 *
 * Return: false if other events are due or the request is no such read; nothing has changed then.
 */
bool __must_check aftl_try_read_fastpath(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_prefetch_l2p_entry() - prefetch the L2P entry of a logical page
 * @ftl: device
 * @unit: logical page of a request that will be submitted soon
 *
 * A performance hint that changes no state. aftl_prefetch_ppn_state(), called a little later,
 * prefetches the state of the physical page: OOB metadata for a read, the valid bit for others.
 */
void aftl_prefetch_l2p_entry(const struct aftl *ftl, u32 unit);
void aftl_prefetch_ppn_state(const struct aftl *ftl, u32 unit, bool read);

/*
 * Device time of the next event; the current time if work is left that is due now; U64_MAX if there
 * is no event.
 */
u64 aftl_next_event_ns(const struct aftl *ftl);

/* End of device time, after 292 years; later times are treated as equal to it. */
#define AFTL_TIME_MAX (U64_MAX / 2)

/**
 * aftl_get_max_callbacks_per_host_call() - bound of the callbacks of one call
 * @geo: geometry of the device
 *
 * Upper bound of the calls of program(), copy(), programmed(), unstored(), unmap(), zone(), erase()
 * and retire(), taken together, in one call of aftl_process_next_event(), aftl_submit(),
 * aftl_advance_age(), aftl_set_param(), aftl_fail_unit(), aftl_fail_block(), aftl_fail_lun(),
 * aftl_start_lun_gc(), aftl_set_drain_mode(), aftl_quiesce_device_by_slice() or
 * aftl_unquiesce_device(), if complete() submits nothing. aftl_process_events_until() is one
 * aftl_process_next_event() for each event. Each zone request in flight adds AFTL_ZONE_HOST_CALLS,
 * because one call may execute all that wait.
 */
#define AFTL_ZONE_HOST_CALLS 4

u32 aftl_get_max_callbacks_per_host_call(const struct aftl_geometry *geo);

/**
 * aftl_process_next_event() - process the next event if due at @now_ns, else advance to @now_ns
 * @ftl: device
 * @now_ns: device time
 *
 * Each call does one slice of work, some 100 us, however large the device is. So does every other
 * call, except those that may pause(), if the device had reached the present before. Two cases take
 * longer: a LUN that dies or runs out of blocks (by its number of blocks), and a LUN whose next
 * writes were discarded meanwhile (by their number).
 *
 * Return: true if an event was processed; there may be more.
 */
bool aftl_process_next_event(struct aftl *ftl, u64 now_ns);

/**
 * aftl_get_amount_of_work_done() - number of work items done so far
 * @ftl: device
 *
 * Counts events, LUNs that were looked at, and logical pages that were admitted, programmed or
 * unmapped, each of which takes some tenths of a microsecond. A host compares two counts to limit
 * the work between them.
 */
u32 aftl_get_amount_of_work_done(const struct aftl *ftl);

/**
 * aftl_process_events_until() - process all events up to and including @now_ns
 * @ftl: device
 * @now_ns: device time to reach
 */
void aftl_process_events_until(struct aftl *ftl, u64 now_ns);

/**
 * aftl_run_to_completion() - process events until a request completes
 * @ftl: device
 * @limit_ns: device time beyond which no event is processed
 *
 * Also processes all other events of that device time, as if aftl_process_events_until() was called
 * for each event. For a host that must act on a completion before device time goes on.
 */
void aftl_run_to_completion(struct aftl *ftl, u64 limit_ns);

/* Current device time. */
u64 aftl_device_time_ns(const struct aftl *ftl);

/* Number of requests submitted and not complete. */
u32 aftl_pending_requests(const struct aftl *ftl);

/**
 * aftl_set_drain_mode() - start or stop to drain the write buffer
 * @ftl: device
 * @draining: true: program buffered writes without waiting for a full page
 */
void aftl_set_drain_mode(struct aftl *ftl, bool draining);

/*
 * Return true if requests are in flight, buffered writes are being drained, or work of the present
 * is left.
 */
bool aftl_has_pending_work(const struct aftl *ftl);

/* Advance device time until aftl_has_pending_work() is false or there is no event left. */
void aftl_drain_requests(struct aftl *ftl);

/* Number of buffer tags: each @tag that accept() gets is smaller. */
u32 aftl_count_buffer_tags(const struct aftl *ftl);

/* Describe buffered write @tag in @what; false if it was programmed or its lpn overwritten. */
bool aftl_get_buffered_write(const struct aftl *ftl, u32 tag, struct aftl_buffered_lpn *what);

/**
 * aftl_restore_buffered_write() - put a persisted write back into the write buffer after a crash
 * @ftl: device that was just loaded
 * @what: unmapped logical page, in ascending order of lpns; in a zone, below the write pointer
 *
 * Return: its tag, or U32_MAX if the buffer is full.
 */
u32 __must_check aftl_restore_buffered_write(struct aftl *ftl,
					     const struct aftl_buffered_lpn *what);

/**
 * aftl_advance_age() - advance the age of the cells without any operation
 * @ftl: device
 * @ns: device time that passes
 */
void aftl_advance_age(struct aftl *ftl, u64 ns);

/* Device age in hours, as in the cell model. */
u64 aftl_device_age_hours(const struct aftl *ftl);

/**
 * aftl_set_param() - change a parameter of a running device
 * @ftl: device
 * @key: name of a parameter that may change at run time, see aftl_param_change()
 * @text: value, as on a command line
 * @error: error message, on failure
 *
 * Operations in progress are not affected.
 *
 * Return: 0, or -EINVAL with a message; nothing has changed then.
 */
int __must_check aftl_set_param(struct aftl *ftl, const char *key, const char *text,
				struct aftl_error *error);

/* Check whether aftl_set_param() would succeed. Changes nothing. */
int __must_check aftl_check_param(const struct aftl *ftl, const char *key, const char *text,
				  struct aftl_error *error);

/**
 * aftl_fail_block() - mark a block as bad: relocate its data, then retire it
 * @ftl: device
 * @block: number of the block
 */
int __must_check aftl_fail_block(struct aftl *ftl, u32 block);

/**
 * aftl_fail_lun() - let a die fail
 * @ftl: device
 * @lun: number of the LUN
 *
 * Reads of its data fail with -EIO until they are written again. Queued programs and the program in
 * progress are moved to other LUNs, with the same tags.
 */
int __must_check aftl_fail_lun(struct aftl *ftl, u32 lun);

/**
 * aftl_mark_unit_lost() - mark a page lost that the host failed to write when it executed copy()
 * @ftl: device
 * @ppn: destination of the copy; nothing has been programmed there since
 *
 * Reads of the logical page fail with -EIO until it is written or discarded. Relocation preserves
 * this state, and does not call copy() for it. No callback is called.
 *
 * Return: true if a valid page was marked.
 */
bool aftl_mark_unit_lost(struct aftl *ftl, aftl_ppn_t ppn);

/**
 * aftl_fail_unit() - make a logical page uncorrectable, as NVMe's Write Uncorrectable does
 * @ftl: device
 * @lpn: logical page
 *
 * Reads of it fail with -EIO until it is written or discarded, whatever its errors, cached copies
 * and RAIN. Relocation and restarts preserve this state.
 *
 * Return: 0; -ENODATA if it has no data, or its newest data are in the write buffer; -EINVAL beyond
 *	the end of the device.
 */
int __must_check aftl_fail_unit(struct aftl *ftl, aftl_lpn_t lpn);

/* Blocks that one step of aftl_wear_out_blocks() examines, in about 12 us. */
#define AFTL_WEAR_BLOCKS 4096

/**
 * aftl_wear_out_blocks() - raise the wear of some blocks to at least @cycles full erases
 * @ftl: device
 * @cycles: program/erase cycles, less than AFTL_WEAR_CYCLES
 * @first: first of AFTL_WEAR_BLOCKS blocks
 *
 * Changes the wear of a block, on which its life depends, but not its erase count, which tells
 * generations of its data apart.
 *
 * Return: the first block of the next step, or the number of blocks after the last one.
 */
u32 aftl_wear_out_blocks(struct aftl *ftl, u32 cycles, u32 first);

/* Upper bound of P/E cycles: the wear of a block, in AFTL_FULL_WEAR, has 32 bits. */
#define AFTL_WEAR_CYCLES (U32_MAX / 10000)

/* Limit of faults in a device's list; if it is full, a new fault replaces one that happened. */
#define AFTL_FAULTS_MAX 64

enum aftl_fault_action {
	AFTL_FAULT_UNIT, /* aftl_fail_unit() */
	AFTL_FAULT_BLOCK, /* aftl_fail_block() */
	AFTL_FAULT_DIE, /* aftl_fail_lun() */
	AFTL_FAULT_AGE, /* aftl_advance_age() */
	AFTL_FAULT_WEAR, /* aftl_wear_out_blocks() */
	AFTL_FAULT_LIFE, /* fault action "end": blocks fail until the device is read-only */
	AFTL_FAULT_POWER, /* fault action "cut": call cut_power() of the host */
};

enum aftl_fault_trigger {
	AFTL_FAULT_WRITE,	/* a host write was admitted */
	AFTL_FAULT_READ,	/* a host read was admitted */
	AFTL_FAULT_TIME,	/* device time has come */
	AFTL_FAULT_PROGRAM,	/* trigger: a host write of a logical page is programmed */
	AFTL_FAULT_NOW,		/* no trigger: arming the fault makes it happen */
};

enum aftl_fault_state {
	AFTL_FAULT_PENDING,
	AFTL_FAULT_DUE,
	AFTL_FAULT_HAPPENED,
	AFTL_FAULT_VOID,	/* no effect: the fault's logical page was not on flash */
};

/* Names by enum aftl_fault_action, aftl_fault_trigger and aftl_fault_state; NULL ends a list. */
extern const char *const aftl_fault_actions[];
extern const char *const aftl_fault_triggers[];
extern const char *const aftl_fault_states[];

/* Word that a fault action takes instead of a number, such as "cut"; NULL if it takes a number. */
const char *aftl_get_name_of_fault_action(u8 action);

/**
 * struct aftl_fault - a fault that happens once
 * @number: logical page, block, LUN or P/E cycles; for AFTL_FAULT_AGE the time that passes, in ns;
 * 0 for an action with a word
 * @after: number of the host write or read, device time in ns, or logical page
 * @action: enum aftl_fault_action
 * @trigger: enum aftl_fault_trigger
 * @state: enum aftl_fault_state
 * @when_ns: device time at which the fault happened or was void
 * @worn_blocks: blocks that the steps of AFTL_FAULT_WEAR have passed
 *
 * Writes, reads and time count from the moment at which a fault was armed while no other one
 * waited. The fault happens directly after its trigger, before the next request and the next event.
 */
struct aftl_fault {
	u64 number;
	u64 after;
	u64 when_ns;
	u32 worn_blocks;
	u8 action;
	u8 trigger;
	u8 state;
};

/**
 * aftl_fault_parse() - parse "ACTION NUMBER [after TRIGGER NUMBER]", or with a word for NUMBER
 * @fault: takes the fault
 * @words: the words of the fault, one string each
 * @count: number of @words
 * @error: takes the message on failure
 */
int __must_check aftl_fault_parse(struct aftl_fault *fault, char *const *words, u32 count,
				  struct aftl_error *error);

/**
 * aftl_arm_fault() - add a fault to the list, or let it happen now
 * @ftl: device
 * @fault: the fault; its state is ignored
 * @error: takes the message on failure
 *
 * The fault "end", and "wear" if there are more than AFTL_WEAR_BLOCKS blocks, take several steps:
 * they go to the list even without a trigger.
 *
 * Return: 0, -EINVAL, -ENODATA as aftl_fail_unit(), or -ENOSPC if all faults of a full list wait.
 */
int __must_check aftl_arm_fault(struct aftl *ftl, const struct aftl_fault *fault,
				struct aftl_error *error);

/*
 * Empty the fault list, except for faults in progress, whose remaining steps must follow. No other
 * fault is armed afterwards.
 */
void aftl_clear_faults(struct aftl *ftl);

/* Get the faults in the order of arming; return their number. A snapshot contains no faults. */
u32 aftl_get_faults(const struct aftl *ftl, const struct aftl_fault **all);

/* Count an unreadable logical page: the host calls this if read() could not fetch its data. */
void aftl_count_read_of_lost_unit(struct aftl *ftl);

/* Number of logical pages marked by aftl_mark_unit_lost() or aftl_fail_unit(). */
u32 aftl_count_lost_units(const struct aftl *ftl);

/* Return true if @lpn is marked as lost. */
bool aftl_lpn_is_lost(const struct aftl *ftl, aftl_lpn_t lpn);

/* Find the first lpn in [@unit, @end) that is lost or, without @lost, not lost; @end if none is. */
u32 aftl_find_lost_lpns(const struct aftl *ftl, u32 unit, u32 end, bool lost);

/**
 * aftl_start_lun_gc() - collect garbage of @lun until no block yields free pages
 * @ftl: device
 * @lun: number of the LUN
 *
 * Works as GC of an idle LUN does, but whatever the number of free blocks. Takes device time.
 */
int __must_check aftl_start_lun_gc(struct aftl *ftl, u32 lun);

/* Number of LUNs in which aftl_start_lun_gc() has not finished. */
u32 aftl_count_luns_in_gc(const struct aftl *ftl);

/**
 * aftl_is_read_only() - return true if the device ran out of good blocks and refuses writes
 * @ftl: device
 */
bool aftl_is_read_only(const struct aftl *ftl);

/**
 * aftl_buffer_is_lost() - return true if buffered writes could not be programmed
 * @ftl: device
 *
 * Every later flush fails, because it would have to cover them.
 */
bool aftl_buffer_is_lost(const struct aftl *ftl);

/* Report that buffered writes were lost by a restart: the next flush fails. */
void aftl_mark_buffer_lost(struct aftl *ftl);

/**
 * aftl_lookup() - find the physical page of @lpn
 * @ftl: device
 * @lpn: logical page
 * @class: set to its enum aftl_class if it is mapped
 *
 * Return: the physical page, or AFTL_NO_PPN.
 */
aftl_ppn_t aftl_lookup(const struct aftl *ftl, aftl_lpn_t lpn, u32 *class);

/* Quality level with which @lpn is stored; 0 also if @lpn is not mapped. */
u32 aftl_lpn_quality_level(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_get_lpn_read_errors() - bit errors that a read of @lpn would return now
 * @ftl: device
 * @lpn: logical page
 * @errors: takes the result
 *
 * Return: false if @lpn is not on flash, or if errors are not modelled and it is not lost.
 */
bool aftl_get_lpn_read_errors(const struct aftl *ftl, aftl_lpn_t lpn, struct aftl_errors *errors);

/**
 * aftl_lpn_is_unreadable() - return true if a read of @lpn would fail now
 * @ftl: device
 * @lpn: logical page
 *
 * The read fails if the data are lost, the LUN has died, or ECC cannot correct the errors.
 */
bool aftl_lpn_is_unreadable(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_zone_state() - get the state of a zone
 * @ftl: device
 * @zone: below aftl_geometry()->zones
 * @written: takes the number of logical pages below the write pointer
 */
enum aftl_zone_state aftl_zone_state(const struct aftl *ftl, u32 zone, u32 *written);

void aftl_reset_stats(struct aftl *ftl);

/**
 * aftl_restore_stats() - add the statistics of the device whose data @ftl loaded
 * @ftl: device
 * @before: statistics of the former device
 * @now_ns: device time of the former device
 * @same_policy: both devices have one policy; else streams and block kinds are not added
 *
 * Time since the last reset goes on from the former device, up to all of @ftl's device time.
 */
void aftl_restore_stats(struct aftl *ftl, const struct aftl_stats *before, u64 now_ns,
			bool same_policy);
const struct aftl_stats *aftl_get_stats(const struct aftl *ftl);
const struct aftl_geometry *aftl_geometry(const struct aftl *ftl);
const struct aftl_media *aftl_media(const struct aftl *ftl);

/*
 * Return the L2P table. The low AFTL_PPN_BITS bits of an entry are the ppn plus 1, the bits above
 * the quality level; 0: the lpn is not mapped. NULL if the table is in several chunks.
 */
const u32 *aftl_l2p_table(const struct aftl *ftl);
const struct aftl_cell *aftl_cell(const struct aftl *ftl);
const struct aftl_config *aftl_config(const struct aftl *ftl);
const struct aftl_policy_type *aftl_policy_type(const struct aftl *ftl);

/**
 * struct aftl_lun_info - state of a LUN, for reports
 * @busy_ns: time at work, including transfers
 * @good_blocks: blocks that are not bad
 * @free_blocks: erased blocks
 * @cached_blocks: SLC cache blocks in use
 * @valid_units: valid logical pages, including those lost with a dead LUN
 * @queued: waiting host commands
 */
struct aftl_lun_info {
	u64 busy_ns;
	u32 good_blocks;
	u32 free_blocks;
	u32 cached_blocks;
	u32 valid_units;
	u32 queued;
};

void aftl_get_lun_info(const struct aftl *ftl, u32 lun, struct aftl_lun_info *info);

/* Bytes of memory allocated from the host. */
u64 aftl_memory_bytes(const struct aftl *ftl);

/**
 * aftl_compute_device_digest() - 64-bit digest of L2P table, media and wear
 * @ftl: device
 *
 * Equal on every host for equal configuration and requests.
 */
u64 aftl_compute_device_digest(const struct aftl *ftl);

/**
 * aftl_audit() - check the invariants of all data structures
 * @ftl: device
 * @error: error message, on failure
 *
 * Slow. Return: 0; -EUCLEAN with a message about the first violation; or the error code of the
 * host's pause(), with a message that the audit was interrupted.
 */
int __must_check aftl_audit(const struct aftl *ftl, struct aftl_error *error);

#endif
