// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAIN reconstruction of pages that ECC cannot correct or that a dead LUN held: each other LUN of
 * the stripe reads its page, in its own time, and the LUN that needs the result continues after the
 * last read.
 */
#include "core/ftl/controller.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/lun.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock.h"
#include "core/sched/die-read.h"
#include "core/sched/stripe-read.h"

/* End the reconstruction of @lun: the host read completes, or the background task goes on. */
static void finish_reconstruction(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reconstruct done = lun->reconstruct;

	lun->reconstruct.kind = AFTL_RECONSTRUCT_NONE;
	if (done.kind == AFTL_RECONSTRUCT_READ)
		aftl_read_complete_reconstructed_page(ftl, lun, &done);
	else
		aftl_reloc_gather_pages(ftl, lun);
	if (aftl_lun_is_dead(lun))
		aftl_mark_lun_runnable(ftl, lun);
	else
		aftl_wake_idle_lun(ftl, lun);
}

/* Return the LUN of @member in the die group of @lun. */
static struct aftl_lun *reconstruct_member(struct aftl *ftl, const struct aftl_lun *lun, u32 member)
{
	return aftl_lun_of_die_group(ftl, aftl_die_group_of_lun(ftl, lun), member);
}

static u32 find_reconstruct_requester(struct aftl *ftl, const struct aftl_lun *lun, u32 kind)
{
	u64 asked = lun->stripe_requests;

	for (; asked; asked &= asked - 1) {
		u32 member = fls64(asked & -asked) - 1;

		if (reconstruct_member(ftl, lun, member)->reconstruct.kind == kind)
			return member;
	}
	return AFTL_NIL;
}

/**
 * aftl_reconstruct_start_read() - read a page of @lun for another member of its stripe
 * @ftl: device
 * @lun: LUN with a free array
 * @kind: enum aftl_reconstruct_kind: serve host reads or background tasks
 *
 * Return: false if no other LUN needs a page of @lun for @kind.
 */
bool aftl_reconstruct_start_read(struct aftl *ftl, struct aftl_lun *lun, u32 kind)
{
	u32 member = find_reconstruct_requester(ftl, lun, kind);
	const struct aftl_reconstruct *repair;

	if (member == AFTL_NIL)
		return false;
	repair = &reconstruct_member(ftl, lun, member)->reconstruct;
	lun->reconstructing_for = member;
	lun->stripe_requests &= ~(1ULL << member);
	aftl_array_sense_stripe_page(ftl, lun,
				     aftl_superblock_block(ftl, aftl_die_group_of_lun(ftl, lun),
							   repair->block,
							   aftl_lun_index_in_die_group(ftl, lun)),
				     repair->page);
	return true;
}

/**
 * aftl_reconstruct_read_done() - record that a stripe page has been transferred to the controller
 * @ftl: device
 * @lun: LUN that has read the page
 */
void aftl_reconstruct_read_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_lun *other;

	if (lun->reconstructing_for == AFTL_NIL)
		return;
	other = reconstruct_member(ftl, lun, lun->reconstructing_for);
	lun->reconstructing_for = AFTL_NIL;
	if (other->reconstruct.kind == AFTL_RECONSTRUCT_READ)
		other->reconstruct.service_ns =
			max(other->reconstruct.service_ns, lun->work.service_ns);
	if (aftl_reconstruct_page_done(ftl, other, aftl_lun_index_in_die_group(ftl, lun)))
		finish_reconstruction(ftl, other);
}

/**
 * aftl_reconstruct_finish_if_complete() - finish a reconstruction that needs no more reads
 * @ftl: device
 * @lun: LUN that has just begun a reconstruction; maybe no member has to be read
 */
void aftl_reconstruct_finish_if_complete(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->reconstruct.kind && !lun->reconstruct.left)
		finish_reconstruction(ftl, lun);
}

/**
 * aftl_reconstruct_handle_dead_lun() - cancel the reads of a dead LUN for other members
 * @ftl: device
 * @lun: dead LUN
 *
 * Host reads that needed its page fail: two members of the stripe are missing now.
 */
void aftl_reconstruct_handle_dead_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 own = aftl_lun_index_in_die_group(ftl, lun);
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *other = reconstruct_member(ftl, lun, i);

		if (!(other->reconstruct.left & 1ULL << own))
			continue;
		if (other->reconstruct.kind == AFTL_RECONSTRUCT_READ)
			aftl_read_fail_reconstruction(ftl, other);
		if (aftl_reconstruct_page_done(ftl, other, own))
			finish_reconstruction(ftl, other);
	}
	lun->stripe_requests = 0;
	lun->reconstructing_for = AFTL_NIL;
}
