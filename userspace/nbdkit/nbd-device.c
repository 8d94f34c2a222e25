// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nbd-device.h"
#include "nbd-volume.h"

#define NS_PER_S 1000000000ULL

/* Values of @state of struct nbd_job */
enum nbd_job_state {
	NBD_JOB_IN_FLIGHT,
	NBD_JOB_TO_ARM, /* the job's thread has to sleep until the FTL's next event */
	NBD_JOB_COMPLETE,
};

/**
 * struct nbd_job - a request of a client, and the thread that waits for it
 * @next: entry of @waiting of struct nbd_device
 * @link: pointer to this entry; NULL while the thread is not waiting
 * @pending: number of requests to the FTL that are in flight
 * @error: first error: 0 or a negative error number
 * @due_ns: device time of the last completion
 * @state: futex, enum nbd_job_state. The thread returns as soon as it reads NBD_JOB_COMPLETE,
 *	without the lock of the device, so no other thread accesses the job after storing it.
 */
struct nbd_job {
	struct nbd_job *next;
	struct nbd_job **link;
	u32 pending;
	int error;
	u64 due_ns;
	u32 state;
};

/**
 * struct nbd_io - a request to the FTL
 * @request: the request
 * @job: job that it is a part of
 * @bytes: payload
 * @edges: content of the first and the last logical page of a write, if partly covered
 */
struct nbd_io {
	struct aftl_request request;
	struct nbd_job *job;
	u8 *bytes;
	u8 *edges;
};

/* Clock */

static u64 get_host_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

static u64 convert_device_to_host_ns(const struct nbd_device *device, u64 device_ns)
{
	u64 span;

	if (__builtin_mul_overflow(device_ns - device->start_ns, (u64)device->line.scale, &span) ||
	    span > INT64_MAX)
		return U64_MAX;
	return device->start_host_ns + span;
}

static void advance_device_to_present(struct nbd_device *device)
{
	if (device->line.scale != TARGET_TIMING_OFF)
		aftl_process_events_until(device->ftl,
					  device->start_ns +
						  (get_host_now_ns() - device->start_host_ns) /
							  device->line.scale);
}

void nbd_device_lock_and_advance(struct nbd_device *device)
{
	pthread_mutex_lock(&device->lock);
	advance_device_to_present(device);
}

void nbd_device_unlock(struct nbd_device *device)
{
	pthread_mutex_unlock(&device->lock);
}

/* Waiting */

static void add_nbd_job_to_waiting_list(struct nbd_device *device, struct nbd_job *job)
{
	job->next = device->waiting;
	job->link = &device->waiting;
	if (job->next)
		job->next->link = &job->next;
	device->waiting = job;
}

static void unlink_waiting_job(struct nbd_job *job)
{
	*job->link = job->next;
	if (job->next)
		job->next->link = job->link;
	job->link = NULL;
}

/* The wake-up is harmless if @job is gone meanwhile: the kernel uses only the futex's address. */
static void wake_waiting_job(struct nbd_job *job, enum nbd_job_state state)
{
	u32 *futex = &job->state;

	unlink_waiting_job(job);
	__atomic_store_n(futex, state, __ATOMIC_RELEASE);
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Wait until @job is woken, or until host time @until_ns. */
static enum nbd_job_state wait_until_job_is_woken(struct nbd_job *job, u64 until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
					.tv_nsec = (long)(until_ns % NS_PER_S) };
	const struct timespec *limit = until_ns == U64_MAX ? NULL : &until;
	enum nbd_job_state state;

	for (;;) {
		state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);
		if (state != NBD_JOB_IN_FLIGHT ||
		    (syscall(SYS_futex, &job->state, FUTEX_WAIT_BITSET_PRIVATE, NBD_JOB_IN_FLIGHT,
			     limit, NULL, FUTEX_BITSET_MATCH_ANY) && errno == ETIMEDOUT))
			return state;
	}
}

/*
 * Wait until @job is woken, or until host time @until_ns. A thread sleeps until @timer_ns, which is
 * not later, and then polls the clock: a timer that is set to the past would cost as much as a
 * sleep.
 * Return: the job's state; *@delay_ns is the delay of an expired timer, U64_MAX if there was none.
 */
