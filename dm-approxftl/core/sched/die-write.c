// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes in the queues of the dies: each LUN has a queue for each class and stream.
 *
 * Full programs start while the buffer is filled to buffer_high. Partial ones start, too, when the
 * oldest data are buffer_hold old, when a request, a flush or a drain waits for them, or when the
 * buffer is full and no queue holds a full program.
 */
#include "core/ftl/block.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/gc-pace.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/program.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/wait.h"
#include "core/ftl/write-buffer.h"
#include "core/ftl/zone.h"
#include "core/sched/completion.h"
#include "core/sched/die-write.h"
#include "core/base/random.h"

static inline struct aftl_lane_lun *get_lun_binding(struct aftl *ftl,
						    struct aftl_reclaim_group *group, u32 lane)
{
	return unlikely(group) ? &group->lanes[lane] : &ftl->allocation.lanes[lane];
}

/* Return the LUN that the next page of a stream goes to; NULL if no LUN can take more data. */
struct aftl_lun *aftl_write_choose_lun(struct aftl *ftl, u32 class, u32 stream, aftl_lpn_t lpn,
				       const struct aftl_hint *hint)
{
	struct aftl_reclaim_group *group = aftl_get_reclaim_group(ftl, hint);
	struct aftl_lane_lun *bind =
		get_lun_binding(ftl, group, aftl_get_index_of_write_stream(class, stream));
	struct aftl_lun *lun;

	if (ftl->geo.zones)
		return aftl_zone_write_lun(ftl, lpn);
	if (bind->left && aftl_lun_has_room_for_units(&ftl->luns[bind->lun], 1))
		return &ftl->luns[bind->lun];
	lun = aftl_allocate_lun(ftl, group, lpn, class, stream, 1);
	if (!lun)
		return NULL;
	bind->lun = lun->index;
	bind->left = ftl->allocation.units;
	return lun;
}

static struct aftl_queue *write_queue_of(struct aftl *ftl, const struct aftl_command *command)
{
	return &ftl->luns[command->lun].writes[aftl_get_write_stream_of_command(command)];
}

/* Bit of @lane (class and stream) in pending_write_lanes; only with zones can lanes share one. */
static u64 get_pending_bit_of_write_stream(u32 lane)
{
	return 1ULL << lane % AFTL_LANE_BITS;
}

/* Return the first lane (class and stream) of @lun with writes; there must be one. */
static u32 find_write_stream_with_queued_writes(const struct aftl_lun *lun)
{
	u32 lane = aftl_first_lane(lun->pending_write_lanes);

	while (lun->writes[lane].head == AFTL_NIL)
		lane += AFTL_LANE_BITS;
	return lane;
}

/* Append a write to the queue of @lane at @lun. */
static void write_queue_append(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u32 index)
{
	struct aftl_queue *queue = &lun->writes[lane];

	ftl->commands[index].lun = lun->index;
	ftl->commands[index].prev = queue->head == AFTL_NIL ? AFTL_NIL : queue->tail;
	aftl_command_queue_append(ftl, queue, index);
	if (queue->count == ftl->program_units)
		ftl->full_write_queues++;
	lun->pending_write_lanes |= get_pending_bit_of_write_stream(lane);
	lun->in_flight++;
}

/* Link @prev and @next in @queue; AFTL_NIL makes the other one the head or tail of the queue. */
static void write_queue_link_neighbours(struct aftl *ftl, struct aftl_queue *queue, u32 prev,
					u32 next)
{
	if (prev == AFTL_NIL)
		queue->head = next;
	else
		ftl->commands[prev].next = next;
	if (next == AFTL_NIL)
		queue->tail = prev;
	else
		ftl->commands[next].prev = prev;
}

/* Return true if a lane that shares the bit of @lane in pending_write_lanes has writes. */
static bool any_stream_of_pending_bit_has_writes(const struct aftl_lun *lun, u32 lane)
{
	u32 other = lane % AFTL_LANE_BITS;

	if (likely(lun->lanes <= AFTL_LANE_BITS))
		return false;
	for (; other < lun->lanes; other += AFTL_LANE_BITS)
		if (lun->writes[other].head != AFTL_NIL)
			return true;
	return false;
}

