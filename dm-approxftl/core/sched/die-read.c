// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads in the queues of the dies. A command reads consecutive logical pages of one flash page.
 * When the array is free, the oldest command senses its page, and reads of other planes may join
 * it. A page may have been relocated, written again or lost since the command was queued, so it is
 * looked up again then.
 */
#include "core/ftl/block.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/sensing.h"
#include "core/ftl/superblock.h"
#include "core/ftl/time.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/wait.h"
#include "core/sched/completion.h"
#include "core/sched/die-read.h"
#include "core/sched/read-delivery.h"

/* Count the errors of a sensed page, also for read-ahead or a reconstruction. */
static inline void count_bit_errors_of_sensed_page(struct aftl *ftl,
						   const struct aftl_errors *errors, u32 class)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->read_raw_error_bits += errors->raw;
	counters->read_retry_levels += errors->levels;
	if (class == AFTL_PRECISE && !errors->lost)
		counters->read_corrected_bits += errors->raw;
}

/* Lost data are not cached: a read must fail again. */
static void insert_lpn_into_read_cache(struct aftl *ftl, const struct aftl_read *read, bool ahead,
				       bool lost)
{
	struct aftl_read_cache_entry *recent;

	ftl->stats.counters.read_ahead_units += ahead;
	if (lost)
		return;
	recent = aftl_read_cache_add(ftl, read->lpn, read->ppn);
	recent->flips = read->flips;
	recent->generation = read->generation;
	recent->flags = ahead ? AFTL_READ_CACHE_PREFETCHED : 0;
}

/*
 * ECC failed or the die is dead: reconstruct the page from its stripe, by reads of other LUNs.
 *
 * Return: false if it was not reconstructed, so that the page's own data are returned.
 */
static bool read_reconstruct_lost_page(struct aftl *ftl, struct aftl_read *read,
				       struct aftl_errors *errors)
{
	if (!aftl_stripe_reconstruct(ftl, read->ppn, errors))
		return false;
	ftl->stats.counters.read_recovered_units++;
	read->flips = errors->flips;
	aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, read->ppn))->reconstruct.wanted = true;
	return true;
}

/* Reconstructed data is not cached, and read-ahead reconstructs no data. */
static noinline void read_after_sense(struct aftl *ftl, const struct aftl_request *request,
				      struct aftl_read *read, struct aftl_errors *errors)
{
	if (request && ftl->config.rain && read_reconstruct_lost_page(ftl, read, errors))
		return;
	if (ftl->read_cache.count)
		insert_lpn_into_read_cache(ftl, read, !request,
					   errors->lost || aftl_ppn_is_lost(ftl, read->ppn));
}

/*
 * Sense @lpn in @ppn and deliver it to @request; NULL for read-ahead, whose data go to the read
 * cache.
 *
 * Return: the extra sensing levels that the page needs.
 */
static u32 read_sense_lpn(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
			  aftl_ppn_t ppn, u32 class, u64 hour)
{
	struct aftl_read read = { .lpn = lpn, .source = AFTL_SOURCE_FLASH, .ppn = ppn };
	struct aftl_errors errors = { 0 };

	if (aftl_has_error_model(&ftl->media)) {
		errors = aftl_cell_read_errors(&ftl->cell, ppn, hour);
		read.flips = errors.flips;
		read.generation = *aftl_oob_write_generation_ptr(&ftl->media, ppn);
	}
	if (ftl->reads_are_tracked)
		read_after_sense(ftl, request, &read, &errors);
	errors.lost |= aftl_ppn_is_lost(ftl, ppn);
	read.lost = errors.lost;
	count_bit_errors_of_sensed_page(ftl, &errors, class);
	if (likely(request))
		aftl_deliver_flash_page(ftl, request, &read, class);
	return min(errors.levels, ftl->cell.levels);
}

/*
 * Deliver the logical pages at the start of @command that the flash page of @ppn holds, and advance
 * the command past them. Pages that have been relocated since it was queued stay for another read.
 *
 * Return: the sensing time.
 */
