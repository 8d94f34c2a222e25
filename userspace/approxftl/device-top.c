// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl top": show continuously what devices do. */
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "screen.h"
#include "top-frame.h"
#include "verbs.h"

/* Number of blank lines between two devices. */
#define GAP 1

/**
 * struct watched - a device and its latest sample
 * @view: table and status
 * @sample: statistics
 */
struct watched {
	struct device_view view;
	struct sample sample;
};

/**
 * struct watch - all watched devices, each with its latest sample
 * @list: ordered by name
 * @count: number of devices
 */
struct watch {
	struct watched *list;
	unsigned int count;
};

static void free_watched_devices(struct watch *watch)
{
	for (unsigned int i = 0; i < watch->count; i++)
		device_sample_free(&watch->list[i].sample);
	free(watch->list);
	*watch = (struct watch){ NULL, 0 };
}

static int add_device_to_top_display(struct watched *watched, const struct dm_device *device,
				     struct aftl_error *error)
{
	int ret;

	watched->view.device = *device;
	ret = device_view_read_table_and_status(&watched->view, error);
	return ret ? ret : device_sample_take(device, &watched->sample, error);
}

static int list_watched_devices(const struct device_options *options, struct dm_device **devices,
				unsigned int *count, struct aftl_error *error)
{
	if (!options->word_count)
		return dm_device_list(devices, count, error);
	*devices = memory_alloc_zeroed(1, sizeof(**devices));
	*count = 1;
	return dm_device_find_by_name(*devices, options->words[0], error);
}

/* Skip a device that is removed meanwhile, unless the command line names it. */
static int add_devices_to_top_display(const struct device_options *options, struct watch *watch,
				      struct aftl_error *error)
{
	struct dm_device *devices = NULL;
	unsigned int count = 0, i;
	int ret = list_watched_devices(options, &devices, &count, error);

	*watch = (struct watch){ memory_alloc_zeroed(count, sizeof(*watch->list)), 0 };
	for (i = 0; !ret && i < count; i++) {
		struct watched *watched = &watch->list[watch->count];

		ret = add_device_to_top_display(watched, &devices[i], error);
		if (!ret) {
			watch->count++;
		} else {
			device_sample_free(&watched->sample);
			memset(watched, 0, sizeof(*watched));
			if (ret == -ENXIO && !options->word_count)
				ret = 0;
		}
	}
	free(devices);
	return ret;
}

/* Find the device on the previous screen; compare minor numbers, as a name may be used again. */
static const struct watched *find_device_of_previous_frame(const struct watch *before,
							   const struct dm_device *device)
{
	for (unsigned int i = 0; i < before->count; i++) {
		const struct dm_device *other = &before->list[i].view.device;

		if (!strcmp(other->name, device->name) && other->minor == device->minor)
			return &before->list[i];
	}
	return NULL;
}

static void print_watched_device(const struct watched *now, const struct watched *before,
				 unsigned int columns, unsigned int rows)
{
	struct sample between;
	struct top_frame frame = {
		.view = &now->view,
		.between = &between,
		.columns = columns,
		.rows = rows,
		.end = is_terminal_in_full_screen() ? "\033[K" : "",
	};

	device_sample_subtract_earlier_sample(&between, &now->sample, &before->sample);
	top_frame_print(stdout, &frame);
	device_sample_free(&between);
}

static void print_watched_devices(const struct watch *now, const struct watch *before)
{
	const char *end = is_terminal_in_full_screen() ? "\033[K\n" : "\n";
	unsigned int columns, rows, i;

	screen_move_cursor_home();
	screen_get_size(&columns, &rows);
	/* Keep the last row free, or the terminal would scroll. */
	if (rows)
		rows = max((rows - 1) / max(now->count, 1U), 1 + GAP) - GAP;
	if (!now->count)
		printf("no device of the target approxftl; \"approxftl create\" makes one%s", end);
	for (i = 0; i < now->count; i++) {
		const struct watched *earlier =
			find_device_of_previous_frame(before, &now->list[i].view.device);

		if (!earlier)
			continue;
		print_watched_device(&now->list[i], earlier, columns, rows);
		fputs(end, stdout);
	}
	screen_clear_below_cursor();
}

static bool user_wants_to_quit(int key)
{
	return is_stop_requested() || key == 'q' || key == 'Q';
}

/* Wait until the next screen is due; return false if the user quits. */
static bool wait_for_next_top_frame(u64 at_ns)
{
	int key;

	do
		key = screen_wait_for_key(at_ns);
	while (!user_wants_to_quit(key) && get_monotonic_time_ns() < at_ns);
	return !user_wants_to_quit(key);
}

static int show_next_top_frame(const struct device_options *options, u64 interval_ns, u64 count,
			       struct aftl_error *error)
{
	u64 number, next_ns = get_monotonic_time_ns() + interval_ns;
	struct watch before, now;
	int ret = add_devices_to_top_display(options, &before, error);

	for (number = 0; !ret && (!count || number < count) && wait_for_next_top_frame(next_ns);
	     number++) {
		ret = add_devices_to_top_display(options, &now, error);
		if (!ret)
			print_watched_devices(&now, &before);
		free_watched_devices(&before);
		before = now;
		next_ns += interval_ns;
	}
	free_watched_devices(&before);
	return ret;
}

static enum exit_code run_device_top(const struct device_options *options)
{
	u64 interval_ns = SECOND_NS, count = 0;
	struct aftl_error error;
	int ret = 0;

	if (options->interval)
		ret = parse_sample_interval_option(options->interval, &interval_ns, &error);
	if (!ret && options->count)
		ret = parse_sample_count_option(options->count, &count, &error);
	if (ret)
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	ret = check_device_mapper_ready(&error);
	if (!ret) {
		interruption_catch_stop_signals();
		screen_begin();
		ret = show_next_top_frame(options, interval_ns, count, &error);
		screen_end();
	}
	if (ret)
		return report_device_failure(options, ret, &error);
	return is_stop_requested() ? EXIT_INTERRUPTED : EXIT_DONE;
}

const struct device_verb verb_top = {
	.name = "top",
	.words = "[NAME]",
	.least_words = 0,
	.most_words = 1,
	.screen = true,
	.options = "Iq",
	.about = "Shows the present activity of devices: requests, queue, space, write\n"
		 "amplification, tags, and how busy each LUN is. The key q or Ctrl-C ends it. If\n"
		 "standard output is not a terminal, it prints one picture after the other.",
	.run = run_device_top,
};
