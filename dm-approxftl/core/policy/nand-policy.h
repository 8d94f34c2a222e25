/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NAND layer of the contract between the FTL core and a policy: for policies that choose the
 * open block, the page, the mode and the ISPP parameters of each program, read references, erase
 * voltages, and what an idle die does. A policy that only separates data and selects victims uses
 * ftl-policy.h.
 *
 * How the published policies use the methods:
 *
 * ApproxFTL: stream() makes small requests hot; place() is algorithm 1 with five open blocks for
 * each LUN and pool, in the orders SEQUENTIAL and TWO_PASS and the modes REDUCED, BETWEEN and
 * AFTER; accept_free() and shallow_erase() implement the wear rule; relocate() moves approximate
 * pages in pass 0 and the others in pass 1, and promotes data; victim_rank() breaks ties;
 * block->note counts copies.
 *
 * AGCR: stream() and host_read() record the access history of each lpn and queue rewrites; place()
 * uses the modes COARSE, NORMAL and FINE; the read time follows from the errors of the mode;
 * idle_task() returns AFTL_IDLE_TASK_REWRITE, for which place() sees AFTL_CAUSE_REWRITE; relocate()
 * returns the cost of a page as its stream, so that pages of one cost stay together.
 *
 * cubeFTL: order LEADER_FIRST; place() reads need->buffer_use and returns a leader (NORMAL) or a
 * follower (FOLLOWER, with placement->ispp); programmed() gets the monitored result of a leader,
 * compares followers with it, and may request that a program is repeated elsewhere; reference() and
 * reference_found() maintain its table of read references.
 *
 * TVR: stream() uses update intervals; place() returns REDUCED for short-lived data;
 * retention_hours() is the budget, after which the core relocates the page with AFTL_CAUSE_REFRESH.
 *
 * ReSSD: stream() is the hotness class, from the age of the old version (aftl_policy_lpn_block());
 * order SUPER_LAYER, mode MLC; place() may return an invalid page of the open layers with
 * placement->pages = 1, which the core reprograms; invalidated() finds candidates;
 * placement->piggyback empties a super layer along with host writes, idle_task() does it with
 * AFTL_IDLE_TASK_RELOCATE; aftl_policy_close_block() closes a block early.
 *
 * IPS: order SWITCHED; place() returns SLC programs, or SWITCHED programs with the remaining bits
 * of a word line, as aftl_get_next_in_place_switch_page() says; idle_task() returns
 * AFTL_IDLE_TASK_RELOCATE to fill the remaining bits.
 */
#ifndef AFTL_NAND_POLICY_H
#define AFTL_NAND_POLICY_H

#include "core/nand/program-order.h"
#include "core/policy/policy.h"

struct aftl_ftl_policy;

/**
 * struct aftl_host_write - a host write request on arrival
 * @lpn: first logical page of the request
 * @units: logical pages of the request
 * @class: enum aftl_class
 * @level: quality level; 0: precise
 * @hint: hints of the host
 */
struct aftl_host_write {
	aftl_lpn_t lpn;
	u32 units;
	u32 class;
	u32 level;
	struct aftl_hint hint;
};

/**
 * struct aftl_program_request - a program that is about to be placed
 * @lpn: first logical page
 * @units: logical pages ready to be programmed, at most one program's worth
 * @class: enum aftl_class of all of them
 * @stream: result of stream() or relocate() for all of them
 * @cause: why they are programmed, enum aftl_cause
 * @from: source block of relocated data, NULL for host writes
 * @buffer_use: utilisation of the write buffer in 1/10000, 0 without a buffer
 * @hint: hints of the first logical page, and of the others if stream() separates hints. Flash does
 *	not store hints, so that relocated data has none
 */
struct aftl_program_request {
	aftl_lpn_t lpn;
	u32 units;
	u32 class;
	u32 stream;
	u32 cause;
	const struct aftl_block *from;
	u32 buffer_use;
	struct aftl_hint hint;
};

/**
 * struct aftl_piggyback - a page whose valid data is relocated along with a host write
 * @from: its block, in the same LUN; not a block of a placement handle, zone or translation page
 * @page: its page in @from
 */
struct aftl_piggyback {
	struct aftl_block *from;
	u32 page;
};

/**
 * struct aftl_placement - place and mode of a program
 * @block: open block of the LUN; not a block of a placement handle, zone or translation page
 * @page: first page
 * @pages: pages to program: one program step of the block, or fewer in a super layer or a switched
 *	word line
 * @mode: enum aftl_mode
 * @ispp: ISPP parameters relative to the default
 * @monitor: report errors and verifies to programmed() even with default ISPP parameters
 * @note: free for the policy; programmed() gets it back
 * @piggyback: host writes: pages to relocate with the same program, ahead of the host data. The
 *	array belongs to the policy and is read before the next method is called
 * @piggybacked: number of entries, fewer than @pages; invalid data in them is skipped
 */
