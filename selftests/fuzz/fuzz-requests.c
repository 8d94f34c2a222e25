// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input bytes describe a device, requests, time, age and bad blocks. The device may refuse, fail
 * and wear out; it must not hang, lose precise data or become inconsistent.
 */
#include "core/ftl/ftl.h"
#include "lib/fuzz.h"

#define REQUESTS 64
#define UNITS_MAX 4000
#define EVENTS_MAX 300000

static struct {
	struct aftl *ftl;
	struct aftl_request requests[REQUESTS];
	bool busy[REQUESTS];
	u32 pending;
} run;

static void count_completed_request(void *host, struct aftl_request *request)
{
	u32 index = request - run.requests;

	fuzz_assert(index < REQUESTS && run.busy[index]);
	run.busy[index] = false;
	run.pending--;
}

static void check_fuzzed_read(void *host, struct aftl_request *request,
			      const struct aftl_read *read)
{
	fuzz_assert(from_lpn(read->lpn) - request->unit < request->units);
	fuzz_assert(read->source != AFTL_SOURCE_BUFFER ||
		    read->tag < aftl_count_buffer_tags(run.ftl));
	fuzz_assert(read->lost || read->flips <= aftl_geometry(run.ftl)->unit_bits);
}

static const struct aftl_host_ops ops = {
	.alloc = fuzz_alloc_and_count_bytes,
	.free = fuzz_free_and_count_bytes,
	.complete = count_completed_request,
	.read = check_fuzzed_read,
};

static void draw_geometry_params(struct aftl_config *config, struct fuzz_bytes *input)
{
	u32 flags = fuzz_take_byte(input);

	config->channels = 1 + fuzz_take_byte(input) % 3;
	config->chips = 1 + fuzz_take_byte(input) % 2;
	config->planes = 1 + fuzz_take_byte(input) % 3;
	config->plane_mode = fuzz_take_byte(input) % 3;
	config->blocks = 1 + fuzz_take_byte(input) % 48;
	config->layers = 1 + fuzz_take_byte(input) % 6;
	config->word_lines = 1 + fuzz_take_byte(input) % 6;
	config->bits = 1 + fuzz_take_byte(input) % 3;
	config->page = 4096ULL << fuzz_take_byte(input) % 3;
	config->unit = flags & 1 ? 4096 : 0;
	config->one_shot = flags >> 1 & 1;
	config->order = flags >> 2 & 1;
	config->allocate = flags >> 3 & 1;
	config->errors = flags >> 4 & 1;
	config->cell_model = flags >> 5 & 1;
	config->buffer_safe = flags >> 6 & 1;
	config->buffer = flags >> 7 ? 4096ULL * fuzz_take_byte(input) : 0;
	config->op = fuzz_take_byte(input) * 35;
	config->depth = 16 + fuzz_take_byte(input);
}

static void draw_policy_params(struct aftl_config *config, struct fuzz_bytes *input)
{
	config->suspend = fuzz_take_byte(input) % 4;
	config->gc = fuzz_take_byte(input) * 30;
	config->gc_idle_valid = fuzz_take_byte(input) * 39;
	config->wear_gap = fuzz_take_byte(input) % 8;
	config->endurance = fuzz_take_byte(input) % 4 ? 0 : 1 + fuzz_take_byte(input);
	config->bad = fuzz_take_byte(input) * 300000000ULL;
	config->fill = fuzz_take_byte(input) % 3;
	config->fill_valid = fuzz_take_byte(input) * 39;
	config->fill_overwrite = fuzz_take_byte(input) * 100;
	config->fill_approx = fuzz_take_byte(input) * 39;
	*aftl_config_param_ptr(config, aftl_param_find("promote")) = 1 + fuzz_take_byte(input) % 7;
	config->rber = fuzz_take_byte(input) * 30000000ULL;
	config->ecc_bits = fuzz_take_byte(input) % 50;
	config->ecc_levels = fuzz_take_byte(input) % 4;
	config->buffer_hold = fuzz_take_byte(input) * 100000ULL;
	config->idle = 1 + fuzz_take_byte(input) * 100000ULL;
	config->read_cache = fuzz_take_byte(input) * 8192ULL;
	config->read_ahead = config->read_cache / (2 + fuzz_take_byte(input) % 4);
}

