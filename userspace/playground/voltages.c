// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the voltage distributions that userspace/physics/aftl_physics/cell.py computes, in the
 * same bins. selftests/playground/test_cells.py compares the results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked-memory.h"
#include "voltages.h"

#define BIN_V (CELL_BIN_UV / 1e6)

/**
 * struct mass - a discrete distribution of voltages
 * @first: bin of the first probability; bin 0 is 0 V
 * @count: number of probabilities
 * @at: probabilities
 */
struct mass {
	s32 first;
	u32 count;
	double at[VOLTAGE_BINS];
};

static void init_voltage_distribution(struct mass *mass, double first, double last)
{
	mass->first = (s32)first;
	mass->count = min((u32)(last - first) + 1, (u32)VOLTAGE_BINS);
	memset(mass->at, 0, mass->count * sizeof(*mass->at));
}

typedef double (*survival)(double x, double scale);

static double normal_tail(double x, double deviation)
{
	return 0.5 * erfc(x / deviation / sqrt(2));
}

static double laplace_tail(double x, double scale)
{
	return 0.5 * exp(-x / scale);
}

/* Subtract small tail probabilities: a difference of numbers near one loses precision. */
static double probability_between(double low, double high, double scale, survival beyond)
{
	if (low >= 0)
		return beyond(low, scale) - beyond(high, scale);
	if (high <= 0)
		return beyond(-high, scale) - beyond(-low, scale);
	return 1 - beyond(-low, scale) - beyond(high, scale);
}

static void fill_symmetric_distribution(struct mass *mass, double middle, double reach,
					double scale, survival beyond)
{
	init_voltage_distribution(mass, floor((middle - reach) / BIN_V),
				  ceil((middle + reach) / BIN_V));
	for (u32 i = 0; i < mass->count; i++) {
		double low = (mass->first + (s32)i - 0.5) * BIN_V - middle;

		mass->at[i] = probability_between(low, low + BIN_V, scale, beyond);
	}
}

/* Add a probability at one voltage, as two adjacent bins whose mean is exactly this voltage. */
static void add_probability_at_voltage(struct mass *mass, double position, double weight)
{
	double bin = floor(position / BIN_V);
	double share = position / BIN_V - bin;
	s32 at = (s32)bin - mass->first;

	mass->at[at] += weight * (1 - share);
	mass->at[at + 1] += weight * share;
}

static void fill_normal_distribution(struct mass *mass, double mean, double deviation)
{
	if (deviation >= BIN_V / 100) {
		fill_symmetric_distribution(mass, mean, CELL_GAUSS_CUT * deviation, deviation,
					    normal_tail);
		return;
	}
	init_voltage_distribution(mass, floor(mean / BIN_V), floor(mean / BIN_V) + 1);
	add_probability_at_voltage(mass, mean, 1);
}

static void fill_uniform_distribution(struct mass *mass, double low, double width)
{
	init_voltage_distribution(mass, floor(low / BIN_V + 0.5),
				  floor((low + width) / BIN_V + 0.5));
	for (u32 i = 0; i < mass->count; i++) {
		double edge = (mass->first + (s32)i - 0.5) * BIN_V;
		double from = fmax(edge, low);
		double to = fmin(edge + BIN_V, low + width);

		mass->at[i] = fmax(to - from, 0) / width;
	}
}

/* Set @mass to the shift by a neighbour with four equally likely states, 0 to @swing. */
static void convolve_neighbour_shift(struct mass *mass, double swing)
{
	init_voltage_distribution(mass, 0, floor(swing / BIN_V) + 1);
	for (u32 state = 0; state < 4; state++)
		add_probability_at_voltage(mass, swing * state / 3, 0.25);
}

/* Convolve @mass with @other: @mass becomes the distribution of the sum. */
static void convolve_distributions(struct mass *mass, const struct mass *other)
{
	struct mass *sum = memory_alloc_zeroed(1, sizeof(*sum));

	init_voltage_distribution(sum, mass->first + other->first,
				  mass->first + other->first + (s32)(mass->count + other->count) -
					  2);
	for (u32 i = 0; i < mass->count; i++)
		for (u32 j = 0; j < other->count && i + j < sum->count; j++)
			sum->at[i + j] += mass->at[i] * other->at[j];
	*mass = *sum;
	free(sum);
}

/* Add the voltage shifts by two neighbours: one in the same layer, one in the next layer. */
static void convolve_shift_by_neighbour_pair(struct mass *mass, struct mass *other, double mv)
{
	for (u32 direction = 0; direction < 2; direction++) {
		double share = aftl_disturb_mv[direction][0] /
			       (double)(aftl_disturb_mv[0][0] + aftl_disturb_mv[1][0]);

		convolve_neighbour_shift(other, mv * share / 1000);
		convolve_distributions(mass, other);
	}
}

/*
 * A shift of up to 200 + 150 mV comes from the two precise pages of one neighbouring word line; the
 * pages of the other neighbour cause the excess.
 */