struct aftl_placement {
	struct aftl_block *block;
	u32 page;
	u32 pages;
	u32 mode;
	struct aftl_ispp ispp;
	bool monitor;
	u16 note;
	const struct aftl_piggyback *piggyback;
	u32 piggybacked;
};

/**
 * struct aftl_relocation - valid data that the core is about to relocate
 * @from: source block
 * @page: its page in @from
 * @class: stored data class
 * @mode: program mode of the page
 * @cause: GC, WEAR, REFRESH, RETIRE or, for an idle task, REWRITE
 * @bad: the page was misprogrammed: it used margins that its word line did not have
 * @pass: 0 .. copy_passes - 1
 */
struct aftl_relocation {
	const struct aftl_block *from;
	u32 page;
	u32 class;
	u32 mode;
	u32 cause;
	bool bad;
	u32 pass;
};

/**
 * struct aftl_policy_type - a policy
 * @name: name on the command line and in the table line
 * @about: one phrase for the user
 * @kinds: names of the block kinds, for statistics; block->kind is the index
 * @streams: names of the results of stream() and relocate(), for statistics; none: they are always
 *	0
 * @host_streams: number of placement ids, from 1, that the policy separates; 0: none
 * @open_blocks: largest number of open blocks of a LUN
 * @reserve: free blocks of a LUN that only relocation may use; relocating the valid data of one
 *	block must never need more
 * @copy_passes: how often relocate() sees each valid page of a victim; without relocate() the core
 *	relocates one class after the other
 * @least_steps: smallest number of program steps in a block
 * @word_line_steps: a program step must be a whole word line
 * @two_passes: all placements come from aftl_place_sequential(), so that word lines may have a
 *	coarse and a fine pass; the core issues the latter
 * @no_parity: the policy is not compatible with RAIN: it reprograms word lines whose parity is
 *	written, or opens blocks with fewer bits
 * @ignores_tags: all data is stored as precise
 * @stream_per_page: stream() is called for each logical page, when the core accepts it
 * @lun_fixed: lun() is called for each lpn, and its answer is waited for even if that LUN is full
 * @size: bytes of an instance, which begins with struct aftl_policy; 0: just that
 * @lun_size: bytes of state for each LUN that can be derived from blocks and pages: pointers to
 *	open blocks
 * @arrays: state that cannot be derived. It is lost when a device is recovered by scanning, or
 *	after another policy
 * @params: parameters of the policy
 * @ftl: methods of the FTL layer, from which aftl_ftl_policy_type() makes those of this layer
 */
struct aftl_policy_type {
	const char *name;
	const char *about;
	const char *kinds[AFTL_KINDS_MAX];
	const char *streams[AFTL_STREAMS];
	u32 host_streams;
	u32 open_blocks;
	u32 reserve;
	u32 copy_passes;
	u32 least_steps;
	bool word_line_steps;
	bool two_passes;
	bool no_parity;
	bool ignores_tags;
	bool stream_per_page;
	bool lun_fixed;
	size_t size;
	size_t lun_size;
	struct aftl_policy_array arrays[AFTL_ARRAYS_MAX];
	const struct aftl_param_group *params[AFTL_GROUPS_MAX];
	const struct aftl_ftl_policy *ftl;

	/*
	 * Optional. Initialise the instance, which is zeroed except for struct aftl_policy, and
	 * create delegates. All blocks are free, or closed by another policy; adopt() reports each
	 * open block afterwards. Returns false without memory.
	 */
	bool (*create)(struct aftl_policy *policy);

	/*
	 * Optional. Take over @block, which the same policy left open before a reload or restart.
	 * Returns false to have it closed.
	 */
	bool (*adopt)(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block);

	/*
	 * Optional: save_state_word() saves a word of state that cannot be derived from blocks and
	 * pages; a policy that has it also has restore_state_word().
	 */
	u64 (*save_state_word)(const struct aftl_policy *policy);
	void (*restore_state_word)(struct aftl_policy *policy, u64 memory);

	/* Optional. Make the arrays consistent: they come from a snapshot with any content. */
	void (*sanitize_arrays)(struct aftl_policy *policy);

	/*
	 * Optional if the policy keeps no pointers to open blocks. The core has closed @block
	 * before it was full: drop all references to it.
	 */
	void (*closed)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default 0. The stream of a host write request, one of @streams; called once for
	 * each request. Data of different streams never shares a program, so that hints that must
	 * stay separate need different streams.
	 */
	u32 (*stream)(struct aftl_policy *policy, const struct aftl_host_write *write);

