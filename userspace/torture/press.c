// SPDX-License-Identifier: GPL-2.0-only
/*
 * Issues many requests at once with io_uring, and evaluates the results.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "machine-clock.h"
#include "torture-run.h"

/* BLOCK_URING_CMD_DISCARD of Linux 6.12 and later; earlier kernels discard by fallocate(). */
#define CMD_DISCARD _IO(0x12, 0)
#ifndef FALLOC_FL_NO_HIDE_STALE
#define FALLOC_FL_NO_HIDE_STALE 0x04
#endif

/* Maximum length of a discard or zeroing request, as a multiple of that of a write. */
#define CLEARED_TIMES 16
#define FILL_DEPTH 16
#define PAGE 4096
#define LOOK_NS 100000000
#define BREATH_NS 200000

enum discard_way {
	DISCARD_COMMAND,
	DISCARD_FALLOCATE,
	DISCARD_NONE,
};

/**
 * struct slot - a request in flight
 * @change: units of the request, and the oldest generation that each unit may have; flushes do not
 *	use this member
 * @data: data of the request, within @memory
 * @covered: number of changes that a flush covers, from ledger_begin_flush()
 * @begin_ns: time of submission
 * @number: number of the request
 */
struct slot {
	struct load_request request;
	struct ledger_change change;
	u8 *memory;
	u8 *data;
	u64 covered;
	u64 begin_ns;
	u32 number;
	enum discard_way way;
	bool busy;
};

/**
 * struct press - the requests in flight, and the state of the generator of requests
 * @slots: requests in flight
 * @next: the next request, which may have to wait for others
 * @waiting: @next is valid
 * @filled: number of units written by the initial sequential fill
 * @under_way: number of requests in flight
 * @drawn: number of requests generated
 * @way: first method of discarding that has not failed yet
 * @until_ns: time to end
 * @failed: a request has failed although errors are not allowed
 */
struct press {
	struct torture_run *run;
	struct io_uring ring;
	struct load load;
	struct slot *slots;
	struct load_request next;
	bool waiting;
	u64 filled;
	u32 under_way;
	u32 drawn;
	u64 until_ns;
	enum discard_way way;
	bool failed;
};

static bool does_op_have_data(enum load_op op)
{
	return op == LOAD_READ || op == LOAD_WRITE || op == LOAD_FORCED;
}

static bool does_op_change_data(enum load_op op)
{
	return op != LOAD_READ && op != LOAD_FLUSH;
}

static enum ledger_kind ledger_op_kind(const struct torture_run *run, enum load_op op)
{
	if (op == LOAD_WRITE || op == LOAD_FORCED)
		return LEDGER_WRITE;
	if (op == LOAD_DISCARD && strcmp(run->options.discard, "zeroes") != 0)
		return LEDGER_ANYTHING;
	return LEDGER_ZEROES;
}

static u64 count_ledger_units(const struct press *press)
{
	return ledger_header(press->run->ledger)->units;
}

static u32 get_max_request_units(const struct torture_run *run)
{
	return (u32)max(run->options.most_bytes / run->unit_bytes, (u64)1);
}

/* Get the next request of the initial fill: sequential writes of all units, then a flush. */
static bool make_next_request_of_initial_fill(struct press *press)
{
	u64 left = count_ledger_units(press) - min(press->filled, count_ledger_units(press));
	u32 depth = press->load.shape.depth;

	if (press->filled > count_ledger_units(press))
		return false;
	press->next =
		(struct load_request){ .op = left ? LOAD_WRITE : LOAD_FLUSH,
				       .first = press->filled,
				       .count = (u32)min(left, get_max_request_units(press->run)),
				       .depth = left ? min(FILL_DEPTH, depth) : 1 };
	press->filled += left ? press->next.count : 1;
	return true;
}

static void draw_next_torture_request(struct press *press)
{
	if (press->waiting)
		return;
	if (!make_next_request_of_initial_fill(press)) {
		if (!press->drawn)
			ledger_mark_device_as_filled(press->run->ledger);
		press->next = load_next(&press->load);
		press->drawn++;
	}
	press->waiting = true;
}

