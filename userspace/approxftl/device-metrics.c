// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints counters, numbers of the status line, lateness and the state of the LUNs as metrics.
 *
 * Prometheus requires seconds and joules, and the samples of a metric in consecutive lines.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "device-metrics.h"
#include "device-sample.h"

#define METRIC_NAME 96
#define NS 9
#define PJ 12

/**
 * struct scraped - a device whose metrics are printed
 * @view: table and status of the device
 * @sample: statistics of the device
 */
struct scraped {
	struct device_view view;
	struct sample sample;
};

/**
 * struct metrics - all devices to report
 * @devices: devices
 * @count: number of devices
 */
struct metrics {
	struct scraped *devices;
	unsigned int count;
};

/* Text */

/* Print a quoted label; names of device-mapper may contain any character. */
static void print_metric_label(const char *key, const char *value)
{
	printf("%s=\"", key);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"' || *value == '\n')
			putchar('\\');
		putchar(*value == '\n' ? 'n' : *value);
	}
	putchar('"');
}

static bool does_name_end_with(const char *name, const char *end)
{
	size_t length = strlen(name), rest = strlen(end);

	return length > rest && !strcmp(name + length - rest, end);
}

/* Return the power of ten that divides nanoseconds or picojoules to get seconds or joules. */
static unsigned int get_decimals_of_metric_unit(const char *name)
{
	return does_name_end_with(name, "_ns") ? NS : does_name_end_with(name, "_pj") ? PJ : 0;
}

/* Convert a name as Prometheus requires: host_program_ns becomes host_program_seconds. */
static void make_metric_name(char text[METRIC_NAME], const char *part, const char *name,
			     const char *end)
{
	unsigned int decimals = get_decimals_of_metric_unit(name);

	scnprintf(text, METRIC_NAME, "approxftl_%s%.*s%s%s", part,
		  (int)strlen(name) - (decimals ? 3 : 0), name,
		  decimals == NS ? "_seconds" : decimals == PJ ? "_joules" : "", end);
}

