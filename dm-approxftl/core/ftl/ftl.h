/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FTL core as its hosts see it.
 *
 * A host creates a device, submits requests with the time of their arrival, and
 * advances device time; the core calls back when a request is complete and when
 * data has to move. The core has no clock, takes no lock, and allocates only in
 * aftl_create(), unless a host offers more. Calls for one device must not overlap.
 *
 * State after N requests depends on configuration, policy and the stamped
 * requests alone, never on when the host got around to advance time.
 */
#ifndef AFTL_FTL_H
#define AFTL_FTL_H

#include "core/nand/cell.h"
#include "core/nand/chip.h"
#include "core/policy/policy.h"
#include "core/policy/param-registry.h"
#include "core/base/stats.h"

enum aftl_op {
	AFTL_OP_READ,
	AFTL_OP_WRITE,
	AFTL_OP_FLUSH,
	AFTL_OP_DISCARD,
	AFTL_OP_WRITE_ZEROES,
	AFTL_OPS,
	/* Of zones; no record of requests has them. */
	AFTL_OP_ZONE_OPEN = AFTL_OPS,
	AFTL_OP_ZONE_CLOSE,
	AFTL_OP_ZONE_FINISH,
	AFTL_OP_ZONE_RESET,
	AFTL_OP_ZONE_RESET_ALL,
	AFTL_ZONE_OPS,
};

/* Request flag: complete a write only when it is on flash. */
#define AFTL_REQUEST_FUA 0x01
/* Of a write: it goes to where its zone is written next, which @unit says afterwards. */
#define AFTL_REQUEST_APPEND 0x02

/**
 * struct aftl_request - one request of the host, in the host's memory until complete
 * @arrival_ns: in device time; the core raises it to its own time if it is past
 * @unit: first unit; of an operation on a zone, and of a write to be appended, the zone's first
 * @units: how many; 0 for a flush, and for an operation on zones
 * @op: enum aftl_op
 * @class: enum aftl_class of a write
 * @level: of an approximate one, below AFTL_LEVELS; 0: 1, as who names none means
 * @flags: AFTL_REQUEST_*
 * @hint: of a write: what the host says of the data
 * @queue: of the host, below AFTL_QUEUES_MAX; it matters where "queue_weights" has several
 * @complete_ns: set at completion
 * @service_ns: set at completion: chip time of the part that ended last
 * @status: set at completion: 0, -EIO (data lost, or nothing that its zone takes now), -ENOSPC,
 *	-EOVERFLOW (too many zones would be active) or -EBUSY (or open)
 *
 * The rest belongs to the core while the request is under way.
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
};

/* Where the content of a unit comes from. */
enum aftl_source {
	AFTL_SOURCE_ZERO,
	AFTL_SOURCE_BUFFER,
	AFTL_SOURCE_FLASH,
};

/**
 * struct aftl_read - what a host needs to return one unit
 * @lpn: logical unit
 * @source: zeroes, a buffered write (@tag) or flash (@ppn)
 * @tag: as in aftl_host_ops.accept
 * @ppn: media slot; AFTL_NO_PPN if it is lost with its LUN
 * @flips: bits to invert, at aftl_flip_position(cell, unit, lineage, 0 .. flips - 1)
 * @generation: for aftl_flip_position()
 * @lost: the request will fail; there is nothing to return
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

/* What the array of a LUN begins, and what reads may do to it. */
enum aftl_array_op {
	AFTL_ARRAY_READ,
	AFTL_ARRAY_PROGRAM,
	AFTL_ARRAY_ERASE,
	AFTL_ARRAY_SUSPEND,
	AFTL_ARRAY_RESUME,
};