/* Remove a write from the queue of its LUN. */
void aftl_write_remove_from_lun_queue(struct aftl *ftl, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	struct aftl_lun *lun = &ftl->luns[command->lun];
	struct aftl_queue *queue = write_queue_of(ftl, command);

	write_queue_link_neighbours(ftl, queue, command->prev, command->next);
	command->lun = AFTL_NIL;
	if (queue->count == ftl->program_units)
		ftl->full_write_queues--;
	queue->count--;
	if (command->request)
		queue->waited--;
	if (queue->head == AFTL_NIL &&
	    !any_stream_of_pending_bit_has_writes(lun, aftl_get_write_stream_of_command(command)))
		lun->pending_write_lanes &=
			~get_pending_bit_of_write_stream(aftl_get_write_stream_of_command(command));
	lun->in_flight--;
}

/* Wake the LUN for its new write, or all LUNs if the write buffer has reached its watermark. */
static void wake_lun_for_new_write(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->full_write_queues && aftl_count_used_write_commands(ftl) == ftl->buffer_high)
		aftl_wake_idle_luns_or_luns_with_writes(ftl, AFTL_WAKE_WRITES);
	aftl_wake_lun_for_write(ftl, lun);
}

void aftl_write_add_to_lun_queue(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u32 index)
{
	struct aftl_reclaim_group *group = aftl_get_reclaim_group(ftl, &ftl->commands[index].hint);
	struct aftl_lane_lun *bind = get_lun_binding(ftl, group, lane);

	write_queue_append(ftl, lun, lane, index);
	if (bind->left)
		bind->left--;
	if (unlikely(group))
		ftl->stats.counters.other_group_units +=
			!aftl_reclaim_group_contains_lun(ftl, group, lun->index);
	wake_lun_for_new_write(ftl, lun);
}

/*
 * Put a write into the place of @older in its queue, with the age and the order of @older: the data
 * of a page that is overwritten again and again leave the buffer in time, too.
 */
void aftl_write_replace_older_version_in_queue(struct aftl *ftl, u32 older, u32 index)
{
	struct aftl_command *out = &ftl->commands[older];
	struct aftl_command *in = &ftl->commands[index];
	struct aftl_queue *queue = write_queue_of(ftl, out);

	in->seq = out->seq;
	in->queued_ns = out->queued_ns;
	in->lun = out->lun;
	in->next = out->next;
	in->prev = out->prev;
	write_queue_link_neighbours(ftl, queue, in->prev, index);
	write_queue_link_neighbours(ftl, queue, index, in->next);
	out->lun = AFTL_NIL;
	if (in->request) {
		queue->waited++;
		aftl_wake_lun_for_write(ftl, &ftl->luns[in->lun]);
	}
}

static noinline void write_observe_release(struct aftl *ftl, u32 index)
{
	if (ftl->ops->release)
		ftl->ops->release(ftl->host, index);
}

void aftl_write_free_finished_command(struct aftl *ftl, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];

	ftl->work++;
	if (ftl->geo.zones)
		aftl_zone_count_programmed_lpn(ftl, command->stream);
	aftl_pending_remove_write(ftl, index);
	if (unlikely(ftl->faults.programs) && command->flags & AFTL_COMMAND_STORED &&
	    !aftl_lpn_is_buffered(ftl, command->lpn))
		aftl_mark_faults_of_programmed_lpn_as_due(ftl, command->lpn);
	if (ftl->writes_are_observed)
		write_observe_release(ftl, index);
	aftl_command_free(ftl, index, true);
	aftl_flush_epoch_count_ended_write(ftl, command->epoch);
}

/* Queue the committed writes of @zone from page @first of the zone on. */
void aftl_write_queue_committed_lpns(struct aftl *ftl, const struct aftl_zone *zone, u32 first)
{
	u32 start = (u32)(zone - ftl->zones.all) * ftl->geo.zone_units;

	for (; first < zone->written; first++)
		aftl_write_queue_held_lpn(ftl, to_lpn(start + first));
}