static void convolve_shifts_by_all_neighbours(struct mass *mass, struct mass *other, double mv)
{
	double near = fmin(mv, aftl_disturb_mv[0][0] + aftl_disturb_mv[1][0]);

	convolve_shift_by_neighbour_pair(mass, other, near);
	if (mv > near)
		convolve_shift_by_neighbour_pair(mass, other, mv - near);
}

static void convolve_cell_noise(struct mass *mass, struct mass *other, const struct condition *now,
				double swing)
{
	double root = sqrt(now->cycles);
	double drain = CELL_RETENTION_PERCENT / 100.0 * swing * log1p(now->hours);
	double variance = now->cycles ?
		drain * CELL_RETENTION_VARIANCE_E9 / 1e9 * pow(now->cycles, 0.6) : 0;
	double scale = cell_residual_uv[now->curve] / 1e6 + CELL_CYCLES_NV / 1e9 * root;

	if (scale > 0)
		fill_symmetric_distribution(other, 0, CELL_LAPLACE_CUT * scale, scale,
					    laplace_tail);
	else
		fill_normal_distribution(other, 0, 0);
	convolve_distributions(mass, other);
	fill_normal_distribution(other, -drain * CELL_RETENTION_MEAN_E9 / 1e9 * root,
				 sqrt(variance));
	convolve_distributions(mass, other);
}

static void compute_state_distribution(double *bins, u32 state, const struct condition *now)
{
	const u32 *uv = cell_states_uv[now->curve][state];
	struct mass *mass = memory_alloc_zeroed(2, sizeof(*mass));

	if (state)
		fill_uniform_distribution(mass, uv[0] / 1e6, uv[1] / 1e6);
	else
		fill_normal_distribution(mass, uv[0] / 1e6, uv[1] / 1e6);
	convolve_shifts_by_all_neighbours(mass, mass + 1,
					  now->disturb_mv == 219 ? 218.75 : now->disturb_mv);
	convolve_cell_noise(mass, mass + 1, now, uv[2] / 1e6);
	memset(bins, 0, VOLTAGE_BINS * sizeof(*bins));
	for (u32 i = 0; i < mass->count; i++) {
		s32 bin = mass->first + (s32)i - VOLTAGE_FIRST;

		if (bin >= 0 && bin < VOLTAGE_BINS)
			bins[bin] = mass->at[i];
	}
	free(mass);
}

/* Choose the read reference with the fewest misread cells; in a gap between states, its middle. */
static struct crossing find_crossing(const double *low, const double *high)
{
	struct crossing best = { .low_high = 1, .high_low = 1 };
	double *above = memory_alloc_zeroed(VOLTAGE_BINS + 1, sizeof(*above));
	double below = 0;
	u32 last = 0;

	for (u32 i = VOLTAGE_BINS; i > 0; i--)
		above[i - 1] = above[i] + low[i - 1];
	for (u32 i = 0; i < VOLTAGE_BINS; below += high[i++]) {
		if (above[i] + below < best.low_high + best.high_low)
			best = (struct crossing){ i, above[i], below };
		last = above[i] + below > best.low_high + best.high_low ? last : i;
	}
	best.reference = (best.reference + last) / 2;
	free(above);
	return best;
}

static u32 count_voltage_states_of_error_curve(u32 curve)
{
	u32 count = 0;

	while (curve < AFTL_RBER_CURVES && count < CELL_STATES_MOST &&
	       cell_states_uv[curve][count][0])
		count++;
	return count;
}

/* Limit disturbance, P/E cycles and hours to the ranges of the core's tables. */
static struct condition clamp_condition_to_tables(const struct condition *condition)
{
	return (struct condition){
		.curve = condition->curve,
		.disturb_mv = min(condition->disturb_mv,
				  aftl_rber_disturb_axis[AFTL_RBER_DISTURB_POINTS - 1]),
		.cycles = min(condition->cycles, aftl_rber_pe_axis[AFTL_RBER_PE_POINTS - 1]),
		.hours = min(condition->hours, aftl_rber_hour_axis[AFTL_RBER_HOUR_POINTS - 1]),
	};
}

const struct voltages *voltages_compute_distributions(const struct condition *condition)
{
	static struct voltages voltages;
	static struct condition last = { .curve = AFTL_RBER_CURVES };
	struct condition now = clamp_condition_to_tables(condition);

	if (!memcmp(&now, &last, sizeof(now)))
		return &voltages;
	last = now;
	voltages.count = count_voltage_states_of_error_curve(now.curve);
	for (u32 i = 0; i < voltages.count; i++)
		compute_state_distribution(voltages.mass[i], i, &now);
	for (u32 i = 1; i < voltages.count; i++)
		voltages.crossings[i - 1] = find_crossing(voltages.mass[i - 1], voltages.mass[i]);
	return &voltages;
}

double voltages_compute_rber(const struct voltages *voltages)
{
	double wrong = 0;

	for (u32 i = 1; i < voltages->count; i++)
		wrong += voltages->crossings[i - 1].low_high + voltages->crossings[i - 1].high_low;
	return voltages->count ? wrong / voltages->count / log2(voltages->count) : 0;
}
