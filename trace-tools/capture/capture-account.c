// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "capture-account.h"
#include "capture-blktrace.h"
#include "checked-memory.h"
#include "target-line.h"
#include "trace-reader.h"

/* Format for fscanf() of the written sectors, which are the seventh number in sysfs "stat". */
#define STAT_WRITTEN "%*u %*u %*u %*u %*u %*u %llu"

u64 capture_get_kernel_written_sectors(const struct capture_device *device)
{
	unsigned long long sectors = 0;
	char path[64];
	FILE *file;

	scnprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", device->major, device->minor);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, STAT_WRITTEN, &sectors) != 1)
		sectors = 0;
	fclose(file);
	return sectors;
}

/* Count requests, not trace events, so that a request that the block layer split counts once. */
int capture_count_traced_sectors(const char *directory, u64 *sectors, struct aftl_error *error)
{
	const struct trace_open_options open_options = { .device = TRACE_ALL_DEVICES };
	struct trace_reader *reader = memory_alloc_zeroed(1, sizeof(*reader));
	struct trace_request request;
	char base[PATH_MAX];
	const char *path = base;
	int ret;

	scnprintf(base, sizeof(base), "%s/" BLKTRACE_BASE_NAME, directory);
	reader->losses.silent = true;
	*sectors = 0;
	ret = trace_reader_open(reader, &path, 1, &open_options, error);
	if (!ret) {
		/* Count as the kernel's counter of written sectors does: include write-zeroes. */
		while ((ret = trace_reader_next_request(reader, &request, error)) > 0)
			if (request.op == AFTL_OP_WRITE || request.op == AFTL_OP_WRITE_ZEROES)
				*sectors += request.bytes / TARGET_SECTOR;
		trace_reader_close(reader);
	}
	free(reader);
	return ret;
}
