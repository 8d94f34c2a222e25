/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An emulated SSD that threads read and write in real time: the FTL, the clock that drives it, and
 * a store for the data.
 *
 * No thread belongs to the device. The threads that wait for their requests advance it: one of them
 * sleeps until the next event. While no request is in flight device time stands still; the next
 * request first lets it catch up, which leads to the same state (see core/ftl/ftl.h).
 */
#ifndef AFTL_NBD_DEVICE_H
#define AFTL_NBD_DEVICE_H

#include <pthread.h>

#include "core/ftl/ftl.h"
#include "core-memory.h"
#include "target-line.h"
#include "timer-lead.h"

#define NBD_SECTOR 512

/* Flags of a logical page, which nbd_device.pages stores beside the page's quality level. */
#define NBD_PAGE_LEVEL 0x03
#define NBD_PAGE_DATA 0x80

struct nbd_job;
struct nbd_volume;

/**
 * struct nbd_device - the device
 * @lock: protects the FTL, and all members but @late
 * @ftl: FTL
 * @geo: its geometry
 * @line: table line: the options of the device
 * @bytes: exported size
 * @pages: by lpn, NBD_PAGE_*
 * @data: store in memory: data by lpn; else NULL
 * @volume: store in a volume; else NULL
 * @start_ns: device time at @start_host_ns
 * @start_host_ns: host time since which device time passes
 * @armed_ns: earliest host time at which a waiting thread wakes up; U64_MAX if there is none
 * @timer_lead: how much earlier than @armed_ns the timer of a waiting thread is set
 * @waiting: jobs of waiting threads
 * @late_lock: protects @late
 * @late: host time from when a job was due until its thread went on
 */
struct nbd_device {
	pthread_mutex_t lock;
	struct aftl *ftl;
	const struct aftl_geometry *geo;
	struct target_line line;
	u64 bytes;
	u8 *pages;
	u8 *data;
	struct nbd_volume *volume;
	u64 start_ns;
	u64 start_host_ns;
	u64 armed_ns;
	struct timer_lead timer_lead;
	struct nbd_job *waiting;
	pthread_mutex_t late_lock;
	struct aftl_histogram late;
};

/**
 * nbd_device_open() - create the device and fill it as configured, or load it from its volume
 * @device: @line, @bytes and @volume are set
 * @error: takes the message on failure
 *
 * Return: 0 or a negative error number.
 */
int __must_check nbd_device_open(struct nbd_device *device, struct aftl_error *error);

/*
 * Program all data of the write buffer, whatever device time that takes, and save the device in its
 * volume. No request is in flight. Return: 0 or a negative error number.
 */
int __must_check nbd_device_save(struct nbd_device *device, struct aftl_error *error);

/* Destroy the device; no request is in flight. */
void nbd_device_close(struct nbd_device *device);

/**
 * nbd_device_execute_request() - execute a request, and wait until it is complete
 * @device: device
 * @op: operation
 * @bytes: data of a read or write
 * @offset: first byte, a multiple of NBD_SECTOR, as @count
 * @count: number of bytes
 * @fua: complete when the change is durable
 *
 * Return: 0 or a negative error number.
 */
int nbd_device_execute_request(struct nbd_device *device, enum aftl_op op, void *bytes, u64 offset,
			       u32 count, bool fua);

/* Take the device's lock and advance the device to the present. */
void nbd_device_lock_and_advance(struct nbd_device *device);
void nbd_device_unlock(struct nbd_device *device);

/* For the store in a volume */

/* Allocate @pages, and find out which logical pages have data. */
int __must_check nbd_device_init_page_flags(struct nbd_device *device, struct aftl_error *error);

void nbd_device_complete_request(void *host, struct aftl_request *request);
void nbd_device_accept_write(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag);
void nbd_device_read_lpn(void *host, struct aftl_request *request, const struct aftl_read *read);
void nbd_device_unmap_lpns(void *host, aftl_lpn_t first, u32 units);

/* Callbacks of the FTL that all stores share */
#define NBD_DEVICE_OPS				\
	.alloc = core_memory_alloc,		\
	.free = core_memory_free,		\
	.complete = nbd_device_complete_request,	\
	.accept = nbd_device_accept_write,		\
	.read = nbd_device_read_lpn

#endif
