// SPDX-License-Identifier: GPL-2.0-only
/* Arithmetic of the order in which preconditioning first writes the logical pages. */
#include "core/base/fill-order.h"

/* The number x for which @step * x is 1 modulo @units, to which it is coprime. */
static u32 compute_modular_inverse(u32 step, u32 units)
{
	s64 before = 0;
	s64 inverse = 1;
	u32 rest = units;

	while (step > 1) {
		u32 times = rest / step;
		u32 next = rest - times * step;
		s64 sum = before - (s64)times * inverse;

		before = inverse;
		inverse = sum;
		rest = step;
		step = next;
	}
	return inverse < 0 ? (u32)(inverse + units) : (u32)inverse;
}

struct aftl_fill_order aftl_fill_order_inverse(const struct aftl_fill_order *order)
{
	struct aftl_fill_order inverse = {
		.step = compute_modular_inverse(order->step, order->units),
		.units = order->units,
	};

	inverse.at = (u32)((order->units - order->at) * (u64)inverse.step % order->units);
	return inverse;
}

struct aftl_fill_steps aftl_fill_find_steps(u32 step, u32 units, u32 count)
{
	struct aftl_fill_steps steps = {
		.count = count,
		.up_value = units,
		.down_value = units,
	};
	u32 value = 0;
	u32 i;

	for (i = 1; i < count; i++) {
		value = value < units - step ? value + step : value - (units - step);
		if (value < steps.up_value) {
			steps.up = i;
			steps.up_value = value;
		}
		if (units - value < steps.down_value) {
			steps.down = i;
			steps.down_value = units - value;
		}
	}
	return steps;
}

/*
 * Return the sum of (@at + i * @step) / @units, rounded down, over all i below @count, modulo 2^64:
 * the number of lattice points below a line, by the steps of Euclid's algorithm.
 */
static u64 sum_quotients(u64 step, u64 units, u64 count, u64 at)
{
	u64 sum = 0;

	for (;;) {
		u64 quotient = div64_u64(step, units);
		u64 end;

		/* One factor of the product is even. */
		sum += (count & 1 ? (count - 1) / 2 * count : count / 2 * (count - 1)) * quotient;
		step -= quotient * units;
		quotient = div64_u64(at, units);
		sum += count * quotient;
		at -= quotient * units;
		end = step * count + at;
		if (end < units)
			return sum;
		count = div64_u64(end, units);
		at = end - count * units;
		end = units;
		units = step;
		step = end;
	}
}

u32 aftl_fill_count_values_below(u32 step, u32 units, u32 count, u32 at, u32 limit)
{
	if (!count)
		return 0;
	return (u32)(count + sum_quotients(step, units, count, at) -
		     sum_quotients(step, units, count, (u64)at + units - limit));
}
