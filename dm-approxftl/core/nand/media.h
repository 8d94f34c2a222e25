/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash array: blocks, pages, out-of-band (OOB) metadata, valid bits. This layer does not know
 * time, queues or policies.
 */
#ifndef AFTL_MEDIA_H
#define AFTL_MEDIA_H

#include "core/base/chunks.h"
#include "core/base/geometry.h"

/**
 * struct aftl_block - one erase block
 * @prev: previous block in the free list or in the victim list of its valid count
 * @next: next block in the same list
 * @valid: ppns that hold the current version of their lpn
 * @valid_approx: those of them that are approximate
 * @programmed: pages programmed since the erase
 * @frontier: position of the program order in the block, see aftl_order_allows_program()
 * @erases: completed erases
 * @wear: sum of the wear of its erases, in 1/10000 of a full erase
 * @reads: sensings of its pages since the erase
 * @first_hour: device age in hours at the first program since the erase
 * @opened_ns: time of the first program since the erase, or of aftl_policy_reset_block_age()
 * @extra: NULL if all of it is 0, which is so for most blocks. For each page the hours from the
 *	first program of the block to its own, if the OOB record has no room for them; then for each
 *	ppn the inherited errors, see struct aftl_origin
 * @state: enum aftl_block_state
 * @order: enum aftl_order, set when the block is opened
 * @kind: the policy's use of the block; index of the names in its type
 * @bits: bits per cell, if the block uses fewer than its cells can hold; 0: all of them
 * @flip: colour of the checkerboard that is programmed first; survives erases. A block keeps the
 *	value that it was begun with, see aftl_first_checkerboard_colour()
 * @begun_flip: @flip at the first program
 * @approx_only: all pages programmed so far are approximate
 * @between: some pages allow only approximate neighbours from now on
 * @failing: the block is retired as soon as it has no valid data
 * @listed: the block is in the free list or in a victim list
 * @parity: used by the core for the parity of a superblock
 * @extra_used: @extra may contain values other than 0
 * @handle: placement handle that owns the block; 0: the default one
 * @note: state of the policy; an erase clears it
 *
 * Policies may read all fields and write only @note and @flip. The OOB area of the first page of a
 * block stores @kind, @bits, @order, @flip and @note.
 */
struct aftl_block {
	u32 prev;
	u32 next;
	u32 valid;
	u32 valid_approx;
	u32 programmed;
	u32 frontier;
	u32 erases;
	u32 wear;
	u32 reads;
	u32 first_hour;
	s64 opened_ns;
	u16 *extra;
	u8 state;
	u8 order;
	u8 kind;
	u8 bits;
	u8 flip : 1;
	u8 begun_flip : 1;
	u8 approx_only : 1;
	u8 between : 1;
	u8 failing : 1;
	u8 listed : 1;
	u8 parity : 1;
	u8 extra_used : 1;
	u8 handle;
	u16 note;
};

/**
 * struct aftl_origin - write generation and inherited errors of the data in a ppn
 * @generation: identifies the host write; relocation keeps it
 * @inherited: bit errors that the data had when it was relocated here
 *
 * The lpn, the seed and the write generation determine the sequence of bit positions that flip. The
 * first @inherited positions are wrong even before the errors of this page.
 */
struct aftl_origin {
	u16 generation;
	u16 inherited;
};

/* Inherited errors of data that was unreadable when it was relocated: its reads fail. */
#define AFTL_INHERITED_LOST 0xffff

/**
 * struct aftl_oob_layout - layout of the OOB record of a page, in 16-bit numbers
 * @bytes: size of the record
 * @near: pages whose records are in the first chunk
 * @attr: offset of the attributes, see aftl_page_attr(); the lpn words precede them
 * @generation: offset of the write generations, one for each unit, if errors are modelled
 * @hours: offset of the hours; 0: there is no room, and they are in the extra data of the block
 * @extra: size of the extra data of a block; 0: there is none
 */
struct aftl_oob_layout {
	u32 bytes;
	u32 near;
	u32 attr;
	u32 generation;
	u32 hours;
	u32 extra;
};

/**
 * struct aftl_media - state of the flash array
 * @geo: geometry
 * @blocks: by block number
 * @oob: OOB records by page of the device, see struct aftl_oob_layout
 * @oob_layout: layout of these records
 * @models_errors: errors are modelled, so that write generations are stored
 * @valid: by ppn, one bit
 * @lost: by ppn, one bit: valid, but the host has lost the data
 */
struct aftl_media {
	const struct aftl_geometry *geo;
	struct aftl_block *blocks;
	struct aftl_chunks oob;
	struct aftl_oob_layout oob_layout;
	bool models_errors;
	u64 *valid;
	u64 *lost;
};

#endif