static u32 dequeue_oldest_write_of_stream(struct aftl *ftl, struct aftl_lun *lun, u32 lane)
{
	u32 index = lun->writes[lane].head;

	aftl_write_remove_from_lun_queue(ftl, index);
	return index;
}

static u32 dequeue_write_of_any_stream(struct aftl *ftl, struct aftl_lun *lun)
{
	return dequeue_oldest_write_of_stream(ftl, lun, find_write_stream_with_queued_writes(lun));
}

/*
 * Remove the writes that a zone reset has made obsolete from the head of a queue. They stay there
 * until the host has recorded the reset, as a persistent buffer has to keep them until then.
 * Return: false if a slice of work, which began at @begin, is over before all are removed.
 */
static bool write_drop_writes_obsoleted_by_reset(struct aftl *ftl, struct aftl_lun *lun, u32 lane,
						 u32 begin)
{
	const struct aftl_queue *queue = &lun->writes[lane];

	while (queue->head != AFTL_NIL && !ftl->commands[queue->head].request &&
	       ftl->commands[queue->head].flags & AFTL_COMMAND_SUPERSEDED) {
		if (aftl_work_slice_is_over(ftl, begin))
			return false;
		aftl_write_free_finished_command(ftl,
						 dequeue_oldest_write_of_stream(ftl, lun, lane));
	}
	return true;
}

/*
 * Return true if programs of partial pages must start, because requests wait for the buffer: either
 * there is no data for a full program, or requests lack flash space although commands are free.
 */
static bool write_buffer_needs_partial_programs(const struct aftl *ftl)
{
	return aftl_write_is_waiting(ftl) && (ftl->free_write_count || !ftl->full_write_queues);
}

/*
 * Return true if writes of @queue must be programmed now. If not, *@due_ns is the time at which the
 * oldest of them must be programmed.
 */
static bool queued_writes_must_be_programmed(const struct aftl *ftl, const struct aftl_queue *queue,
					     u64 *due_ns)
{
	const struct aftl_command *head = &ftl->commands[queue->head];
	bool full = queue->count >= ftl->program_units;

	*due_ns = head->queued_ns + ftl->config.buffer_hold;
	if (full && aftl_count_used_write_commands(ftl) >= ftl->buffer_high)
		return true;
	return !aftl_has_write_buffer(ftl) || queue->waited || ftl->epochs.flushes ||
	       ftl->draining || ftl->now_ns >= *due_ns || write_buffer_needs_partial_programs(ftl);
}

static bool does_stream_have_older_write_than_best(const struct aftl *ftl,
						   const struct aftl_lun *lun, u32 lane, u32 best)
{
	return best == AFTL_NIL || ftl->commands[lun->writes[lane].head].seq <
					   ftl->commands[lun->writes[best].head].seq;
}

/* Partly filled flash pages of a zone wait until no more writes of the zone will come. */
static bool zone_writes_must_be_programmed(const struct aftl *ftl, const struct aftl_queue *queue)
{
	return queue->head != AFTL_NIL &&
	       (queue->count >= ftl->program_units || ftl->draining ||
		aftl_zone_awaits_no_writes(aftl_zone_of_lpn(ftl, ftl->commands[queue->head].lpn)));
}

/* Drop the obsolete writes of reset zones, then choose a lane (class and stream) to program. */
static noinline u32 write_ready_of_zones(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 best = AFTL_NIL;
	u64 lanes = lun->pending_write_lanes;
	u32 begin = ftl->work;
	u32 lane;

	for (; lanes; lanes &= lanes - 1)
		for (lane = aftl_first_lane(lanes); lane < lun->lanes; lane += AFTL_LANE_BITS) {
			if (!write_drop_writes_obsoleted_by_reset(ftl, lun, lane, begin))
				aftl_wake_idle_lun(ftl, lun);
			else if (zone_writes_must_be_programmed(ftl, &lun->writes[lane]) &&
				 does_stream_have_older_write_than_best(ftl, lun, lane, best))
				best = lane;
		}
	return best;
}

