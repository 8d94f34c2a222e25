// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots are refused with a message, or yield a consistent working device. The harness corrects
 * the checksum, because a fuzzer cannot guess it.
 */
#include "core/base/encoding.h"
#include "lib/fuzz.h"
#include "core/persist/snapshot.h"

static u32 completed;

static void count_completed_request(void *host, struct aftl_request *request)
{
	completed++;
}

static int read_snapshot_bytes(void *host, void *data, size_t bytes)
{
	struct fuzz_bytes *from = host;

	if (bytes > from->left)
		return -EIO;
	memcpy(data, from->data, bytes);
	from->data += bytes;
	from->left -= bytes;
	return 0;
}

static const struct aftl_host_ops ops = {
	.alloc = fuzz_alloc_and_count_bytes,
	.free = fuzz_free_and_count_bytes,
	.complete = count_completed_request,
};

static void check_loaded_device(struct aftl *ftl)
{
	struct aftl_request write = { .op = AFTL_OP_WRITE, .units = 1, .class = AFTL_APPROX,
				      .level = 3 };
	struct aftl_error error = { "" };
	u32 events = 0;

	fuzz_assert(!aftl_audit(ftl, &error));
	completed = 0;
	write.arrival_ns = aftl_device_time_ns(ftl);
	fuzz_assert(!aftl_submit(ftl, &write));
	while (!completed && aftl_next_event_ns(ftl) != U64_MAX && events++ < 100000)
		aftl_process_events_until(ftl, aftl_next_event_ns(ftl));
	fuzz_assert(completed == 1);
	fuzz_assert(!aftl_audit(ftl, &error));
}

int fuzz_input(const u8 *data, size_t size)
{
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	u8 *copy = malloc(size + 1);
	struct fuzz_bytes bytes = { copy, size };
	struct aftl_snapshot_source source = { read_snapshot_bytes, &bytes };

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size > 4)
		aftl_put_le(copy + size - 4, ~aftl_crc32c(AFTL_CRC_START, copy, size - 4), 4);
	if (aftl_load(&ftl, &source, &ops, NULL, &error)) {
		fuzz_assert(strlen(error.text) > 5 && !ftl);
	} else {
		check_loaded_device(ftl);
		aftl_destroy(ftl);
	}
	fuzz_assert(!fuzz_held);
	free(copy);
	return 0;
}