u64 aftl_read_sense_page(struct aftl *ftl, struct aftl_command *command, aftl_ppn_t ppn)
{
	struct aftl_block *block = aftl_block_of_ppn(&ftl->media, ppn);
	u32 page = aftl_flash_page_of_ppn(ftl, ppn);
	u16 attr = *aftl_page_attr_ptr(&ftl->media, page);
	u64 hour = aftl_device_hour(ftl);
	u64 ns = aftl_sense_page(ftl, block, aftl_page_in_block(&ftl->geo, page), hour);
	u32 levels = 0;

	if (likely(command->request))
		ftl->stats.counters.rmw_reads += !aftl_request_is_host_read(command->request);
	do {
		u32 needed = read_sense_lpn(ftl, command->request, command->lpn, ppn,
					    aftl_page_class(attr), hour);

		levels = max(levels, needed);
		command->lpn = to_lpn(from_lpn(command->lpn) + 1);
		command->units--;
	} while (command->units && aftl_l2p_lookup(ftl, command->lpn, &ppn) &&
		 aftl_flash_page_of_ppn(ftl, ppn) == page);
	return ns + levels * ftl->sense.further_ns;
}

/* Free command @index of the queue of reads. */
static void read_remove_and_free_command(struct aftl *ftl, struct aftl_lun *lun, u32 index)
{
	aftl_command_queue_remove(ftl, &lun->reads, index);
	aftl_command_free(ftl, index, false);
}

static void read_free_oldest_command(struct aftl *ftl, struct aftl_lun *lun)
{
	read_remove_and_free_command(ftl, lun, lun->reads.head);
}

/* Record that the first page of command @index has been served without a read of the array. */
static void read_finish_first_page_of_command(struct aftl *ftl, struct aftl_lun *lun, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	struct aftl_request *request = command->request;

	command->lpn = to_lpn(from_lpn(command->lpn) + 1);
	if (ftl->waits)
		aftl_note_ended_command(ftl, index, 0);
	if (!--command->units)
		read_remove_and_free_command(ftl, lun, index);
	if (likely(request))
		aftl_complete_part_of_request(ftl, request, 0);
}

/*
 * The translation page that command @index waits for is in the controller.
 *
 * The requests that wait for it are admitted before all others. Other requests could take the free
 * command for another translation page, which might evict this one before it has been used.
 */
static void read_admit_waiters_of_trans_page(struct aftl *ftl, struct aftl_lun *lun, u32 index)
{
	struct aftl_trans_page *tp = aftl_cmt_end_page_load(ftl, ftl->commands[index].lpn);

	read_remove_and_free_command(ftl, lun, index);
	tp->last_waiting->next = ftl->wait_head[0];
	if (!ftl->wait_head[0])
		ftl->wait_tail[0] = tp->last_waiting;
	ftl->wait_head[0] = tp->waiting;
	tp->waiting = NULL;
	ftl->retry = true;
}

/**
 * aftl_read_handle_loaded_trans_page() - admit next the requests that waited for this page
 * @ftl: device
 * @lun: LUN whose oldest read has fetched the translation page
 */
void aftl_read_handle_loaded_trans_page(struct aftl *ftl, struct aftl_lun *lun)
{
	read_admit_waiters_of_trans_page(ftl, lun, lun->reads.head);
}

/* End the first page of the oldest read without a flash read: it is unmapped or, if @lost, lost. */
static void read_finish_unmapped_page(struct aftl *ftl, struct aftl_lun *lun, bool lost)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	struct aftl_request *request = command->request;

	if (!request) {
		aftl_read_handle_loaded_trans_page(ftl, lun);
		return;
	}
	if (lost)
		aftl_deliver_lost_page(ftl, request, command->lpn);
	else
		aftl_deliver_zero_page(ftl, request, command->lpn);
	read_finish_first_page_of_command(ftl, lun, lun->reads.head);
}

/* Serve the first page of command @index from the program in progress of @ppn. */
static void read_serve_page_being_programmed(struct aftl *ftl, struct aftl_lun *lun, u32 index,
					     aftl_ppn_t ppn)
{
	struct aftl_command *command = &ftl->commands[index];

	if (!command->request && from_lpn(command->lpn) >= ftl->geo.units) {
		read_admit_waiters_of_trans_page(ftl, lun, index);
		return;
	}
	if (likely(command->request))
		aftl_deliver_programming_page(ftl, command->request, command->lpn, ppn);
	read_finish_first_page_of_command(ftl, lun, index);
}