/**
 * aftl_write_select_stream_to_program() - choose the lane of @lun with the oldest due write
 * @ftl: device
 * @lun: LUN
 * @retry_ns: takes the time to ask again if there is none
 *
 * Return: the lane, or AFTL_NIL.
 */
u32 aftl_write_select_stream_to_program(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns)
{
	u32 best = AFTL_NIL;
	u64 lanes = lun->pending_write_lanes;
	u64 due_ns;

	*retry_ns = AFTL_NEVER;
	if (ftl->geo.zones)
		return write_ready_of_zones(ftl, lun);
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = aftl_first_lane(lanes);

		if (!queued_writes_must_be_programmed(ftl, &lun->writes[lane], &due_ns))
			*retry_ns = min(*retry_ns, due_ns);
		else if (does_stream_have_older_write_than_best(ftl, lun, lane, best))
			best = lane;
	}
	return best;
}

/* Return true if a flush waits for writes of @epoch. */
static bool does_flush_wait_for_writes_of_epoch(const struct aftl *ftl, u32 epoch)
{
	return ftl->epochs.flushes &&
	       (epoch != ftl->epochs.newest || ftl->epochs.last_flush->epoch == epoch);
}

/*
 * Return true if requests wait for the write buffer, and only fine passes can end the wait: data
 * without a fine pass fill half of the buffer, or mapping these data frees flash space.
 */
static bool write_buffer_waits_for_fine_passes(const struct aftl *ftl)
{
	return aftl_write_is_waiting(ftl) &&
	       (ftl->free_write_count || 2 * ftl->fine_pending_units >= ftl->write_commands);
}

/*
 * Return true if a request or a flush waits for one of the writes in the list from @index on, which
 * lack their fine pass. *@due_ns becomes the time at which the oldest must be programmed.
 */
static bool host_awaits_write_of_list(const struct aftl *ftl, u32 index, u64 *due_ns)
{
	*due_ns = min(*due_ns, ftl->commands[index].queued_ns + ftl->config.buffer_hold);
	for (; index != AFTL_NIL; index = ftl->commands[index].next)
		if (ftl->commands[index].request ||
		    does_flush_wait_for_writes_of_epoch(ftl, ftl->commands[index].epoch))
			return true;
	return false;
}

static bool host_awaits_fine_pass(const struct aftl *ftl, const struct aftl_lun *lun, u64 *due_ns)
{
	bool waited = false;
	u32 i;

	for (i = 0; i < ftl->foggy_blocks * AFTL_FOGGY_WORD_LINES; i++) {
		const struct aftl_foggy_block *foggy = &lun->foggy[i / AFTL_FOGGY_WORD_LINES];
		u32 commands = foggy->held[i % AFTL_FOGGY_WORD_LINES].commands;

		if (foggy->block && commands != AFTL_NIL)
			waited |= host_awaits_write_of_list(ftl, commands, due_ns);
	}
	return waited;
}

/**
 * aftl_write_needs_padding() - return true if padding must make fine passes of writes due
 * @ftl: device with two-pass programs
 * @lun: LUN
 * @lane: lane of the next write, or AFTL_NIL
 * @retry_ns: if false, lowered to the time at which to ask again
 *
 * A word line gets its fine pass after the coarse pass of later ones. If no data come for those, a
 * coarse pass of padding is programmed. Before a flush completes, the padding follows the writes
 * that the flush covers and precedes newer ones.
 */
bool aftl_write_needs_padding(const struct aftl *ftl, const struct aftl_lun *lun, u32 lane,
			      u64 *retry_ns)
{
	u64 due_ns = AFTL_NEVER;
	bool waited;

	if (!lun->fine_pending_writes)
		return false;
	waited = host_awaits_fine_pass(ftl, lun, &due_ns);
	if (lane != AFTL_NIL)
		return waited && ftl->commands[lun->writes[lane].head].epoch == ftl->epochs.newest;
	if (waited || ftl->draining || write_buffer_waits_for_fine_passes(ftl) ||
	    ftl->now_ns >= due_ns)
		return true;
	*retry_ns = min(*retry_ns, due_ns);
	return false;
}

