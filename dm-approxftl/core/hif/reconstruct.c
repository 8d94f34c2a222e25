// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of pages by way of the rest of their stripes: what others read for it, and what follows
 * when the last of them has arrived in the controller.
 */
#include "core/hif/hif.h"

/* A read of the host has it in one piece now, a job can go on. */
static void reconstruct_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reconstruct done = lun->reconstruct;

	lun->reconstruct.kind = AFTL_RECONSTRUCT_NONE;
	if (done.kind == AFTL_RECONSTRUCT_READ)
		aftl_read_reconstructed(ftl, lun, &done);
	else
		aftl_reloc_gather(ftl, lun);
	if (aftl_lun_dead(lun))
		aftl_mark_runnable(ftl, lun);
	else
		aftl_wake_lun(ftl, lun);
}

/* @member of the group of @lun, by number. */
static struct aftl_lun *reconstruct_member(struct aftl *ftl, const struct aftl_lun *lun, u32 member)
{
	return aftl_die_group_lun(ftl, aftl_die_group_of(ftl, lun), member);
}

static u32 reconstruct_first_asking(struct aftl *ftl, const struct aftl_lun *lun, u32 kind)
{
	u64 asked = lun->stripe_requests;

	for (; asked; asked &= asked - 1) {
		u32 member = fls64(asked & -asked) - 1;

		if (reconstruct_member(ftl, lun, member)->reconstruct.kind == kind)
			return member;
	}
	return AFTL_NIL;
}

/*
 * aftl_reconstruct_start_read() - @lun reads the page that another LUN wants
 * @kind: enum aftl_reconstruct_kind
 *
 * Return: false if none does for that.
 */
bool aftl_reconstruct_start_read(struct aftl *ftl, struct aftl_lun *lun, u32 kind)
{
	u32 member = reconstruct_first_asking(ftl, lun, kind);
	const struct aftl_reconstruct *repair;

	if (member == AFTL_NIL)
		return false;
	repair = &reconstruct_member(ftl, lun, member)->reconstruct;
	lun->reconstructing_for = member;
	lun->stripe_requests &= ~(1ULL << member);
	aftl_array_sense_stripe_page(ftl, lun,
				     aftl_superblock_block(ftl, aftl_die_group_of(ftl, lun),
							   repair->block,
							   aftl_die_group_member(ftl, lun)),
				     repair->page);
	return true;
}

/*
 * aftl_reconstruct_read_done() - that page is in the controller
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
	if (aftl_reconstruct_page_done(ftl, other, aftl_die_group_member(ftl, lun)))
		reconstruct_done(ftl, other);
}

/*
 * aftl_reconstruct_check_done() - a repair has begun for which nobody has to read
 */
void aftl_reconstruct_check_done(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->reconstruct.kind && !lun->reconstruct.left)
		reconstruct_done(ftl, lun);
}

/*
 * aftl_reconstruct_lun_died() - what it was to read for others does not come; nor what it waited for
 */
void aftl_reconstruct_lun_died(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 own = aftl_die_group_member(ftl, lun);
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *other = reconstruct_member(ftl, lun, i);

		if (!(other->reconstruct.left & 1ULL << own))
			continue;
		if (other->reconstruct.kind == AFTL_RECONSTRUCT_READ)
			aftl_read_reconstruct_failed(ftl, other);
		if (aftl_reconstruct_page_done(ftl, other, own))
			reconstruct_done(ftl, other);
	}
	lun->stripe_requests = 0;
	lun->reconstructing_for = AFTL_NIL;
}
