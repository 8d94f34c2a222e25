// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the recovery of a volume after a crash. The volume is in memory and has been written
 * completely, unit by unit in an order drawn from a seed. A thread serves its reads as slowly as a
 * device of 2 GB/s.
 *
 *	recovery-cost BLOCKS
 *
 * BLOCKS blocks of 16 MiB on each of four LUNs. Prints the bytes of flash, the processor time and
 * the elapsed time of the recovery in nanoseconds, and the bytes that it reads.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "core-memory.h"
#include "core/base/random.h"
#include "core/persist/volume.h"

/* The device's time per byte in picoseconds. */
#define READ_PS 500

/**
 * struct job - a read request
 * @next: next request in the queue
 * @from: source
 * @to: destination
 * @size: bytes
 * @asked_ns: time of submission
 * @over: the read is complete
 */
struct job {
	struct job *next;
	const u8 *from;
	void *to;
	u32 size;
	u64 asked_ns;
	bool over;
};

/**
 * struct memory_medium - the metadata of a volume in memory; there are no data
 * @bytes: contents of the volume from its start
 * @size: size of @bytes
 * @read: bytes read so far
 * @lock: protects the following members
 * @asked: signals a new request
 * @answered: signals a completed request
 * @jobs: queue of requests
 */
struct memory_medium {
	u8 *bytes;
	u64 size;
	u64 read;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_cond_t answered;
	struct job *jobs;
};

static struct memory_medium disk = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.asked = PTHREAD_COND_INITIALIZER,
	.answered = PTHREAD_COND_INITIALIZER,
};

static u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static void give_up(const char *why)
{
	fprintf(stderr, "recovery-cost: %s\n", why);
	exit(1);
}

static void sleep_until(u64 ns)
{
	struct timespec until = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Serve requests one by one, each for as long as the device takes. */
static void *serve(void *unused)
{
	u64 due = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		struct job *job;

		pthread_mutex_lock(&disk.lock);
		while (!disk.jobs)
			pthread_cond_wait(&disk.asked, &disk.lock);
		job = disk.jobs;
		disk.jobs = job->next;
		pthread_mutex_unlock(&disk.lock);
		memcpy(job->to, job->from, job->size);
		due = max(due, job->asked_ns) + (u64)job->size * READ_PS / 1000;
		sleep_until(due);
		pthread_mutex_lock(&disk.lock);
		job->over = true;
		pthread_cond_signal(&disk.answered);
		pthread_mutex_unlock(&disk.lock);
	}
	return unused;
}

static void *medium_begin_read(void *host, u64 offset, void *bytes, u32 size)
{
	struct job *job = calloc(1, sizeof(*job));
	struct job **last = &disk.jobs;

	(void)host;
	if (!job || offset + size > disk.size)
		give_up("a read that cannot be");
	*job = (struct job){ .from = disk.bytes + offset, .to = bytes, .size = size,
			     .asked_ns = clock_ns(CLOCK_MONOTONIC) };
	disk.read += size;
	pthread_mutex_lock(&disk.lock);
	while (*last)
		last = &(*last)->next;
	*last = job;
	pthread_cond_signal(&disk.asked);
	pthread_mutex_unlock(&disk.lock);
	return job;
}

