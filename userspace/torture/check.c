// SPDX-License-Identifier: GPL-2.0-only
/* Compares blocks read from the device with the ledger. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "torture-run.h"

#define CHUNK_BYTES (256 << 10)

static void report_wrong_data_of_unit(struct torture_run *run, u64 unit, u32 floor,
				      const struct block_found *found, u32 request)
{
	char text[800];

	if (++run->wrong > NAMED_WRONG)
		return;
	ledger_explain_wrong_content(run->ledger, unit, floor, found, text, sizeof(text));
	complain_as("torture", "%s: %s; %s %u, seed %u", run->options.device, text,
		    request ? "request" : "check after request",
		    request ? request : ledger_header(run->ledger)->generation,
		    ledger_header(run->ledger)->seed);
}

/*
 * A file does not guarantee atomic sectors: tmpfs copies memory even for direct requests, and other
 * file systems fall back to the page cache. A read may then mix old data with those of a concurrent
 * write, even within a struct block_name. A final check, without requests in flight, does not.
 */
static bool may_unit_hold_torn_concurrent_write(const struct torture_run *run, u64 unit, u32 floor,
						const struct block_found *found)
{
	return !run->target.device && ledger_get_newest_generation(run->ledger, unit) > floor &&
	       (found->kind == BLOCK_TORN || found->kind == BLOCK_FOREIGN);
}

void check_data_returned_by_read(struct torture_run *run, u64 first, u32 count, const void *data,
				 const u32 *floors, u32 request)
{
	for (u32 i = 0; i < count; i++) {
		struct block_found found = block_read((const u8 *)data + (size_t)i *
						      run->unit_bytes, run->unit_bytes,
						      (u32)run->options.flips);

		if (!may_unit_hold_torn_concurrent_write(run, first + i, floors[i], &found) &&
		    !ledger_allows_unit_content(run->ledger, first + i, floors[i], &found))
			report_wrong_data_of_unit(run, first + i, floors[i], &found, request);
	}
}

static void check_read_unit(struct torture_run *run, u64 unit, const void *data)
{
	struct block_found found = block_read(data, run->unit_bytes, (u32)run->options.flips);
	u32 floor = ledger_get_oldest_generation(run->ledger, unit);

	if (!ledger_allows_unit_content(run->ledger, unit, floor, &found))
		report_wrong_data_of_unit(run, unit, floor, &found, 0);
	else
		ledger_update_unit_from_block(run->ledger, unit, &found, run->options.power_failed);
}

static int read_and_check_units(const struct torture_run *run, u64 first, u32 count, void *data)
{
	size_t bytes = (size_t)count * run->unit_bytes;
	ssize_t got = pread(run->target.fd, data, bytes, (off_t)(first * run->unit_bytes));

	if (got == (ssize_t)bytes)
		return 0;
	return got < 0 ? -errno : -EIO;
}

/* Check a range of units; if the range is unreadable, read its units one by one. */
static int check_units_in_range(struct torture_run *run, u64 first, u32 count, u8 *data,
				struct aftl_error *error)
{
	int ret = read_and_check_units(run, first, count, data);
	u32 i;

	if (ret && count > 1) {
		for (i = 0, ret = 0; i < count && !ret; i++)
			ret = check_units_in_range(run, first + i, 1, data, error);
		return ret;
	}
	if (ret && !are_failing_requests_allowed(run))
		return aftl_fail(error, ret, "%.120s: unit %llu cannot be read: %s",
				 run->options.device, (unsigned long long)first, strerror(-ret));
	if (ret) {
		run->unreadable++;
		return 0;
	}
	for (i = 0; i < count; i++)
		check_read_unit(run, first + i, data + (size_t)i * run->unit_bytes);
	return 0;
}

int check_all_torture_units(struct torture_run *run, struct aftl_error *error)
{
	u64 units = ledger_header(run->ledger)->units;
	u32 most = CHUNK_BYTES / run->unit_bytes;
	u8 *data = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
	int ret = data ? 0 : aftl_fail(error, -ENOMEM, "no memory");

	for (u64 at = 0; at < units && !ret && !is_stop_requested(); at += most)
		ret = check_units_in_range(run, at, (u32)min(units - at, (u64)most), data, error);
	free(data);
	return ret;
}
