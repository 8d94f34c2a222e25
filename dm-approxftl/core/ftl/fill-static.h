/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shuffled fill with the allocation rule "static" and programs of one logical page.
 *
 * A LUN has every n-th lpn of n LUNs. The shuffle is the walk lpn(k + 1) = lpn(k) + step modulo the
 * number of logical pages, so the numbers of the writes of a LUN, in the order of its lpns, are
 * such a walk, too. Hence the next write of a LUN follows from the previous one, and each LUN is
 * programmed by itself up to the write for which the policy must be asked. The rank of a write
 * among those of its LUN follows from that of the previous lpn of the LUN, so that the L2P entries
 * are computed in the order of lpns at the end, or before the first relocation.
 */
#ifndef AFTL_FILL_STATIC_H
#define AFTL_FILL_STATIC_H

#include "core/base/events.h"
#include "core/base/fill-order.h"

struct aftl;
struct aftl_fill_row;
struct aftl_fill_run;

/**
 * struct aftl_fill_write - a write of the fill
 * @position: number of its lpn among those of the LUN
 * @number: number of the write in the fill
 */
struct aftl_fill_write {
	u32 position;
	u32 number;
};

/**
 * struct aftl_fill_lun - progress of a LUN
 * @next: first write that is not counted
 * @after: first write after the stored ones
 * @done: number of counted writes
 * @stored: number of writes whose OOB metadata are stored, and which are not counted yet
 * @count: number of all writes
 */
struct aftl_fill_lun {
	struct aftl_fill_write next;
	struct aftl_fill_write after;
	u32 done;
	u32 stored;
	u32 count;
};

/**
 * struct aftl_fill_static - progress of the fill
 * @order: order of the fill, from its first write on
 * @inverse: numbers of the writes, in the order of their lpns
 * @step: distance of the write numbers of two successive lpns of a LUN
 * @steps: how to find the next write of a LUN with the most lpns, and of the other LUNs
 * @write: number of the next write
 * @luns: by LUN in allocation order; NULL: the fill does not use this method
 * @events: by LUN in allocation order: number of the next write for which the policy is asked
 * @granule_shift: logarithm of the size of a granule: successive writes of a LUN, which usually
 *	have successive ppns
 * @granules: granules of a LUN
 * @entries: by LUN in allocation order, then by granule: L2P entry of the first write; 0: the L2P
 *	entries of the granule have been stored
 * @tile: state of the LUNs whose L2P entries are being stored
 */
struct aftl_fill_static {
	struct aftl_fill_order order;
	struct aftl_fill_order inverse;
	u32 step;
	struct aftl_fill_steps steps[2];
	u32 write;
	struct aftl_fill_lun *luns;
	struct aftl_events events;
	u32 granule_shift;
	u32 granules;
	u32 *entries;
	struct aftl_fill_row *tile;
};

/* Begin a fill in @order, if it can use this method, and if there is memory. */
void aftl_fill_static_init(struct aftl *ftl, struct aftl_fill_static *fill,
			   const struct aftl_fill_order *order);

/**
 * aftl_fill_static_skip_to_policy_call() - program up to the next write that needs the policy
 * @ftl: device
 * @fill: state
 * @runs: by LUN: programs that need no call of the policy
 *
 * Return: number of the programmed writes; 0 if the next write needs the policy. The LUN of that
 * write is up to date then, the others are not.
 */
u32 aftl_fill_static_skip_to_policy_call(struct aftl *ftl, struct aftl_fill_static *fill,
					 struct aftl_fill_run *runs);

/* Return true if the LUN of the next write, which needs the policy, has room for it. */
bool aftl_fill_static_has_room(struct aftl *ftl, const struct aftl_fill_static *fill);

/* Go on after the write that needed the policy, which has been programmed. */
void aftl_fill_static_continue(struct aftl *ftl, struct aftl_fill_static *fill,
			       struct aftl_fill_run *runs);

/**
 * aftl_fill_static_end() - bring all LUNs and the L2P table up to date, and free the memory
 * @ftl: device
 * @fill: state; the fill does not use this method afterwards
 * @runs: by LUN
 *
 * Return: 0, or the error code of the host's pause().
 */
int __must_check aftl_fill_static_end(struct aftl *ftl, struct aftl_fill_static *fill,
				      struct aftl_fill_run *runs);

void aftl_fill_static_free(struct aftl *ftl, struct aftl_fill_static *fill);

#endif
