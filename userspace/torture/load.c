// SPDX-License-Identifier: GPL-2.0-only
#include "load.h"

#define MOST_OF_A_PHASE 1024

const char *const load_op_names[LOAD_OPS] = {
	"reads", "writes", "forced writes", "discards", "zeroings", "punched holes", "flushes",
};

/* Relative frequencies of the operations in each kind of phase, in the order of enum load_op. */
static const u8 moods[][LOAD_OPS] = {
	{ 60, 30, 2, 2, 1, 1, 4 },
	{ 96, 2, 0, 0, 0, 0, 1 },
	{ 10, 80, 2, 2, 1, 1, 4 },
	{ 15, 40, 15, 0, 0, 0, 30 },
	{ 30, 30, 2, 20, 8, 8, 2 },
	{ 20, 80, 0, 0, 0, 0, 0 },
};

void load_generator_init(struct load *load, const struct load_shape *shape, u64 seed)
{
	*load = (struct load){ .shape = *shape, .random = { .state = aftl_hash64(seed) } };
}

/* Draw a number below @n, which fits in 32 bits: callers pass at most the number of units. */
static u64 draw_number_below_limit(struct load *load, u64 n)
{
	return aftl_random_below(&load->random, (u32)n);
}

/* Draw a number up to @most whose logarithm is evenly distributed, so that most are small. */
static u64 draw_log_uniform_number(struct load *load, u64 most)
{
	u64 value = 1ULL << draw_number_below_limit(load, fls64(most));

	value += draw_number_below_limit(load, value);
	return min(value, most);
}

/* Draw the units that a phase of the load uses: all, or so few that requests collide. */
static void draw_address_window_of_load_phase(struct load *load)
{
	u64 units = load->shape.units;

	load->window = draw_number_below_limit(load, 3) ? draw_log_uniform_number(load, units) :
							 units;
	load->first = draw_number_below_limit(load, units - load->window + 1);
	load->cursor = 0;
	load->in_order = !draw_number_below_limit(load, 4);
}

static enum load_op draw_load_operation(struct load *load)
{
	u32 op = 0, sum = 0, at;

	for (; op < LOAD_OPS; op++)
		sum += load->weights[op];
	at = (u32)draw_number_below_limit(load, sum);
	for (op = 0; at >= load->weights[op]; op++)
		at -= load->weights[op];
	if (op == LOAD_DISCARD && !load->shape.discards)
		return LOAD_WRITE;
	return op;
}

static u64 draw_first_unit_of_load_request(struct load *load, u32 count)
{
	u64 at;

	if (!load->in_order)
		return load->first + draw_number_below_limit(load, load->window - count + 1);
	if (load->cursor + count > load->window)
		load->cursor = 0;
	at = load->first + load->cursor;
	load->cursor += count;
	return at;
}

struct load_request load_next(struct load *load)
{
	struct load_request request = { 0 };

	if (!load->left) {
		load->left = (u32)draw_log_uniform_number(load, MOST_OF_A_PHASE);
		load->depth = (u32)draw_log_uniform_number(load, load->shape.depth);
		load->weights = moods[draw_number_below_limit(load, ARRAY_SIZE(moods))];
		load->size = (u32)draw_log_uniform_number(load, load->shape.most);
		draw_address_window_of_load_phase(load);
	}
	load->left--;
	request.op = draw_load_operation(load);
	request.depth = load->depth;
	if (request.op != LOAD_FLUSH) {
		bool cleared = request.op == LOAD_DISCARD || request.op == LOAD_ZEROES ||
			       request.op == LOAD_PUNCH;
		u64 most = cleared ? load->shape.most_cleared : load->size;

		most = min(most, load->window);
		request.count = draw_number_below_limit(load, 2) ?
					(u32)draw_log_uniform_number(load, most) :
					1;
		request.first = draw_first_unit_of_load_request(load, request.count);
	}
	request.draw = aftl_random_next(&load->random);
	return request;
}
