/* SPDX-License-Identifier: GPL-2.0-only */
/* Program and erase transactions. */
#ifndef AFTL_PROGRAM_H
#define AFTL_PROGRAM_H

#include "core/base/fill-order.h"
#include "core/nand/media.h"

struct aftl;
struct aftl_fill_program;
struct aftl_lun;
struct aftl_placement;
struct aftl_program_request;

/**
 * struct aftl_payload - logical pages that are programmed together
 * @count: number of logical pages
 * @promoted: relocations that make approximate data precise
 * @piggybacked: relocations in a host program, which come first
 * @dropped: relocations overwritten between the two passes; they count as padding
 * @from: physical page of a relocation; AFTL_NO_PPN for a host write
 * @tag: buffer tag of a host write; AFTL_NIL for a relocation
 * @stale: a newer version exists: programmed, but not mapped
 */
struct aftl_payload {
	u32 count;
	u32 promoted;
	u32 piggybacked;
	u32 dropped;
	aftl_lpn_t lpn[AFTL_PROGRAM_UNITS_MAX];
	aftl_ppn_t from[AFTL_PROGRAM_UNITS_MAX];
	struct aftl_origin origin[AFTL_PROGRAM_UNITS_MAX];
	u32 tag[AFTL_PROGRAM_UNITS_MAX];
	bool stale[AFTL_PROGRAM_UNITS_MAX];
};

int __must_check aftl_program_place(struct aftl *ftl, struct aftl_lun *lun,
				    const struct aftl_program_request *need,
				    struct aftl_placement *placement);

/* Commit a program to media and L2P table; @payload is NULL for a coarse pass without data. */
void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_program_request *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload);

void aftl_program_commit_copyback(struct aftl *ftl, struct aftl_lun *lun,
				  const struct aftl_program_request *need,
				  const struct aftl_placement *placement, aftl_ppn_t from,
				  void *source);

/**
 * struct aftl_fill_run - preconditioning programs of a LUN that need no call of the policy
 * @block: block of the last program
 * @page: next page; the run continues upwards
 * @class: class of the last program
 * @stream: stream of the last program
 * @mode: mode of the last program
 * @left: programs of this class and stream that may follow
 */
struct aftl_fill_run {
	struct aftl_block *block;
	u32 page;
	u32 class;
	u32 stream;
	u32 mode;
	u32 left;
};

void aftl_commit_next_fill_program(struct aftl *ftl, struct aftl_lun *lun,
				   struct aftl_fill_run *run,
				   const struct aftl_payload *payload);
void aftl_commit_first_fill_writes_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					  struct aftl_fill_run *run, struct aftl_fill_order order,
					  u32 rounds, bool map);
void aftl_count_first_fill_writes_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					 struct aftl_fill_run *run, u32 slot, u32 programs);
void aftl_commit_queued_fill_programs_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					     struct aftl_fill_run *run,
					     struct aftl_fill_order order,
					     const struct aftl_fill_program *queue, u32 programs);

/* Add the content of a valid page to a payload. */
void aftl_payload_add_relocation(struct aftl *ftl, struct aftl_payload *payload, aftl_ppn_t ppn);

/* Begin the payload of a host program with the pages that the policy relocates along with it. */
void aftl_payload_add_piggybacked_pages(struct aftl *ftl, const struct aftl_placement *placement,
					struct aftl_payload *payload);

/* Commit a program of parity, which maps no logical page. */
void aftl_program_parity(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement);

/*
 * Start an erase of @block; the policy chooses its voltage, lun->erased takes its time and wear.
 * aftl_commit_block_erase() must follow.
 */
void aftl_begin_block_erase(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_block *block);
void aftl_commit_block_erase(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);

#endif