static void fill_data_of_write(const struct press *press, const struct slot *slot)
{
	const struct ledger_header *header = ledger_header(press->run->ledger);
	struct block_name name = { .device = header->device, .seed = header->seed,
				   .generation = slot->change.generation };

	for (u32 i = 0; i < slot->request.count; i++) {
		name.unit = slot->request.first + i;
		block_fill_content(slot->data + (size_t)i * press->run->unit_bytes,
				   press->run->unit_bytes, &name);
	}
}

static bool do_requests_overlap(const struct slot *slot, const struct slot *other)
{
	return other->busy && other != slot && does_op_change_data(other->request.op) &&
		slot->change.first < other->change.first + other->change.count &&
		other->change.first < slot->change.first + slot->change.count;
}

static void register_request_in_ledger(struct press *press, struct slot *slot)
{
	ledger_begin_change(press->run->ledger, &slot->change,
			    ledger_op_kind(press->run, slot->request.op));
	for (u32 i = 0; i < press->load.shape.depth; i++)
		if (do_requests_overlap(slot, &press->slots[i]))
			ledger_add_concurrent_change(&slot->change, &press->slots[i].change);
	if (does_op_have_data(slot->request.op))
		fill_data_of_write(press, slot);
}

static void store_oldest_generations_of_read_units(struct press *press, struct slot *slot)
{
	for (u32 i = 0; i < slot->change.count; i++)
		slot->change.floors[i] =
			ledger_get_oldest_generation(press->run->ledger, slot->change.first + i);
}

static void begin_torture_request(struct press *press, struct slot *slot)
{
	slot->request = press->next;
	slot->number = press->drawn;
	slot->way = press->way;
	slot->change.first = slot->request.first;
	slot->change.count = slot->request.count;
	if (does_op_have_data(slot->request.op)) {
		u32 steps = PAGE / press->run->target.sector;
		size_t bytes = (size_t)slot->request.count * press->run->unit_bytes;

		/* Also test buffers that are aligned to sectors only, as direct I/O allows. */
		slot->data = slot->memory;
		if (steps > 1)
			slot->data += slot->request.draw % steps * press->run->target.sector;
		if (slot->request.op == LOAD_READ)
			memset(slot->data, 0xee, bytes);
	}
	if (does_op_change_data(slot->request.op))
		register_request_in_ledger(press, slot);
	else if (slot->request.op == LOAD_READ)
		store_oldest_generations_of_read_units(press, slot);
	else
		slot->covered = ledger_begin_flush(press->run->ledger);
	slot->begin_ns = machine_clock_now_ns();
	slot->busy = true;
	press->under_way++;
	press->waiting = false;
}

static void prepare_discard(struct io_uring_sqe *sqe, int fd, enum discard_way way, u64 offset,
			    u64 bytes)
{
	if (way == DISCARD_FALLOCATE) {
		io_uring_prep_fallocate(sqe, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE |
					FALLOC_FL_NO_HIDE_STALE, (off_t)offset, (off_t)bytes);
		return;
	}
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	/* Without IOSQE_ASYNC the discard fails with EOPNOTSUPP on devices where it must block. */
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	sqe->addr = offset;
	sqe->addr3 = bytes;
	sqe->cmd_op = CMD_DISCARD;
}

static void prepare_torture_sqe(const struct press *press, const struct slot *slot,
				struct io_uring_sqe *sqe)
{
	int fd = press->run->target.fd;
	u64 offset = slot->request.first * press->run->unit_bytes;
	u64 bytes = (u64)slot->request.count * press->run->unit_bytes;

	switch (slot->request.op) {
	case LOAD_READ:
		io_uring_prep_read(sqe, fd, slot->data, (u32)bytes, offset);
		break;
	case LOAD_WRITE:
	case LOAD_FORCED:
		io_uring_prep_write(sqe, fd, slot->data, (u32)bytes, offset);
		sqe->rw_flags = slot->request.op == LOAD_FORCED ? RWF_DSYNC : 0;
		break;
	case LOAD_DISCARD:
		prepare_discard(sqe, fd, slot->way, offset, bytes);
		break;
	case LOAD_ZEROES:
	case LOAD_PUNCH:
		io_uring_prep_fallocate(sqe, fd, FALLOC_FL_KEEP_SIZE |
					(slot->request.op == LOAD_PUNCH ? FALLOC_FL_PUNCH_HOLE :
					 FALLOC_FL_ZERO_RANGE), (off_t)offset, (off_t)bytes);
		break;
	default:
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
	}
}

