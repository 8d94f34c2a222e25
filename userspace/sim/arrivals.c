// SPDX-License-Identifier: GPL-2.0-only
#include "arrivals.h"

#define PURPOSE_ARRIVAL 100
#define NS_PER_S 1000000000ULL

/* Return the time that a page takes on its channel. */
static u64 compute_page_transfer_ns(const struct aftl_config *config,
				    const struct aftl_geometry *geo)
{
	return config->command + geo->page_bytes * 1000ULL / config->bus;
}

/* Return the die time of a program with policy "baseline", divided by its number of pages. */
static u64 compute_page_write_die_ns(const struct aftl_config *config,
				     const struct aftl_geometry *geo)
{
	u64 step_ns = config->program;

	if (!config->one_shot && config->program_fast)
		step_ns = (config->program_fast + config->program * (config->bits - 1)) /
			  config->bits;
	return step_ns / geo->program_pages + compute_page_transfer_ns(config, geo);
}

/* Return the mean die time of a request, in 1/10000 ns. */
static u64 compute_mean_die_ns_x10000_of_request(const struct sim_options *options,
						 const struct aftl_config *config,
						 const struct aftl_geometry *geo)
{
	u64 page_e4 = options->write_share * compute_page_write_die_ns(config, geo) +
		      (SHARE_WHOLE - options->write_share) *
			      (config->read + compute_page_transfer_ns(config, geo));
	__uint128_t wide;

	page_e4 = page_e4 * (SHARE_WHOLE - options->discard_share) / SHARE_WHOLE;
	wide = page_e4;
	return (u64)(wide * sim_get_mean_request_pages_q16(options, geo) >> 16);
}

u64 sim_compute_mean_interval_q16(const struct sim_options *options,
				  const struct aftl_config *config, const struct aftl_geometry *geo)
{
	u64 capacity_e4 = options->utilisation * geo->luns;
	__uint128_t wide;

	if (options->arrival != SIM_ARRIVAL_OPEN)
		return 0;
	if (options->rate)
		return (NS_PER_S << 16) / options->rate;
	/* Mean die time and capacity are both scaled by 10000, which cancels in the quotient. */
	wide = compute_mean_die_ns_x10000_of_request(options, config, geo);
	wide <<= 16;
	wide /= capacity_e4;
	return wide ? (u64)wide : 1;
}

void sim_arrivals_init(struct sim_arrivals *arrivals, const struct sim_options *options,
		       const struct aftl_config *config, const struct aftl_geometry *geo)
{
	*arrivals = (struct sim_arrivals){
		.kind = options->arrival,
		.poisson = options->arrival_shape == SIM_SHAPE_POISSON,
		.interval_q16 = sim_compute_mean_interval_q16(options, config, geo),
		.random = get_random_sequence_of_purpose(config->seed, PURPOSE_ARRIVAL),
	};
	exponential_init(&arrivals->exponential);
	if (options->burst_off) {
		__uint128_t requests_e9 = (__uint128_t)options->burst_off * options->rate_between;

		arrivals->burst_on_ns = options->burst_on;
		arrivals->burst_off_ns = options->burst_off;
		arrivals->rate_between = options->rate_between;
		arrivals->between_q16 = requests_e9 * arrivals->interval_q16 / NS_PER_S;
	}
}

static u64 draw_arrival_interval_q16(struct sim_arrivals *arrivals)
{
	u64 draw_q32;

	if (!arrivals->poisson)
		return arrivals->interval_q16;
	draw_q32 = exponential_draw_q32(&arrivals->exponential, &arrivals->random);
	return (__uint128_t)arrivals->interval_q16 * draw_q32 >> 32;
}

/* Convert next_ns, which counts only time within bursts, to device time. */
static u64 convert_burst_time_to_device_ns(const struct sim_arrivals *arrivals)
{
	__uint128_t at_q16 = (__uint128_t)arrivals->next_ns << 16 | arrivals->next_q16;
	__uint128_t on_q16 = (__uint128_t)arrivals->burst_on_ns << 16;
	__uint128_t cycle_q16 = on_q16 + arrivals->between_q16;
	u64 begin_ns;

	if (!on_q16)
		return arrivals->next_ns;
	begin_ns = (u64)(at_q16 / cycle_q16) * (arrivals->burst_on_ns + arrivals->burst_off_ns);
	at_q16 %= cycle_q16;
	if (at_q16 < on_q16)
		return begin_ns + (u64)(at_q16 >> 16);
	at_q16 = (at_q16 - on_q16) * NS_PER_S / arrivals->interval_q16 / arrivals->rate_between;
	return begin_ns + arrivals->burst_on_ns + (u64)at_q16;
}

/* Return @now_ns if it is in a burst, else the start of the next burst. */
static u64 round_time_up_to_burst(const struct sim_arrivals *arrivals, u64 now_ns)
{
	u64 period_ns = arrivals->burst_on_ns + arrivals->burst_off_ns;

	if (!arrivals->burst_on_ns || now_ns % period_ns < arrivals->burst_on_ns)
		return now_ns;
	return now_ns - now_ns % period_ns + period_ns;
}

/* The first arrival is at 0, as in the replay of a record file. */
static u64 draw_next_open_loop_arrival_ns(struct sim_arrivals *arrivals)
{
	u64 now_ns = convert_burst_time_to_device_ns(arrivals);

	arrivals->next_q16 += draw_arrival_interval_q16(arrivals);
	arrivals->next_ns += arrivals->next_q16 >> 16;
	arrivals->next_q16 &= 0xffff;
	return now_ns;
}

u64 sim_set_arrival_time(struct sim_arrivals *arrivals, const struct sim_request *request,
			 u64 free_ns)
{
	switch (arrivals->kind) {
	case SIM_ARRIVAL_OPEN:
		return draw_next_open_loop_arrival_ns(arrivals);
	case SIM_ARRIVAL_TRACE:
	case SIM_ARRIVAL_DEVICE:
		return request->time_ns;
	default:
		return round_time_up_to_burst(arrivals, free_ns);
	}
}
