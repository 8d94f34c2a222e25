// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of pages by way of the rest of their stripes: what others read for it, and what follows
 * when the last of them has arrived in the controller.
 */
#include "core/front/front.h"

/* A read of the host has it in one piece now, a job can go on. */
static void recovered(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_repair done = lun->repair;

	lun->repair.kind = AFTL_REPAIR_NONE;
	if (done.kind == AFTL_REPAIR_READ)
		aftl_read_recovered(ftl, lun, &done);
	else
		aftl_job_gather(ftl, lun);
	if (aftl_lun_dead(lun))
		aftl_be_awake(ftl, lun);
	else
		aftl_wake(ftl, lun);
}

/* @member of the group of @lun, by number. */
static struct aftl_lun *beside(struct aftl *ftl, const struct aftl_lun *lun, u32 member)
{
	return aftl_member(ftl, aftl_group_of(ftl, lun), member);
}

static u32 first_asking(struct aftl *ftl, const struct aftl_lun *lun, u32 kind)
{
	u64 asked = lun->asked;

	for (; asked; asked &= asked - 1) {
		u32 member = fls64(asked & -asked) - 1;

		if (beside(ftl, lun, member)->repair.kind == kind)
			return member;
	}
	return AFTL_NIL;
}

/*
 * aftl_stripe_start() - @lun reads the page that another LUN wants
 * @kind: enum aftl_repair_kind
 *
 * Return: false if none does for that.
 */
bool aftl_stripe_start(struct aftl *ftl, struct aftl_lun *lun, u32 kind)
{
	u32 member = first_asking(ftl, lun, kind);
	const struct aftl_repair *repair;

	if (member == AFTL_NIL)
		return false;
	repair = &beside(ftl, lun, member)->repair;
	lun->reading_for = member;
	lun->asked &= ~(1ULL << member);
	aftl_array_sense_stripe(ftl, lun,
				aftl_super_block(ftl, aftl_group_of(ftl, lun), repair->block,
						 aftl_member_of(ftl, lun)), repair->page);
	return true;
}

/*
 * aftl_stripe_done() - that page is in the controller
 */
void aftl_stripe_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_lun *other;

	if (lun->reading_for == AFTL_NIL)
		return;
	other = beside(ftl, lun, lun->reading_for);
	lun->reading_for = AFTL_NIL;
	if (other->repair.kind == AFTL_REPAIR_READ)
		other->repair.service_ns = max(other->repair.service_ns, lun->work.service_ns);
	if (aftl_repair_got(ftl, other, aftl_member_of(ftl, lun)))
		recovered(ftl, other);
}

/*
 * aftl_stripe_none_left() - a repair has begun for which nobody has to read
 */
void aftl_stripe_none_left(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->repair.kind && !lun->repair.left)
		recovered(ftl, lun);
}

/*
 * aftl_stripe_lun_died() - what it was to read for others does not come; nor what it waited for
 */
void aftl_stripe_lun_died(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 own = aftl_member_of(ftl, lun);
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		struct aftl_lun *other = beside(ftl, lun, i);

		if (!(other->repair.left & 1ULL << own))
			continue;
		if (other->repair.kind == AFTL_REPAIR_READ)
			aftl_read_spoilt(ftl, other);
		if (aftl_repair_got(ftl, other, own))
			recovered(ftl, other);
	}
	lun->asked = 0;
	lun->reading_for = AFTL_NIL;
}