static enum nbd_job_state wait_with_lead(struct nbd_job *job, u64 until_ns, u64 timer_ns,
					 u64 *delay_ns)
{
	enum nbd_job_state state = NBD_JOB_IN_FLIGHT;
	u64 now_ns = get_host_now_ns();

	*delay_ns = U64_MAX;
	if (timer_ns > now_ns) {
		state = wait_until_job_is_woken(job, timer_ns);
		now_ns = get_host_now_ns();
		if (state == NBD_JOB_IN_FLIGHT)
			*delay_ns = now_ns > timer_ns ? now_ns - timer_ns : 0;
	}
	for (; state == NBD_JOB_IN_FLIGHT && now_ns < until_ns; now_ns = get_host_now_ns())
		state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);
	return state;
}

/* Return host time of the FTL's next event, unless another thread sleeps until that time. */
static u64 get_host_ns_of_unawaited_event(const struct nbd_device *device)
{
	u64 next_ns = convert_device_to_host_ns(device, aftl_next_event_ns(device->ftl));

	return next_ns < device->armed_ns ? next_ns : U64_MAX;
}

/* Record in the statistics how late the thread of a completed job continues. */
static void record_job_lateness(struct nbd_device *device, u64 due_ns)
{
	u64 now_ns = get_host_now_ns();

	pthread_mutex_lock(&device->late_lock);
	aftl_histogram_add(&device->late, now_ns > due_ns ? now_ns - due_ns : 0);
	pthread_mutex_unlock(&device->late_lock);
}

/*
 * Release the lock and wait, until the FTL's next event unless another thread waits for that event.
 * Return true with the lock held, or false without the lock if @job is complete and the thread has
 * nothing else to do for the device.
 */
static bool unlock_and_wait_for_event(struct nbd_device *device, struct nbd_job *job)
{
	u64 until_ns = get_host_ns_of_unawaited_event(device);
	u64 timer_ns = timer_lead_compute_timer_ns(&device->timer_lead, until_ns);
	enum nbd_job_state state;
	u64 delay_ns;

	if (until_ns != U64_MAX)
		device->armed_ns = until_ns;
	job->state = NBD_JOB_IN_FLIGHT;
	add_nbd_job_to_waiting_list(device, job);
	pthread_mutex_unlock(&device->lock);
	state = wait_with_lead(job, until_ns, timer_ns, &delay_ns);
	if (state == NBD_JOB_COMPLETE && until_ns == U64_MAX)
		return false;
	pthread_mutex_lock(&device->lock);
	if (delay_ns != U64_MAX)
		timer_lead_learn_delay(&device->timer_lead, delay_ns);
	if (job->link)
		unlink_waiting_job(job);
	if (until_ns != U64_MAX && device->armed_ns == until_ns)
		device->armed_ns = U64_MAX;
	advance_device_to_present(device);
	return true;
}

/* Wait until @job is complete, and release the lock. */
static void finish_nbd_job(struct nbd_device *device, struct nbd_job *job)
{
	bool is_locked = true;

	/* With "timing off" device time passes as fast as the FTL works. */
	while (device->line.scale == TARGET_TIMING_OFF && job->pending &&
	       aftl_next_event_ns(device->ftl) != U64_MAX)
		aftl_run_to_completion(device->ftl, AFTL_TIME_MAX);
	while (is_locked && job->pending)
		is_locked = unlock_and_wait_for_event(device, job);
	if (is_locked) {
		/* If no thread waits for the FTL's next event, wake a thread to wait for it. */
		if (device->waiting && get_host_ns_of_unawaited_event(device) != U64_MAX)
			wake_waiting_job(device->waiting, NBD_JOB_TO_ARM);
		pthread_mutex_unlock(&device->lock);
	}
	if (device->line.scale != TARGET_TIMING_OFF)
		record_job_lateness(device, convert_device_to_host_ns(device, job->due_ns));
}

/* Callbacks of the FTL */

static struct nbd_io *request_to_nbd_io(struct aftl_request *request)
{
	return container_of(request, struct nbd_io, request);
}