static struct aftl *create_fuzzed_device(struct fuzz_bytes *input)
{
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	u32 policies = 0;

	while (aftl_policy_at(policies))
		policies++;
	if (aftl_profile_load(&config, "demo", &error))
		abort();
	draw_geometry_params(&config, input);
	draw_policy_params(&config, input);
	if (aftl_geometry_init(&geo, &config, &error) || geo.ppns > UNITS_MAX)
		return NULL;
	if (aftl_create(&ftl, &config, aftl_policy_at(fuzz_take_byte(input) % policies), &ops, NULL,
			&error)) {
		fuzz_assert(strlen(error.text) > 10);
		return NULL;
	}
	return ftl;
}

static void process_one_event(void)
{
	u64 when = aftl_next_event_ns(run.ftl);

	fuzz_assert(when != U64_MAX);
	aftl_process_events_until(run.ftl, when);
}

static void process_events_to_pending_count(u32 pending)
{
	u32 events = 0;

	while (run.pending > pending) {
		fuzz_assert(events++ < EVENTS_MAX);
		process_one_event();
	}
}

static void submit_fuzzed_request(struct fuzz_bytes *input, u32 op)
{
	u32 index = 0;
	struct aftl_request *request;
	u32 said;

	process_events_to_pending_count(REQUESTS - 1);
	while (run.busy[index])
		index++;
	request = &run.requests[index];
	memset(request, 0x5a, sizeof(*request));
	request->op = op;
	request->unit = fuzz_take_u16(input) % (UNITS_MAX + UNITS_MAX / 8);
	request->units = op == AFTL_OP_FLUSH ? 0 : fuzz_take_byte(input) % 40;
	said = fuzz_take_byte(input);
	request->class = said % 2;
	request->level = request->class ? said / 2 % AFTL_LEVELS : 0;
	request->flags = fuzz_take_byte(input) % 16 ? 0 : AFTL_REQUEST_FUA;
	request->arrival_ns = aftl_device_time_ns(run.ftl) + fuzz_take_u16(input) * 100ULL;
	run.busy[index] = true;
	run.pending++;
	if (aftl_submit(run.ftl, request)) {
		run.busy[index] = false;
		run.pending--;
	}
}

static void do_fuzzed_device_action(struct fuzz_bytes *input)
{
	u32 what = fuzz_take_byte(input) % 32;

	if (what < 29)
		submit_fuzzed_request(input, what < 14 ? AFTL_OP_WRITE :
					     what < 24 ? AFTL_OP_READ :
							 what % 5);
	else if (what == 29)
		aftl_advance_age(run.ftl, fuzz_take_byte(input) * 86400000000000ULL);
	else if (what == 30 && aftl_fail_block(run.ftl, fuzz_take_u16(input) % 64))
		fuzz_assert(aftl_geometry(run.ftl)->blocks <= 64);
	else
		aftl_process_events_until(run.ftl, aftl_device_time_ns(run.ftl) +
							   fuzz_take_u16(input) * 10000ULL);
}

int fuzz_input(const u8 *data, size_t size)
{
	struct fuzz_bytes input = { data, size };
	struct aftl_error error = { "" };

	memset(&run, 0, sizeof(run));
	run.ftl = create_fuzzed_device(&input);
	if (!run.ftl)
		return 0;
	if (!aftl_precondition(run.ftl))
		while (input.left)
			do_fuzzed_device_action(&input);
	process_events_to_pending_count(0);
	fuzz_assert(!aftl_pending_requests(run.ftl));
	if (aftl_audit(run.ftl, &error)) {
		fprintf(stderr, "audit: %s\n", error.text);
		abort();
	}
	fuzz_assert(!aftl_get_stats(run.ftl)->counters.policy_bugs);
	aftl_destroy(run.ftl);
	return 0;
}