/* Submit the next request. Return: false if it has to wait until other requests complete. */
static bool submit_next_torture_request(struct press *press)
{
	struct io_uring_sqe *sqe;
	struct slot *slot;
	u32 i;

	draw_next_torture_request(press);
	if (press->under_way >= press->next.depth)
		return false;
	for (i = 0; press->slots[i].busy; i++)
		;
	slot = &press->slots[i];
	begin_torture_request(press, slot);
	sqe = io_uring_get_sqe(&press->ring);
	prepare_torture_sqe(press, slot, sqe);
	io_uring_sqe_set_data(sqe, slot);
	return true;
}

static bool is_torture_run_over(const struct press *press)
{
	const struct torture_options *options = &press->run->options;

	return is_stop_requested() || press->failed || press->run->wrong ||
	       machine_clock_now_ns() >= press->until_ns ||
	       (options->requests && press->drawn >= options->requests && !press->waiting);
}

static void describe_torture_request(const struct press *press, const struct slot *slot, char *text,
				     size_t size)
{
	snprintf(text, size, "request %u (%s, %u units from unit %llu on, seed %u)", slot->number,
		 load_op_names[slot->request.op], slot->request.count,
		 (unsigned long long)slot->request.first,
		 ledger_header(press->run->ledger)->seed);
}

/* Return true if @error means that the device does not support the operation of a request. */
static bool is_operation_unsupported(struct press *press, const struct slot *slot, int error)
{
	enum load_op op = slot->request.op;

	if (press->run->counts[op])
		return false;
	if (op == LOAD_DISCARD && (error == EOPNOTSUPP || error == EINVAL)) {
		/* Try the methods of discarding one after the other, until one works. */
		if (slot->way == press->way && ++press->way == DISCARD_NONE) {
			complain_as("torture", "%s cannot discard", press->run->options.device);
			press->load.shape.discards = false;
		}
		return true;
	}
	return (op == LOAD_ZEROES || op == LOAD_PUNCH) && error == EOPNOTSUPP;
}

static void handle_request_failure(struct press *press, const struct slot *slot, int error)
{
	const struct timespec breath = ns_to_timespec(BREATH_NS);
	char text[200];

	if (is_operation_unsupported(press, slot, error))
		return;
	press->run->failed++;
	if (are_failing_requests_allowed(press->run)) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &breath, NULL);
		return;
	}
	describe_torture_request(press, slot, text, sizeof(text));
	if (!press->failed)
		complain_as("torture", "%s: %s: %s", press->run->options.device, text,
			    strerror(error));
	press->failed = true;
}

static void finish_torture_request(struct press *press, struct slot *slot, int result)
{
	s64 wanted = does_op_have_data(slot->request.op) ?
			     (s64)slot->request.count * press->run->unit_bytes :
			     0;

	if (result == wanted) {
		struct torture_run *run = press->run;

		run->counts[slot->request.op]++;
		if (does_op_change_data(slot->request.op))
			ledger_end_change(run->ledger, &slot->change,
					  slot->request.op == LOAD_FORCED);
		else if (slot->request.op == LOAD_FLUSH)
			ledger_end_flush(run->ledger, slot->covered);
		else
			check_data_returned_by_read(run, slot->change.first, slot->change.count,
						    slot->data, slot->change.floors, slot->number);
	} else {
		handle_request_failure(press, slot, result < 0 ? -result : EIO);
	}
	slot->busy = false;
	press->under_way--;
}

static bool has_hanging_request(const struct press *press)
{
	u64 now = machine_clock_now_ns();
	char text[200];

	for (u32 i = 0; i < press->load.shape.depth; i++) {
		const struct slot *slot = &press->slots[i];

		if (!slot->busy || now - slot->begin_ns < press->run->options.patience_ns)
			continue;
		describe_torture_request(press, slot, text, sizeof(text));
		complain_as("torture", "%s: no answer for %llu s to %s; %u requests are under way",
			    press->run->options.device,
			    (unsigned long long)((now - slot->begin_ns) / NS_PER_S), text,
			    press->under_way);
		return true;
	}
	return false;
}