void nbd_device_complete_request(void *host __maybe_unused, struct aftl_request *request)
{
	struct nbd_job *job = request_to_nbd_io(request)->job;

	if (request->status && !job->error)
		job->error = request->status;
	job->due_ns = max(job->due_ns, request->complete_ns);
	if (!--job->pending && job->link)
		wake_waiting_job(job, NBD_JOB_COMPLETE);
}

/**
 * struct span - the part of a logical page that a request covers
 * @first: first byte in the page
 * @end: byte after the last
 * @at: payload of these bytes
 */
struct span {
	u32 first;
	u32 end;
	u8 *at;
};

static struct span get_covered_bytes_of_unit(const struct nbd_device *device,
					     const struct nbd_io *io, u32 unit)
{
	const struct aftl_request *request = &io->request;
	u32 unit_bytes = device->geo->unit_bytes;
	u32 head = request->head_skip * NBD_SECTOR;
	struct span span = { .end = unit_bytes };

	if (unit == request->unit)
		span.first = head;
	if (unit == request->unit + request->units - 1)
		span.end -= request->tail_skip * NBD_SECTOR;
	span.at = io->bytes + ((size_t)(unit - request->unit) * unit_bytes + span.first - head);
	return span;
}

static u8 *get_partial_page_buffer(const struct nbd_device *device, const struct nbd_io *io,
				   u32 unit)
{
	return io->edges + (unit == io->request.unit ? 0 : device->geo->unit_bytes);
}

static u8 *get_unit_data_ptr(const struct nbd_device *device, u32 unit)
{
	return device->data + (size_t)unit * device->geo->unit_bytes;
}

void nbd_device_accept_write(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	struct nbd_device *device = host;
	u32 unit = from_lpn(lpn);
	struct span span = get_covered_bytes_of_unit(device, request_to_nbd_io(request), unit);
	u32 covered = span.end - span.first;

	device->pages[unit] |= NBD_PAGE_DATA;
	if (covered < device->geo->unit_bytes) {
		u8 *edge = get_partial_page_buffer(device, request_to_nbd_io(request), unit);

		memcpy(edge + span.first, span.at, covered);
		span.at = edge;
	}
	if (device->volume)
		nbd_volume_accept_page(device->volume, tag, span.at);
	else if (device->data)
		memcpy(get_unit_data_ptr(device, unit), span.at, device->geo->unit_bytes);
}

void nbd_device_read_lpn(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	struct nbd_device *device = host;
	u32 unit = from_lpn(read->lpn);
	struct span span = get_covered_bytes_of_unit(device, request_to_nbd_io(request), unit);
	const struct aftl_cell *cell;

	if (read->lost)
		return;
	if (request->op == AFTL_OP_WRITE)
		span = (struct span){
			.end = device->geo->unit_bytes,
			.at = get_partial_page_buffer(device, request_to_nbd_io(request), unit)
		};
	if (read->source == AFTL_SOURCE_ZERO || (!device->data && !device->volume))
		memset(span.at, 0, span.end - span.first);
	else if (device->data)
		memcpy(span.at, get_unit_data_ptr(device, unit) + span.first,
		       span.end - span.first);
	else if (nbd_volume_read_page(device->volume, read, span.first, span.at,
				      span.end - span.first))
		request_to_nbd_io(request)->job->error = -EIO;
	/* Invert the bits of the payload of @span that have errors. */
	cell = aftl_cell(device->ftl);
	for (u32 i = 0; i < read->flips; i++) {
		u32 bit = aftl_get_bit_flip_position(cell, read->lpn, read->generation, i);

		if (bit / 8 >= span.first && bit / 8 < span.end)
			span.at[bit / 8 - span.first] ^= 1U << bit % 8;
	}
}

void nbd_device_unmap_lpns(void *host, aftl_lpn_t first, u32 units)
{
	struct nbd_device *device = host;
	u32 unit_bytes = device->geo->unit_bytes;

	for (u32 i = from_lpn(first); i < from_lpn(first) + units; i++)
		device->pages[i] &= ~NBD_PAGE_DATA;
	/* If madvise() fails, discarded data stay in memory: the FTL does not read them again. */
	if (device->data && unit_bytes % 4096 == 0)
		(void)madvise(get_unit_data_ptr(device, from_lpn(first)),
			      (size_t)units * unit_bytes, MADV_DONTNEED);
}