static void print_metric_help_and_type(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_metric_value(u64 value, unsigned int decimals)
{
	u64 scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	if (decimals)
		printf(" %llu.%0*llu\n", (unsigned long long)(value / scale), (int)decimals,
		       (unsigned long long)(value % scale));
	else
		printf(" %llu\n", (unsigned long long)value);
}

static void print_metric_line(const char *name, const struct scraped *device, u64 value,
			      unsigned int decimals)
{
	printf("%s{", name);
	print_metric_label("device", device->view.device.name);
	putchar('}');
	print_metric_value(value, decimals);
}

/* Metrics */

static void print_counter_metrics(const struct metrics *metrics)
{
	char name[METRIC_NAME];

	for (unsigned int i = 0; i < AFTL_COUNTERS; i++) {
		const char *own = aftl_counter_info[i].name;

		make_metric_name(name, "", own, "_total");
		print_metric_help_and_type(name, "counter", aftl_counter_info[i].help);
		for (unsigned int j = 0; j < metrics->count; j++)
			print_metric_line(name, &metrics->devices[j],
					  aftl_counter_get(&metrics->devices[j]
								    .sample.stats.counters,
							   i),
					  get_decimals_of_metric_unit(own));
	}
}

static void print_gauge_metric(const struct metrics *metrics, const char *own, const char *help,
			       size_t field)
{
	char name[METRIC_NAME];

	make_metric_name(name, "status_", own, "");
	print_metric_help_and_type(name, "gauge", help);
	for (unsigned int i = 0; i < metrics->count; i++) {
		const char *status = (const char *)&metrics->devices[i].view.status;

		print_metric_line(name, &metrics->devices[i], *(const u64 *)(status + field),
				  get_decimals_of_metric_unit(own));
	}
}

/* Print two gauges: the status field at offset @field, and its maximum, the next status field. */
static void print_gauges_of_value_and_maximum(const struct metrics *metrics,
					      const char *const names[2], const char *help,
					      size_t field)
{
	print_gauge_metric(metrics, names[0], help, field);
	print_gauge_metric(metrics, names[1], help, field + sizeof(u64));
}

static void print_status_metrics(const struct metrics *metrics)
{
#define FIELD(name) offsetof(struct target_status, name)
#define STATUS_TEXT(name, help)
#define STATUS_NUMBER(name, help) print_gauge_metric(metrics, #name, help, FIELD(name));
#define STATUS_PAIR(part, whole, help)                                                      \
	print_gauges_of_value_and_maximum(metrics, (const char *[]){ #part, #whole }, help, \
					  FIELD(part));
#include "target/status-table.h"
#undef FIELD
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
}

static void print_histogram_bucket(const struct scraped *device, const char *bound, u64 count)
{
	fputs("approxftl_late_seconds_bucket{", stdout);
	print_metric_label("device", device->view.device.name);
	printf(",le=\"%s\"} %llu\n", bound, (unsigned long long)count);
}

static void print_completion_lateness_metric(const struct scraped *device)
{
	const struct aftl_histogram *late = &device->sample.stats.late;
	char bound[AFTL_VALUE_SIZE];
	u64 sum = 0;

	for (unsigned int i = 0; i < AFTL_HISTOGRAM_BINS; i++) {
		u64 top = aftl_histogram_max_of_bin(i);

		sum += late->bins[i];
		if (!late->bins[i])
			continue;
		scnprintf(bound, sizeof(bound), "%llu.%09llu",
			  (unsigned long long)(top / SECOND_NS),
			  (unsigned long long)(top % SECOND_NS));
		print_histogram_bucket(device, bound, sum);
	}
	print_histogram_bucket(device, "+Inf", late->count);
	print_metric_line("approxftl_late_seconds_sum", device, late->sum, NS);
	print_metric_line("approxftl_late_seconds_count", device, late->count, 0);
}

static void print_lun_metric(const char *name, const struct scraped *device, size_t field,
			     unsigned int decimals)
{
	const struct target_luns *luns = &device->sample.luns;

	for (unsigned int i = 0; i < luns->count; i++) {
		printf("%s{", name);
		print_metric_label("device", device->view.device.name);
		printf(",lun=\"%u\"}", i);
		print_metric_value(*(const u64 *)((const char *)&luns->list[i] + field), decimals);
	}
}

static void print_lun_metrics(const struct metrics *metrics)
{
	static const struct {
		const char *name;
		const char *type;
		const char *help;
		size_t field;
		unsigned int decimals;
	} kinds[] = {
		{ "approxftl_lun_good_blocks", "gauge", "blocks of a LUN that are not bad",
		  offsetof(struct target_lun, good_blocks), 0 },
		{ "approxftl_lun_free_blocks", "gauge", "erased blocks of a LUN",
		  offsetof(struct target_lun, free_blocks), 0 },
		{ "approxftl_lun_valid_units", "gauge", "units of a LUN that hold data",
		  offsetof(struct target_lun, valid_units), 0 },
		{ "approxftl_lun_queued", "gauge", "commands that wait for a LUN",
		  offsetof(struct target_lun, queued), 0 },
		{ "approxftl_lun_busy_seconds_total", "counter", "array time of a LUN",
		  offsetof(struct target_lun, busy_ns), NS },
		{ "approxftl_lun_cached_blocks", "gauge", "blocks of a LUN in the write cache",
		  offsetof(struct target_lun, cached_blocks), 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		print_metric_help_and_type(kinds[i].name, kinds[i].type, kinds[i].help);
		for (unsigned int j = 0; j < metrics->count; j++)
			print_lun_metric(kinds[i].name, &metrics->devices[j], kinds[i].field,
					 kinds[i].decimals);
	}
}

/* Queries */

static int query_device_metrics(struct metrics *metrics, const struct dm_device *device,
				struct aftl_error *error)
{
	struct scraped *scraped;
	int ret;

	metrics->devices =
		memory_resize(metrics->devices, metrics->count + 1, sizeof(*metrics->devices));
	scraped = &metrics->devices[metrics->count++];
	memset(scraped, 0, sizeof(*scraped));
	scraped->view.device = *device;
	ret = device_view_read_table_and_status(&scraped->view, error);
	return ret ? ret : device_sample_take(device, &scraped->sample, error);
}

static int query_metrics_of_all_devices(struct metrics *metrics, struct aftl_error *error)
{
	struct dm_device *devices;
	unsigned int count, i;
	int ret = dm_device_list(&devices, &count, error);

	if (ret)
		return ret;
	for (i = 0; !ret && i < count; i++)
		ret = query_device_metrics(metrics, &devices[i], error);
	free(devices);
	return ret;
}

static int query_metrics_of_named_device(struct metrics *metrics, const char *name,
					 struct aftl_error *error)
{
	struct dm_device device;
	int ret = dm_device_find_by_name(&device, name, error);

	return ret ? ret : query_device_metrics(metrics, &device, error);
}

enum exit_code metrics_print(const struct device_options *options)
{
	struct metrics metrics = { NULL, 0 };
	struct aftl_error error;
	int ret = check_device_mapper_ready(&error);

	if (!ret)
		ret = options->word_count ?
			query_metrics_of_named_device(&metrics, options->words[0], &error) :
			query_metrics_of_all_devices(&metrics, &error);
	if (!ret) {
		print_metric_help_and_type("approxftl_device_info", "gauge",
					   "a device, and what it was made of");
		for (unsigned int i = 0; i < metrics.count; i++) {
			const struct device_view *view = &metrics.devices[i].view;

			fputs("approxftl_device_info{", stdout);
			print_metric_label("device", view->device.name);
			print_metric_label(",policy", view->line.policy->name);
			print_metric_label(",profile", view->line.profile);
			print_metric_label(",store", view->line.store);
			print_metric_label(",mode", view->status.mode);
			puts("} 1");
		}
		print_counter_metrics(&metrics);
		print_status_metrics(&metrics);
		print_metric_help_and_type("approxftl_late_seconds", "histogram",
					   "how much later than the model's time requests were handed back");
		for (unsigned int i = 0; i < metrics.count; i++)
			print_completion_lateness_metric(&metrics.devices[i]);
		print_lun_metrics(&metrics);
	}
	for (unsigned int i = 0; i < metrics.count; i++)
		device_sample_free(&metrics.devices[i].sample);
	free(metrics.devices);
	return ret ? report_device_failure(options, ret, &error) : EXIT_DONE;
}
