/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NAND layer of the contract between the FTL core and a policy: for policies that choose the
 * open block, the page, the mode and the ISPP parameters of each program, read references, erase
 * voltages, and what an idle die does. A policy that only separates data and selects victims uses
 * ftl-policy.h.
 */
#ifndef AFTL_NAND_POLICY_H
#define AFTL_NAND_POLICY_H

#include "core/base/param-group.h"
#include "core/nand/program-order.h"
#include "core/policy/policy-type.h"
#include "core/policy/selection.h"

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
