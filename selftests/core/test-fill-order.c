// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic of the order of a shuffled fill, compared with a search through all values.
 */
#include "core/base/fill-order.h"
#include "core/base/random.h"
#include "tap.h"

#define UNITS_MAX 500

/* Orders to try. */
#define ORDERS 400

static u32 compute_common_divisor(u32 a, u32 b)
{
	return b ? compute_common_divisor(b, a % b) : a;
}

static struct aftl_fill_order draw_order(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	u32 units = 1 + (u32)aftl_random_below(&random, UNITS_MAX);
	struct aftl_fill_order order = { .units = units, .step = 1 };

	order.at = (u32)aftl_random_below(&random, units);
	if (units > 1)
		do
			order.step = 1 + (u32)aftl_random_below(&random, units - 1);
		while (compute_common_divisor(order.step, units) > 1);
	return order;
}

TAP_TEST(the_inverse_of_an_order_has_the_number_of_each_write)
{
	u64 seed;

	for (seed = 0; seed < ORDERS; seed++) {
		struct aftl_fill_order order = draw_order(seed);
		struct aftl_fill_order inverse = aftl_fill_order_inverse(&order);
		u32 number;

		for (number = 0; number < order.units; number++) {
			CHECK_EQ((inverse.at + (u64)order.at * inverse.step) % order.units, number);
			order.at = aftl_fill_order_next_lpn(&order, order.at, order.step);
		}
	}
}

/* Find the i of the value that follows @value, or of the lowest one if there is none. */
static u32 find_next_higher_value(const u32 *values, u32 count, u32 value)
{
	u32 best = count;
	u32 lowest = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		if (values[i] > value && (best == count || values[i] < values[best]))
			best = i;
		if (values[i] < values[lowest])
			lowest = i;
	}
	return best < count ? best : lowest;
}

TAP_TEST(one_of_three_steps_leads_to_the_next_higher_value)
{
	u64 seed;

	for (seed = 0; seed < ORDERS; seed++) {
		struct aftl_fill_order order = draw_order(seed);
		u32 count = 1 + (u32)(aftl_hash64(~seed) % order.units);
		struct aftl_fill_steps steps =
			aftl_fill_find_steps(order.step, order.units, count);
		u32 values[UNITS_MAX];
		u32 value = order.at;
		u32 taken;
		u32 i;

		for (i = 0; i < count; i++) {
			values[i] = value;
			value = aftl_fill_order_next_lpn(&order, value, order.step);
		}
		value = values[0];
		for (i = 0, taken = 0; count > 1 && taken < count; taken++) {
			u32 next = find_next_higher_value(values, count, value);

			aftl_fill_take_step(&steps, order.units, &i, &value);
			CHECK_EQ(i, next);
			CHECK_EQ(value, values[next]);
		}
	}
}

TAP_TEST(the_values_below_a_limit_are_counted)
{
	u64 seed;

	for (seed = 0; seed < ORDERS; seed++) {
		struct aftl_fill_order order = draw_order(seed);
		u32 count = (u32)(aftl_hash64(~seed) % (2 * order.units));
		u32 limit = (u32)(aftl_hash64(seed << 32) % (order.units + 1));
		u32 value = order.at;
		u32 below = 0;
		u32 i;

		for (i = 0; i < count; i++) {
			below += value < limit;
			value = aftl_fill_order_next_lpn(&order, value, order.step % order.units);
		}
		CHECK_EQ(aftl_fill_count_values_below(order.step % order.units, order.units, count,
						      order.at, limit), below);
	}
}