/* Serve the first pages of command @index that are being programmed. */
static void serve_command_from_running_program(struct aftl *ftl, struct aftl_lun *lun, u32 index)
{
	u32 units = ftl->commands[index].units;
	aftl_ppn_t ppn;

	while (units-- && aftl_l2p_lookup(ftl, ftl->commands[index].lpn, &ppn) &&
	       aftl_ppn_is_programming(ftl, ppn))
		read_serve_page_being_programmed(ftl, lun, index, ppn);
}

/**
 * aftl_serve_reads_from_running_program() - serve the reads of @lun whose data are being programmed
 * @ftl: device
 * @lun: LUN that has just begun a program, with reads in its queue
 *
 * Skip a read that waits for a reconstruction: the array has already sensed its page.
 */
void aftl_serve_reads_from_running_program(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 index = lun->reads.head;

	while (index != AFTL_NIL) {
		u32 next = ftl->commands[index].next;

		if (lun->reconstruct.kind != AFTL_RECONSTRUCT_READ ||
		    lun->reconstruct.commands != index)
			serve_command_from_running_program(ftl, lun, index);
		index = next;
	}
}

/*
 * Return true if the first page of the oldest read is not to be sensed on this LUN any more: it was
 * discarded, relocated to another LUN or lost since the read was queued, or is being programmed.
 */
static bool handle_oldest_read_without_sensing(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	bool mapped;
	struct aftl_lun *other;
	aftl_ppn_t ppn;

	mapped = aftl_l2p_lookup(ftl, command->lpn, &ppn);
	if (!mapped || aftl_ppn_is_lost_with_dead_lun(ftl, ppn)) {
		read_finish_unmapped_page(ftl, lun, mapped);
		return true;
	}
	if (aftl_ppn_is_programming(ftl, ppn)) {
		read_serve_page_being_programmed(ftl, lun, lun->reads.head, ppn);
		return true;
	}
	other = aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn));
	if (other == lun)
		return false;
	ftl->stats.counters.read_restarts++;
	command->queued_ns = ftl->now_ns;
	if (ftl->waits && command->request)
		aftl_note_moved_command(ftl, lun->reads.head, other->index);
	aftl_command_queue_append(ftl, &other->reads, aftl_command_queue_pop(ftl, &lun->reads));
	aftl_wake_lun_for_read(ftl, other);
	return true;
}

/* Serve the first page of the oldest read from the read cache, if the cache has the page by now. */
static bool serve_oldest_read_from_cache(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	struct aftl_read_cache_entry *recent = aftl_read_cache_find_ready(ftl, command->lpn);

	if (!recent)
		return false;
	aftl_deliver_cached_page(ftl, command->request, recent);
	read_finish_first_page_of_command(ftl, lun, lun->reads.head);
	return true;
}

/* Find the read-ahead command that covers @lpn. */
static u32 read_find_read_ahead_command(const struct aftl *ftl, const struct aftl_lun *lun,
					aftl_lpn_t lpn)
{
	u32 index = lun->prefetches.head;

	while (index != AFTL_NIL &&
	       from_lpn(lpn) - from_lpn(ftl->commands[index].lpn) >= ftl->commands[index].units)
		index = ftl->commands[index].next;
	return index;
}

/*
 * If a read-ahead command covers the oldest host read, run it first, without the pages before that
 * read: it returns more of the same flash page, which a sequential reader needs next.
 */
static noinline void read_promote_ahead(struct aftl *ftl, struct aftl_lun *lun)
{
	aftl_lpn_t lpn = ftl->commands[lun->reads.head].lpn;
	u32 index = read_find_read_ahead_command(ftl, lun, lpn);
	struct aftl_command *command;

	if (index == AFTL_NIL || !ftl->commands[lun->reads.head].request)
		return;
	command = &ftl->commands[index];
	command->units -= from_lpn(lpn) - from_lpn(command->lpn);
	command->lpn = lpn;
	aftl_command_queue_remove(ftl, &lun->prefetches, index);
	aftl_command_queue_push_front(ftl, &lun->reads, index);
}

/*
 * Serve the oldest reads from the read cache as long as it has their data.
 *
 * Return: true if the LUN waits for a reconstruction; the reads behind that one wait, too.
 */
static noinline bool read_serve_cached_heads(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->reconstruct.kind)
		return true;
	while (ftl->read_cache.count && lun->reads.head != AFTL_NIL &&
	       serve_oldest_read_from_cache(ftl, lun))
		;
	return false;
}

