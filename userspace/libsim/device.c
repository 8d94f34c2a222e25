// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device that a program drives request by request. The lock serialises its callers. The lock is
 * recursive, so that a policy may query its own device, to which it cannot submit requests.
 */
#include <pthread.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "core-memory.h"
#include "device-file.h"
#include "drive.h"
#include "interruption.h"
#include "job.h"
#include "option-rows.h"
#include "run.h"

#define DEPTH_MAX 65536U
/* Requests of a batch whose prefetches are issued back to back, so that they overlap. */
#define PREFETCHED 16U

/**
 * struct device_request - a request in flight
 * @request: the core's request
 * @response_ns: takes the response time or a negative error number
 * @next: next free request of a batch
 */
struct device_request {
	struct aftl_request request;
	s64 *response_ns;
	struct device_request *next;
};

/**
 * struct simlib_device - a device
 * @ftl: the device
 * @geo: geometry of the device
 * @lock: protects the whole structure
 * @busy: a call executes requests; only a function of the policy that runs then reads true
 * @single: the request of simlib_device_do()
 * @free: free requests of a batch
 * @stopped: a request got lost: all further calls fail
 */
struct simlib_device {
	struct aftl *ftl;
	const struct aftl_geometry *geo;
	pthread_mutex_t lock;
	bool busy;
	struct device_request single;
	struct device_request *free;
	bool stopped;
};

static void record_simlib_completion(void *host, struct aftl_request *request)
{
	struct device_request *own = container_of(request, struct device_request, request);
	struct simlib_device *device = host;

	*own->response_ns = request->status ? request->status :
					      (s64)(request->complete_ns - request->arrival_ns);
	own->next = device->free;
	device->free = own;
}

static int stop_fill_if_requested(void *host)
{
	(void)host;
	return is_stop_requested_for_this_thread() ? -EINTR : 0;
}

/* Without alloc_later() the core allocates all memory at once, so that no request can lack it. */
static const struct aftl_host_ops device_ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
	.pause = stop_fill_if_requested,
	.complete = record_simlib_completion,
};

