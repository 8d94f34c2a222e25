// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"
#include "tap.h"

void test_stream_init(struct test_stream *stream, u64 seed)
{
	*stream = (struct test_stream){
		.random = { aftl_hash64(seed) },
		.partial_random = { aftl_hash64(seed ^ 1) },
		.read = 40,
		.discard = 4,
		.flush = 10,
		.fua = 10,
		.approx = 50,
		.units_max = 8,
		.depth = 16,
		.hot = 50,
		.gap_ns = 100000,
	};
}

static u32 draw_stream_u32(struct test_stream *stream, u32 n)
{
	return aftl_random_below(&stream->random, n);
}

static enum aftl_op choose_request_op(struct test_stream *stream)
{
	u32 draw;

	if (draw_stream_u32(stream, 1000) < stream->flush)
		return AFTL_OP_FLUSH;
	draw = draw_stream_u32(stream, 100);
	if (draw < stream->read)
		return AFTL_OP_READ;
	if (draw < stream->read + stream->discard)
		return draw_stream_u32(stream, 2) ? AFTL_OP_DISCARD : AFTL_OP_WRITE_ZEROES;
	return AFTL_OP_WRITE;
}

static u32 choose_request_unit(struct test_stream *stream, u32 units)
{
	u32 tenth = max(units / 10, 1U);

	return draw_stream_u32(stream, 100) < stream->hot ?
		       draw_stream_u32(stream, tenth) :
		       draw_stream_u32(stream, units);
}

/* Draw a placement id; sometimes none, or an id for which no placement handle exists. */
static void draw_placement_id(struct test_stream *stream, struct test_device *device)
{
	const struct aftl_config *config = &device->config;
	u32 ids = (u32)(config->placement_handles * config->placement_groups);

	if (ids)
		device->hint.stream = (u8)draw_stream_u32(stream, ids + 2);
}

/* Draw a host queue; sometimes one that has no weight. */
static void draw_host_queue(struct test_stream *stream, struct test_device *device)
{
	u32 queues = aftl_queue_weight_count(device->config.queue_weights);

	if (device->config.queue_weights)
		device->queue = (u8)draw_stream_u32(stream, queues + 1);
}

/* Let some requests begin or end within a logical page, but not on zoned devices. */
static void draw_partial_request(struct test_stream *stream, struct test_device *device,
				 enum aftl_op op, u32 units)
{
	const struct aftl_geometry *geo = aftl_geometry(device->ftl);
	u32 sectors = geo->unit_bytes / AFTL_SECTOR_BYTES;

	if (aftl_random_below(&stream->partial_random, 100) >= stream->partial || geo->zones ||
	    op > AFTL_OP_WRITE)
		return;
	device->head_skip = (u16)aftl_random_below(&stream->partial_random, sectors);
	if (units == 1)
		sectors -= device->head_skip;
	device->tail_skip = (u16)aftl_random_below(&stream->partial_random, sectors);
}

bool test_stream_submit_request(struct test_stream *stream, struct test_device *device)
{
	enum aftl_op op = choose_request_op(stream);
	u32 all = test_unit_count(device);
	u32 unit = choose_request_unit(stream, all);
	u32 wanted = 1 + draw_stream_u32(stream, stream->units_max);
	u32 units = min(wanted, all - unit);
	u32 class = draw_stream_u32(stream, 100) < stream->approx ? AFTL_APPROX :
									   AFTL_PRECISE;
	u32 flags = draw_stream_u32(stream, 1000) < stream->fua ? AFTL_REQUEST_FUA : 0;
	u64 at = aftl_device_time_ns(device->ftl) +
		 (stream->gap_ns ? draw_stream_u32(stream, stream->gap_ns) : 0);

	if (op == AFTL_OP_FLUSH) {
		unit = 0;
		units = 0;
	}
	stream->operations += units;
	draw_placement_id(stream, device);
	draw_host_queue(stream, device);
	draw_partial_request(stream, device, op, units);
	CHECK_EQ(test_submit_io(device, op, unit, units, class, op == AFTL_OP_WRITE ? flags : 0,
				at),
		 0);
	return test_drain_requests_to_depth(device, stream->depth);
}