/* Submit requests and wait for a completion. If the kernel lacks memory, try again later. */
static void submit_and_wait_for_completion(struct press *press)
{
	struct __kernel_timespec look = { .tv_nsec = LOOK_NS };
	struct io_uring_cqe *cqe;
	int ret = io_uring_submit(&press->ring);

	if (ret < 0 && ret != -EAGAIN && ret != -EBUSY && ret != -EINTR) {
		complain_as("torture", "io_uring takes no request: %s", strerror(-ret));
		exit(EXIT_FAILED);
	}
	if (press->under_way)
		io_uring_wait_cqe_timeout(&press->ring, &cqe, &look);
}

/* Submit requests and process completions. Return: false if a request hangs. */
static bool submit_and_reap_requests(struct press *press)
{
	struct io_uring_cqe *cqe;

	while (!is_torture_run_over(press) && submit_next_torture_request(press))
		;
	submit_and_wait_for_completion(press);
	while (!io_uring_peek_cqe(&press->ring, &cqe)) {
		struct slot *slot = io_uring_cqe_get_data(cqe);
		int result = cqe->res;

		io_uring_cqe_seen(&press->ring, cqe);
		finish_torture_request(press, slot, result);
	}
	return !has_hanging_request(press);
}

static void alloc_request_slots(struct press *press)
{
	const struct load_shape *shape = &press->load.shape;
	size_t bytes = (size_t)shape->most * press->run->unit_bytes + PAGE;

	press->slots = memory_alloc_zeroed(shape->depth, sizeof(*press->slots));
	for (u32 i = 0; i < shape->depth; i++) {
		struct slot *slot = &press->slots[i];

		slot->change.floors =
			memory_alloc_zeroed(max(shape->most, shape->most_cleared), sizeof(u32));
		if (posix_memalign((void **)&slot->memory, PAGE, bytes)) {
			complain_as("torture", "no memory for so many requests; lower --depth");
			exit(EXIT_FAILED);
		}
	}
}

static void free_request_slots(struct press *press)
{
	for (u32 i = 0; i < press->load.shape.depth; i++) {
		free(press->slots[i].change.floors);
		free(press->slots[i].memory);
	}
	free(press->slots);
}

static void prepare_torture_requests(struct press *press, struct torture_run *run)
{
	const struct ledger_header *header = ledger_header(run->ledger);
	u32 most = (u32)min(header->units, get_max_request_units(run));
	struct load_shape shape = {
		.units = header->units,
		.most = most,
		.most_cleared = (u32)min(header->units, (u64)most * CLEARED_TIMES),
		.depth = (u32)run->options.depth,
		.discards = run->target.device && strcmp(run->options.discard, "never") != 0,
	};

	*press = (struct press){ .run = run };
	/* Hash the generation into the seed, so that a resumed run does not repeat requests. */
	load_generator_init(&press->load, &shape,
			    aftl_hash64_pair(header->seed, header->generation));
	if (run->options.zeroed || run->options.resume)
		press->filled = U64_MAX;
	press->until_ns = machine_clock_now_ns() + run->options.time_ns;
	alloc_request_slots(press);
}

enum exit_code run_press_on_device(struct torture_run *run)
{
	struct press press;
	bool good;
	int ret;

	prepare_torture_requests(&press, run);
	ret = io_uring_queue_init(press.load.shape.depth, &press.ring, 0);
	if (ret) {
		complain_as("torture", "this kernel or container has no io_uring: %s",
			    strerror(-ret));
		free_request_slots(&press);
		return EXIT_FAILED;
	}
	do
		good = submit_and_reap_requests(&press);
	while (good && (press.under_way || !is_torture_run_over(&press)));
	/* Exit without freeing buffers: the kernel may still write into them. */
	if (!good)
		_exit(EXIT_FAILED);
	io_uring_queue_exit(&press.ring);
	free_request_slots(&press);
	return press.failed ? EXIT_FAILED : EXIT_DONE;
}