/* Let the last @units pages of command @index wait until @device_page is reconstructed. */
static noinline void read_wait_for_reconstruct(struct aftl *ftl, struct aftl_lun *lun, u32 index,
					       u32 units, u32 device_page, u64 service_ns)
{
	lun->reconstruct.wanted = false;
	lun->reconstruct.commands = index;
	lun->reconstruct.units = units;
	lun->reconstruct.service_ns = service_ns;
	aftl_reconstruct_begin(ftl, lun, AFTL_RECONSTRUCT_READ, device_page);
}

/* Limit of the commands after the oldest read that may join a multi-plane read with it. */
#define READ_MERGE_SCAN 32

/* Return true if the chip can sense @page and @with, in different planes, together. */
static bool can_sense_planes_together(const struct aftl *ftl, u32 page, u32 with)
{
	const struct aftl_geometry *geo = &ftl->geo;
	u32 planes = geo->planes_wide;

	switch (ftl->config.multi_plane_read) {
	case AFTL_PLANE_READ_SAME_BLOCK:
		return page / planes == with / planes;
	case AFTL_PLANE_READ_ANY_BLOCK:
		return page % geo->pages / planes == with % geo->pages / planes &&
		       ftl->media.blocks[page / geo->pages].bits ==
			       ftl->media.blocks[with / geo->pages].bits;
	default:
		return true;
	}
}

/* True if a flash page of @lun has all pages of @command, none of them buffered or cached. */
static bool read_command_is_in_one_page(struct aftl *ftl, const struct aftl_lun *lun,
					const struct aftl_command *command, aftl_ppn_t *ppn)
{
	aftl_ppn_t other;
	u32 i;

	if (!command->request || !aftl_l2p_lookup(ftl, command->lpn, ppn) ||
	    aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, *ppn)) != lun)
		return false;
	for (i = 0; i < command->units; i++) {
		aftl_lpn_t lpn = to_lpn(from_lpn(command->lpn) + i);

		if (!aftl_l2p_lookup(ftl, lpn, &other) ||
		    aftl_flash_page_of_ppn(ftl, other) != aftl_flash_page_of_ppn(ftl, *ppn) ||
		    (ftl->read_cache.count && aftl_read_cache_find(ftl, lpn)))
			return false;
	}
	return true;
}

/* Move command @index, the one after @before in the LUN's read queue, to the place after @tail. */
static void move_command_within_read_queue(struct aftl *ftl, struct aftl_lun *lun, u32 index,
					   u32 before, u32 tail)
{
	ftl->commands[before].next = ftl->commands[index].next;
	if (lun->reads.tail == index)
		lun->reads.tail = before;
	ftl->commands[index].next = ftl->commands[tail].next;
	ftl->commands[tail].next = index;
}

static u64 sense_page_for_multi_plane_read(struct aftl *ftl, struct aftl_command *command,
					   aftl_ppn_t ppn)
{
	command->sensed = command->units;
	command->sensed_page = aftl_flash_page_of_ppn(ftl, ppn);
	return aftl_read_sense_page(ftl, command, ppn);
}

/*
 * Let waiting reads of other planes join the oldest read of @lun, which senses @page in @ns. Their
 * commands then follow it at the head of the queue. A page that must be reconstructed ends the
 * group, because lun->reconstruct.wanted stands for the last one.
 *
 * @ns becomes the sensing time of the slowest page, @ready_ns the time at which the last of the
 * reads was queued.
 *
 * Return: how many reads join.
 */
static noinline u32 read_merge_planes(struct aftl *ftl, struct aftl_lun *lun, u32 page, u64 *ns,
				      u64 *ready_ns)
{
	u32 tail = lun->reads.head;
	u32 before = tail;
	u32 index = ftl->commands[tail].next;
	u32 taken = BIT(page % ftl->geo.planes_wide);
	u32 count = 0;
	u32 scan;

	for (scan = 0; index != AFTL_NIL && scan < READ_MERGE_SCAN; scan++) {
		u32 next = ftl->commands[index].next;
		u32 plane = 0;
		bool joins = false;
		aftl_ppn_t ppn;
		u64 plane_ns;

		if (lun->reconstruct.wanted || count + 1 == ftl->geo.planes_wide)
			break;
		if (read_command_is_in_one_page(ftl, lun, &ftl->commands[index], &ppn)) {
			plane = aftl_flash_page_of_ppn(ftl, ppn) % ftl->geo.planes_wide;
			joins = !(taken & BIT(plane)) &&
				can_sense_planes_together(ftl, aftl_flash_page_of_ppn(ftl, ppn),
							  page);
		}
		if (joins) {
			taken |= BIT(plane);
			count++;
			plane_ns = sense_page_for_multi_plane_read(ftl, &ftl->commands[index], ppn);
			*ns = max(*ns, plane_ns);
			*ready_ns = max(*ready_ns, ftl->commands[index].queued_ns);
			if (before != tail)
				move_command_within_read_queue(ftl, lun, index, before, tail);
			tail = index;
		}
		if (!joins || ftl->commands[before].next == index)
			before = index;
		index = next;
	}
	return count;
}