void test_stream_submit_requests(struct test_stream *stream, struct test_device *device,
				 u32 requests)
{
	while (requests-- && !tap_failure_count() && test_stream_submit_request(stream, device))
		;
}

bool test_stream_write_all_units(struct test_stream *stream, struct test_device *device)
{
	u32 all = test_unit_count(device);
	u32 unit;

	for (unit = 0; unit < all; unit += stream->units_max) {
		u32 class = draw_stream_u32(stream, 100) < stream->approx ? AFTL_APPROX :
										   AFTL_PRECISE;
		u32 units = min(stream->units_max, all - unit);

		stream->operations += units;
		if (test_submit_io(device, AFTL_OP_WRITE, unit, units, class, 0, 0) ||
		    !test_drain_requests_to_depth(device, stream->depth))
			return false;
	}
	return true;
}

void test_randomize_geometry(struct test_device *device, struct aftl_random *random)
{
	struct aftl_config *config = &device->config;

	config->channels = 1 + aftl_random_below(random, 3);
	config->chips = 1 + aftl_random_below(random, 2);
	config->dies = 1 + aftl_random_below(random, 8) / 7;
	config->planes = 1 + aftl_random_below(random, 8) / 6;
	config->plane_mode = aftl_random_below(random, 3);
	config->blocks = 4 + aftl_random_below(random, 36);
	config->layers = 1 + aftl_random_below(random, 5);
	config->word_lines = 1 + aftl_random_below(random, 5);
	config->bits = 1 + aftl_random_below(random, 3);
	config->page = 4096ULL << aftl_random_below(random, 3);
	config->unit = aftl_random_below(random, 3) ? 4096 : 0;
	config->one_shot = aftl_random_below(random, 2);
	config->op = 1000 + aftl_random_below(random, 7000);
}

static void randomize_write_buffer(struct aftl_config *config, struct aftl_random *random)
{
	if (aftl_random_below(random, 2))
		return;
	config->buffer = 4096ULL << aftl_random_below(random, 9);
	config->buffer_safe = aftl_random_below(random, 3) == 0;
	config->buffer_hold = aftl_random_below(random, 3) * 700000;
}

/* The seed enables an SLC cache on half of the devices that support it. */
static void randomize_slc_cache(struct aftl_config *config)
{
	struct aftl_random random = { config->seed };

	if (config->bits == 1 || aftl_random_below(&random, 2))
		return;
	config->slc_static = aftl_random_below(&random, 3) * 700;
	config->slc_dynamic = aftl_random_below(&random, 3) * 3000;
}

/* The seed enables read cache or read-ahead on a third of the devices. */
static void randomize_read_cache(struct aftl_config *config)
{
	struct aftl_random random = { config->seed ^ 3 };

	if (aftl_random_below(&random, 3))
		return;
	config->read_cache = 16384ULL * aftl_random_below(&random, 20);
	config->read_ahead = config->read_cache / (2 + aftl_random_below(&random, 4));
	config->read_hit = aftl_random_below(&random, 2) * 1000;
}

/* The seed gives several host queues to a third of the devices. */
static void randomize_host_queues(struct aftl_config *config)
{
	struct aftl_random random = { config->seed ^ 4 };
	u32 queues = 2 + aftl_random_below(&random, AFTL_QUEUES_MAX - 1);

	if (aftl_random_below(&random, 3))
		return;
	for (; queues; queues--)
		config->queue_weights = config->queue_weights << 8 |
					(1 + aftl_random_below(&random, 9));
}

/* The seed decides whether writes suspend erases and whether cache commands are used. */
static void randomize_suspend_and_cache_commands(struct aftl_config *config)
{
	struct aftl_random random = { config->seed ^ 5 };

	config->suspend_for_write = aftl_random_below(&random, 2);
	config->cache_commands = aftl_random_below(&random, 4);
	config->suspend_reads = aftl_random_below(&random, 4);
}