static const struct aftl_host_ops memory_ops = {
	NBD_DEVICE_OPS,
	.unmap = nbd_device_unmap_lpns,
};

/* Requests */

static u8 quality_level_of_unit(const struct nbd_device *device, u32 unit)
{
	return device->pages[unit] & NBD_PAGE_LEVEL;
}

/* Return the number of logical pages at the start of @all that one request can cover. */
static u32 count_units_up_to_level_change(const struct nbd_device *device,
					  const struct aftl_request *all)
{
	u32 units = 1;

	if (all->op != AFTL_OP_WRITE)
		return all->units;
	while (units < all->units && quality_level_of_unit(device, all->unit + units) ==
				     quality_level_of_unit(device, all->unit))
		units++;
	return units;
}

static int submit_nbd_io(struct nbd_device *device, struct nbd_io *io)
{
	struct aftl_request *request = &io->request;
	u32 level = request->op == AFTL_OP_WRITE ? quality_level_of_unit(device, request->unit) : 0;

	request->arrival_ns = aftl_device_time_ns(device->ftl);
	request->level = level;
	request->class = level ? AFTL_APPROX : AFTL_PRECISE;
	if (request->op == AFTL_OP_WRITE && (request->head_skip || request->tail_skip)) {
		io->edges = calloc(2, device->geo->unit_bytes);
		if (!io->edges)
			return -ENOMEM;
	}
	io->job->pending++;
	if (request->op == AFTL_OP_READ && device->line.scale == TARGET_TIMING_OFF &&
	    aftl_try_read_fastpath(device->ftl, request))
		return 0;
	if (!aftl_submit(device->ftl, request))
		return 0;
	io->job->pending--;
	return -EIO;
}

/* Submit the first @units logical pages of @rest as @io, and remove these pages from @rest. */
static int submit_first_units_of_request(struct nbd_device *device, struct nbd_io *io,
					 struct nbd_io *rest, u32 units)
{
	u32 head = rest->request.head_skip * NBD_SECTOR;

	*io = *rest;
	io->request.units = units;
	if (units < rest->request.units)
		io->request.tail_skip = 0;
	if (rest->bytes)
		rest->bytes += (size_t)units * device->geo->unit_bytes - head;
	rest->request.unit += units;
	rest->request.units -= units;
	rest->request.head_skip = 0;
	return submit_nbd_io(device, io);
}

static u32 count_needed_ftl_requests(const struct nbd_device *device, struct aftl_request all)
{
	u32 parts = 0;

	do {
		u32 units = count_units_up_to_level_change(device, &all);

		all.unit += units;
		all.units -= units;
		parts++;
	} while (all.units);
	return parts;
}

/* Execute the request @all in parts of one quality level each, and release the lock. */
static void execute_nbd_job(struct nbd_device *device, struct nbd_job *job, struct nbd_io *all)
{
	u32 parts = count_needed_ftl_requests(device, all->request);
	struct nbd_io one = *all;
	struct nbd_io *ios = parts == 1 ? &one : calloc(parts, sizeof(*ios));

	if (!ios) {
		nbd_device_unlock(device);
		job->error = -ENOMEM;
		return;
	}
	for (u32 i = 0; i < parts; i++) {
		u32 units = count_units_up_to_level_change(device, &all->request);
		int error = submit_first_units_of_request(device, &ios[i], all, units);

		if (error && !job->error)
			job->error = error;
	}
	finish_nbd_job(device, job);
	for (u32 i = 0; i < parts; i++)
		free(ios[i].edges);
	if (ios != &one)
		free(ios);
}

/* Return true if the request completes only after a commit of the volume. */
static bool must_request_wait_for_commit(const struct nbd_volume *volume, enum aftl_op op, bool fua)
{
	return op == AFTL_OP_FLUSH || fua ||
	       (op != AFTL_OP_READ && nbd_volume_has_plp_entries(volume));
}