	/* Optional. prefetch() the state of @lpn, as a request follows; change nothing. */
	void (*prefetch_state)(const struct aftl_policy *policy, aftl_lpn_t lpn);

	/*
	 * Optional. The host reads @lpn, whose page was programmed in @mode; AFTL_MODES if the data
	 * is still in the write buffer.
	 */
	void (*host_read)(struct aftl_policy *policy, aftl_lpn_t lpn, u32 mode);

	/*
	 * Choose the place of a program, which will certainly be issued: advance cursors now.
	 * Returns 0, or -ENOSPC if a free block is needed and aftl_policy_open_block() returned
	 * none.
	 */
	int (*place)(struct aftl_policy *policy, struct aftl_lun *lun,
		     const struct aftl_program_request *need, struct aftl_placement *placement);

	/*
	 * Optional, for preconditioning; default 0: stream() and place() are called for each
	 * program. @need has just been programmed in @block. Returns how many further host writes
	 * of the class of @need the core may program in @lun without calling the policy. For these
	 * the policy promises: stream() would return need->stream, place() the next steps of @block
	 * in the same mode, with ISPP parameters that no word line misprograms, programmed() false;
	 * and no call would change its state (but see @clock of the FTL layer), whatever is
	 * programmed in other LUNs. The core asks again after any other program in @lun, and always
	 * calls place() for the last step of a block. aftl_fill_to_block_end() promises all other
	 * steps.
	 */
	u32 (*fill_run)(struct aftl_policy *policy, struct aftl_lun *lun,
			const struct aftl_program_request *need, const struct aftl_block *block);

	/*
	 * Optional. place() returned -ENOSPC for a host write: call aftl_policy_close_block() for a
	 * block that can be spared, if collecting it would help.
	 */
	void (*out_of_blocks)(struct aftl_policy *policy, struct aftl_lun *lun);

	/*
	 * Optional, for a policy that other policies delegate to: the mode it would choose for
	 * @need, while another policy chooses the place.
	 */
	u32 (*mode)(struct aftl_policy *policy, const struct aftl_program_request *need);

	/*
	 * Optional. A program has completed with @outcome. Returns true if its data must be
	 * programmed again elsewhere.
	 */
	bool (*programmed)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_placement *placement,
			   const struct aftl_program_result *outcome);

	/* Optional. A ppn of @page in @block has just become invalid. */
	void (*invalidated)(struct aftl_policy *policy, struct aftl_block *block, u32 page);

	/*
	 * Optional, default: the rule of the parameter "allocate". The LUN for the writes of a
	 * stream until a program is full. If that LUN has no room, the next one in the allocation
	 * order is used.
	 */
	u32 (*lun)(struct aftl_policy *policy, const struct aftl_lun_request *binding);

	/*
	 * Optional, default 0. Shift of the read references with which a read of @page starts, at
	 * most AFTL_SHIFT_MAX; the chip retries until it finds the best one.
	 */
	u32 (*reference)(struct aftl_policy *policy, const struct aftl_block *block, u32 page);

	/* Optional. Called after each read with the read reference shift that succeeded. */
	void (*reference_found)(struct aftl_policy *policy, const struct aftl_block *block,
				u32 page, u32 shift);

	/*
	 * Optional, default: the selector of the parameter "victim". Returns one of @closed, or
	 * NULL for the block with the least valid data.
	 */
	struct aftl_block *(*select_victim)(struct aftl_policy *policy,
					    const struct aftl_victim_candidates *closed);

	/*
	 * Optional, default: all equal. GC takes the closed block with the least valid data; if
	 * several have as little, the one with the smallest rank.
	 */
	u32 (*victim_rank)(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_block *block);

	/*
	 * Optional, default: one pass for each class, class unchanged, stream 0. Returns true if
	 * the page is relocated in this pass; may change class and stream, but must not make
	 * precise data approximate. All pages of a pass need the same class and stream, and all
	 * valid data must have been relocated after the last pass: the core stops calling a policy
	 * that violates this.
	 */
	bool (*relocate)(struct aftl_policy *policy, const struct aftl_relocation *move, u32 *class,
			 u32 *stream);

	/*
	 * Optional, default: no. Called before each erase: return true if a lower erase voltage is
	 * enough. It only removes pages with a lower top voltage; of other pages residue remains,
	 * and a full erase follows.
	 */
	bool (*shallow_erase)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default: accept the first free block. Called with the free blocks of a LUN in
	 * the order of their erase counts; if none is accepted the first is used.
	 */
	bool (*accept_free)(struct aftl_policy *policy, const struct aftl_block *block);

	/*
	 * Optional, default: the parameter "refresh" for approximate pages. Age in hours at which a
	 * page of this class and mode is rewritten; 0: never.
	 */
	u32 (*retention_hours)(struct aftl_policy *policy, u32 class, u32 mode);

	/* Optional. Set @task for @lun, which was idle for the time in the parameter "idle". */
	void (*idle_task)(struct aftl_policy *policy, struct aftl_lun *lun,
			  struct aftl_idle_task *task);
};