/**
 * struct aftl_array_event - an operation of a flash array, for who draws or counts them
 * @begin_ns: device time at which the array begins; a program's data come in before
 * @array_ns: how long it takes; after SUSPEND and RESUME: how long it still needs
 * @lun: which
 * @block: of the device
 * @page: first page in the block
 * @pages: how many; the whole block for an erase
 * @op: enum aftl_array_op
 * @mode: enum aftl_mode of the page
 * @cause: enum aftl_cause; AFTL_CAUSE_HOST for a host's read
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

/* As NVMe and the kernel name them. */
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
 * struct aftl_host_ops - what the core asks of its host
 *
 * Only alloc, free and complete are required. The others let a host keep real
 * data beside the core: they are called in the order in which the emulated
 * controller moves data, between aftl_submit() or aftl_advance() and its return.
 *
 * program() and copy() come when a program begins, erase() when an erase ends. The
 * former place of a unit may be erased on one LUN while its new program is still
 * under way on another: a host whose data must survive a crash makes its changes
 * durable in the order of these calls. Those that follow programmed(), unmap(),
 * erase() and retire() can tell where every unit is, see volume.h.
 */
struct aftl_host_ops {
	/* Zeroed memory, or NULL. Called in aftl_create() only. */
	void *(*alloc)(void *host, size_t bytes);
	/*
	 * The same in any call, and never NULL: a host that has no more ends. Without it a device
	 * has from the beginning what most never need.
	 */
	void *(*alloc_later)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);

	/*
	 * Between two slices of a long call, with the device in order: aftl_fill(),
	 * aftl_audit(), aftl_digest(), aftl_save() and aftl_load(). May sleep; must not
	 * look at the device. Returns 0, or an error code with which the call ends.
	 */
	int (*pause)(void *host);

	/* @request is the host's again. May submit another one. */
	void (*complete)(void *host, struct aftl_request *request);

	/* A write is in the controller: keep the bytes of @lpn under @tag. */
	void (*accept)(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag);

	/*
	 * The bytes under @tag are being programmed into @ppn. Once more and elsewhere
	 * if that LUN dies before the end.
	 */
	void (*program)(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn);

	/* That does not hold: the LUN dies. Before retire(). */
	void (*unstored)(void *host, u32 tag);

	/* The bytes under @tag are not needed any more. */
	void (*release)(void *host, u32 tag);

	/* The bytes of @from are being programmed into @to as well. */
	void (*copy)(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to);

	/*
	 * The page that begins with @first has been programmed with what these calls
	 * brought. All that media and map say of it holds: a slot that is not valid
	 * has no unit, or one that was overwritten before it got here.
	 */
	void (*programmed)(void *host, aftl_ppn_t first);

	/*
	 * These units are stored nowhere any more, if they were: they have been discarded, or
	 * their zone has been reset.
	 */
	void (*unmap)(void *host, aftl_lpn_t first, u32 units);

	/*
	 * What the units of a zone do not tell: it has been reset (EMPTY), finished (FULL), or
	 * is READ_ONLY or OFFLINE from now on.
	 */
	void (*zone)(void *host, u32 zone, enum aftl_zone_state state);

	/* The bytes of these slots are gone; the block is as it leaves the erase. */
	void (*erase)(void *host, aftl_ppn_t first, u32 slots);

	/* These blocks will never be used again; some may have been bad before. */
	void (*retire)(void *host, u32 first, u32 blocks);

	/* An array begins something, or is interrupted. */
	void (*array)(void *host, const struct aftl_array_event *event);

	/* Fetch the bytes that @request will return for one unit. */
	void (*read)(void *host, struct aftl_request *request, const struct aftl_read *read);
};

/**
 * aftl_create() - build a device
 * @out: the device, on success only
 * @config: checked against itself and against the policy here
 * @type: policy
 * @ops: the host's, kept by reference
 * @host: first argument of @ops
 * @error: the sentence, on failure
 *
 * Return: 0, -EINVAL (the sentence says what does not fit) or -ENOMEM.
 */
int __must_check aftl_create(struct aftl **out, const struct aftl_config *config,
			     const struct aftl_policy_type *type, const struct aftl_host_ops *ops,
			     void *host, struct aftl_error *error);

/* NULL is fine. Requests under way are forgotten, not completed. */
void aftl_destroy(struct aftl *ftl);

