// SPDX-License-Identifier: GPL-2.0-only
/*
 * OOB metadata that few blocks have: program times of their pages and inherited errors. If the host
 * can allocate at run time, a block gets them at the first non-zero value, and the erase frees
 * them. Otherwise they are allocated for all blocks at creation.
 */
#include "core/ftl/controller.h"
#include "core/ftl/memory.h"
#include "core/ftl/oob-extra.h"

/* Size of one allocation for extra OOB metadata: hosts cannot allocate much more at once. */
#define EXTRA_CHUNK_BYTES (64U << 20)

static size_t oob_extra_bytes(const struct aftl *ftl)
{
	return ftl->media.oob_layout.extra * sizeof(u16);
}

static u32 blocks_per_oob_extra_chunk(const struct aftl *ftl)
{
	return max_t(u32, 1, EXTRA_CHUNK_BYTES / max_t(u32, 1, oob_extra_bytes(ftl)));
}

static u32 count_oob_extra_chunks(const struct aftl *ftl)
{
	return DIV_ROUND_UP(ftl->geo.blocks, blocks_per_oob_extra_chunk(ftl));
}

static int alloc_oob_extra_chunk(struct aftl *ftl, u32 first)
{
	u32 blocks = min(blocks_per_oob_extra_chunk(ftl), ftl->geo.blocks - first);
	u16 *chunk = aftl_memory_alloc(ftl, blocks, oob_extra_bytes(ftl));
	u32 i;

	if (!chunk)
		return -ENOMEM;
	for (i = 0; i < blocks; i++)
		ftl->media.blocks[first + i].extra =
			chunk + (size_t)i * ftl->media.oob_layout.extra;
	return 0;
}

int aftl_oob_extra_alloc(struct aftl *ftl)
{
	u32 i;

	if (ftl->ops->alloc_later || !ftl->media.oob_layout.extra)
		return 0;
	for (i = 0; i < count_oob_extra_chunks(ftl); i++)
		if (alloc_oob_extra_chunk(ftl, i * blocks_per_oob_extra_chunk(ftl)))
			return -ENOMEM;
	return 0;
}

void aftl_oob_extra_free(struct aftl *ftl)
{
	u32 step = ftl->ops->alloc_later ? 1 : blocks_per_oob_extra_chunk(ftl);
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i += step)
		aftl_memory_free(ftl, ftl->media.blocks[i].extra);
}

void aftl_oob_extra_alloc_for_block(struct aftl *ftl, struct aftl_block *block)
{
	if (!block->extra)
		block->extra = aftl_memory_alloc_on_demand(ftl, 1, oob_extra_bytes(ftl));
	block->extra_used = !!block->extra;
}

static void clear_extra_oob_of_block(struct aftl *ftl, struct aftl_block *block)
{
	block->extra_used = 0;
	if (!ftl->ops->alloc_later) {
		memset(block->extra, 0, oob_extra_bytes(ftl));
		return;
	}
	aftl_memory_free(ftl, block->extra);
	block->extra = NULL;
}

void aftl_oob_reset_erased_block(struct aftl *ftl, struct aftl_block *block)
{
	aftl_block_clear_oob(&ftl->media, block);
	if (block->extra_used)
		clear_extra_oob_of_block(ftl, block);
}