int nbd_device_execute_request(struct nbd_device *device, enum aftl_op op, void *bytes, u64 offset,
			       u32 count, bool fua)
{
	u32 unit_bytes = device->geo->unit_bytes;
	struct nbd_job job = { .link = NULL };
	struct nbd_io all = {
		.request = { .op = op, .flags = fua ? AFTL_REQUEST_FUA : 0 },
		.job = &job,
		.bytes = bytes,
	};

	if ((offset | count) % NBD_SECTOR)
		return -EINVAL;
	if (op != AFTL_OP_FLUSH) {
		u64 end = offset + count;

		all.request.unit = (u32)(offset / unit_bytes);
		all.request.units = (u32)DIV_ROUND_UP(end, unit_bytes) - all.request.unit;
		all.request.head_skip = (u16)(offset % unit_bytes / NBD_SECTOR);
		all.request.tail_skip = (u16)(-end % unit_bytes / NBD_SECTOR);
	}
	nbd_device_lock_and_advance(device);
	if (device->volume && device->volume->error && op != AFTL_OP_READ) {
		nbd_device_unlock(device);
		return -EIO;
	}
	execute_nbd_job(device, &job, &all);
	if (!job.error && device->volume && must_request_wait_for_commit(device->volume, op, fua)) {
		nbd_device_lock_and_advance(device);
		job.error = nbd_volume_commit(device->volume);
		nbd_device_unlock(device);
	}
	return job.error;
}

/* Opening and closing */

static int alloc_io_memory(struct nbd_device *device, struct aftl_error *error)
{
	size_t bytes = (size_t)device->geo->units * device->geo->unit_bytes;
	void *data;

	if (strcmp(device->line.store, "ram") != 0)
		return 0;
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		return aftl_fail(error, -ENOMEM, "not enough memory for %zu bytes of data", bytes);
	device->data = data;
	return 0;
}

int nbd_device_init_page_flags(struct nbd_device *device, struct aftl_error *error)
{
	u8 tag = device->line.class == AFTL_APPROX ? AFTL_APPROX : 0;
	u32 class;

	device->geo = aftl_geometry(device->ftl);
	device->pages = calloc(device->geo->units, 1);
	if (!device->pages)
		return aftl_fail(error, -ENOMEM, "not enough memory for %u logical pages",
				 device->geo->units);
	for (u32 i = 0; i < device->geo->units; i++)
		device->pages[i] = tag | (aftl_lookup(device->ftl, to_lpn(i), &class) ==
					  AFTL_NO_PPN ? 0 : NBD_PAGE_DATA);
	return 0;
}

static int open_device_in_memory(struct nbd_device *device, struct aftl_error *error)
{
	int ret = aftl_create(&device->ftl, &device->line.config, device->line.policy, &memory_ops,
			      device, error);

	if (ret)
		return ret;
	ret = aftl_precondition(device->ftl);
	if (ret)
		return aftl_fail(error, ret,
				 "fill: policy %s ran out of free blocks; raise op, or fill less",
				 device->line.policy->name);
	ret = nbd_device_init_page_flags(device, error);
	return ret ? ret : alloc_io_memory(device, error);
}

int nbd_device_open(struct nbd_device *device, struct aftl_error *error)
{
	int ret = device->volume ? nbd_volume_load(device->volume, device, error) :
				   open_device_in_memory(device, error);

	if (ret)
		return ret;
	pthread_mutex_init(&device->lock, NULL);
	pthread_mutex_init(&device->late_lock, NULL);
	device->armed_ns = U64_MAX;
	timer_lead_init(&device->timer_lead);
	device->start_ns = aftl_device_time_ns(device->ftl);
	device->start_host_ns = get_host_now_ns();
	return 0;
}

int nbd_device_save(struct nbd_device *device, struct aftl_error *error)
{
	int ret;

	if (!device->volume || !device->ftl)
		return 0;
	advance_device_to_present(device);
	device->line.scale = TARGET_TIMING_OFF;
	ret = nbd_device_execute_request(device, AFTL_OP_FLUSH, NULL, 0, 0, false);
	return ret ? aftl_fail(error, ret, "%.160s: the write buffer could not be written",
			       device->volume->file.path) :
		     nbd_volume_save(device->volume, error);
}

void nbd_device_close(struct nbd_device *device)
{
	if (device->data)
		munmap(device->data, (size_t)device->geo->units * device->geo->unit_bytes);
	free(device->pages);
	aftl_destroy(device->ftl);
	if (device->volume)
		nbd_volume_close(device->volume);
}