/* Sense @page for the @units first pages of the oldest read; reads of other planes may join it. */
static void read_sense_page_of_oldest_command(struct aftl *ftl, struct aftl_lun *lun, u32 page,
					      u64 ns, u32 units)
{
	u32 index = lun->reads.head;
	u64 ready_ns = ftl->commands[index].queued_ns;
	u32 joined = 0;
	u32 i;

	if (ftl->geo.planes_wide > 1 && ftl->config.multi_plane_read &&
	    ftl->commands[index].request && !ftl->commands[index].units &&
	    ftl->commands[index].next != AFTL_NIL)
		joined = read_merge_planes(ftl, lun, page, &ns, &ready_ns);
	ftl->stats.counters.multi_plane_reads += joined > 0;
	for (i = 0; i < joined; i++) {
		index = ftl->commands[index].next;
		aftl_array_count_multi_plane_page(ftl, lun, ftl->commands[index].sensed_page,
						  ready_ns);
	}
	lun->work.commands = lun->reads.head;
	aftl_array_sense(ftl, lun, AFTL_WORK_READ, page, ns, units, ready_ns);
	lun->work.planes = joined;
}

/* Complete @units pages of read command @index, which need no read of this LUN's array. */
static noinline void read_end(struct aftl *ftl, struct aftl_lun *lun, u32 index, u32 units,
			      u64 service_ns)
{
	struct aftl_request *request = ftl->commands[index].request;

	if (ftl->waits)
		aftl_note_ended_command(ftl, index, service_ns);
	if (!ftl->commands[index].units)
		read_free_oldest_command(ftl, lun);
	aftl_complete_parts_of_request(ftl, request, units, service_ns);
}

/*
 * The LUN died after a multi-plane read had sensed and delivered its oldest read. Let the read wait
 * until RAIN reconstructs its page; end it if the page is lost or no longer mapped.
 */
static noinline bool read_end_delivered(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 index = lun->reads.head;
	struct aftl_command *command = &ftl->commands[index];
	u32 units = command->units;
	aftl_ppn_t ppn;
	bool mapped = aftl_l2p_lookup(ftl, command->lpn, &ppn) &&
		      aftl_flash_page_of_ppn(ftl, ppn) == command->sensed_page;
	bool lost = mapped && aftl_ppn_is_lost_with_dead_lun(ftl, ppn);

	for (; command->units; command->units--) {
		if (lost)
			aftl_deliver_lost_page(ftl, command->request, command->lpn);
		command->lpn = to_lpn(from_lpn(command->lpn) + 1);
	}
	if (mapped && !lost)
		read_wait_for_reconstruct(ftl, lun, index, units, command->sensed_page, 0);
	else
		read_end(ftl, lun, index, units, 0);
	return mapped && !lost;
}

static bool is_data_of_oldest_read_delivered(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return !lun->reconstruct.kind && lun->reads.head != AFTL_NIL &&
	       ftl->commands[lun->reads.head].request && ftl->commands[lun->reads.head].sensed;
}

/**
 * aftl_read_start_oldest_command() - sense the flash page that the oldest read of @lun needs
 * @ftl: device
 * @lun: LUN, whose array is free, or which is dead and has RAIN
 *
 * Return: false if no read needs this array.
 */
