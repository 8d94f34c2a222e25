/* SPDX-License-Identifier: GPL-2.0-only */
/* The type of a policy: its limits, its state, and its methods. */
#ifndef AFTL_POLICY_TYPE_H
#define AFTL_POLICY_TYPE_H

#include "core/policy/placement.h"
#include "core/policy/policy.h"

struct aftl_ftl_policy;
struct aftl_idle_task;
struct aftl_lun_request;
struct aftl_victim_candidates;

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

#endif
