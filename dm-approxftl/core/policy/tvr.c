// SPDX-License-Identifier: GPL-2.0-only
/*
 * TVR (ICS 2014): short-lived data needs no margin for years of retention. Without margins the
 * voltage states are closer to each other, which takes fewer ISPP steps and wears the cells less.
 *
 * A block is programmed with margins or without. With tvr_mode "block" a write omits the margins if
 * the previous version of its data was overwritten within the budget; with "tagged" if the host
 * tags it (other policies treat this tag as approximate); with "device" always. Relocated data gets
 * margins, except in mode "device". Data that reaches the end of the retention budget is rewritten
 * with margins.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

enum tvr_mode { TVR_BLOCK, TVR_DEVICE, TVR_TAGGED };

static const char *const tvr_mode_words[] = { "block", "device", "tagged", NULL };

#define PARAMS(PARAM)								\
	PARAM(tvr_mode, CHOICE, 0, 2, TVR_BLOCK,					\
	      "writes without margins: of data overwritten in time, all, or tagged ones (tvr)") \
	PARAM(tvr_retention, TIME, 2 * AFTL_DAY_NS, 3650 * AFTL_DAY_NS, 7 * AFTL_DAY_NS, \
	      "age at which data without margins is rewritten (tvr)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

/* Block kinds and streams: WHOLE for data with retention margins, SHORT for short-lived data. */
enum kind { WHOLE, SHORT, KINDS };

static const struct own *tvr_params(const struct aftl_policy *policy)
{
	return policy->params[0];
}

/*
 * Age in hours at which short-lived data must be refreshed. The core looks for old data once a day,
 * so this is a day less than tvr_retention.
 */
static u32 tvr_get_short_retention_hours(const struct aftl_policy *policy)
{
	return (u32)div64_u64(tvr_params(policy)->tvr_retention, AFTL_HOUR_NS) - 24;
}

static bool tvr_reduces_all_retention_margins(const struct aftl_policy *policy)
{
	return tvr_params(policy)->tvr_mode == TVR_DEVICE;
}

static bool lpn_was_short_lived(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	const struct aftl_block *old = aftl_policy_lpn_block(policy, lpn);

	return old && aftl_policy_age_hours(policy) <
			      (u64)old->first_hour + tvr_get_short_retention_hours(policy);
}

static bool write_is_short_lived(const struct aftl_policy *policy,
				 const struct aftl_host_write *write)
{
	if (tvr_params(policy)->tvr_mode == TVR_TAGGED)
		return write->class == AFTL_APPROX;
	return tvr_reduces_all_retention_margins(policy) || lpn_was_short_lived(policy, write->lpn);
}

/* No preconditioned data are short-lived: the age of the data that they replace is unknown. */
static u32 tvr_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	return !aftl_policy_is_preconditioning(policy) && write_is_short_lived(policy, write) ?
		       SHORT :
		       WHOLE;
}

static int tvr_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			     const struct aftl_program_request *need,
			     struct aftl_placement *placement)
{
	u32 kind = need->stream == SHORT ? SHORT : WHOLE;

	if (aftl_open_blocks_place_program(policy, lun, need, kind, placement))
		return -ENOSPC;
	if (kind == WHOLE)
		return 0;
	placement->mode = AFTL_MODE_REDUCED;
	return 0;
}

static bool tvr_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				  u32 *class, u32 *stream)
{
	bool keeps = tvr_reduces_all_retention_margins(policy) && move->mode == AFTL_MODE_REDUCED &&
		     move->cause != AFTL_CAUSE_REFRESH;

	(void)class;
	*stream = keeps ? SHORT : WHOLE;
	return move->pass == *stream;
}

static u32 tvr_get_retention_hours(struct aftl_policy *policy, u32 class, u32 mode)
{
	(void)class;
	return mode == AFTL_MODE_REDUCED ? tvr_get_short_retention_hours(policy) : 0;
}

const struct aftl_policy_type aftl_policy_tvr = {
	.name = "tvr",
	.about = "short-lived data without retention margins, in fewer ISPP steps",
	.kinds = { "whole", "short_lived" },
	.streams = { "whole", "short_lived" },
	.open_blocks = KINDS,
	.reserve = KINDS,
	.copy_passes = KINDS,
	.ignores_tags = true,
	.params = { &group },
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = tvr_choose_stream,
	.place = tvr_place_program,
	.fill_run = aftl_fill_to_block_end,
	.relocate = tvr_choose_relocation,
	.retention_hours = tvr_get_retention_hours,
};
