/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a device. Private to the core: hosts include ftl.h, policies include policy.h.
 *
 * The host serialises all calls for one device, so nothing in the core takes a lock. Only
 * aftl_call_pause_callback() and the host's callbacks may sleep.
 */
#ifndef AFTL_CONTROLLER_H
#define AFTL_CONTROLLER_H

#include "core/base/events.h"
#include "core/ftl/block-event.h"
#include "core/ftl/cmt.h"
#include "core/ftl/fault-list.h"
#include "core/ftl/ftl.h"
#include "core/ftl/host-queues.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/program.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/reloc-task.h"
#include "core/ftl/zone-state.h"
#include "core/nand/read-timing.h"

struct aftl_command;
struct aftl_die_group;
struct aftl_lun;
struct aftl_superblock_state;

/* One device. There is no state outside of it. */
struct aftl {
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_media media;
	struct aftl_cell cell;
	struct aftl_chip chip;
	struct aftl_read_timing sense;
	struct aftl_stats stats;
	const struct aftl_policy_type *named_type; /* policy type that the host passed */
	const struct aftl_policy_type *type; /* policy type in use: @named_type or @ftl_type */
	struct aftl_policy_type ftl_type;
	struct aftl_policy *policy;
	struct aftl_policy_core core;
	const struct aftl_host_ops *ops;
	void *host;
	u64 memory_bytes;

	u64 now_ns;
	u64 fill_left_ns; /* time that the remaining writes of preconditioning would take */
	u64 age_ns;
	u64 hour;
	u64 housekeeping_end_ns; /* end of the last housekeeping, which delays host programs */
	bool housekeeping_wanted; /* housekeeping is due: a block was erased since the last one */
	u64 hour_ns; /* device age (age_ns + now_ns) when @hour began */
	bool running;
	bool filling;
	bool suspending;
	bool read_only;
	bool buffer_lost;
	bool ignore_policy_copy;
	bool retry;
	bool draining;
	u32 work; /* work done so far, see aftl_get_amount_of_work_done() */
	u32 collecting; /* LUNs with forced_gc */
	u32 wake_next;
	struct aftl_lun_failure lun_failure;
	u8 waking; /* mask of AFTL_WAKE_*: kinds of LUNs to wake, from LUN @wake_next on */
	u32 lost_units;
	u32 placing_cause; /* enum aftl_cause of the program that the policy is placing */
	u32 placing_handle; /* placement handle whose block is being opened; 0: none */
	struct aftl_block_events block_events;
	struct aftl_events events;
	u32 event_completions;
	u32 event_clock;
	u32 event_faults;
	struct aftl_lun *runnable; /* list of runnable LUNs, the longest runnable first */
	struct aftl_lun *last_runnable;

	struct aftl_chunks l2p;
	struct aftl_lun *luns;
	u32 *victims;
	u64 *bus_ns;

	/* The members from program_units on: aftl_apply_config() derives them from @config. */
	u32 program_units;
	u32 foggy_blocks;
	u32 fine_pending_units;
	u64 unit_transfer_ns;
	u64 unit_link_ns;
	u64 max_block_reads;
	u32 copy_passes;
	u32 streams;
	u32 slc_static_blocks;
	u32 slc_max_blocks;
	u32 handles;
	struct aftl_cmt cmt;
	struct aftl_zones zones;
	struct aftl_read_cache read_cache;
	struct aftl_read_streams read_ahead;
	bool reads_are_tracked;
	/* True if array operations, host reads or accepted writes are reported to anybody. */
	bool array_is_observed;
	bool reads_are_observed;
	bool writes_are_observed;
	/* No optional part or callback of the host takes part in programs: is_copyback_plain(). */
	bool plain_copyback;
	struct aftl_wait_state *waits;
	struct aftl_superblock_state *superblocks;
	/* The superblocks of a die group as entries of struct aftl_block, for victim selectors. */
	struct aftl_block *superblock_candidates;
	struct aftl_die_group *die_groups;
	u32 gc_blocks;
	u32 gc_max_valid;
	u32 gc_idle_valid;
	bool gc_margin_is_adaptive;
	u32 gc_margin_base; /* free blocks of a LUN without which writes wait for GC */

	struct aftl_command *commands;
	u32 command_count;
	u32 free_reads;
	u32 free_writes;
	u32 free_read_count;
	u32 free_write_count;
	u32 unflushable;
	u32 write_commands;

	u32 buffer_high; /* number of used write commands at which LUNs begin to program them */
	u32 full_write_queues; /* number of write queues with data for a full program */
	u32 *pending;
	u32 pending_mask;

	struct aftl_refresh refresh;
	struct aftl_allocation allocation;
	struct aftl_request *wait_head[2];
	struct aftl_request *wait_tail[2];
	struct aftl_host_queues host_queues[2];
	u32 queues;
	struct aftl_rest_reads rest;
	struct aftl_completions completion;
	u64 seq;
	u32 requests;
	struct aftl_epochs epochs;
	struct aftl_fault_list faults;
	/* Logical pages of the program that starts: too large for the stack of a kernel. */
	struct aftl_payload payload;
};

/* Derive members of @ftl, such as the number of streams, from a new configuration. */
void aftl_apply_config(struct aftl *ftl);

#endif
