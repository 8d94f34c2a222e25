// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callbacks of the FTL (struct aftl_host_ops), for stores in memory and for the durable store.
 *
 * alloc(), free() and pause() are called without a spinlock. The FTL calls the others under the
 * disk's lock; those of the durable store take @lock of struct aftl_dev inside it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "store/disk-types.h"
#include "store/dev.h"
#include "store/io.h"
#include "store/trace.h"

/* The core allocates large arrays in chunks: fail before they take the memory of other tasks. */
static void *host_alloc(void *host, size_t bytes)
{
	const struct aftl_disk *disk = host;

	if ((long)(bytes >> PAGE_SHIFT) >= si_mem_available())
		return NULL;
	return kvzalloc_node(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
			     disk ? disk->node : NUMA_NO_NODE);
}

static void host_free(void *host, void *memory, size_t bytes)
{
	kvfree(memory);
}

/* Called while a device is created, filled, saved, loaded or checked; no spinlock is held. */
static int host_pause(void *host)
{
	const struct aftl_disk *disk = host;

	cond_resched();
	return fatal_signal_pending(disk && disk->maker ? disk->maker : current) ? -EINTR : 0;
}

static void add_done(struct aftl_disk *disk, struct aftl_request *request)
{
	request->next = NULL;
	if (disk->done)
		disk->done_tail->next = request;
	else
		disk->done = request;
	disk->done_tail = request;
}

static void host_complete(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;

	lockdep_assert_held(&disk->lock);
	add_done(disk, request);
}

static void host_accept(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	struct aftl_disk *disk = host;

	disk->store->type->accept(disk->store, lpn, tag, &aftl_request_io(request)->bytes);
}

static void host_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	if (likely(!read->lost))
		aftl_io_hold(host, aftl_request_io(request), read);
}

/* Free the data of a zone that is being reset. The data of a discard are freed with its bio. */
static void host_unmapping(void *host, aftl_lpn_t first, u32 units)
{
	struct aftl_disk *disk = host;
	LIST_HEAD(bytes);

	disk->store->type->forget(disk->store, first, units, &bytes);
	disk->store->type->release(disk->store, &bytes);
}

static void host_array(void *host, const struct aftl_array_event *event)
{
	trace_aftl_array(host, event);
}

const struct aftl_host_ops aftl_host_memory = {
	.alloc = host_alloc,
	.free = host_free,
	.pause = host_pause,
	.complete = host_complete,
	.accept = host_accept,
	.unmapping = host_unmapping,
	.read = host_read,
	.array = host_array,
};

/* Callbacks of a disk with a durable store, which has to follow all relocations */

static struct aftl_dev *host_dev(void *host)
{
	return ((struct aftl_disk *)host)->durable;
}

static bool programmed_again(const struct aftl *ftl, aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(ftl);

	return aftl_page_reprograms(aftl_ppn_attr(media, ppn));
}

static void durable_complete(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	lockdep_assert_held(&disk->lock);
	if (io->commits && !request->status)
		aftl_dev_commit(disk->durable, io);
	else if (!io->fetches || aftl_dev_reads_done(io))
		add_done(disk, request);
}

static void durable_read(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	if (read->lost)
		return;
	if (read->source == AFTL_SOURCE_ZERO)
		aftl_copy_to_bio(aftl_io_bio(io), aftl_io_position(disk, io, read->lpn), NULL);
	else
		aftl_dev_read(disk->durable, io, read);
}

static void durable_program(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	struct aftl_disk *disk = host;

	aftl_dev_program(disk->durable, tag, ppn, programmed_again(disk->ftl, ppn));
}

static void durable_copy(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to)
{
	struct aftl_disk *disk = host;

	aftl_dev_copy(disk->durable, from, to, programmed_again(disk->ftl, to));
}

static void durable_release(void *host, u32 tag)
{
	aftl_dev_release(host_dev(host), tag);
}

static void durable_programmed(void *host, aftl_ppn_t first)
{
	aftl_dev_programmed(host_dev(host), first);
}

static void durable_unmap(void *host, aftl_lpn_t first, u32 units)
{
	aftl_dev_unmap(host_dev(host), first, units);
}

static void durable_zone(void *host, u32 zone, enum aftl_zone_state state)
{
	aftl_dev_zone(host_dev(host), zone, state);
}

static void durable_erase(void *host, aftl_ppn_t first, u32 slots)
{
	aftl_dev_erase(host_dev(host), from_ppn(first) / slots);
}

static void durable_retire(void *host, u32 first, u32 blocks)
{
	aftl_dev_retire(host_dev(host), first, blocks);
}

static void durable_accept(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	host_accept(host, request, lpn, tag);
	aftl_dev_brought(host_dev(host), tag, aftl_io_bio(aftl_request_io(request)));
	aftl_dev_keep_now(host_dev(host), tag);
}

static void durable_unstored(void *host, u32 tag)
{
	aftl_dev_keep_now(host_dev(host), tag);
}

const struct aftl_host_ops aftl_host_durable = {
	.alloc = host_alloc,
	.free = host_free,
	.pause = host_pause,
	.complete = durable_complete,
	.accept = durable_accept,
	.program = durable_program,
	.unstored = durable_unstored,
	.release = durable_release,
	.copy = durable_copy,
	.programmed = durable_programmed,
	.unmap = durable_unmap,
	.zone = durable_zone,
	.erase = durable_erase,
	.retire = durable_retire,
	.array = host_array,
	.read = durable_read,
};