static bool does_option_describe_device(const char *name)
{
	static const char *const names[] = { "profile", "policy", "seed", "set", "load" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int check_device_options(const struct sim_options *options)
{
	char name[OPTION_NAME];

	for (unsigned int i = 0; i < option_row_count; i++) {
		if (!options->given[i] || does_option_describe_device(option_rows[i].name))
			continue;
		complain_as("sim", "--%s describes no device; it is an option of simulate()",
			    option_get_dashed_name(option_rows[i].name, name));
		return EXIT_USAGE;
	}
	if (options->params.shards == 1)
		return EXIT_DONE;
	complain_as("sim", "shards: a device that is driven step by step has one shard");
	return EXIT_USAGE;
}

static int create_simlib_ftl(struct simlib_device *device, const struct sim_options *options,
			     struct aftl_error *error)
{
	int ret;

	if (options->load)
		return device_file_load(&device->ftl, options->load, &device_ops, device, error);
	ret = aftl_create(&device->ftl, &options->params, options->policies[0], &device_ops, device,
			  error);
	if (ret)
		return ret;
	ret = aftl_precondition(device->ftl);
	if (ret == -EINTR)
		return aftl_fail(error, ret, "interrupted while the device was filled");
	return ret ? sim_report_fill_failure(ret, error) : 0;
}

static int open_simlib_device(struct simlib_job *job, void *context)
{
	const struct simlib_arguments *arguments = context;
	struct simlib_device *device;
	struct sim_options options;
	struct aftl_error error;
	int code = job_parse_arguments(job, &options, arguments);
	pthread_mutexattr_t recursive;

	if (!code)
		code = check_device_options(&options);
	if (code)
		return code;
	device = memory_alloc_zeroed(1, sizeof(*device));
	code = create_simlib_ftl(device, &options, &error);
	if (code) {
		complain_as("sim", "%s", error.text);
		aftl_destroy(device->ftl);
		free(device);
		return options.load ? get_exit_code_of_input_error(code) : sim_get_exit_code(code);
	}
	device->geo = aftl_geometry(device->ftl);
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&device->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	*arguments->out = device;
	return EXIT_DONE;
}

int simlib_device_create(struct simlib_job *job, int argc, char **argv, struct simlib_device **out)
{
	struct simlib_arguments arguments = { .argc = argc, .argv = argv, .out = out };

	return job_call_and_capture_messages(job, open_simlib_device, &arguments);
}

void simlib_device_destroy(struct simlib_device *device)
{
	aftl_destroy(device->ftl);
	pthread_mutex_destroy(&device->lock);
	free(device);
}

static bool is_lpn_range_in_device(const struct simlib_device *device, int op, s64 lpn, s64 pages)
{
	if (op == AFTL_OP_FLUSH)
		return !lpn && !pages;
	return lpn >= 0 && pages > 0 && lpn < device->geo->units &&
	       pages <= device->geo->units - lpn;
}

static void submit_simlib_request(struct simlib_device *device, struct device_request *own, int op,
				  s64 lpn, s64 pages)
{
	own->request = (struct aftl_request){
		.arrival_ns = aftl_device_time_ns(device->ftl),
		.unit = (u32)lpn,
		.units = (u32)pages,
		.op = (u8)op,
	};
	if (aftl_submit(device->ftl, &own->request)) {
		own->request.status = -EINVAL;
		record_simlib_completion(device, &own->request);
	}
}

/* Advance time until a request completes. Return false if none ever does. */
static bool wait_for_simlib_completion(struct simlib_device *device)
{
	u64 now_ns = aftl_device_time_ns(device->ftl);

	device->stopped = is_sim_device_stuck(aftl_next_event_ns(device->ftl), now_ns);
	if (!device->stopped)
		aftl_run_to_completion(device->ftl, now_ns + SIM_STUCK_NS);
	return !device->stopped;
}

static s64 execute_one_simlib_request(struct simlib_device *device, int op, s64 lpn, s64 pages)
{
	s64 response_ns;

	if (device->stopped)
		return SIMLIB_STOPPED;
	device->free = NULL;
	device->single.response_ns = &response_ns;
	submit_simlib_request(device, &device->single, op, lpn, pages);
	while (!device->free)
		if (!wait_for_simlib_completion(device))
			return SIMLIB_STOPPED;
	return response_ns;
}

bool simlib_device_busy(struct simlib_device *device)
{
	bool busy;

	pthread_mutex_lock(&device->lock);
	busy = device->busy;
	pthread_mutex_unlock(&device->lock);
	return busy;
}

s64 simlib_device_do(struct simlib_device *device, int op, s64 lpn, s64 pages)
{
	s64 ret = SIMLIB_BUSY;

	if (!is_lpn_range_in_device(device, op, lpn, pages))
		return SIMLIB_BEYOND_END;
	pthread_mutex_lock(&device->lock);
	if (!device->busy) {
		device->busy = true;
		ret = execute_one_simlib_request(device, op, lpn, pages);
		device->busy = false;
	}
	pthread_mutex_unlock(&device->lock);
	return ret;
}

/**
 * struct batch - arguments of simlib_device_batch()
 */
struct batch {
	struct simlib_device *device;
	int op;
	u64 count;
	const s64 *lpn;
	const s64 *pages;
	u32 depth;
	s64 *response_ns;
};

static void init_free_request_list(struct simlib_device *device, struct device_request *all,
				   u32 depth)
{
	device->free = NULL;
	for (u32 i = 0; i < depth; i++) {
		all[i].next = device->free;
		device->free = &all[i];
	}
}

/* Prefetch the mapping of the next requests, and the L2P entries of as many after these. */
static void prefetch_mappings_of_batch(const struct batch *batch, u64 i)
{
	const struct aftl *ftl = batch->device->ftl;
	u64 end = min(i + PREFETCHED, batch->count);

	for (; i < end; i++)
		aftl_prefetch_ppn_state(ftl, (u32)batch->lpn[i], batch->op == AFTL_OP_READ);
	for (end = min(i + PREFETCHED, batch->count); i < end; i++)
		aftl_prefetch_l2p_entry(ftl, (u32)batch->lpn[i]);
}

static int submit_request_batch(struct simlib_job *job, const struct batch *batch)
{
	struct simlib_device *device = batch->device;

	for (u64 i = 0; i < batch->count; i++) {
		struct device_request *own;

		if (i % PREFETCHED == 0) {
			if (is_stop_requested_for_this_thread())
				break;
			prefetch_mappings_of_batch(batch, i);
		}
		while (!device->free)
			if (!wait_for_simlib_completion(device))
				return EXIT_FAILED;
		own = device->free;
		device->free = own->next;
		own->response_ns = &batch->response_ns[i];
		submit_simlib_request(device, own, batch->op, batch->lpn[i], batch->pages[i]);
		job->progress = i + 1;
	}
	while (aftl_pending_requests(device->ftl))
		if (!wait_for_simlib_completion(device))
			return EXIT_FAILED;
	return is_stop_requested_for_this_thread() ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int execute_request_batch(struct simlib_job *job, void *context)
{
	const struct batch *batch = context;
	struct simlib_device *device = batch->device;
	struct device_request *all;
	int code = EXIT_FAILED;

	for (u64 i = 0; i < batch->count; i++)
		if (!is_lpn_range_in_device(device, batch->op, batch->lpn[i], batch->pages[i])) {
			complain_as("sim",
				    "request %llu, of %lld pages at %lld, is beyond the device's %u pages",
				    (unsigned long long)i, (long long)batch->pages[i],
				    (long long)batch->lpn[i], device->geo->units);
			return EXIT_USAGE;
		}
	all = memory_alloc_zeroed(batch->depth, sizeof(*all));
	pthread_mutex_lock(&device->lock);
	device->busy = true;
	init_free_request_list(device, all, batch->depth);
	if (!device->stopped)
		code = submit_request_batch(job, batch);
	device->busy = false;
	if (device->stopped)
		complain_as("sim", "the device has stopped with %u requests under way",
			    aftl_pending_requests(device->ftl));
	else
		free(all);
	pthread_mutex_unlock(&device->lock);
	return code;
}

int simlib_device_batch(struct simlib_job *job, struct simlib_device *device, int op, u64 count,
			const s64 *lpn, const s64 *pages, u32 depth, s64 *response_ns)
{
	struct batch batch = {
		.device = device,
		.op = op,
		.count = count,
		.lpn = lpn,
		.pages = pages,
		.depth = min(max(depth, 1U), DEPTH_MAX),
		.response_ns = response_ns,
	};

	return job_call_and_capture_messages(job, execute_request_batch, &batch);
}

bool simlib_device_advance(struct simlib_device *device, u64 ns, u32 events)
{
	bool left = true;

	pthread_mutex_lock(&device->lock);
	device->busy = true;
	while (events-- && left)
		left = aftl_process_next_event(device->ftl, ns);
	device->busy = false;
	pthread_mutex_unlock(&device->lock);
	return !left;
}

u64 simlib_device_now(struct simlib_device *device)
{
	u64 now_ns;

	pthread_mutex_lock(&device->lock);
	now_ns = aftl_device_time_ns(device->ftl);
	pthread_mutex_unlock(&device->lock);
	return now_ns;
}

static int apply_fault_to_device(struct simlib_device *device, enum simlib_fault kind, u64 number)
{
	switch (kind) {
	case SIMLIB_FAULT_BLOCK:
		return aftl_fail_block(device->ftl, (u32)min(number, (u64)U32_MAX));
	case SIMLIB_FAULT_DIE:
		return aftl_fail_lun(device->ftl, (u32)min(number, (u64)U32_MAX));
	case SIMLIB_FAULT_UNIT:
		return aftl_fail_unit(device->ftl, to_lpn((u32)min(number, (u64)U32_MAX)));
	case SIMLIB_FAULT_AGE:
		aftl_advance_age(device->ftl, number);
		return 0;
	}
	return -EINVAL;
}

int simlib_device_fault(struct simlib_device *device, int kind, u64 number)
{
	int ret;

	pthread_mutex_lock(&device->lock);
	ret = apply_fault_to_device(device, (enum simlib_fault)kind, number);
	pthread_mutex_unlock(&device->lock);
	return ret;
}

void simlib_device_get_geometry(struct simlib_device *device, struct simlib_facts *facts)
{
	copy_geometry_to_simlib_facts(facts, device->geo);
}

const void *simlib_device_blocks(struct simlib_device *device)
{
	return aftl_media(device->ftl)->blocks;
}

const u32 *simlib_device_l2p(struct simlib_device *device)
{
	return aftl_l2p_table(device->ftl);
}

const char *simlib_describe_block_field(u32 index, u32 *offset, u32 *bytes)
{
	static const struct {
		const char *name;
		u32 offset;
		u32 bytes;
	} fields[] = {
		{ "opened_ns", offsetof(struct aftl_block, opened_ns), 8 },
		{ "valid", offsetof(struct aftl_block, valid), 4 },
		{ "valid_approx", offsetof(struct aftl_block, valid_approx), 4 },
		{ "programmed", offsetof(struct aftl_block, programmed), 4 },
		{ "erases", offsetof(struct aftl_block, erases), 4 },
		{ "wear", offsetof(struct aftl_block, wear), 4 },
		{ "reads", offsetof(struct aftl_block, reads), 4 },
		{ "state", offsetof(struct aftl_block, state), 1 },
		{ "kind", offsetof(struct aftl_block, kind), 1 },
		{ "bits", offsetof(struct aftl_block, bits), 1 },
		{ "handle", offsetof(struct aftl_block, handle), 1 },
		{ NULL, 0, sizeof(struct aftl_block) },
	};

	*offset = fields[index].offset;
	*bytes = fields[index].bytes;
	return fields[index].name;
}

const char *simlib_counter_name(u32 index)
{
	return index < AFTL_COUNTERS ? aftl_counter_info[index].name : NULL;
}

const char *simlib_wait_reason_name(u32 index)
{
	return index < AFTL_WAITS ? aftl_wait_names[index] : NULL;
}

const char *simlib_block_kind_name(struct simlib_device *device, u32 index)
{
	return index < AFTL_KINDS_MAX ? aftl_policy_type(device->ftl)->kinds[index] : NULL;
}

void simlib_device_counters(struct simlib_device *device, u64 *values)
{
	pthread_mutex_lock(&device->lock);
	for (u32 i = 0; i < AFTL_COUNTERS; i++)
		values[i] = aftl_counter_get(&aftl_get_stats(device->ftl)->counters, i);
	pthread_mutex_unlock(&device->lock);
}

u64 simlib_device_digest(struct simlib_device *device)
{
	u64 digest;

	pthread_mutex_lock(&device->lock);
	digest = aftl_compute_device_digest(device->ftl);
	pthread_mutex_unlock(&device->lock);
	return digest;
}

static int audit_simlib_device(struct simlib_job *job, void *context)
{
	struct simlib_device *device = context;
	struct aftl_error error;
	int ret;

	(void)job;
	pthread_mutex_lock(&device->lock);
	ret = aftl_audit(device->ftl, &error);
	pthread_mutex_unlock(&device->lock);
	if (ret)
		complain_as("sim", "%s", error.text);
	return ret ? EXIT_NOT_VERIFIED : EXIT_DONE;
}

int simlib_device_audit(struct simlib_job *job, struct simlib_device *device)
{
	return job_call_and_capture_messages(job, audit_simlib_device, device);
}