/* Mark all writes of the page that are older than command @index: they will not be mapped. */
static void write_mark_older_versions_superseded(struct aftl *ftl, u32 index)
{
	while ((index = aftl_pending_find_older_version(ftl, index)) != AFTL_NIL)
		ftl->commands[index].flags |= AFTL_COMMAND_SUPERSEDED;
}

static void write_mark_stale_lpn_in_payload(struct aftl *ftl, struct aftl_payload *payload, u32 i)
{
	payload->stale[i] = ftl->commands[payload->tag[i]].flags & AFTL_COMMAND_SUPERSEDED;
	write_mark_older_versions_superseded(ftl, payload->tag[i]);
}

static void write_add_command_to_payload(struct aftl *ftl, struct aftl_payload *payload, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	u32 i = payload->count++;

	payload->lpn[i] = command->lpn;
	payload->from[i] = AFTL_NO_PPN;
	payload->origin[i] = (struct aftl_origin){ .generation = (u16)aftl_hash64(command->seq) };
	payload->tag[i] = index;
	command->flags |= AFTL_COMMAND_PROGRAMMING;
}

/*
 * Fill @payload from the queue. Return the commands in it, linked in order. With a coarse pass the
 * choice of the version to be mapped is left to the fine pass, when the data become readable.
 */
static u32 write_fill_payload_from_queue(struct aftl *ftl, struct aftl_lun *lun, u32 lane,
					 const struct aftl_placement *placement,
					 struct aftl_payload *payload)
{
	u32 units = aftl_count_lpns_of_placement(ftl, placement);
	struct aftl_queue group = { .head = AFTL_NIL };

	while (payload->count < units && lun->writes[lane].head != AFTL_NIL) {
		u32 index = dequeue_oldest_write_of_stream(ftl, lun, lane);

		aftl_command_queue_append(ftl, &group, index);
		write_add_command_to_payload(ftl, payload, index);
		if (likely(placement->mode != AFTL_MODE_FOGGY))
			write_mark_stale_lpn_in_payload(ftl, payload, payload->count - 1);
	}
	return group.head;
}

/**
 * aftl_write_start_fine_pass() - decide which host writes of a fine pass will be mapped
 * @ftl: device
 * @lun: LUN
 * @held: data of the word line
 */
void aftl_write_start_fine_pass(struct aftl *ftl, struct aftl_lun *lun,
				struct aftl_fine_pending *held)
{
	u32 i;

	lun->work.commands = held->commands;
	for (i = 0; held->commands != AFTL_NIL && i < held->payload.count; i++)
		write_mark_stale_lpn_in_payload(ftl, &held->payload, i);
}

/**
 * aftl_write_start_program() - program the oldest writes of @lane
 * @ftl: device
 * @lun: LUN with a free array
 * @lane: lane with a queued write
 *
 * Return: 0, or -ENOSPC if the policy has no place until garbage has been collected.
 */
int aftl_write_start_program(struct aftl *ftl, struct aftl_lun *lun, u32 lane)
{
	const struct aftl_command *head = &ftl->commands[lun->writes[lane].head];
	struct aftl_program_request need = {
		.lpn = head->lpn,
		.units = min(lun->writes[lane].count, ftl->program_units),
		.class = head->class,
		.stream = head->stream,
		.cause = AFTL_CAUSE_HOST,
		.buffer_use = aftl_buffer_fill_level(ftl),
		.hint = head->hint,
	};
	struct aftl_placement placement;
	struct aftl_payload *payload = &ftl->payload;
	int ret = aftl_program_place(ftl, lun, &need, &placement);

	if (ret)
		return ret;
	aftl_payload_add_piggybacked_pages(ftl, &placement, payload);
	lun->work.commands = write_fill_payload_from_queue(ftl, lun, lane, &placement, payload);
	aftl_program_commit(ftl, lun, &need, &placement, payload);
	aftl_gc_pace_count_host_pages(lun, payload->count - payload->piggybacked);
	aftl_array_program(ftl, lun, AFTL_WORK_PROGRAM, &placement);
	return 0;
}

