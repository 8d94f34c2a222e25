/* SPDX-License-Identifier: GPL-2.0-only */
/* Host writes: admission, programs and failures; private to core/hif. */
#ifndef AFTL_HOST_WRITE_H
#define AFTL_HOST_WRITE_H

#include "core/base/types.h"

struct aftl;
struct aftl_fine_pending;
struct aftl_lun;
struct aftl_request;

void aftl_write_queue_held_lpn(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_write_commit_random_area(struct aftl *ftl, struct aftl_zone *zone, u32 end);
void aftl_write_commit_random_areas(struct aftl *ftl, bool all);
bool aftl_write_admit_request(struct aftl *ftl, struct aftl_request *request);
u32 aftl_write_select_stream_to_program(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns);
bool aftl_write_needs_padding(const struct aftl *ftl, const struct aftl_lun *lun, u32 lane,
			      u64 *retry_ns);
void aftl_write_start_fine_pass(struct aftl *ftl, struct aftl_lun *lun,
				struct aftl_fine_pending *held);
int aftl_write_start_program(struct aftl *ftl, struct aftl_lun *lun, u32 lane);
void aftl_write_complete_programs(struct aftl *ftl, u32 commands, u64 service_ns);
void aftl_write_fail_queued_writes(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_write_mark_lpn_discarded(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_write_drop_discarded_lpn(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_write_choose_stream(struct aftl *ftl, struct aftl_request *request);
void aftl_write_abort_programs(struct aftl *ftl, u32 commands);
void aftl_write_move_writes_of_dead_lun(struct aftl *ftl, struct aftl_lun *lun, u32 commands);

/* Bits of aftl_lun.pending_write_lanes: lane (class and stream) i has bit i % AFTL_LANE_BITS. */
#define AFTL_LANE_BITS 64

/* Return the first lane of a mask like aftl_lun.pending_write_lanes, which is not 0. */
static inline u32 aftl_first_lane(u64 lanes)
{
	return (u32)fls64(lanes & -lanes) - 1;
}

#endif
