// SPDX-License-Identifier: GPL-2.0-only
/*
 * The FTL layer on top of the NAND layer: an open block for each LUN and stream, one relocation
 * pass for each stream of a victim, and the ages of blocks.
 */
#include "core/base/fill-order.h"
#include "core/nand/valid-bits.h"
#include "core/policy/ftl-policy-core.h"
#include "core/policy/ftl-policy.h"

/* The policy's last array has a struct ages for each block; all others are the policy's own. */
#define AGES (AFTL_ARRAYS_MAX - 1)

/**
 * struct ages - times of a block
 * @written_ns: mean time at which the host wrote the data of the block
 * @invalidated_ns: time of the last invalidation, or of the opening
 */
struct ages {
	s64 written_ns;
	s64 invalidated_ns;
};

static struct ages *block_ages_of(const struct aftl_policy *policy, const struct aftl_block *block)
{
	return aftl_block_state(policy, AGES, struct ages, block);
}

/* Return the time since @ns, but not less than 0: times from a snapshot may be in the future. */
static u64 compute_elapsed_ns_since_time(const struct aftl_policy *policy, s64 ns)
{
	s64 now_ns = aftl_policy_now(policy);

	return (u64)(now_ns - min(ns, now_ns));
}

u64 aftl_block_age_ns(const struct aftl_policy *policy, const struct aftl_block *block)
{
	return compute_elapsed_ns_since_time(policy, block_ages_of(policy, block)->written_ns);
}

u64 aftl_block_ns_since_invalidation(const struct aftl_policy *policy,
				     const struct aftl_block *block)
{
	return compute_elapsed_ns_since_time(policy, block_ages_of(policy, block)->invalidated_ns);
}

/*
 * Include the pages of @need, which are about to be programmed, in the mean write time of @block.
 */
static void update_mean_write_time(struct aftl_policy *policy, const struct aftl_block *block,
				   const struct aftl_program_request *need)
{
	u32 before = block->programmed * aftl_policy_geometry(policy)->page_units;
	struct ages *ages = block_ages_of(policy, block);
	s64 written_ns = need->from ? block_ages_of(policy, need->from)->written_ns :
				      aftl_policy_now(policy);
	u32 all = before + need->units;

	if (!before)
		*ages = (struct ages){ written_ns, aftl_policy_now(policy) };
	else if (written_ns > ages->written_ns)
		ages->written_ns += (s64)(div64_u64((u64)(written_ns - ages->written_ns), all) *
					  need->units);
	else
		ages->written_ns -= (s64)(div64_u64((u64)(ages->written_ns - written_ns), all) *
					  need->units);
}

int aftl_ftl_place_program_in_stream_block(struct aftl_policy *policy, struct aftl_lun *lun,
					   const struct aftl_program_request *need,
					   struct aftl_placement *placement)
{
	const struct aftl_ftl_policy *ftl = policy->type->ftl;
	u32 stream = min(need->stream, policy->type->open_blocks - 1);
	int ret = aftl_open_blocks_place_program(policy, lun, need, stream, placement);

	if (ret || !ftl)
		return ret;
	if (ftl->block_ages)
		update_mean_write_time(policy, placement->block, need);
	if (ftl->block_opened && !placement->block->programmed)
		ftl->block_opened(policy, placement->block);
	return 0;
}

static u64 *get_host_write_clock(const struct aftl_policy *policy)
{
	return aftl_device_state(policy, policy->type->ftl->clock, u64);
}

void aftl_ftl_add_to_host_write_clock(struct aftl_policy *policy, u32 writes)
{
	*get_host_write_clock(policy) += writes;
}

void aftl_ftl_set_first_write_numbers(struct aftl_policy *policy, aftl_lpn_t first, u32 count,
				      struct aftl_fill_order *order)
{
	u32 *number = aftl_lpn_state(policy, 0, u32, first);
	u32 counted = (u32)*get_host_write_clock(policy);
	u32 at = order->at;

	for (; count; count--, number++) {
		if (at < counted)
			*number = at + 1;
		at = aftl_fill_order_next_lpn(order, at, order->step);
	}
	order->at = at;
}

static u32 ftl_choose_host_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	struct aftl_page_write page = {
		.lpn = write->lpn,
		.cause = AFTL_CAUSE_HOST,
		.class = write->class,
		.hint = write->hint,
	};

	return policy->type->ftl->stream(policy, &page);
}

static aftl_lpn_t first_valid_lpn(const struct aftl_media *media, const struct aftl_block *block,
				  u32 page)
{
	u32 first = from_ppn(aftl_page_ppn(media, block, page));
	u32 i = 0;

	while (i != media->geo->page_units - 1 && !aftl_ppn_is_valid(media, to_ppn(first + i)))
		i++;
	return aftl_ppn_lpn(media, to_ppn(first + i));
}

/*
 * A page is relocated in the pass whose number is its stream modulo the number of passes. If the
 * policy meanwhile returns a stream whose pass is over, the page goes to the stream of the last
 * pass.
 */
static bool ftl_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				  u32 *class, u32 *stream)
{
	struct aftl_page_write page = {
		.lpn = first_valid_lpn(aftl_policy_media(policy), move->from, move->page),
		.cause = move->cause,
		.from = move->from,
	};

	u32 passes = policy->type->copy_passes;
	u32 pass;

	(void)class;
	*stream = policy->type->ftl->stream(policy, &page);
	pass = *stream % passes;
	if (pass < move->pass && move->pass == passes - 1) {
		*stream += move->pass - pass;
		pass = move->pass;
	}
	return pass == move->pass;
}

static void ftl_record_invalidation(struct aftl_policy *policy, struct aftl_block *block, u32 page)
{
	const struct aftl_ftl_policy *ftl = policy->type->ftl;

	(void)page;
	if (ftl->block_ages)
		block_ages_of(policy, block)->invalidated_ns = aftl_policy_now(policy);
	if (ftl->page_invalidated)
		ftl->page_invalidated(policy, block);
}

/* Tell the policy that a block of its own will be erased, not one of a handle or the SLC cache. */
static bool ftl_report_erase_to_policy(struct aftl_policy *policy, const struct aftl_block *block)
{
	if (!block->handle && !block->bits)
		policy->type->ftl->block_collected(policy, block);
	return false;
}

const struct aftl_policy_type *aftl_ftl_policy_type(const struct aftl_policy_type *type,
						    struct aftl_policy_type *complete)
{
	const struct aftl_ftl_policy *ftl = type->ftl;

	if (!ftl)
		return type;
	*complete = *type;
	complete->stream_per_page = ftl->stream;
	complete->copy_passes = type->reserve;
	complete->stream = ftl->stream ? ftl_choose_host_stream : NULL;
	complete->relocate = ftl->stream ? ftl_choose_relocation : NULL;
	complete->select_victim = ftl->select_victim;
	complete->lun = ftl->lun;
	complete->idle_task = ftl->idle;
	complete->invalidated = ftl->block_ages || ftl->page_invalidated ? ftl_record_invalidation :
									   NULL;
	complete->shallow_erase = ftl->block_collected ? ftl_report_erase_to_policy : NULL;
	complete->sanitize_arrays = ftl->restored;
	if (ftl->block_ages)
		complete->arrays[AGES] =
			(struct aftl_policy_array)AFTL_STATE(AFTL_PER_BLOCK, struct ages, u64);
	return complete;
}