void aftl_write_complete_programs(struct aftl *ftl, u32 commands, u64 service_ns)
{
	while (commands != AFTL_NIL) {
		struct aftl_request *request = ftl->commands[commands].request;
		u32 next = ftl->commands[commands].next;

		if (ftl->waits)
			aftl_note_ended_command(ftl, commands, service_ns);
		aftl_write_free_finished_command(ftl, commands);
		if (request)
			aftl_complete_part_of_request(ftl, request, service_ns);
		commands = next;
	}
}

/*
 * Give up programming a write, because the device became read-only. The buffer survives power loss,
 * so it keeps the data and serves reads; the next load of the device restores them. No flush waits
 * for them.
 */
static void keep_unflushable_write_in_buffer(struct aftl *ftl, const struct aftl_command *command)
{
	ftl->unflushable++;
	if (ftl->geo.zones)
		aftl_zone_count_programmed_lpn(ftl, command->stream);
	aftl_flush_epoch_count_ended_write(ftl, command->epoch);
}

static void write_fail_command(struct aftl *ftl, u32 index)
{
	struct aftl_request *request = ftl->commands[index].request;
	bool wanted = !(ftl->commands[index].flags & AFTL_COMMAND_SUPERSEDED);

	if (!request && wanted) {
		if (ftl->config.buffer_safe) {
			keep_unflushable_write_in_buffer(ftl, &ftl->commands[index]);
			return;
		}
		ftl->buffer_lost = true;
	}
	if (ftl->waits)
		aftl_note_ended_command(ftl, index, 0);
	aftl_write_free_finished_command(ftl, index);
	if (!request)
		return;
	request->status = -ENOSPC;
	aftl_complete_part_of_request(ftl, request, 0);
}

/**
 * aftl_write_fail_queued_writes() - fail the queued writes of @lun, which gets no free block
 * @ftl: device, which becomes read-only
 * @lun: LUN
 */
void aftl_write_fail_queued_writes(struct aftl *ftl, struct aftl_lun *lun)
{
	ftl->read_only = true;
	ftl->retry = true;
	while (lun->pending_write_lanes)
		write_fail_command(ftl, dequeue_write_of_any_stream(ftl, lun));
}

/* Find a LUN to queue an accepted write at; free space does not matter. */
struct aftl_lun *aftl_write_any_live_lun(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (!aftl_lun_is_dead(&ftl->luns[i]))
			return &ftl->luns[i];
	return NULL;
}

/*
 * aftl_write_queue_held_lpn() - queue a write of a random write area, if @lpn has one, at its LUN
 *
 * If that LUN is dead, any other LUN programs it.
 */
void aftl_write_queue_held_lpn(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 index = aftl_pending_find_newest_write(ftl, lpn);
	struct aftl_lun *lun;
	u32 lane;

	if (index == AFTL_NIL || !(ftl->commands[index].flags & AFTL_COMMAND_HELD))
		return;
	ftl->commands[index].flags &= ~AFTL_COMMAND_HELD;
	lun = aftl_zone_write_lun(ftl, lpn);
	if (!lun)
		lun = aftl_write_any_live_lun(ftl);
	lane = aftl_get_write_stream_of_command(&ftl->commands[index]);
	if (lun)
		aftl_write_add_to_lun_queue(ftl, lun, lane, index);
	else
		write_fail_command(ftl, index);
	ftl->work++;
}

/**
 * aftl_write_commit_random_area() - commit the data of a random write area below @end
 * @ftl: zoned device
 * @zone: zone
 * @end: pages of the zone below its new write pointer; those not written return zeroes
 */
void aftl_write_commit_random_area(struct aftl *ftl, struct aftl_zone *zone, u32 end)
{
	u32 first = zone->written;

	zone->written = max(zone->written, end);
	aftl_write_queue_committed_lpns(ftl, zone, first);
}

/**
 * aftl_write_commit_random_areas() - commit the data of random write areas
 * @ftl: zoned device
 * @all: of all zones; else of those that cannot be written any more
 */
