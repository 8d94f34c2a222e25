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

/*
 * Fail if @bytes are more than the available memory: the core allocates large arrays in chunks,
 * each of which Linux would grant until other tasks have no memory.
 */
static void *host_alloc_memory(void *host, size_t bytes)
{
	const struct aftl_disk *disk = host;

	if ((long)(bytes >> PAGE_SHIFT) >= si_mem_available())
		return NULL;
	return kvzalloc_node(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
			     disk ? disk->node : NUMA_NO_NODE);
}

static void host_free_memory(void *host, void *memory, size_t bytes)
{
	kvfree(memory);
}

/* The FTL calls pause() during creation, fill, save, load and audit; no spinlock is held. */
static int host_yield_in_long_call(void *host)
{
	const struct aftl_disk *disk = host;

	cond_resched();
	return fatal_signal_pending(disk && disk->maker ? disk->maker : current) ? -EINTR : 0;
}

static void add_completed_request(struct aftl_disk *disk, struct aftl_request *request)
{
	request->next = NULL;
	if (disk->done)
		disk->done_tail->next = request;
	else
		disk->done = request;
	disk->done_tail = request;
}

static void host_queue_completed_request(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;

	lockdep_assert_held(&disk->lock);
	add_completed_request(disk, request);
}

static void host_accept_write(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	struct aftl_disk *disk = host;

	disk->store->type->accept(disk->store, lpn, tag, &aftl_request_io(request)->bytes);
}

static void host_read_lpn(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	if (likely(!read->lost))
		aftl_io_pin_page_or_copy_at_once(host, aftl_request_io(request), read);
}

/* Free the data of a zone that is being reset. The bio of a discard frees the discarded data. */
static void host_unmap_zone_data(void *host, aftl_lpn_t first, u32 units)
{
	struct aftl_disk *disk = host;
	LIST_HEAD(bytes);

	disk->store->type->forget(disk->store, first, units, &bytes);
	disk->store->type->release(disk->store, &bytes);
}

static void host_trace_array_operation(void *host, const struct aftl_array_event *event)
{
	trace_aftl_array(host, event);
}

const struct aftl_host_ops aftl_host_memory = {
	.alloc = host_alloc_memory,
	.free = host_free_memory,
	.pause = host_yield_in_long_call,
	.complete = host_queue_completed_request,
	.accept = host_accept_write,
	.unmapping = host_unmap_zone_data,
	.read = host_read_lpn,
	.array = host_trace_array_operation,
};

/* Callbacks of a disk with a durable store, which has to follow all relocations */

static struct aftl_dev *host_to_dev_store(void *host)
{
	return ((struct aftl_disk *)host)->durable;
}

static bool is_page_reprogrammed(const struct aftl *ftl, aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(ftl);

	return aftl_get_reprogram_count_of_page(aftl_ppn_attr(media, ppn));
}

static void durable_store_complete_request(void *host, struct aftl_request *request)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	lockdep_assert_held(&disk->lock);
	if (io->commits && !request->status)
		aftl_dev_queue_flush(disk->durable, io);
	else if (!io->fetches || aftl_dev_put_io_reference(io))
		add_completed_request(disk, request);
}

static void durable_read_lpn(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct aftl_disk *disk = host;
	struct aftl_io *io = aftl_request_io(request);

	if (read->lost)
		return;
	if (read->source == AFTL_SOURCE_ZERO)
		aftl_copy_to_bio(aftl_io_bio(io), aftl_io_lpn_offset(disk, io, read->lpn), NULL);
	else
		aftl_dev_read_unit(disk->durable, io, read);
}

static void durable_queue_buffered_write(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	struct aftl_disk *disk = host;

	aftl_dev_queue_buffered_write(disk->durable, tag, ppn,
				      is_page_reprogrammed(disk->ftl, ppn));
}

static void durable_queue_copy_of_ppn(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to)
{
	struct aftl_disk *disk = host;

	aftl_dev_queue_copy_of_ppn(disk->durable, from, to, is_page_reprogrammed(disk->ftl, to));
}

static void durable_release_buffer_tag(void *host, u32 tag)
{
	aftl_dev_release_buffer_tag(host_to_dev_store(host), tag);
}

static void durable_record_program(void *host, aftl_ppn_t first)
{
	aftl_dev_queue_program_record(host_to_dev_store(host), first);
}

static void durable_queue_unmap(void *host, aftl_lpn_t first, u32 units)
{
	aftl_dev_queue_unmap(host_to_dev_store(host), first, units);
}

static void durable_queue_zone_state(void *host, u32 zone, enum aftl_zone_state state)
{
	aftl_dev_queue_zone_state(host_to_dev_store(host), zone, state);
}

static void durable_queue_erase(void *host, aftl_ppn_t first, u32 slots)
{
	aftl_dev_queue_erase(host_to_dev_store(host), from_ppn(first) / slots);
}

static void durable_queue_block_retirement(void *host, u32 first, u32 blocks)
{
	aftl_dev_queue_block_retirement(host_to_dev_store(host), first, blocks);
}

static void durable_accept_write(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	host_accept_write(host, request, lpn, tag);
	aftl_dev_record_write_submitter(host_to_dev_store(host), tag,
					aftl_io_bio(aftl_request_io(request)));
	/* On a zoned device a flush persists the pages that are not programmed until then. */
	if (host_to_dev_store(host)->safe)
		aftl_dev_persist_unflushable_page(host_to_dev_store(host), tag);
}

static void durable_persist_unflushable_page(void *host, u32 tag)
{
	aftl_dev_persist_unflushable_page(host_to_dev_store(host), tag);
}

/* Set an error of the block device, so that the worker drops all operations not yet executed. */
static void durable_drop_unexecuted_ops(void *host)
{
	aftl_bdev_set_error(&host_to_dev_store(host)->device, -EIO);
}

const struct aftl_host_ops aftl_host_durable = {
	.alloc = host_alloc_memory,
	.free = host_free_memory,
	.pause = host_yield_in_long_call,
	.complete = durable_store_complete_request,
	.accept = durable_accept_write,
	.program = durable_queue_buffered_write,
	.unstored = durable_persist_unflushable_page,
	.release = durable_release_buffer_tag,
	.copy = durable_queue_copy_of_ppn,
	.programmed = durable_record_program,
	.unmap = durable_queue_unmap,
	.zone = durable_queue_zone_state,
	.cut_power = durable_drop_unexecuted_ops,
	.erase = durable_queue_erase,
	.retire = durable_queue_block_retirement,
	.array = host_trace_array_operation,
	.read = durable_read_lpn,
};
