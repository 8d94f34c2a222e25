/* SPDX-License-Identifier: GPL-2.0-only */
/* Write queues of dies, and the programs of their data. */
#ifndef AFTL_DIE_WRITE_H
#define AFTL_DIE_WRITE_H

#include "core/base/write-stream.h"
#include "core/ftl/lun-work.h"

struct aftl;
struct aftl_fine_pending;
struct aftl_lun;
struct aftl_zone;

/* Bits of aftl_lun.pending_write_lanes: lane (class and stream) i has bit i % AFTL_LANE_BITS. */
#define AFTL_LANE_BITS 64

/* Return the first lane of a mask like aftl_lun.pending_write_lanes, which is not 0. */
static inline u32 aftl_first_lane(u64 lanes)
{
	return (u32)fls64(lanes & -lanes) - 1;
}

static inline u32 aftl_get_write_stream_of_command(const struct aftl_command *command)
{
	return aftl_get_index_of_write_stream(command->class, command->stream);
}

struct aftl_lun *aftl_write_choose_lun(struct aftl *ftl, u32 class, u32 stream, aftl_lpn_t lpn,
				       const struct aftl_hint *hint);
struct aftl_lun *aftl_write_any_live_lun(struct aftl *ftl);
void aftl_write_add_to_lun_queue(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u32 index);
void aftl_write_replace_older_version_in_queue(struct aftl *ftl, u32 older, u32 index);
void aftl_write_remove_from_lun_queue(struct aftl *ftl, u32 index);
void aftl_write_free_finished_command(struct aftl *ftl, u32 index);
void aftl_write_queue_held_lpn(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_write_queue_committed_lpns(struct aftl *ftl, const struct aftl_zone *zone, u32 first);
void aftl_write_commit_random_area(struct aftl *ftl, struct aftl_zone *zone, u32 end);
void aftl_write_commit_random_areas(struct aftl *ftl, bool all);
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
void aftl_write_abort_programs(struct aftl *ftl, u32 commands);
void aftl_write_move_writes_of_dead_lun(struct aftl *ftl, struct aftl_lun *lun, u32 commands);

#endif