bool aftl_read_start_oldest_command(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command;
	aftl_ppn_t ppn;
	u32 units;
	u64 ns;

	while (unlikely(aftl_lun_is_dead(lun)) && is_data_of_oldest_read_delivered(ftl, lun))
		if (read_end_delivered(ftl, lun))
			return true;
	do {
		if (ftl->reads_are_tracked && read_serve_cached_heads(ftl, lun))
			return false;
	} while (lun->reads.head != AFTL_NIL && handle_oldest_read_without_sensing(ftl, lun));
	if (lun->reads.head == AFTL_NIL)
		return false;
	if (lun->prefetches.head != AFTL_NIL)
		read_promote_ahead(ftl, lun);
	command = &ftl->commands[lun->reads.head];
	if (!aftl_l2p_lookup(ftl, command->lpn, &ppn))
		return false;
	if (!command->request && from_lpn(command->lpn) >= ftl->geo.units) {
		aftl_array_sense_trans_page(ftl, lun, AFTL_WORK_TP_LOAD, ppn);
		return true;
	}
	units = command->units;
	ns = aftl_read_sense_page(ftl, command, ppn);
	/* The service time of a read of a dead LUN is that of the reads of its stripe. */
	if (unlikely(aftl_lun_is_dead(lun))) {
		read_wait_for_reconstruct(ftl, lun, lun->reads.head, units - command->units,
					  aftl_flash_page_of_ppn(ftl, ppn), 0);
		return true;
	}
	read_sense_page_of_oldest_command(ftl, lun, aftl_flash_page_of_ppn(ftl, ppn), ns,
					  units - command->units);
	return true;
}

/**
 * aftl_read_transfer_next_plane() - transfer the data of the next plane of a multi-plane read
 * @ftl: device
 * @lun: LUN whose last transfer has ended; work.planes is not 0
 */
void aftl_read_transfer_next_plane(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];

	lun->work.planes--;
	lun->work.commands = lun->reads.head;
	lun->work.units = command->sensed;
	lun->work.device_page = command->sensed_page;
	/*
	 * The end of the last plane's transfer adds the whole service time of the multi-plane read
	 * to busy_ns, so subtract what this transfer has added.
	 */
	lun->busy_ns -= lun->work.service_ns;
	aftl_array_transfer_sensed_data(ftl, lun);
}

/* Return true if the page of @command is still in @lun, and neither buffered nor cached. */
static bool read_ahead_is_wanted(struct aftl *ftl, const struct aftl_lun *lun,
				 const struct aftl_command *command)
{
	aftl_ppn_t ppn;

	return aftl_l2p_lookup(ftl, command->lpn, &ppn) &&
	       aftl_block_lun(ftl, aftl_block_of_ppn(&ftl->media, ppn)) == lun &&
	       !aftl_lpn_is_buffered(ftl, command->lpn) && !aftl_read_cache_find(ftl, command->lpn);
}

/**
 * aftl_read_ahead_start() - start the next read-ahead of @lun
 * @ftl: device
 * @lun: LUN with a free array
 *
 * Called while no host read waits. The command becomes the first host read of the LUN.
 *
 * Return: false if no queued read-ahead of @lun is still useful.
 */
bool aftl_read_ahead_start(struct aftl *ftl, struct aftl_lun *lun)
{
	while (lun->prefetches.head != AFTL_NIL && lun->reads.head == AFTL_NIL) {
		u32 index = aftl_command_queue_pop(ftl, &lun->prefetches);

		if (!ftl->suspending && read_ahead_is_wanted(ftl, lun, &ftl->commands[index])) {
			aftl_command_queue_push_front(ftl, &lun->reads, index);
			return aftl_read_start_oldest_command(ftl, lun);
		}
		aftl_command_free(ftl, index, false);
	}
	return false;
}

/*
 * Mark the pages that the array has returned as present in the read cache.
 *
 * Return: true for a read-ahead, which has no request to complete.
 */
static bool read_mark_cache_entries_ready(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	struct aftl_read_cache_entry *recent;
	struct aftl_block *block;
	u32 i;

	for (i = 1; i <= lun->work.units; i++) {
		recent = aftl_read_cache_find(ftl, to_lpn(from_lpn(command->lpn) - i));
		block = recent ? aftl_block_of_ppn(&ftl->media, recent->ppn) : NULL;
		if (recent && aftl_block_lun(ftl, block) == lun)
			recent->flags |= AFTL_READ_CACHE_READY;
	}
	if (command->request)
		return false;
	read_free_oldest_command(ftl, lun);
	return true;
}

