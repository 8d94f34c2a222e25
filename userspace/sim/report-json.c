// SPDX-License-Identifier: GPL-2.0-only
/* Report the result as JSON; sim-output.fields lists the fields. */
#include "json-envelope.h"
#include "json-parameters.h"
#include "report.h"
#include "starting-state.h"

static void write_request_sizes_json(struct json_writer *json, const char *key,
				     const struct sim_size_list *list)
{
	json_begin_array(json, key);
	for (u32 i = 0; i < list->count; i++) {
		json_begin_object(json, NULL);
		json_u64(json, "bytes", list->sizes[i].bytes);
		json_u64(json, "weight", list->sizes[i].weight);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Write the options of the workload; shares are in 1/10000, other fractions in 10^-12. */
static void write_workload_json(struct json_writer *json, const struct sim_options *options)
{
	switch (options->workload) {
	case SIM_WORKLOAD_ZIPF:
		json_decimal(json, "zipf_skew", options->zipf_skew / 100000000, 4);
		if (options->zipf_order)
			json_string(json, "zipf_order", sim_get_zipf_order_name(options));
		break;
	case SIM_WORKLOAD_SEQUENTIAL:
		if (options->stride)
			json_u64(json, "stride_bytes", options->stride);
		break;
	case SIM_WORKLOAD_DRIFT:
		json_decimal(json, "drift_set_percent", options->drift_set, 2);
		json_u64(json, "drift_requests", options->drift_requests);
		break;
	case SIM_WORKLOAD_ACTIVE:
		json_decimal(json, "active_set_percent", options->active_set, 2);
		json_u64(json, "active_requests", options->active_requests);
		json_u64(json, "active_extent", options->active_extent);
		json_decimal(json, "active_others_percent", options->active_others, 2);
		break;
	case SIM_WORKLOAD_ZONES:
		json_u64(json, "zone_bytes", options->zone_size);
		json_u64(json, "open_zones", options->open_zones);
		json_decimal(json, "zone_rewrites_percent", options->zone_rewrites, 2);
		break;
	default:
		break;
	}
}

static void write_tenants_json(struct json_writer *json, const struct sim_options *options)
{
	json_begin_array(json, "tenants");
	for (u32 i = 0; i < options->tenant_count; i++) {
		const struct sim_tenant_choice *choice = &options->tenant_choices[i];

		json_begin_object(json, NULL);
		json_u64(json, "queue_depth", choice->depth);
		if (options->tenant_size)
			json_u64(json, "bytes", choice->bytes);
		if (options->tenant_write_share)
			json_decimal(json, "write_share_percent", choice->write_share, 2);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_stream_generator_json(struct json_writer *json, const struct sim_options *options)
{
	json_string(json, "source", "generator");
	json_string(json, "workload", sim_get_workload_name(options));
	write_workload_json(json, options);
	json_decimal(json, "write_share_percent", options->write_share, 2);
	json_decimal(json, "approx_share_percent", options->approx_share, 2);
	json_u64(json, "approx_run_writes", options->approx_run);
	if (options->level_2_share)
		json_decimal(json, "level_2_share_percent", options->level_2_share, 2);
	if (options->level_3_share)
		json_decimal(json, "level_3_share_percent", options->level_3_share, 2);
	json_decimal(json, "discard_share_percent", options->discard_share, 2);
	json_u64(json, "flush_every_requests", options->flush_every);
	json_decimal(json, "footprint_percent", options->footprint, 2);
	json_decimal(json, "hot_share_percent", options->hot_share, 2);
	json_decimal(json, "hot_range_percent", options->hot_range, 2);
	if (options->scatter)
		json_bool(json, "scatter", true);
	if (options->zone_append)
		json_bool(json, "zone_append", true);
	if (options->hot_stream)
		json_u64(json, "hot_stream", options->hot_stream);
	write_request_sizes_json(json, "sizes", &options->size_list);
	if (options->tenant_count)
		write_tenants_json(json, options);
	if (options->hot_size)
		write_request_sizes_json(json, "hot_sizes", &options->hot_size_list);
}

static void write_stream_json(struct json_writer *json, const struct sim_options *options,
			      const struct sim_result *result)
{
	json_begin_object(json, "stream");
	if (options->trace) {
		const struct sim_notes *notes = &result->notes;

		json_string(json, "source", "trace");
		json_string(json, "trace", options->trace);
		json_u64(json, "repeat", options->repeat);
		json_decimal(json, "time_scale", options->time_scale / 1000000, 6);
		json_u64(json, "widened_requests", notes->widened);
		json_u64(json, "wrapped_requests", notes->wrapped);
		json_u64(json, "clipped_requests", notes->clipped);
		json_u64(json, "unknown_class_requests", notes->unknown_class);
	} else {
		write_stream_generator_json(json, options);
	}
	if (options->whole_units)
		json_bool(json, "whole_units", true);
	json_string(json, "arrival", sim_get_arrival_name(options));
	if (options->arrival == SIM_ARRIVAL_CLOSED && !options->tenant_count)
		json_u64(json, "queue_depth", options->depth);
	if (options->arrival == SIM_ARRIVAL_OPEN) {
		json_string(json, "arrival_shape", sim_get_arrival_shape_name(options));
		if (options->utilisation)
			json_decimal(json, "utilisation_percent", options->utilisation, 2);
		json_decimal(json, "mean_interval_ns",
			     scaled_ratio(result->interval_q16, 1 << 16, 1000), 3);
	}
	if (options->burst_off) {
		json_u64(json, "burst_on_ns", options->burst_on);
		json_u64(json, "burst_off_ns", options->burst_off);
		if (options->rate_between)
			json_u64(json, "rate_between_per_second", options->rate_between);
	}
	if (options->host_fill) {
		json_u64(json, "host_fill_depth", options->host_fill);
		json_u64(json, "host_fill_bytes", options->host_fill_size);
	}
	if (options->beside_rate) {
		json_u64(json, "beside_per_second", options->beside_rate);
		json_u64(json, "beside_bytes", options->beside_size);
	}
	json_u64(json, "warmup_requests", result->warmup_requests);
	json_end_object(json);
}

/* Print a histogram as pairs: the largest value of a bin, and the count of the bin. */
static void write_histogram_bins_json(struct json_writer *json,
				      const struct aftl_histogram *histogram)
{
	json_begin_array(json, "bins");
	for (u32 i = 0; i < AFTL_HISTOGRAM_BINS; i++) {
		if (!histogram->bins[i])
			continue;
		json_begin_inline_array(json, NULL);
		json_u64(json, NULL, aftl_histogram_max_of_bin(i));
		json_u64(json, NULL, histogram->bins[i]);
		json_end_array(json);
	}
	json_end_array(json);
}

static void write_timing_json(struct json_writer *json, const char *key,
			      const struct aftl_histogram *histogram, bool bins)
{
	json_begin_object(json, key);
	json_u64(json, "count", histogram->count);
	json_u64(json, "sum_ns", histogram->sum);
	json_decimal(json, "mean_ns", scaled_ratio(histogram->sum, histogram->count, 1000), 3);
	json_u64(json, "min_ns", histogram->smallest);
	json_u64(json, "p50_ns", aftl_histogram_quantile(histogram, 5000));
	json_u64(json, "p90_ns", aftl_histogram_quantile(histogram, 9000));
	json_u64(json, "p99_ns", aftl_histogram_quantile(histogram, 9900));
	json_u64(json, "p99_9_ns", aftl_histogram_quantile(histogram, 9990));
	json_u64(json, "p99_99_ns", aftl_histogram_quantile(histogram, 9999));
	json_u64(json, "max_ns", histogram->largest);
	if (bins)
		write_histogram_bins_json(json, histogram);
	json_end_object(json);
}

/* Write the waiting times: response minus service times; a negative sum counts as 0. */
static void write_waiting_times_json(struct json_writer *json, const char *key,
				     const struct aftl_histogram *response,
				     const struct aftl_histogram *service)
{
	u64 sum = response->sum - min(service->sum, response->sum);

	json_begin_object(json, key);
	json_u64(json, "count", response->count);
	json_u64(json, "sum_ns", sum);
	json_decimal(json, "mean_ns", scaled_ratio(sum, response->count, 1000), 3);
	json_end_object(json);
}

static void write_all_timings_json(struct json_writer *json, const struct sim_result *result,
				   bool bins)
{
	const struct aftl_stats *stats = &result->stats;

	json_begin_object(json, "timing");
	for (unsigned int i = 0; i < sim_timing_count; i++)
		write_timing_json(json, sim_timings[i].name, sim_get_timing_histogram(result, i),
				  bins);
	write_timing_json(json, "write_precise_response", &result->class_response[AFTL_PRECISE],
			  bins);
	write_timing_json(json, "write_approx_response", &result->class_response[AFTL_APPROX],
			  bins);
	write_waiting_times_json(json, "read_waiting", &stats->read_response, &stats->read_service);
	write_waiting_times_json(json, "write_waiting", &stats->write_response,
				 &stats->write_service);
	json_end_object(json);
}

static void write_steady_state_json(struct json_writer *json, const struct settling *settling)
{
	struct settling_verdict verdict = settling_judge(settling);

	json_begin_object(json, "settling");
	json_u64(json, "cut_requests", verdict.cut);
	json_bool(json, "settled", verdict.settled);
	json_u64(json, "batch_requests", settling->batch);
	json_begin_inline_array(json, "batch_response_sum_ns");
	for (u32 i = 0; i < settling->count; i++)
		json_u64(json, NULL, settling->sums_ns[i]);
	json_end_array(json);
	json_end_object(json);
}

/* List the signs that the run was not in steady state: those that "approxftl sim" warns of. */
static void write_unsteady_signs_json(struct json_writer *json, const struct sim_result *result)
{
	struct settling_verdict verdict = settling_judge(&result->settling);
	bool biased = verdict.known && verdict.off >= SETTLING_MATTERS;
	bool fresh = sim_did_run_use_up_free_blocks(result);

	if (!biased && !fresh)
		return;
	json_begin_inline_array(json, "unsteady");
	if (biased)
		json_string(json, NULL, verdict.settled ? "begin" : "drifting");
	if (fresh)
		json_string(json, NULL, "free_blocks");
	json_end_array(json);
}

static void write_energy_json(struct json_writer *json, const struct aftl_counters *counters)
{
	u64 read = counters->read_energy_pj;
	u64 program = counters->program_energy_pj;
	u64 erase = counters->erase_energy_pj;

	json_begin_object(json, "energy");
	json_u64(json, "total_pj", read + program + erase);
	json_u64(json, "read_pj", read);
	json_u64(json, "program_pj", program);
	json_u64(json, "erase_pj", erase);
	json_decimal(json, "mean_read_pj", scaled_ratio(read, counters->array_reads, 1000), 3);
	json_decimal(json, "mean_program_pj", scaled_ratio(program, counters->array_programs, 1000),
		     3);
	json_decimal(json, "mean_erase_pj", scaled_ratio(erase, counters->array_erases, 1000), 3);
	json_end_object(json);
}

static void write_distribution_json(struct json_writer *json, const char *key,
				    const struct sim_spread *spread, u64 per, unsigned int decimals)
{
	u64 scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	json_begin_object(json, key);
	json_decimal(json, "min", spread->smallest * scale / per, decimals);
	json_decimal(json, "mean", scaled_ratio(spread->sum, spread->count * per, scale), decimals);
	json_decimal(json, "max", spread->largest * scale / per, decimals);
	json_end_object(json);
}

/* The lifetime factor is the wear of full erases divided by the actual wear. */
static void write_lifetime_json(struct json_writer *json, const struct aftl_counters *counters)
{
	u64 erases = counters->array_erases;

	json_begin_object(json, "lifetime");
	json_u64(json, "erases", erases);
	json_u64(json, "low_erases", counters->array_low_erases);
	json_decimal(json, "low_erase_share",
		     scaled_ratio(counters->array_low_erases, erases, 10000), 4);
	json_decimal(json, "mean_erase_wear", scaled_ratio(counters->wear_sum, erases, 1), 4);
	json_decimal(json, "factor",
		     scaled_ratio(erases * SIM_FULL_WEAR, counters->wear_sum, 10000), 4);
	json_end_object(json);
}

static void write_page_counts_json(struct json_writer *json, const struct sim_result *result)
{
	u64 handles = result->config.placement_handles;
	unsigned int i;

	json_begin_object(json, "block_kinds");
	for (i = 0; i < AFTL_KINDS_MAX && result->policy->kinds[i]; i++) {
		json_begin_object(json, result->policy->kinds[i]);
		json_u64(json, "blocks", result->stats.kind_blocks[i]);
		json_u64(json, "pages", result->stats.kind_pages[i]);
		json_end_object(json);
	}
	json_end_object(json);
	json_begin_object(json, "streams");
	for (i = 0; i < AFTL_STREAMS && result->policy->streams[i]; i++) {
		json_begin_object(json, result->policy->streams[i]);
		json_u64(json, "host_units", result->stats.stream_units[0][i]);
		json_u64(json, "moved_units", result->stats.stream_units[1][i]);
		json_end_object(json);
	}
	json_end_object(json);
	/* Print an empty list if there is only the default placement handle. */
	json_write_placement_handles(json, result->stats.handles, handles ? handles + 1 : 0);
	json_begin_object(json, "zones");
	for (i = 0; i < AFTL_ZONE_STATES; i++)
		json_u64(json, sim_zone_names[i], result->zone_states[i]);
	json_end_object(json);
	json_begin_object(json, "mode_pages");
	for (i = 0; i < AFTL_MODES; i++)
		json_u64(json, sim_mode_names[i], result->stats.mode_pages[i]);
	json_end_object(json);
	json_begin_object(json, "class_pages");
	for (i = 0; i < AFTL_CLASSES; i++)
		json_u64(json, sim_class_names[i], result->stats.class_pages[i]);
	json_end_object(json);
}

static void write_queue_json(struct json_writer *json, const struct sim_result *result, u32 index,
			     bool bins)
{
	const struct sim_queue *queue = &result->queues[index];
	u64 requests = queue->read_response.count + queue->write_response.count;

	json_begin_object(json, NULL);
	json_u64(json, "weight", aftl_queue_weight_at(result->config.queue_weights, index));
	json_decimal(json, "requests_per_s",
		     scaled_ratio(requests, result->elapsed_ns, 1000000000000ULL), 3);
	json_u64(json, "bytes_per_s", scaled_ratio(queue->bytes, result->elapsed_ns, 1000000000));
	write_timing_json(json, "read_response", &queue->read_response, bins);
	write_timing_json(json, "write_response", &queue->write_response, bins);
	json_end_object(json);
}

/* Print the host queues, unless there is only one. */
static void write_queues_json(struct json_writer *json, const struct sim_result *result, bool bins)
{
	if (!result->queue_count)
		return;
	json_begin_array(json, "queues");
	for (u32 i = 0; i < result->queue_count; i++)
		write_queue_json(json, result, i, bins);
	json_end_array(json);
}

static void write_luns_json(struct json_writer *json, const struct sim_result *result)
{
	u64 busy_ns = 0;

	for (u32 i = 0; i < result->geo.luns; i++)
		busy_ns += result->luns[i].busy_ns;
	json_begin_object(json, "luns");
	json_u64(json, "busy_ns", busy_ns);
	json_decimal(json, "mean_utilisation",
		     scaled_ratio(busy_ns, result->elapsed_ns * result->geo.luns, 10000), 4);
	json_begin_inline_array(json, "utilisation");
	for (u32 i = 0; i < result->geo.luns; i++)
		json_decimal(json, NULL,
			     scaled_ratio(result->luns[i].busy_ns, result->elapsed_ns, 10000), 4);
	json_end_array(json);
	json_begin_inline_array(json, "free_blocks");
	for (u32 i = 0; i < result->geo.luns; i++)
		json_u64(json, NULL, result->luns[i].free_blocks);
	json_end_array(json);
	json_begin_inline_array(json, "cached_blocks");
	for (u32 i = 0; i < result->geo.luns; i++)
		json_u64(json, NULL, result->luns[i].cached_blocks);
	json_end_array(json);
	json_end_object(json);
}

/* Print the seed of a run if there are several. */
static void write_seed_json(struct json_writer *json, const struct sim_options *options, u64 seed)
{
	if (options->seed_count > 1)
		json_u64(json, "seed", seed);
}

static void write_raid_member_json(struct json_writer *json, u64 units, u64 erases)
{
	json_begin_object(json, NULL);
	json_u64(json, "write_units", units);
	json_u64(json, "erases", erases);
	json_decimal(json, "writes_per_erase", scaled_ratio(units, erases, 100), 2);
	json_end_object(json);
}

static void write_raid_json(struct json_writer *json, const struct sim_raid *raid)
{
	const struct raid_counters *counters = &raid->counters;

	json_begin_object(json, "raid");
	json_u64(json, "data_write_units", counters->data_units);
	json_u64(json, "parity_write_units", counters->parity_units);
	json_u64(json, "parity_read_units", counters->old_units);
	json_u64(json, "cached_read_units", counters->cached_units);
	json_u64(json, "full_rows", counters->full_rows);
	json_u64(json, "modified_rows", counters->modified_rows);
	json_u64(json, "reconstructed_rows", counters->reconstructed_rows);
	json_begin_array(json, "members");
	for (u32 i = 0; i < raid->members; i++)
		write_raid_member_json(json, raid->member_units[i], raid->member_erases[i]);
	json_end_array(json);
	json_end_object(json);
}

static void write_offline_optimum_json(struct json_writer *json, const struct sim_result *result)
{
	const struct optimum *optimum = &result->yardstick.optimum;
	u64 reached = sim_get_offline_gc_amplification(result);

	json_begin_object(json, "yardstick");
	json_u64(json, "host_write_units", optimum->writes);
	json_u64(json, "buffered_units", optimum->kept);
	json_decimal(json, "lower", sim_get_min_write_amplification(result), 4);
	if (reached) {
		json_u64(json, "relocated_units", optimum->relocated);
		json_u64(json, "erases", optimum->erases);
		json_decimal(json, "reached", reached, 4);
		json_decimal(json, "factor",
			     scaled_ratio(sim_get_write_amplification(&result->stats.counters,
								      result->geo.unit_bytes),
					  reached, 10000),
			     4);
	}
	json_end_object(json);
}

static void write_result_json(struct json_writer *json, const struct sim_options *options,
			      const struct sim_result *result)
{
	const struct aftl_counters *counters;
	char text[17];

	json_begin_object(json, NULL);
	json_string(json, "policy", result->policy->name);
	write_seed_json(json, options, result->config.seed);
	json_bool(json, "interrupted", result->interrupted);
	json_bool(json, "read_only", result->read_only);
	json_u64(json, "requests", result->requests);
	json_u64(json, "simulated_ns", result->elapsed_ns);
	json_u64(json, "device_time_ns", result->end_ns);
	json_u64(json, "device_age_hours", result->hours);
	json_u64(json, "memory_bytes", result->memory_bytes);
	scnprintf(text, sizeof(text), "%016llx", (unsigned long long)result->digest);
	json_string(json, "digest", text);
	if (options->verify)
		json_bool(json, "verified", result->verified);
	if (options->cpu) {
		json_u64(json, "fill_cpu_ns", result->fill_cpu_ns);
		json_u64(json, "cpu_ns", result->cpu_ns);
	}
	write_all_timings_json(json, result, options->histogram);
	write_unsteady_signs_json(json, result);
	if (options->series)
		write_steady_state_json(json, &result->settling);
	counters = &result->stats.counters;
	json_begin_object(json, "write_amplification");
	json_u64(json, "host_write_units", counters->host_write_units);
	json_u64(json, "programmed_units", sim_sum_programmed_units(counters));
	json_u64(json, "host_write_bytes", counters->host_write_bytes);
	json_u64(json, "programmed_bytes",
		 sim_sum_programmed_units(counters) * result->geo.unit_bytes);
	json_decimal(json, "total", sim_get_write_amplification(counters, result->geo.unit_bytes),
		     4);
	for (unsigned int i = 0; i < SIM_CAUSES; i++)
		json_decimal(json, sim_cause_names[i],
			     sim_get_write_amplification_by_cause(counters, i,
								  result->geo.unit_bytes),
			     4);
	json_end_object(json);
	if (result->yardstick.known)
		write_offline_optimum_json(json, result);
	write_energy_json(json, &result->stats.counters);
	json_begin_object(json, "blocks");
	json_u64(json, "good", result->erases.count);
	json_u64(json, "bad", result->bad_blocks);
	write_distribution_json(json, "erase_count", &result->erases, 1, 4);
	write_distribution_json(json, "wear", &result->wear, SIM_FULL_WEAR, 4);
	json_end_object(json);
	write_lifetime_json(json, &result->stats.counters);
	write_page_counts_json(json, result);
	write_luns_json(json, result);
	write_queues_json(json, result, options->histogram);
	if (options->slowest)
		slowest_write_json(&result->slowest, json);
	if (result->raid.members)
		write_raid_json(json, &result->raid);
	json_write_counters(json, &result->stats.counters);
	sim_report_write_media_json(json, result);
	json_end_object(json);
}

void sim_report_write_json(const struct sim_report *report, FILE *out)
{
	const struct sim_result *first = &report->results[0];
	struct json_writer json;
	const struct aftl_geometry *geo;

	json_envelope_begin(&json, out, report->argc, report->argv);
	json_bool(&json, "interrupted", report->interrupted);
	if (first->profile)
		json_string(&json, "profile", first->profile);
	else
		json_null(&json, "profile");
	json_u64(&json, "seed", first->config.seed);
	json_string(&json, "starting_state",
		    first->profile ? starting_state_get_name(&first->config) : "saved");
	json_write_parameters(&json, &first->config);
	geo = &first->geo;
	json_begin_object(&json, "geometry");
	json_u64(&json, "channels", geo->channels);
	json_u64(&json, "luns", geo->luns);
	json_u64(&json, "blocks_per_lun", geo->blocks_per_lun);
	json_u64(&json, "blocks", geo->blocks);
	json_u64(&json, "layers", geo->layers);
	json_u64(&json, "word_lines_per_layer", geo->word_lines);
	json_u64(&json, "pages_per_word_line", geo->word_line_pages);
	json_u64(&json, "pages_per_block", geo->pages);
	json_u64(&json, "pages_per_program", geo->program_pages);
	json_u64(&json, "page_bytes", geo->page_bytes);
	json_u64(&json, "unit_bytes", geo->unit_bytes);
	json_u64(&json, "units", first->units);
	json_u64(&json, "capacity_bytes", first->units * geo->unit_bytes);
	json_u64(&json, "physical_bytes", first->slots * geo->unit_bytes);
	json_end_object(&json);
	write_stream_json(&json, report->options, first);
	json_begin_array(&json, "runs");
	for (unsigned int i = 0; i < report->count; i++)
		write_result_json(&json, report->options, &report->results[i]);
	json_end_array(&json);
	json_begin_array(&json, "failed");
	for (unsigned int i = 0; i < report->failed; i++) {
		json_begin_inline_object(&json, NULL);
		json_string(&json, "policy", report->failures[i].policy);
		write_seed_json(&json, report->options, report->failures[i].seed);
		json_string(&json, "why", report->failures[i].why);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_envelope_end(&json);
}