void aftl_write_commit_random_areas(struct aftl *ftl, bool all)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++) {
		struct aftl_zone *zone = &ftl->zones.all[i];

		if (all || !aftl_zone_is_active(zone))
			aftl_write_commit_random_area(ftl, zone, aftl_zone_data_end(zone));
	}
}

static void write_move_command_to_live_lun(struct aftl *ftl, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	u32 lane = aftl_get_write_stream_of_command(command);
	struct aftl_lun *lun = aftl_write_choose_lun(ftl, command->class, command->stream,
						     command->lpn, &command->hint);

	if (!lun)
		lun = aftl_write_any_live_lun(ftl);
	command->flags &= ~AFTL_COMMAND_PROGRAMMING;
	if (lun && ftl->waits && command->request)
		aftl_note_moved_command(ftl, index, lun->index);
	if (lun)
		aftl_write_add_to_lun_queue(ftl, lun, lane, index);
	else
		write_fail_command(ftl, index);
}

static bool write_is_newest_of_lpn(const struct aftl *ftl, u32 index)
{
	return aftl_pending_find_newest_write(ftl, ftl->commands[index].lpn) == index;
}

/**
 * aftl_write_abort_programs() - abort the programs of a LUN that dies
 * @ftl: device
 * @commands: linked commands of one program
 *
 * A host with a persistent write buffer persists the data again, before it hears of the retired
 * blocks. Overwritten versions are left out: a new entry would have a larger sequence number than
 * that of the newer version, and recovery would find the old data.
 */
void aftl_write_abort_programs(struct aftl *ftl, u32 commands)
{
	for (; commands != AFTL_NIL; commands = ftl->commands[commands].next) {
		ftl->commands[commands].flags &= ~(AFTL_COMMAND_PROGRAMMING | AFTL_COMMAND_STORED);
		if (ftl->ops->unstored && write_is_newest_of_lpn(ftl, commands))
			ftl->ops->unstored(ftl->host, commands);
	}
}

/**
 * aftl_write_move_writes_of_dead_lun() - move the writes of a dead LUN to other LUNs
 * @ftl: device
 * @lun: dead LUN; its queues are emptied
 * @commands: linked commands of the program that was aborted
 */
void aftl_write_move_writes_of_dead_lun(struct aftl *ftl, struct aftl_lun *lun, u32 commands)
{
	while (commands != AFTL_NIL) {
		u32 next = ftl->commands[commands].next;

		write_move_command_to_live_lun(ftl, commands);
		commands = next;
	}
	while (lun->pending_write_lanes)
		write_move_command_to_live_lun(ftl, dequeue_write_of_any_stream(ftl, lun));
}

/**
 * aftl_write_mark_lpn_discarded() - make the buffered writes of @lpn obsolete, for a discard
 * @ftl: device
 * @lpn: logical page
 *
 * They are not mapped any more. aftl_write_drop_discarded_lpn() follows, after the host has
 * recorded the discard: a persistent buffer must not reuse the page's slot before.
 *
 * Return: true if there was any.
 */
bool aftl_write_mark_lpn_discarded(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 newest = aftl_pending_find_newest_write(ftl, lpn);
	u32 index;

	for (index = newest; index != AFTL_NIL; index = aftl_pending_find_older_version(ftl, index))
		ftl->commands[index].flags |= AFTL_COMMAND_SUPERSEDED;
	return newest != AFTL_NIL;
}

/**
 * aftl_write_drop_discarded_lpn() - remove the obsolete writes of @lpn from the buffer
 * @ftl: device
 * @lpn: logical page for which aftl_write_mark_lpn_discarded() has been called
 *
 * A write that is being programmed, or whose request waits for it, ends as usual.
 */
void aftl_write_drop_discarded_lpn(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 index = aftl_pending_find_newest_write(ftl, lpn);

	while (index != AFTL_NIL) {
		u32 older = aftl_pending_find_older_version(ftl, index);

		if (ftl->commands[index].lun != AFTL_NIL && !ftl->commands[index].request) {
			aftl_write_remove_from_lun_queue(ftl, index);
			aftl_write_free_finished_command(ftl, index);
		}
		index = older;
	}
}
