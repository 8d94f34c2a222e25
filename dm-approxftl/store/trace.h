/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: requests of the host, their completions, and operations of the flash arrays.
 *
 * The stream of aftl_submit events is exact: a simulator that submits the same requests at the same
 * device times ends in the same state. seq counts the requests of a disk from 0, so that a reader
 * can sort them and detect a missing one. With shards, units, LUNs, blocks and seq are the shard's.
 *
 * Fields are numbers; the values of op, class, status and others are those of core/ftl/ftl.h. Times
 * ending in _ns are device time, except late_ns. aftl_submit is emitted under the disk's lock.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM approxftl

#if !defined(AFTL_STORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define AFTL_STORE_TRACE_H

#include <linux/tracepoint.h>

#include "store/disk-types.h"
#include "store/io.h"

/* The FTL has taken a request. */
TRACE_EVENT(aftl_submit,
	TP_PROTO(const struct aftl_disk *disk, const struct aftl_request *request),
	TP_ARGS(disk, request),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, seq)
		__field(u64, at_ns)
		__field(u32, unit)
		__field(u32, units)
		__field(u32, unit_bytes)
		__field(u8, op)
		__field(u8, class)
		__field(u8, fua)
		__field(u8, queue)
		__field(u8, life)
		__field(u8, stream)
		__field(u8, shard)
	),
	TP_fast_assign(
		__entry->dev = disk->dev;
		__entry->seq = disk->submitted;
		__entry->at_ns = request->arrival_ns;
		__entry->unit = request->unit;
		__entry->units = request->units;
		__entry->unit_bytes = aftl_disk_unit_sectors(disk) << SECTOR_SHIFT;
		__entry->op = request->op;
		__entry->class = request->class;
		__entry->fua = request->flags & AFTL_REQUEST_FUA;
		__entry->queue = request->queue;
		__entry->life = request->hint.life;
		__entry->stream = request->hint.stream;
		__entry->shard = disk->shard;
	),
	TP_printk("dev=%u,%u seq=%llu at_ns=%llu op=%u unit=%u units=%u unit_bytes=%u class=%u fua=%u queue=%u life=%u stream=%u shard=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->seq, __entry->at_ns,
		  __entry->op, __entry->unit, __entry->units, __entry->unit_bytes,
		  __entry->class, __entry->fua, __entry->queue, __entry->life,
		  __entry->stream, __entry->shard)
);

/* A request completes; late_ns is host time from when it was due until now. */
TRACE_EVENT(aftl_complete,
	TP_PROTO(const struct aftl_disk *disk, const struct aftl_request *request, u64 late_ns),
	TP_ARGS(disk, request, late_ns),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, at_ns)
		__field(u64, response_ns)
		__field(u64, service_ns)
		__field(u64, late_ns)
		__field(u32, unit)
		__field(u32, units)
		__field(s32, status)
		__field(u8, op)
		__field(u8, class)
		__field(u8, shard)
	),
	TP_fast_assign(
		__entry->dev = disk->dev;
		__entry->at_ns = request->complete_ns;
		__entry->response_ns = request->complete_ns - request->arrival_ns;
		__entry->service_ns = request->service_ns;
		__entry->late_ns = late_ns;
		__entry->unit = request->unit;
		__entry->units = request->units;
		__entry->status = request->status;
		__entry->op = request->op;
		__entry->class = request->class;
		__entry->shard = disk->shard;
	),
	TP_printk("dev=%u,%u at_ns=%llu op=%u unit=%u units=%u class=%u status=%d response_ns=%llu service_ns=%llu late_ns=%llu shard=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->at_ns, __entry->op,
		  __entry->unit, __entry->units, __entry->class, __entry->status,
		  __entry->response_ns, __entry->service_ns, __entry->late_ns, __entry->shard)
);

/* The array of a LUN starts, suspends or resumes an operation. */
TRACE_EVENT(aftl_array,
	TP_PROTO(const struct aftl_disk *disk, const struct aftl_array_event *event),
	TP_ARGS(disk, event),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, at_ns)
		__field(u64, array_ns)
		__field(u32, lun)
		__field(u32, block)
		__field(u32, page)
		__field(u32, pages)
		__field(u8, op)
		__field(u8, mode)
		__field(u8, cause)
		__field(u8, shard)
	),
	TP_fast_assign(
		__entry->dev = disk->dev;
		__entry->at_ns = event->begin_ns;
		__entry->array_ns = event->array_ns;
		__entry->lun = event->lun;
		__entry->block = event->block;
		__entry->page = event->page;
		__entry->pages = event->pages;
		__entry->op = event->op;
		__entry->mode = event->mode;
		__entry->cause = event->cause;
		__entry->shard = disk->shard;
	),
	TP_printk("dev=%u,%u at_ns=%llu op=%u lun=%u block=%u page=%u pages=%u mode=%u cause=%u array_ns=%llu shard=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->at_ns, __entry->op,
		  __entry->lun, __entry->block, __entry->page, __entry->pages, __entry->mode,
		  __entry->cause, __entry->array_ns, __entry->shard)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH store
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
