// SPDX-License-Identifier: GPL-2.0-only
/*
 * Play a trace through a translation layer with a fixed number of requests in the queue, in virtual
 * time. The trace on standard input has a line "R PAGE" or "W PAGE" for each request. The result is
 * one line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closed-queue.h"

#define MAX_DEPTH 1024

uint64_t peer_now;

static int compare_times(const void *first, const void *second)
{
	uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;

	return (a > b) - (a < b);
}

static unsigned int find_earliest_completion(const uint64_t *ends, unsigned int depth)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < depth; i++)
		if (ends[i] < ends[first])
			first = i;
	return first;
}

static void fail(const char *cause, unsigned long line)
{
	fprintf(stderr, "closed-queue: line %lu: %s\n", line, cause);
	exit(1);
}

int main(int argc, char **argv)
{
	uint64_t ends[MAX_DEPTH] = {}, page, begin = 0, sum = 0, last = 0, *times;
	unsigned long depth, warmup, line = 0, count = 0, writes = 0, room = 1 << 20;
	struct peer_counts before = {}, after;
	char kind, text[64];

	if (argc != 3) {
		fprintf(stderr, "usage: %s DEPTH WARMUP <TRACE\n", argv[0]);
		return 2;
	}
	depth = strtoul(argv[1], NULL, 10);
	warmup = strtoul(argv[2], NULL, 10);
	if (!depth || depth > MAX_DEPTH)
		fail("the depth must be 1 to 1024", 0);
	peer_init();
	times = malloc(room * sizeof(*times));
	while (fgets(text, sizeof(text), stdin)) {
		unsigned int slot = find_earliest_completion(ends, depth);

		line++;
		if (sscanf(text, "%c %" SCNu64, &kind, &page) != 2 || (kind != 'R' && kind != 'W'))
			fail("no request such as \"W 12\"", line);
		if (page >= peer_pages())
			fail("the page is beyond the device", line);
		if (ends[slot] > peer_now)
			peer_now = ends[slot];
		if (line == warmup + 1) {
			before = peer_counts();
			begin = peer_now;
		}
		ends[slot] = peer_submit(kind == 'W', page);
		if (line <= warmup)
			continue;
		if (count == room)
			times = realloc(times, (room *= 2) * sizeof(*times));
		times[count] = ends[slot] - peer_now;
		sum += times[count++];
		writes += kind == 'W';
		if (ends[slot] > last)
			last = ends[slot];
	}
	if (!count)
		fail("no request after the warm-up", line);
	after = peer_counts();
	qsort(times, count, sizeof(*times), compare_times);
	printf("{\"pages\": %" PRIu64 ", \"requests\": %lu, \"writes\": %lu, \"programs\": %" PRIu64
	       ", \"erases\": %" PRIu64 ", \"mean_us\": %.3f, \"p99_us\": %.3f, \"iops\": %.1f}\n",
	       peer_pages(), count, writes, after.programs - before.programs,
	       after.erases - before.erases, (double)sum / count / 1000,
	       (double)times[count * 99 / 100] / 1000, count * 1e9 / (last - begin));
	free(times);
	return 0;
}
