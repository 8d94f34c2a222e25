// SPDX-License-Identifier: GPL-2.0-only
/* Number of concurrent runs, which is limited by processors and memory. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

#include "complain.h"
#include "core-memory.h"
#include "core/base/shards.h"
#include "core/ftl/ftl.h"
#include "human-units.h"
#include "parallel.h"

/*
 * Count the processors that this process may use, which in a container can be fewer than the
 * machine has.
 */
static unsigned int count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);
}

/* Return the number in the line of @file that matches @format, or U64_MAX. */
static u64 read_number_from_file(const char *file, const char *format)
{
	unsigned long long value;
	bool found = false;
	char line[128];
	FILE *stream = fopen(file, "r");

	while (stream && !found && fgets(line, sizeof(line), stream))
		found = sscanf(line, format, &value) == 1;
	if (stream)
		fclose(stream);
	return found ? value : U64_MAX;
}

/* Available memory of the machine, or of the container if that is less; U64_MAX if unknown. */
static u64 get_available_memory(void)
{
	u64 kib = read_number_from_file("/proc/meminfo", "MemAvailable: %llu kB");
	u64 most = read_number_from_file("/sys/fs/cgroup/memory.max", "%llu");
	u64 used = read_number_from_file("/sys/fs/cgroup/memory.current", "%llu");
	u64 bytes = kib == U64_MAX ? U64_MAX : kib << 10;

	return most == U64_MAX || used > most ? bytes : min(bytes, most - used);
}

static void ignore_completion_in_memory_estimate(void *host, struct aftl_request *request)
{
	(void)host;
	(void)request;
}

/*
 * Create a device of each policy and return the largest number of bytes that one allocates. A run
 * touches less, because most erase blocks never use all of their memory.
 */
static u64 estimate_run_memory(const struct sim_options *options)
{
	const struct aftl_host_ops ops = {
		.alloc = core_memory_alloc,
		.free = core_memory_free,
		.complete = ignore_completion_in_memory_estimate,
	};
	struct aftl_error unused;
	struct aftl_config one;
	struct aftl *ftl;
	u64 most = 1;

	aftl_derive_shard_config(&one, &options->params, 0);
	for (u32 i = 0; i < options->policy_count; i++) {
		if (aftl_create(&ftl, &one, options->policies[i], &ops, NULL, &unused))
			continue;
		most = max(most, aftl_memory_bytes(ftl));
		aftl_destroy(ftl);
	}
	return most * options->params.shards * (options->raid ? options->members : 1);
}

unsigned int sim_choose_thread_count(const struct sim_options *options)
{
	return options->jobs ? (unsigned int)options->jobs : count_processors();
}

unsigned int sim_count_concurrent_runs(const struct sim_work *work)
{
	const struct sim_options *options = work->options;
	u64 wanted = min(sim_choose_thread_count(options), work->count);
	char bytes[HUMAN_SIZE];
	u64 need, fitting;

	if (wanted < 2 || options->timeline)
		return 1;
	need = estimate_run_memory(options);
	fitting = max(get_available_memory() / need, 1ULL);
	if (fitting >= wanted)
		return (unsigned int)wanted;
	human_format_bytes(bytes, need);
	if (!options->quiet)
		complain_as("sim",
			    "note: %llu of %llu runs at a time: each takes up to %s of memory",
			    (unsigned long long)fitting, (unsigned long long)wanted, bytes);
	return (unsigned int)fitting;
}
