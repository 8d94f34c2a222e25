// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots are refused with a message, or yield a consistent working device. The checksum is fixed
 * first, as a fuzzer cannot guess it.
 */
#include "lib/fuzz.h"
#include "core/persist/snapshot.h"

#define MEMORY_MAX (64 << 20)

static size_t held;
static u32 completed;

struct bytes {
	const u8 *data;
	size_t left;
};

static void *take_memory(void *host, size_t bytes)
{
	(void)host;
	if (bytes > MEMORY_MAX || held + bytes > MEMORY_MAX)
		return NULL;
	held += bytes;
	return calloc(1, bytes);
}

static void give_memory(void *host, void *memory, size_t bytes)
{
	(void)host;
	held -= bytes;
	free(memory);
}

static void complete(void *host, struct aftl_request *request)
{
	(void)host;
	(void)request;
	completed++;
}

static int read_bytes(void *host, void *data, size_t bytes)
{
	struct bytes *from = host;

	if (bytes > from->left)
		return -EIO;
	memcpy(data, from->data, bytes);
	from->data += bytes;
	from->left -= bytes;
	return 0;
}

static const struct aftl_host_ops ops = {
	.alloc = take_memory,
	.free = give_memory,
	.complete = complete,
};

static void seal(u8 *bytes, size_t size)
{
	u32 crc = U32_MAX;
	unsigned int bit;
	size_t i;

	for (i = 0; i < size - 4; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	for (i = 0; i < 4; i++)
		bytes[size - 4 + i] = ~crc >> 8 * i & 0xff;
}

static void check_device(struct aftl *ftl)
{
	struct aftl_request write = { .op = AFTL_OP_WRITE, .units = 1, .class = AFTL_APPROX,
				      .level = 3 };
	struct aftl_error error = { "" };
	u32 events = 0;

	demand(!aftl_audit(ftl, &error));
	completed = 0;
	write.arrival_ns = aftl_now(ftl);
	demand(!aftl_submit(ftl, &write));
	while (!completed && aftl_next_event(ftl) != U64_MAX && events++ < 100000)
		aftl_advance(ftl, aftl_next_event(ftl));
	demand(completed == 1);
	demand(!aftl_audit(ftl, &error));
}

int fuzz_input(const u8 *data, size_t size)
{
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	u8 *copy = malloc(size + 1);
	struct bytes bytes = { copy, size };
	struct aftl_snapshot_source source = { read_bytes, &bytes };

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size > 4)
		seal(copy, size);
	if (aftl_load(&ftl, &source, &ops, NULL, &error)) {
		demand(strlen(error.text) > 5 && !ftl);
	} else {
		check_device(ftl);
		aftl_destroy(ftl);
	}
	demand(!held);
	free(copy);
	return 0;
}
