// SPDX-License-Identifier: GPL-2.0-only
/*
 * TVR: data that will soon be rewritten needs no margin for years of retention.
 * Without margins the states move together, which takes fewer programming steps and
 * wears the cells less.
 *
 * Blocks are programmed with margins or without, never mixed. In mode block a write
 * goes without them if its unit's last version was overwritten in time, in mode tagged if
 * the host says so, with the tag that other policies take for data that may lose bits;
 * what survives a move gets margins. In mode device everything goes without. Data that
 * come near the end of the retention budget are written once more, with margins.
 */
#include "core/flash/cell.h"
#include "core/policy/policies.h"
#include "core/policy/by-class.h"
#include "core/policy/parts.h"

/* Kinds of blocks; as heat, that of the data. */
enum kind { WHOLE, SHORT, KINDS };

/* Two pages of a word line: the one that the paper programs first, and the other. */
enum { FIRST_PAGE, SECOND_PAGE };

static_assert((int)KINDS == (int)AFTL_CLASSES, "open blocks are kept by class");

/* The core looks for old data once a day: look a day ahead. */
u32 aftl_tvr_hours(const struct aftl_policy *policy)
{
	return (u32)div64_u64(aftl_policy_config(policy)->tvr_retention, AFTL_HOUR_NS) - 24;
}

static bool whole_device(const struct aftl_policy *policy)
{
	return aftl_policy_config(policy)->tvr_mode == AFTL_TVR_DEVICE;
}

bool aftl_tvr_was_short_lived(const struct aftl_policy *policy, aftl_unit_t unit)
{
	const struct aftl_block *old = aftl_policy_old_block(policy, unit);

	return old && aftl_policy_hours(policy) < (u64)old->first_hour + aftl_tvr_hours(policy);
}

static bool is_short_lived(const struct aftl_policy *policy, const struct aftl_write *write)
{
	if (aftl_policy_config(policy)->tvr_mode == AFTL_TVR_TAGGED)
		return write->class == AFTL_APPROX;
	return whole_device(policy) || aftl_tvr_was_short_lived(policy, write->unit);
}

/* What is there at the start is of unknown age. */
static u32 heat(struct aftl_policy *policy, const struct aftl_write *write)
{
	return !aftl_policy_filling(policy) && is_short_lived(policy, write) ? SHORT : WHOLE;
}

static u32 steps(const struct aftl_geometry *geo, u32 page, u32 sixteenths)
{
	u32 kind = page % geo->word_line_pages < geo->planes_wide ? FIRST_PAGE : SECOND_PAGE;

	if (geo->word_line_pages == geo->program_pages)
		return aftl_tvr_steps[FIRST_PAGE][sixteenths] +
		       aftl_tvr_steps[SECOND_PAGE][sixteenths];
	return aftl_tvr_steps[kind][sixteenths];
}

/* The configured time is that of all steps. */
u64 aftl_tvr_program_ns(const struct aftl_policy *policy, const struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 kept = aftl_tvr_sixteenths(aftl_policy_config(policy)->tvr_margin);
	u64 ns = aftl_policy_program_ns(policy, placement);

	return div64_u64(ns * steps(geo, placement->page, kept),
			 steps(geo, placement->page, AFTL_TVR_MARGIN_POINTS - 1));
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 kind = need->heat == SHORT ? SHORT : WHOLE;

	if (aftl_by_class_place(policy, lun, need, kind, placement))
		return -ENOSPC;
	if (kind == WHOLE)
		return 0;
	placement->program_ns = aftl_tvr_program_ns(policy, placement);
	placement->mode = AFTL_MODE_REDUCED;
	return 0;
}

static bool copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class, u32 *heat)
{
	bool keeps = whole_device(policy) && move->mode == AFTL_MODE_REDUCED &&
		     move->cause != AFTL_CAUSE_REFRESH;

	(void)class;
	*heat = keeps ? SHORT : WHOLE;
	return move->pass == *heat;
}

static u32 retention_hours(struct aftl_policy *policy, u32 class, u32 mode)
{
	(void)class;
	return mode == AFTL_MODE_REDUCED ? aftl_tvr_hours(policy) : 0;
}

const struct aftl_policy_type aftl_policy_tvr = {
	.name = "tvr",
	.about = "short-lived data without retention margins, in fewer programming steps",
	.kinds = { "whole", "short_lived" },
	.open_blocks = KINDS,
	.reserve = KINDS,
	.copy_passes = KINDS,
	.ignores_tags = true,
	AFTL_BY_CLASS_METHODS,
	.heat = heat,
	.place = place,
	.copy = copy,
	.retention_hours = retention_hours,
};