/* The seed enables paced GC, and an adaptive limit of idle GC, on half of the devices each. */
static void randomize_gc_pace(struct aftl_config *config)
{
	struct aftl_random random = { config->seed ^ 6 };

	config->gc_mode = aftl_random_below(&random, 2);
	config->gc_pace = aftl_random_below(&random, 4);
	config->multi_plane_read = aftl_random_below(&random, 4);
	config->write_expire = aftl_random_below(&random, 3) * 500000ULL;
	config->housekeeping = aftl_random_below(&random, 2) * 3000000ULL;
	config->housekeeping_every = 1 + aftl_random_below(&random, 10000000);
	config->gc_idle_limit = aftl_random_below(&random, 2);
}

/* Draw the queue depth and the parameters of garbage collection. */
static void randomize_queue_depth_and_gc(struct aftl_config *config, struct aftl_random *random)
{
	config->depth = 16 + aftl_random_below(random, 40);
	config->order = aftl_random_below(random, 2);
	config->allocate = aftl_random_below(random, AFTL_ALLOCATES);
	config->stripe = aftl_random_below(random, 24);
	config->suspend = aftl_random_below(random, 4);
	config->suspend_limit = 1 + aftl_random_below(random, 4);
	config->gc = aftl_random_below(random, 3000);
	config->gc_idle_valid = aftl_random_below(random, 10001);
	config->victim = aftl_random_below(random, AFTL_VICTIMS);
	*test_device_set_param(config, "victim_choices") = 1 + aftl_random_below(random, 9);
	*test_device_set_param(config, "victim_window") = 1 + aftl_random_below(random, 64);
	config->wear_gap = aftl_random_below(random, 3) * 4;
}

/* Draw the parameters of failures, and the times that requests spend outside of the flash. */
static void randomize_error_and_time_params(struct aftl_config *config, struct aftl_random *random)
{
	config->errors = aftl_random_below(random, 3) != 0;
	config->cell_model = aftl_random_below(random, 2);
	config->idle = 1 + aftl_random_below(random, 3000000);
	config->controller = aftl_random_below(random, 2) * 5000;
	config->ecc = aftl_random_below(random, 2) * 2000;
}

/* Draw values of parameters that belong to one policy only. */
static void randomize_policy_params(struct aftl_config *config, struct aftl_random *random)
{
	u64 zone;

	*test_device_set_param(config, "hot_size") = 4096ULL * aftl_random_below(random, 5);
	*test_device_set_param(config, "promote") = 1 + aftl_random_below(random, 4);
	*test_device_set_param(config, "wear_period") = 1 + aftl_random_below(random, 50);
	*test_device_set_param(config, "burst") = aftl_random_below(random, 10001);
	zone = aftl_random_below(random, 4) * 3000000;
	*test_device_set_param(config, "zone1") = zone;
	*test_device_set_param(config, "zone2") = zone * 3;
	*test_device_set_param(config, "zone3") = zone * 9;
	*test_device_set_param(config, "candidates") = 1 + aftl_random_below(random, 4);
	*test_device_set_param(config, "virtual_layers") = aftl_random_below(random, 2);
}

/* Draw parameters of program modes and of the policies that use these modes. */
static void randomize_program_modes(struct aftl_config *config, struct aftl_random *random)
{
	*test_device_set_param(config, "history") = aftl_random_below(random, 3);
	*test_device_set_param(config, "rewrite") = aftl_random_below(random, 3);
	*test_device_set_param(config, "tvr_mode") = aftl_random_below(random, 3);
	config->tvr_margin = aftl_random_below(random, 10001);
	config->wear_times = aftl_random_below(random, 2);
	config->misprograms = aftl_random_below(random, 3) * 20000000000ULL;
	config->program_follower = aftl_random_below(random, 2) * 400000;
	*test_device_set_param(config, "hybrid_approx") = aftl_random_below(random, 4) != 0;
	*test_device_set_param(config, "hybrid_cube") = aftl_random_below(random, 4) != 0;
	*test_device_set_param(config, "hybrid_agcr") = aftl_random_below(random, 4) != 0;
	*test_device_set_param(config, "hybrid_tvr") = aftl_random_below(random, 4) != 0;
	*test_device_set_param(config, "hybrid_ressd") = aftl_random_below(random, 4) != 0;
}