/* Return true if the read ends no request: a reconstruction follows, or it was read-ahead. */
static noinline bool read_end_special(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_work *work = &lun->work;

	if (ftl->waits)
		aftl_note_ended_command(ftl, work->commands, work->service_ns);
	if (ftl->read_cache.count && read_mark_cache_entries_ready(ftl, lun))
		return true;
	if (!lun->reconstruct.wanted || work->planes)
		return false;
	read_wait_for_reconstruct(ftl, lun, work->commands, work->units, work->device_page,
				  work->service_ns);
	return true;
}

/**
 * aftl_read_handle_arrived_data() - complete the parts of requests that have got data
 * @ftl: device
 * @lun: its LUN
 * @service_ns: time of array and channel
 *
 * Return: false if no request got data: it was read-ahead, or the page must be reconstructed.
 */
bool aftl_read_handle_arrived_data(struct aftl *ftl, struct aftl_lun *lun, u64 service_ns)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	struct aftl_request *request = command->request;

	if (ftl->reads_are_tracked && read_end_special(ftl, lun))
		return false;
	if (!command->units)
		read_free_oldest_command(ftl, lun);
	aftl_complete_parts_of_request(ftl, request, lun->work.units, service_ns);
	return true;
}

/**
 * aftl_read_complete_reconstructed_page() - end the host read that waited for a reconstruction
 * @ftl: device
 * @lun: its LUN
 * @repair: the finished reconstruction
 */
void aftl_read_complete_reconstructed_page(struct aftl *ftl, struct aftl_lun *lun,
					   const struct aftl_reconstruct *repair)
{
	read_end(ftl, lun, repair->commands, repair->units, repair->service_ns);
}

/**
 * aftl_read_fail_reconstruction() - a LUN of the stripe died: fail the reconstruction
 * @ftl: device
 * @lun: LUN whose host read waits for a page of the dead LUN
 *
 * Deliver the pages again, as lost: at sensing time the host was told how to get their data.
 */
void aftl_read_fail_reconstruction(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->reconstruct.commands];
	u32 i;

	for (i = 1; i <= lun->reconstruct.units; i++)
		aftl_deliver_lost_page(ftl, command->request, to_lpn(from_lpn(command->lpn) - i));
}

/* The LUN dies: queue again those reads of its multi-plane read whose data were not transferred. */
static void read_abort_untransferred_planes(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 index = lun->work.commands;

	for (; lun->work.planes; lun->work.planes--) {
		struct aftl_command *command = &ftl->commands[ftl->commands[index].next];

		index = ftl->commands[index].next;
		command->units = command->sensed;
		command->lpn = to_lpn(from_lpn(command->lpn) - command->units);
	}
}

/**
 * aftl_read_abort_running_read() - end the host read of a LUN that dies
 * @ftl: device
 * @lun: LUN
 *
 * With RAIN the read waits for a reconstruction, else its pages are lost.
 */
void aftl_read_abort_running_read(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	u32 i;

	/*
	 * Nothing is aborted if the LUN reads a translation page: the host read is still queued.
	 */
	if (lun->work.kind != AFTL_WORK_READ ||
	    (lun->work.phase != AFTL_PHASE_SENSE && lun->work.phase != AFTL_PHASE_DATA_OUT))
		return;
	read_abort_untransferred_planes(ftl, lun);
	if (aftl_has_rain(ftl)) {
		read_wait_for_reconstruct(ftl, lun, lun->work.commands, lun->work.units,
					  lun->work.device_page, 0);
		return;
	}
	if (!command->request) {
		read_free_oldest_command(ftl, lun);
		return;
	}
	for (i = 1; i <= lun->work.units; i++)
		aftl_deliver_lost_page(ftl, command->request, to_lpn(from_lpn(command->lpn) - i));
	read_end(ftl, lun, lun->work.commands, lun->work.units, 0);
}

/**
 * aftl_read_fail_queued_reads() - end the queued reads of a dead LUN
 * @ftl: device
 * @lun: dead LUN
 *
 * With RAIN they stay, and the scheduler reconstructs them one by one.
 */
void aftl_read_fail_queued_reads(struct aftl *ftl, struct aftl_lun *lun)
{
	if (aftl_has_rain(ftl)) {
		aftl_mark_lun_runnable(ftl, lun);
		return;
	}
	while (lun->reads.head != AFTL_NIL)
		read_finish_unmapped_page(ftl, lun, true);
	while (lun->prefetches.head != AFTL_NIL)
		aftl_command_free(ftl, aftl_command_queue_pop(ftl, &lun->prefetches), false);
}