static int medium_end_read(void *host, void *begun)
{
	struct job *job = begun;

	(void)host;
	pthread_mutex_lock(&disk.lock);
	while (!job->over)
		pthread_cond_wait(&disk.answered, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
	free(job);
	return 0;
}

static int medium_read(void *host, u64 offset, void *bytes, u32 size)
{
	return medium_end_read(host, medium_begin_read(host, offset, bytes, size));
}

static int medium_write(void *host, u64 offset, const void *bytes, u32 size)
{
	(void)host;
	if (offset + size > disk.size)
		return -EIO;
	memcpy(disk.bytes + offset, bytes, size);
	return 0;
}

static int medium_flush(void *host)
{
	(void)host;
	return 0;
}

static const struct aftl_host_ops ops = { .alloc = core_memory_alloc, .free = core_memory_free };

static const struct aftl_backing medium = {
	.bytes = 1ULL << 50,
	.read = medium_read,
	.begin_read = medium_begin_read,
	.end_read = medium_end_read,
	.write = medium_write,
	.flush = medium_flush,
	.alloc = core_memory_alloc,
	.free = core_memory_free,
};

static void shape(struct aftl_volume_header *super, struct aftl_geometry *geo, const char *blocks)
{
	const char *const pairs[] = {
		"channels", "1", "chips", "4", "planes", "1", "bits", "1", "layers", "64",
		"word_lines", "16", "page", "16KiB", "unit", "4KiB", "errors", "off", "op", "10",
		"blocks", blocks,
	};
	struct aftl_error error = { "" };
	u32 i;

	if (aftl_profile_load(&super->config, "demo", &error))
		give_up(error.text);
	for (i = 0; i < ARRAY_SIZE(pairs); i += 2)
		if (aftl_param_set(&super->config, pairs[i], pairs[i + 1], &error))
			give_up(error.text);
	memcpy(super->uuid, "one to be found!", AFTL_UUID_BYTES);
	scnprintf(super->policy, sizeof(super->policy), "baseline");
	scnprintf(super->profile, sizeof(super->profile), "demo");
	if (aftl_volume_header_lay_out(super, geo, &error))
		give_up(error.text);
}

static u32 *any_order(u32 units)
{
	u32 *order = malloc((size_t)units * sizeof(*order));
	u32 i;

	for (i = 0; order && i < units; i++) {
		u32 other = (u32)(aftl_hash64(i) % (i + 1));

		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

static int fill(struct aftl_volume *volume, const struct aftl_geometry *geo)
{
	u32 *order = any_order(geo->units);
	int ret = order ? 0 : -ENOMEM;
	u32 page;
	u32 i;

	for (page = 0; !ret && page < geo->units / geo->page_units; page++) {
		struct aftl_spare spare = {
			.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0),
			.mapped = (u16)((1U << geo->page_units) - 1),
		};

		for (i = 0; i < geo->page_units; i++)
			spare.word[i] = to_lpn(order[page * geo->page_units + i]);
		ret = aftl_volume_record_program(volume, page, &spare);
	}
	free(order);
	return ret ? ret : aftl_volume_commit(volume);
}

static void recover(const struct aftl_volume_header *super)
{
	u64 elapsed_ns = clock_ns(CLOCK_MONOTONIC);
	u64 cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct aftl_error error = { "" };
	struct aftl_recovery recovery;
	struct aftl_volume *volume;
	struct aftl *ftl = NULL;

	disk.read = 0;
	if (aftl_volume_open(&volume, &medium, &error) ||
	    aftl_volume_load(volume, aftl_policy_find(super->policy), &super->config, &ops, NULL,
			     false, &ftl, &recovery, &error))
		give_up(error.text);
	elapsed_ns = clock_ns(CLOCK_MONOTONIC) - elapsed_ns;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (recovery.closed || recovery.mapped_units < aftl_volume_geometry(volume)->units - 3)
		give_up("not all was found");
	aftl_destroy(ftl);
	aftl_volume_release(volume);
	printf("%llu %llu %llu\n", (unsigned long long)cpu_ns, (unsigned long long)elapsed_ns,
	       (unsigned long long)disk.read);
}

int main(int argc, char **argv)
{
	struct aftl_volume_header super = { .generation = 0 };
	struct aftl_error error = { "" };
	struct aftl_volume *volume;
	struct aftl_geometry geo;
	pthread_t device;

	if (argc != 2)
		give_up("usage: recovery-cost BLOCKS");
	shape(&super, &geo, argv[1]);
	disk.size = super.layout.data * AFTL_FRAME_BYTES;
	disk.bytes = calloc(1, disk.size);
	if (!disk.bytes || pthread_create(&device, NULL, serve, NULL))
		give_up("not enough memory");
	if (aftl_volume_format(&medium, &super, &error) ||
	    aftl_volume_open(&volume, &medium, &error))
		give_up(error.text);
	if (fill(volume, &geo))
		give_up("it cannot be filled");
	aftl_volume_release(volume);
	printf("%llu ", (unsigned long long)geo.ppns * geo.unit_bytes);
	recover(&super);
	free(disk.bytes);
	return 0;
}