/**
 * aftl_fill() - bring the device into its configured starting state
 * @ftl: device
 *
 * Runs the FTL without time and then resets the statistics. Call once, before
 * the first request. What is filled has no bytes: the host sees moves and erases
 * of slots that it never programmed, and decides what they read as.
 *
 * Return: 0; -ENOSPC if the policy ran out of blocks; or what the host's pause() returned:
 * of a device that has not been filled to the end nothing is left but aftl_destroy().
 */
int __must_check aftl_fill(struct aftl *ftl);

/**
 * aftl_submit() - hand over a request
 * @ftl: device
 * @request: in the host's memory until it is complete
 *
 * Processes everything that happens before its arrival first.
 *
 * Return: 0, or -EINVAL if it lies outside the device or makes no sense; it is
 * then the host's again without a completion.
 */
int __must_check aftl_submit(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_try_idle_read() - aftl_submit() a read beside which nothing happens
 * @ftl: device
 * @request: as for aftl_submit()
 *
 * The host lets time pass until the read is complete, come what may:
 * if nothing else happens until then, that is done in one go, and complete() has been called.
 * All is left as aftl_submit() and aftl_step() would have left it.
 *
 * Return: false if there is something else, or it is no such read: nothing has been done.
 */
bool __must_check aftl_try_idle_read(struct aftl *ftl, struct aftl_request *request);

/**
 * aftl_prefetch_l2p_entry() - a request for @unit will come soon
 * @ftl: device
 * @unit: logical unit
 *
 * Changes nothing but the time that the request will take: its map entry is fetched
 * into the processor's cache. aftl_prefetch_ppn_state(), a little later, fetches what the map
 * entry leads to: for a read what there is, for others what changes when it is old.
 */
void aftl_prefetch_l2p_entry(const struct aftl *ftl, u32 unit);
void aftl_prefetch_ppn_state(const struct aftl *ftl, u32 unit, bool read);

/* Device time of the next event, U64_MAX if nothing will happen by itself. */
u64 aftl_next_event(const struct aftl *ftl);

/* Device time ends after 292 years; later times count as this one. */
#define AFTL_TIME_MAX (U64_MAX / 2)

/**
 * aftl_max_host_calls() - most that a host is told at once
 * @geo: of the device
 *
 * Calls of program(), copy(), programmed(), unstored(), unmap(), zone(), erase() and retire(),
 * taken together, from one call of aftl_step(), aftl_submit(), aftl_age(), aftl_set_param(),
 * aftl_fail_block(), aftl_fail_lun(), aftl_start_gc(), aftl_set_draining(), aftl_quiesce_step() or
 * aftl_unquiesce(), if complete() submits nothing. aftl_advance() is as many calls of
 * aftl_step() as there are events. Each request about zones that is under way may add
 * AFTL_ZONE_HOST_CALLS: all that wait may be carried out in one call.
 */
#define AFTL_ZONE_HOST_CALLS 4

u32 aftl_max_host_calls(const struct aftl_geometry *geo);

/**
 * aftl_step() - process the next event if it is due at @now_ns, else reach @now_ns
 * @ftl: device
 * @now_ns: device time
 *
 * Return: whether there was an event; there may be more.
 */
bool aftl_step(struct aftl *ftl, u64 now_ns);

/**
 * aftl_advance() - process all events up to and including @now_ns
 * @ftl: device
 * @now_ns: device time to reach
 */
void aftl_advance(struct aftl *ftl, u64 now_ns);

/**
 * aftl_run_to_completion() - process events until a request is complete, and all others of that time
 * @ftl: device
 * @limit_ns: device time beyond which no event is processed
 *
 * The same as aftl_advance() to one event's time after the other, for a host that has something
 * to do when a request is complete, and not before.
 */
void aftl_run_to_completion(struct aftl *ftl, u64 limit_ns);

/* Device time. */
u64 aftl_now(const struct aftl *ftl);

/* Requests submitted and not complete. */
u32 aftl_pending_requests(const struct aftl *ftl);

/**
 * aftl_set_draining() - the host needs the memory of buffered writes, or does not any more
 * @ftl: device
 * @hurry: from now on no write waits in the buffer for a full page
 */
void aftl_set_draining(struct aftl *ftl, bool hurry);

/* Is there a reason to let device time pass: requests, or buffered writes in a hurry? */
bool aftl_busy(const struct aftl *ftl);

/* Let device time pass until there is none, or nothing happens by itself any more. */
void aftl_drain(struct aftl *ftl);

/* Tags that accept() may use are below this. */
u32 aftl_tag_count(const struct aftl *ftl);

/* Is what is under @tag wanted, and nowhere else? @what takes it. */
bool aftl_buffer_entry(const struct aftl *ftl, u32 tag, struct aftl_buffered_lpn *what);

/**
 * aftl_buffer_restore() - a write is in the controller again that was there before a crash
 * @ftl: device that was just loaded
 * @what: of zones, below the write pointer of its zone, and nowhere; by unit, in ascending order
 *
 * Return: its tag, or U32_MAX if there is no room for it.
 */
u32 __must_check aftl_buffer_restore(struct aftl *ftl, const struct aftl_buffered_lpn *what);

/**
 * aftl_age() - let @ns pass for the cells without anything happening
 * @ftl: device
 * @ns: device time that passes
 */
void aftl_age(struct aftl *ftl, u64 ns);

/* Age of the device in hours, as the cell model sees it. */
u64 aftl_hours(const struct aftl *ftl);

/**
 * aftl_set_param() - change a parameter of a device that is in use
 * @ftl: device
 * @key: name of the parameter, one that may change at any time: aftl_param_change()
 * @text: its value, as on a command line
 * @error: takes the sentence on failure
 *
 * What is under way ends as it has begun.
 *
 * Return: 0, or -EINVAL with the sentence; nothing has changed then.
 */
int __must_check aftl_set_param(struct aftl *ftl, const char *key, const char *text,
				struct aftl_error *error);

/* Would aftl_set_param() be refused? With the same arguments, and nothing changes. */
int __must_check aftl_check_param(const struct aftl *ftl, const char *key, const char *text,
				  struct aftl_error *error);

/**
 * aftl_fail_block() - @block has gone bad: move its data, then retire it
 * @ftl: device
 * @block: number of the block
 */
int __must_check aftl_fail_block(struct aftl *ftl, u32 block);

/**
 * aftl_fail_lun() - all of @lun is gone, now: a die has died
 * @ftl: device
 * @lun: number of the LUN
 *
 * Reads of what it held fail with -EIO until it is written again. What it had to
 * program and what was being programmed goes to other LUNs, under the same tag.
 */
int __must_check aftl_fail_lun(struct aftl *ftl, u32 lun);

/**
 * aftl_mark_unit_lost() - the host could not bring the bytes that copy() spoke of to @ppn
 * @ftl: device
 * @ppn: where nothing has been programmed since that call
 *
 * Its unit is lost: reads fail with -EIO until it is written or discarded. Moves take that
 * along, and copy() is not called for it any more. Calls nothing of the host's.
 *
 * Return: whether there was a unit to be lost.
 */
bool aftl_mark_unit_lost(struct aftl *ftl, aftl_ppn_t ppn);

/* A unit that read() spoke of could not be fetched: it counts as one that could not be read. */
void aftl_count_unreadable(struct aftl *ftl);

/* Units that are lost in that way, now. */
u32 aftl_lost_units(const struct aftl *ftl);

/* Is @lpn one of them? */
bool aftl_is_lost(const struct aftl *ftl, aftl_lpn_t lpn);

/* The first unit from @unit on, below @end, that is lost, or that is not; @end if there is none. */
u32 aftl_find_lost(const struct aftl *ftl, u32 unit, u32 end, bool lost);

/**
 * aftl_start_gc() - collect garbage of @lun until nothing is worth it
 * @ftl: device
 * @lun: number of the LUN
 *
 * As an idle LUN would, however many free blocks there are. It takes device time.
 */
int __must_check aftl_start_gc(struct aftl *ftl, u32 lun);

/* LUNs in which aftl_start_gc() has work left. */
u32 aftl_luns_in_gc(const struct aftl *ftl);

/**
 * aftl_read_only() - the device has run out of good blocks and refuses writes
 * @ftl: device
 */
bool aftl_read_only(const struct aftl *ftl);

/**
 * aftl_buffer_lost() - has the write buffer held what could not be stored any more?
 *
 * Every flush fails from then on, for it would cover that, too.
 */
bool aftl_buffer_lost(const struct aftl *ftl);

/* It has, in what was this device before: whoever wrote that has not been told yet. */
void aftl_mark_buffer_lost(struct aftl *ftl);

/**
 * aftl_lookup() - where @lpn is stored and as what
 * @ftl: device
 * @lpn: logical unit
 * @class: enum aftl_class, set if mapped
 *
 * Return: its slot, or AFTL_NO_PPN.
 */
aftl_ppn_t aftl_lookup(const struct aftl *ftl, aftl_lpn_t lpn, u32 *class);

/* The level of @lpn as it is stored; 0, too, if it is not mapped. */
u32 aftl_lpn_level(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_lpn_errors() - errors that a read of @lpn would return now
 * @ftl: device
 * @lpn: logical unit
 * @errors: takes the answer
 *
 * Return: false if @lpn is not on flash, or errors are not modelled and it is not lost.
 */
bool aftl_lpn_errors(const struct aftl *ftl, aftl_lpn_t lpn, struct aftl_errors *errors);

/**
 * aftl_unit_fails() - would a read of @lpn fail now?
 * @ftl: device
 * @lpn: logical unit
 *
 * Because its bytes were lost, its LUN has died, or ECC does not correct its errors.
 */
bool aftl_unit_fails(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_zone_state() - the state of a zone
 * @ftl: device
 * @zone: below aftl_geometry()->zones
 * @written: takes the units from its first to its write pointer
 */
enum aftl_zone_state aftl_zone_state(const struct aftl *ftl, u32 zone, u32 *written);

void aftl_reset_stats(struct aftl *ftl);

/**
 * aftl_carry_stats() - add the statistics of a device whose data @ftl has taken over
 * @ftl: device
 * @before: statistics of the device before
 * @now_ns: time of that device
 * @same_policy: it had the policy of @ftl; streams and kinds of blocks of others mean nothing here
 *
 * The last reset was as long ago as for the device before, or when the time of @ftl began.
 */
void aftl_carry_stats(struct aftl *ftl, const struct aftl_stats *before, u64 now_ns,
		      bool same_policy);
const struct aftl_stats *aftl_stats(const struct aftl *ftl);
const struct aftl_geometry *aftl_geometry(const struct aftl *ftl);
const struct aftl_media *aftl_media(const struct aftl *ftl);
const struct aftl_cell *aftl_cell(const struct aftl *ftl);
const struct aftl_config *aftl_config(const struct aftl *ftl);
const struct aftl_policy_type *aftl_policy_type(const struct aftl *ftl);

/**
 * struct aftl_lun_info - one LUN for a person
 * @busy_ns: time its array or its transfers were at work
 * @good_blocks: blocks that are not bad
 * @free_blocks: erased blocks
 * @cached_blocks: blocks in use by its cache of one bit in a cell
 * @valid_units: units it holds, those included that are lost with it
 * @queued: host commands waiting
 */
struct aftl_lun_info {
	u64 busy_ns;
	u32 good_blocks;
	u32 free_blocks;
	u32 cached_blocks;
	u32 valid_units;
	u32 queued;
};

void aftl_lun_info(const struct aftl *ftl, u32 lun, struct aftl_lun_info *info);

/* Bytes of memory that the device took from its host. */
u64 aftl_memory_bytes(const struct aftl *ftl);

/**
 * aftl_digest() - 64-bit digest of map, media and wear
 * @ftl: device
 *
 * Equal for equal configuration and request stream on every host.
 */
u64 aftl_digest(const struct aftl *ftl);

/**
 * aftl_audit() - check every invariant that ties the structures together
 * @ftl: device
 * @error: takes the sentence on failure
 *
 * Slow. Return: 0; -EUCLEAN with a sentence that names the first violation; or what the
 * host's pause() returned, with one that says that it was interrupted.
 */
int __must_check aftl_audit(const struct aftl *ftl, struct aftl_error *error);

#endif
