/* SPDX-License-Identifier: GPL-2.0-only */
/* Failures of blocks, LUNs and logical pages, and lost data. */
#ifndef AFTL_FAILURES_H
#define AFTL_FAILURES_H

#include "core/base/types.h"

struct aftl;

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

/* Count an unreadable logical page: the host calls this if read() could not fetch its data. */
void aftl_count_read_of_lost_unit(struct aftl *ftl);

/* Number of logical pages marked by aftl_mark_unit_lost() or aftl_fail_unit(). */
u32 aftl_count_lost_units(const struct aftl *ftl);

/* Return true if @lpn is marked as lost. */
bool aftl_lpn_is_lost(const struct aftl *ftl, aftl_lpn_t lpn);

/* Find the first lpn in [@unit, @end) that is lost or, without @lost, not lost; @end if none is. */
u32 aftl_find_lost_lpns(const struct aftl *ftl, u32 unit, u32 end, bool lost);

#endif
