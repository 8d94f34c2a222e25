// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>

#include "human-units.h"
#include "report.h"
#include "top-frame.h"

#define LINE_SIZE 512
/* Widths of a LUN's busy bar, and of all that is printed of a LUN, such as its free blocks. */
#define BAR 12
#define CELL 38
#define MOST_CELLS ((LINE_SIZE - 1) / CELL)
/* Number of lines above the LUNs: the device's statistics and the heading of the LUNs. */
#define HEAD_LINES 9
#define MIB 1048576ULL

/* Print a line, truncated to the width of the terminal. */
__printf(3, 4) static void put_frame_line(FILE *out, const struct top_frame *frame,
					  const char *format, ...)
{
	char text[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(out, "%.*s%s\n", (int)frame->columns, text, frame->end);
}

static void print_title_line(FILE *out, const struct top_frame *frame)
{
	const struct device_view *view = frame->view;
	char size[HUMAN_SIZE], timing[AFTL_VALUE_SIZE];

	human_format_bytes(size, view->device.sectors * TARGET_SECTOR);
	target_line_format_timing(&view->line, timing);
	put_frame_line(out, frame, "%s: %s on %s, %s, store %s, timing %s, %s", view->device.name,
		       view->line.policy->name, view->line.profile, size, view->line.store, timing,
		       view->device.suspended ? "suspended" : view->status.mode);
}

static void print_read_and_write_columns(FILE *out, const struct top_frame *frame, const char *name,
					 u64 count, u64 sectors, u64 response_ms)
{
	char rate[HUMAN_SIZE], volume[HUMAN_SIZE], response[HUMAN_SIZE];
	u64 bytes = sectors * TARGET_SECTOR;

	format_fixed_point(rate, sample_get_event_rate(frame->between, count), 1, "/s");
	format_fixed_point(volume, sample_get_event_rate(frame->between, bytes) * 10 / MIB, 2,
			   " MiB/s");
	human_format_time(response, scaled_ratio(response_ms, count, 1000000));
	put_frame_line(out, frame, "%-10s %12s %16s   mean %s", name, rate, volume,
		       count ? response : "-");
}

static void print_queue_line(FILE *out, const struct top_frame *frame)
{
	char busy[HUMAN_SIZE], late[HUMAN_SIZE], tail[HUMAN_SIZE];

	format_fixed_point(busy, sample_get_busy_permille(frame->between), 1, " %");
	human_format_time(late, sample_get_completion_lateness_ns(frame->between));
	human_format_time(tail, aftl_histogram_quantile(&frame->between->stats.late, 9900));
	put_frame_line(out, frame, "%-10s %llu under way, busy %s; late by %s, 99 %% by at most %s",
		       "queue", (unsigned long long)frame->view->status.pending_requests, busy,
		       late, tail);
}

static void print_space_line(FILE *out, const struct top_frame *frame)
{
	const struct target_status *status = &frame->view->status;
	char full[HUMAN_SIZE], free_share[HUMAN_SIZE];

	format_fixed_point(full, scaled_ratio(status->valid_units, status->units, 1000), 1, " %");
	format_fixed_point(free_share, scaled_ratio(status->free_blocks, status->blocks, 1000), 1,
			   " %");
	put_frame_line(out, frame, "%-10s %s full, %s of the blocks free, collecting %llu LUNs",
		       "space", full, free_share, (unsigned long long)status->collecting_luns);
	put_frame_line(out, frame,
		       "%-10s %llu blocks, dead %llu LUNs, lost %llu units, refused proposals %llu",
		       "retired", (unsigned long long)status->retired_blocks,
		       (unsigned long long)status->dead_luns,
		       (unsigned long long)status->lost_units,
		       (unsigned long long)frame->between->stats.counters.policy_bugs);
}

/* Print a line such as "2.104 programmed for each unit: host 1.000, gc 1.051, padding 0.053". */
static void print_amplification_line(FILE *out, const struct top_frame *frame)
{
	const struct aftl_counters *counters = &frame->between->stats.counters;
	char text[LINE_SIZE], part[HUMAN_SIZE];
	unsigned int i, at = 0;

	for (i = 0; i < SIM_CAUSES; i++) {
		if (!sim_get_write_amplification_by_cause(counters, i, 0))
			continue;
		format_fixed_point(part, sim_get_write_amplification_by_cause(counters, i, 0) / 10,
				   3, "");
		at += (unsigned int)scnprintf(text + at, sizeof(text) - at, "%s %s %s",
					      at ? "," : ":", sim_cause_names[i], part);
	}
	format_fixed_point(part, sim_get_write_amplification(counters, 0) / 10, 3, "");
	put_frame_line(out, frame, "%-10s %s programmed for each unit%s", "written",
		       counters->host_write_units ? part : "-", at ? text : "");
}

static void format_lun_cell(char text[CELL + 8], const struct top_frame *frame, unsigned int number)
{
	const struct target_lun *lun = &frame->between->luns.list[number];
	u64 busy = min_t(u64, 1000,
			 scaled_ratio(lun->busy_ns, frame->between->device_ns, 1000));
	char bar[BAR + 1], share[HUMAN_SIZE];

	for (unsigned int i = 0; i < BAR; i++)
		bar[i] = i < (busy * BAR + 500) / 1000 ? '#' : ' ';
	bar[BAR] = '\0';
	format_fixed_point(share, busy, 1, "%");
	scnprintf(text, CELL + 8, "%5u |%s|%7s%4llu%6llu", number, bar, share,
		  (unsigned long long)lun->queued, (unsigned long long)lun->free_blocks);
}

/* Print the LUNs in columns, each from top to bottom, and count those that do not fit. */
static void print_lun_lines(FILE *out, const struct top_frame *frame)
{
	unsigned int count = frame->between->luns.count;
	unsigned int side_by_side = min_t(unsigned int, max(frame->columns / CELL, 1U), MOST_CELLS);
	unsigned int lines = (count + side_by_side - 1) / side_by_side;
	unsigned int i, j;
	char text[LINE_SIZE], cell[CELL + 8];

	/* The last line reports the LUNs that do not fit. */
	if (frame->rows && lines > frame->rows - HEAD_LINES)
		lines = frame->rows - HEAD_LINES - 1;
	put_frame_line(out, frame, "%5s  %-*s%8s%4s%6s", "LUN", BAR, "busy", "", "wait", "free");
	for (i = 0; i < lines; i++) {
		unsigned int at = 0;

		for (j = i; j < count && j < lines * side_by_side; j += lines) {
			format_lun_cell(cell, frame, j);
			at += (unsigned int)scnprintf(text + at, sizeof(text) - at, "%-*s", CELL,
						      cell);
		}
		put_frame_line(out, frame, "%s", text);
	}
	if (lines * side_by_side < count)
		put_frame_line(out, frame, "      and %u more; a larger window shows them",
			       count - lines * side_by_side);
}

void top_frame_print(FILE *out, const struct top_frame *frame)
{
	const struct block_layer *layer = &frame->between->layer;
	const struct aftl_counters *counters;
	char approx[HUMAN_SIZE], flips[HUMAN_SIZE], erases[HUMAN_SIZE];

	print_title_line(out, frame);
	print_read_and_write_columns(out, frame, "reads", layer->reads, layer->read_sectors,
				     layer->read_ms);
	print_read_and_write_columns(out, frame, "writes", layer->writes, layer->write_sectors,
				     layer->write_ms);
	print_queue_line(out, frame);
	print_space_line(out, frame);
	print_amplification_line(out, frame);
	counters = &frame->between->stats.counters;
	format_fixed_point(approx,
			   scaled_ratio(counters->host_write_approx_units,
					counters->host_write_units, 1000),
			   1, " %");
	format_fixed_point(flips,
			   sample_get_event_rate(frame->between, counters->read_flipped_bits), 1,
			   "/s");
	format_fixed_point(erases, sample_get_event_rate(frame->between, counters->array_erases), 1,
			   "/s");
	put_frame_line(out, frame, "%-10s %s of writes approximate; flipped bits %s, erases %s",
		       "tags", approx, flips, erases);
	if (!frame->rows || frame->rows >= HEAD_LINES + 2)
		print_lun_lines(out, frame);
}