/**
 * aftl_policy_open_block() - open a free block of @lun
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: the program; the last free blocks are reserved for relocation
 * @order: program order of the block
 * @kind: index into the kinds of the policy
 *
 * Return: the block, or NULL.
 */
struct aftl_block *aftl_policy_open_block(struct aftl_policy *policy, struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  enum aftl_order order, u32 kind);

/**
 * aftl_policy_open_sparse_block() - open a free block with fewer bits per cell
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: the program; host writes only, because relocation has to free space
 * @bits: bits per cell; only this many pages of each word line are programmed, in sequential order
 * @kind: index into the policy's kinds
 *
 * A block in SLC mode that is open when the device is saved is closed at the next load.
 *
 * Return: the block; NULL if there is none, if the cells do not hold more bits, or if SLC mode is
 * used by the device's own cache.
 */
struct aftl_block *aftl_policy_open_sparse_block(struct aftl_policy *policy, struct aftl_lun *lun,
						 const struct aftl_program_request *need, u32 bits,
						 u32 kind);

/**
 * aftl_policy_close_block() - close a block that is not full
 * @policy: the policy itself
 * @block: open block
 */
static inline void aftl_policy_close_block(struct aftl_policy *policy, struct aftl_block *block)
{
	policy->core->services->close(policy->ftl, block);
}

/**
 * aftl_policy_reset_block_age() - treat the data of @block as written now
 * @policy: the policy itself
 * @block: block
 */
static inline void aftl_policy_reset_block_age(struct aftl_policy *policy, struct aftl_block *block)
{
	const struct aftl_policy_core *core = policy->core;

	block->opened_ns = (s64)(*core->now_ns - *core->fill_left_ns);
}

/**
 * aftl_policy_set_block_kind() - change the kind of an open block
 * @policy: the policy itself
 * @block: open block
 * @kind: index into the policy's kinds
 */
void aftl_policy_set_block_kind(struct aftl_policy *policy, struct aftl_block *block, u32 kind);

/**
 * aftl_policy_lpn_mode() - enum aftl_mode of the current version of @lpn
 * @policy: the policy itself
 * @lpn: logical page
 *
 * Return: AFTL_MODES if it is not on flash.
 */
u32 aftl_policy_lpn_mode(const struct aftl_policy *policy, aftl_lpn_t lpn);

/* Host commands that wait for @lun; in place() these include the host write being placed. */
static inline u32 aftl_policy_count_queued_commands(const struct aftl_policy *policy,
						    const struct aftl_lun *lun)
{
	return policy->core->services->queued(lun);
}

/**
 * aftl_policy_monitor_page() - monitored values of a programmed page with default ISPP parameters
 * @policy: the policy itself
 * @block: block of the page
 * @page: page of the block, programmed
 *
 * The values that programmed() got if the program was monitored; a controller reads them back.
 */
struct aftl_program_result aftl_policy_monitor_page(const struct aftl_policy *policy,
						    const struct aftl_block *block, u32 page);

/**
 * aftl_is_last_program_step() - return true if @block is full after one more program step
 * @geo: geometry
 * @block: open block
 *
 * The core may collect and erase a full block, so the policy must drop its pointer to the block.
 */
static inline bool aftl_is_last_program_step(const struct aftl_geometry *geo,
					     const struct aftl_block *block)
{
	return block->programmed + aftl_count_pages_of_program_step(geo, block) ==
	       aftl_block_usable_pages(geo, block);
}

static inline bool aftl_block_is_full(const struct aftl_geometry *geo,
				      const struct aftl_block *block)
{
	return block->programmed == aftl_block_usable_pages(geo, block);
}

/**
 * aftl_place_sequential() - place the next step of a sequential open block
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: the program
 * @open: pointer of the policy to the block; a block is opened if it is NULL, and it becomes NULL
 *	after the last step
 * @kind: index into the kinds of the policy
 * @placement: takes the place
 */
int aftl_place_sequential(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_block **open,
			  u32 kind, struct aftl_placement *placement);

/* Method fill_run() of policies that fill each block in sequence. */
u32 aftl_fill_to_block_end(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_program_request *need, const struct aftl_block *block);

#endif
