// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams: data of one placement id has open blocks of its own and stays separate when it is
 * relocated. A write with a lifetime hint and no placement id uses the lifetime as id, as the
 * kernel does for block devices.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

#define IDS 7

#define NAMES "unhinted", "id_1", "id_2", "id_3", "id_4", "id_5", "id_6", "id_7"

/* Ids above the number of streams share them. */
static u32 streams_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u32 id = write->hint.stream ? write->hint.stream : write->hint.life;

	(void)policy;
	return id ? (id - 1) % IDS + 1 : 0;
}

static int streams_place(struct aftl_policy *policy, struct aftl_lun *lun,
			 const struct aftl_program_request *need, struct aftl_placement *placement)
{
	return aftl_open_blocks_place(policy, lun, need, need->stream, placement);
}

/* A block contains data of one stream. */
static bool streams_relocate(struct aftl_policy *policy, const struct aftl_relocation *move,
			     u32 *class, u32 *stream)
{
	(void)policy;
	(void)class;
	*stream = move->from->kind;
	return true;
}

const struct aftl_policy_type aftl_policy_streams = {
	.name = "streams",
	.about = "page mapping, each placement id of the host in blocks of its own",
	.kinds = { NAMES },
	.streams = { NAMES },
	.host_streams = IDS,
	.open_blocks = IDS + 1,
	.reserve = 1,
	.copy_passes = 1,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = streams_stream,
	.place = streams_place,
	.relocate = streams_relocate,
};
