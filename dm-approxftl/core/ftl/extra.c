// SPDX-License-Identifier: GPL-2.0-only
/*
 * What few blocks have: hours of their pages, and errors that came with copies. A host that gives
 * memory while the device runs is asked for it when a block has the first of either, and has it
 * back when that is erased. For others all of it is there from the beginning.
 */
#include "core/ftl/device.h"

/* Of what is taken at once: no host gives much more in one piece. */
#define PIECE_BYTES (64U << 20)

static size_t extra_bytes(const struct aftl *ftl)
{
	return ftl->media.imprint.extra * sizeof(u16);
}

static u32 piece_blocks(const struct aftl *ftl)
{
	return max_t(u32, 1, PIECE_BYTES / max_t(u32, 1, extra_bytes(ftl)));
}

static u32 piece_count(const struct aftl *ftl)
{
	return DIV_ROUND_UP(ftl->geo.blocks, piece_blocks(ftl));
}

static int take_piece(struct aftl *ftl, u32 first)
{
	u32 blocks = min(piece_blocks(ftl), ftl->geo.blocks - first);
	u16 *piece = aftl_memory_take(ftl, blocks, extra_bytes(ftl));
	u32 i;

	if (!piece)
		return -ENOMEM;
	for (i = 0; i < blocks; i++)
		ftl->media.blocks[first + i].extra =
			piece + (size_t)i * ftl->media.imprint.extra;
	return 0;
}

int aftl_extras_take(struct aftl *ftl)
{
	u32 i;

	if (ftl->ops->alloc_later || !ftl->media.imprint.extra)
		return 0;
	for (i = 0; i < piece_count(ftl); i++)
		if (take_piece(ftl, i * piece_blocks(ftl)))
			return -ENOMEM;
	return 0;
}

void aftl_extras_give(struct aftl *ftl)
{
	u32 step = ftl->ops->alloc_later ? 1 : piece_blocks(ftl);
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i += step)
		aftl_memory_give(ftl, ftl->media.blocks[i].extra);
}

void aftl_extra_need(struct aftl *ftl, struct aftl_block *block)
{
	if (unlikely(!block->extra))
		block->extra = aftl_memory_take_later(ftl, 1, extra_bytes(ftl));
	block->extra_used = !!block->extra;
}

static void drop(struct aftl *ftl, struct aftl_block *block)
{
	block->extra_used = 0;
	if (!ftl->ops->alloc_later) {
		memset(block->extra, 0, extra_bytes(ftl));
		return;
	}
	aftl_memory_give(ftl, block->extra);
	block->extra = NULL;
}

void aftl_wipe(struct aftl *ftl, struct aftl_block *block)
{
	aftl_block_wipe(&ftl->media, block);
	if (unlikely(block->extra_used))
		drop(ftl, block);
}