/* Draw parameters of two-pass programs, of reads between the passes, and of read disturb. */
static void randomize_two_pass_programs(struct aftl_config *config, struct aftl_random *random)
{
	config->read_coarse = aftl_random_below(random, 2) * 90000;
	config->read_fine = config->read_coarse / 3;
	if (config->read_coarse)
		config->rber = 1000000000;
	config->read_limit = aftl_random_below(random, 3) * 3;
	if (config->one_shot && config->buffer && config->seed % 4 == 0) {
		config->bits = AFTL_BITS_MAX;
		config->passes = 2;
	}
}

/* Draw program and read times by page position, and the parameters of the host link. */
static void randomize_latencies(struct aftl_config *config, struct aftl_random *random)
{
	config->suspend_step = aftl_random_below(random, 3) * 90000;
	config->row = 1 + aftl_random_below(random, 2) * aftl_random_below(random, 5);
	config->read_first = aftl_random_below(random, 2) * 30000;
	config->read_last = aftl_random_below(random, 2) * 70000;
	config->read_move = aftl_random_below(random, 2) * 15000;
	config->link = aftl_random_below(random, 2) * 500;
	config->link_command = aftl_random_below(random, 2) * 1000;
	config->controller_command = config->seed % 4 == 1 ? 1500 : 0;
	config->controller_vary = config->seed % 3 == 1 ? 2000 : 0;
	config->controller_append = config->seed % 5 == 1 ? 3000 : 0;
	config->controller_program = config->seed % 7 == 1 ? 2500 : 0;
	config->controller_relocate = config->seed % 7 == 1 ? 1500 : 0;
}

void test_randomize_options(struct test_device *device, struct aftl_random *random)
{
	struct aftl_config *config = &device->config;

	randomize_write_buffer(config, random);
	randomize_queue_depth_and_gc(config, random);
	randomize_error_and_time_params(config, random);
	randomize_policy_params(config, random);
	config->seed = aftl_random_next(random);
	randomize_program_modes(config, random);
	randomize_two_pass_programs(config, random);
	randomize_slc_cache(config);
	randomize_read_cache(config);
	randomize_host_queues(config);
	randomize_suspend_and_cache_commands(config);
	randomize_gc_pace(config);
	randomize_latencies(config, random);
}

const char *test_draw_policy(bool placed, struct aftl_random *random)
{
	const struct aftl_policy_type *type;
	u32 policies = 0;

	while (aftl_policy_at(policies))
		policies++;
	do
		type = aftl_policy_at(aftl_random_below(random, policies));
	while (placed && type->host_streams);
	return type->name;
}

void test_print_config(const struct test_device *device, const char *policy, u64 seed)
{
	char line[2000] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < aftl_param_count(); i++) {
		u64 value = aftl_param_get(&device->config, i);
		char text[AFTL_VALUE_SIZE];

		if (value == aftl_param_at(i)->standard)
			continue;
		aftl_param_format(aftl_param_at(i), value, text);
		used += scnprintf(line + used, sizeof(line) - used, " %s=%s", aftl_param_at(i)->key,
				  text);
	}
	tap_printf("replay: seed %llu, policy %s,%s", (unsigned long long)seed, policy, line);
}

void test_finish_device_or_print_config(struct test_device *device, const char *policy, u64 seed)
{
	test_device_audit_and_close(device);
	if (tap_failure_count())
		test_print_config(device, policy, seed);
}
