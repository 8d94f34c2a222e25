// SPDX-License-Identifier: GPL-2.0-only
/* A policy of the FTL layer whose decisions are functions of the process that uses the library. */
#include <stdlib.h>

#include "job.h"

static struct simlib_policy *policy_owner(const struct aftl_policy *policy)
{
	return container_of(policy->type->ftl, struct simlib_policy, methods);
}

void copy_geometry_to_simlib_facts(struct simlib_facts *facts, const struct aftl_geometry *geo)
{
	*facts = (struct simlib_facts){
		.page_bytes = geo->unit_bytes,
		.logical_pages = geo->units,
		.blocks = geo->blocks,
		.block_pages = geo->block_ppns,
		.luns = geo->luns,
		.ppn_bits = AFTL_PPN_BITS,
	};
}

static bool call_begin_callback_of_policy(struct aftl_policy *policy)
{
	struct simlib_policy *owner = policy_owner(policy);
	struct simlib_facts facts;

	copy_geometry_to_simlib_facts(&facts, aftl_policy_geometry(policy));
	owner->columns = owner->functions.begin(&facts);
	return owner->columns;
}

/* Store the description of a candidate for collection in row @row of the columns. */
static void describe_victim_candidate(const struct aftl_victim_candidates *closed,
				      const struct aftl_block *block, s64 *columns, u32 row)
{
	const struct aftl_media *media = aftl_policy_media(closed->policy);
	u32 rows = media->geo->blocks_per_lun;
	u64 age_ns = aftl_victim_age_ns(closed, block);
	const s64 values[SIMLIB_CANDIDATE_COLUMNS] = {
		[SIMLIB_CANDIDATE_BLOCK] = closed->superblocks ?
			block - closed->superblocks : aftl_block_index(media, block),
		[SIMLIB_CANDIDATE_VALID] = block->valid,
		[SIMLIB_CANDIDATE_AGE] = (s64)age_ns,
		[SIMLIB_CANDIDATE_DATA_AGE] = (s64)(closed->superblocks ? age_ns :
			aftl_block_age_ns(closed->policy, block)),
		[SIMLIB_CANDIDATE_REST] = (s64)(closed->superblocks ? age_ns :
			aftl_block_ns_since_invalidation(closed->policy, block)),
		[SIMLIB_CANDIDATE_ERASES] = block->erases,
		[SIMLIB_CANDIDATE_READS] = block->reads,
		[SIMLIB_CANDIDATE_STREAM] = block->kind,
	};

	for (u32 i = 0; i < SIMLIB_CANDIDATE_COLUMNS; i++)
		columns[i * rows + row] = values[i];
}

static struct aftl_block *select_victim_by_callback(struct aftl_policy *policy,
						    const struct aftl_victim_candidates *closed)
{
	struct simlib_policy *owner = policy_owner(policy);
	struct aftl_block *block = NULL;
	u32 count = 0;
	u32 answer;

	while ((block = aftl_victim_candidates_next(closed, block)))
		describe_victim_candidate(closed, block, owner->columns, count++);
	answer = owner->functions.select_victim(count, aftl_lun_index(closed->lun),
						aftl_policy_now(policy));
	if (answer >= count)
		return NULL;
	for (count = 0; count <= answer; count++)
		block = aftl_victim_candidates_next(closed, block);
	return block;
}

static u32 select_stream_by_callback(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	const struct aftl_block *block = page->from ? page->from :
						      aftl_policy_lpn_block(policy, page->lpn);

	return policy_owner(policy)->functions.stream(from_lpn(page->lpn), aftl_policy_now(policy),
		page->from, page->class == AFTL_APPROX, page->hint.life, page->hint.stream,
		block ? block->kind : -1, block ? (s64)aftl_block_age_ns(policy, block) : -1);
}

int simlib_policy_create(const char *name, const char *const *streams, u32 count, u32 moved,
			 const struct simlib_policy_functions *functions,
			 struct simlib_policy **out)
{
	struct simlib_policy *owner;

	if (aftl_policy_find(name))
		return -EEXIST;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return -ENOMEM;
	scnprintf(owner->name, sizeof(owner->name), "%s", name);
	owner->functions = *functions;
	owner->methods = (struct aftl_ftl_policy){
		.block_ages = true,
		.select_victim = functions->select_victim ? select_victim_by_callback : NULL,
		.stream = functions->stream ? select_stream_by_callback : NULL,
	};
	owner->type = (struct aftl_policy_type){
		.name = owner->name,
		.about = "a policy of the calling program",
		.create = call_begin_callback_of_policy,
		.fill_run = functions->stream ? NULL : aftl_fill_to_block_end,
		AFTL_FTL_POLICY(&owner->methods, count, moved),
	};
	for (u32 i = 0; i < count; i++) {
		scnprintf(owner->streams[i], sizeof(owner->streams[i]), "%s", streams[i]);
		owner->type.kinds[i] = owner->streams[i];
		owner->type.streams[i] = owner->streams[i];
	}
	*out = owner;
	return 0;
}

void simlib_policy_destroy(struct simlib_policy *policy)
{
	free(policy);
}
