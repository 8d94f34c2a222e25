// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked-memory.h"
#include "ledger.h"

#define MAGIC 0x31776f6461687355ULL

/* struct risen - a completed change; @low is the oldest generation that its units may now have */
struct risen {
	u64 first;
	u32 count;
	u32 low;
};

/**
 * struct ledger - an open ledger
 * @risen: changes since the last completed flush, in order of completion
 * @dropped: number of changes that were removed from @risen because they are durable
 * @apart: the ledger in memory is a copy of the file, to which each change must be written
 */
struct ledger {
	struct ledger_header *header;
	struct ledger_unit *units;
	size_t bytes;
	struct risen *risen;
	u64 count;
	u64 room;
	u64 dropped;
	int fd;
	bool apart;
};

static size_t compute_ledger_file_bytes(const struct ledger_header *header)
{
	return sizeof(*header) + header->units * sizeof(struct ledger_unit);
}

/*
 * Write a change to the ledger file, with O_DSYNC for --sync. Abort on failure: a run with an
 * incomplete ledger cannot be checked.
 */
static void write_ledger(struct ledger *ledger, const void *from, size_t bytes)
{
	off_t at = (const char *)from - (const char *)ledger->header;

	if (ledger->apart && pwrite(ledger->fd, from, bytes, at) != (ssize_t)bytes)
		abort();
}

static void write_ledger_header(struct ledger *ledger)
{
	write_ledger(ledger, ledger->header, sizeof(*ledger->header));
}

static void write_ledger_units(struct ledger *ledger, u64 first, u64 count)
{
	write_ledger(ledger, ledger->units + first, count * sizeof(*ledger->units));
}

/* Map the ledger, unless its file system (a VM's shared directory) refuses writable maps. */
static void *try_to_map_ledger_file(struct ledger *ledger)
{
	void *memory = ledger->apart ? MAP_FAILED :
		mmap(NULL, ledger->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ledger->fd, 0);

	ledger->apart = memory == MAP_FAILED;
	return memory;
}

static int map_or_allocate_ledger(struct ledger *ledger, struct aftl_error *error)
{
	void *memory = try_to_map_ledger_file(ledger);

	if (ledger->apart)
		memory = mmap(NULL, ledger->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return aftl_fail(error, -errno, "not enough memory for the state file: %s",
				 strerror(errno));
	ledger->header = memory;
	ledger->units = (struct ledger_unit *)(ledger->header + 1);
	return 0;
}

static struct ledger *allocate_ledger(const struct ledger_header *header, int fd, bool sync)
{
	struct ledger *ledger = memory_alloc_zeroed(1, sizeof(*ledger));

	ledger->fd = fd;
	ledger->apart = sync;
	ledger->bytes = compute_ledger_file_bytes(header);
	return ledger;
}

static int open_ledger_file(const char *path, int flags, struct aftl_error *error)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0666);

	return fd < 0 ? aftl_fail(error, -errno, "%.120s: %s", path, strerror(errno)) : fd;
}

static void reset_unit_generations(struct ledger *ledger)
{
	for (u64 i = 0; i < ledger->header->units; i++)
		ledger->units[i] = (struct ledger_unit){ .low = LEDGER_FIRST,
							 .durable = LEDGER_FIRST,
							 .any = LEDGER_FIRST };
	write_ledger_units(ledger, 0, ledger->header->units);
}

int ledger_create(struct ledger **out, const char *path, const struct ledger_header *header,
		  bool sync, struct aftl_error *error)
{
	int fd = open_ledger_file(path, O_CREAT | O_EXCL | (sync ? O_DSYNC : 0), error);
	struct ledger *ledger;
	int ret;

	if (fd < 0)
		return fd;
	ledger = allocate_ledger(header, fd, sync);
	ret = ftruncate(fd, (off_t)ledger->bytes) ?
		aftl_fail(error, -errno, "%.120s: %s", path, strerror(errno)) :
		map_or_allocate_ledger(ledger, error);
	if (ret) {
		ledger_close(ledger);
		return ret;
	}
	*ledger->header = *header;
	ledger->header->magic = MAGIC;
	ledger->header->generation = LEDGER_FIRST;
	write_ledger_header(ledger);
	reset_unit_generations(ledger);
	*out = ledger;
	return 0;
}

static int read_ledger_header(int fd, const char *path, struct ledger_header *header,
			      struct aftl_error *error)
{
	struct stat found;

	if (pread(fd, header, sizeof(*header), 0) != sizeof(*header) || fstat(fd, &found) ||
	    header->magic != MAGIC || (u64)found.st_size != compute_ledger_file_bytes(header))
		return aftl_fail(error, -EINVAL, "%.120s holds no state of approxftl torture",
				 path);
	return 0;
}

/* Read the ledger, unless it is mapped. */
static int load_ledger(struct ledger *ledger, struct aftl_error *error)
{
	if (ledger->apart &&
	    pread(ledger->fd, ledger->header, ledger->bytes, 0) != (ssize_t)ledger->bytes)
		return aftl_fail(error, -EIO, "the state file cannot be read");
	return 0;
}

int ledger_open(struct ledger **out, const char *path, bool sync, struct aftl_error *error)
{
	int fd = open_ledger_file(path, sync ? O_DSYNC : 0, error);
	struct ledger_header header;
	struct ledger *ledger;
	int ret;

	if (fd < 0)
		return fd;
	ret = read_ledger_header(fd, path, &header, error);
	if (ret) {
		close(fd);
		return ret;
	}
	ledger = allocate_ledger(&header, fd, sync);
	ret = map_or_allocate_ledger(ledger, error);
	if (!ret)
		ret = load_ledger(ledger, error);
	if (ret)
		ledger_close(ledger);
	else
		*out = ledger;
	return ret;
}

void ledger_close(struct ledger *ledger)
{
	if (!ledger)
		return;
	if (ledger->header)
		munmap(ledger->header, ledger->bytes);
	close(ledger->fd);
	free(ledger->risen);
	free(ledger);
}

const struct ledger_header *ledger_header(const struct ledger *ledger)
{
	return ledger->header;
}

void ledger_expect_zeroes_in_all_units(struct ledger *ledger)
{
	for (u64 i = 0; i < ledger->header->units; i++) {
		ledger->units[i].zero = LEDGER_FIRST;
		ledger->units[i].any = 0;
	}
	write_ledger_units(ledger, 0, ledger->header->units);
}

void ledger_freeze_after_power_failure(struct ledger *ledger)
{
	ledger->header->frozen = 1;
	write_ledger_header(ledger);
}

void ledger_mark_device_as_filled(struct ledger *ledger)
{
	ledger->header->filled = 1;
	write_ledger_header(ledger);
}

void ledger_apply_power_failure(struct ledger *ledger)
{
	for (u64 i = 0; i < ledger->header->units; i++)
		ledger->units[i].low = ledger->units[i].durable;
	ledger->header->frozen = 0;
	write_ledger_header(ledger);
	write_ledger_units(ledger, 0, ledger->header->units);
}

void ledger_begin_change(struct ledger *ledger, struct ledger_change *change, enum ledger_kind kind)
{
	change->generation = ++ledger->header->generation;
	for (u32 i = 0; i < change->count; i++) {
		struct ledger_unit *unit = &ledger->units[change->first + i];

		change->floors[i] = change->generation;
		if (kind == LEDGER_WRITE)
			unit->high = change->generation;
		else if (kind == LEDGER_ZEROES)
			unit->zero = change->generation;
		else
			unit->any = change->generation;
	}
	write_ledger_header(ledger);
	write_ledger_units(ledger, change->first, change->count);
}

void ledger_add_concurrent_change(struct ledger_change *change, const struct ledger_change *other)
{
	u64 from = max(change->first, other->first);
	u64 to = min(change->first + change->count, other->first + other->count);

	for (u64 at = from; at < to; at++) {
		u32 *floor = &change->floors[at - change->first];

		*floor = min(*floor, other->generation);
	}
}

static void append_completed_change(struct ledger *ledger, u64 first, u32 count, u32 low)
{
	if (ledger->count == ledger->room) {
		ledger->room = max(ledger->room * 2, (u64)1024);
		ledger->risen = memory_resize(ledger->risen, ledger->room, sizeof(*ledger->risen));
	}
	ledger->risen[ledger->count++] = (struct risen){ first, count, low };
}

static void mark_units_durable(struct ledger *ledger, u64 first, u32 count, u32 low)
{
	if (ledger->header->frozen)
		return;
	for (u64 i = first; i < first + count; i++)
		ledger->units[i].durable = max(ledger->units[i].durable, low);
	write_ledger_units(ledger, first, count);
}

/* Record adjacent units with the same lowest permitted generation (floor) as one entry. */
void ledger_end_change(struct ledger *ledger, const struct ledger_change *change, bool forced)
{
	u32 i, begin = 0;

	for (i = 0; i < change->count; i++) {
		struct ledger_unit *unit = &ledger->units[change->first + i];

		unit->low = max(unit->low, change->floors[i]);
		if (i + 1 < change->count && change->floors[i + 1] == change->floors[i])
			continue;
		append_completed_change(ledger, change->first + begin, i + 1 - begin,
					change->floors[i]);
		if (forced)
			mark_units_durable(ledger, change->first + begin, i + 1 - begin,
					   change->floors[i]);
		begin = i + 1;
	}
	write_ledger_units(ledger, change->first, change->count);
}

u64 ledger_begin_flush(const struct ledger *ledger)
{
	return ledger->dropped + ledger->count;
}

void ledger_end_flush(struct ledger *ledger, u64 covered)
{
	u64 i, count = covered > ledger->dropped ? covered - ledger->dropped : 0;

	for (i = 0; i < count; i++)
		mark_units_durable(ledger, ledger->risen[i].first, ledger->risen[i].count,
				   ledger->risen[i].low);
	ledger->count -= count;
	ledger->dropped += count;
	memmove(ledger->risen, ledger->risen + count, ledger->count * sizeof(*ledger->risen));
}

u32 ledger_get_oldest_generation(const struct ledger *ledger, u64 unit)
{
	return ledger->units[unit].low;
}

u32 ledger_get_newest_generation(const struct ledger *ledger, u64 unit)
{
	const struct ledger_unit *now = &ledger->units[unit];

	return max(now->high, max(now->zero, now->any));
}

static bool does_ledger_own_block(const struct ledger *ledger, const struct block_name *name)
{
	return name->device == ledger->header->device && name->seed == ledger->header->seed;
}

bool ledger_allows_unit_content(const struct ledger *ledger, u64 unit, u32 floor,
				const struct block_found *found)
{
	const struct ledger_unit *now = &ledger->units[unit];

	if (ledger->header->frozen)
		return true;
	if (found->kind == BLOCK_WHOLE && does_ledger_own_block(ledger, &found->name) &&
	    found->name.unit != unit)
		return false;
	if (now->any >= floor)
		return true;
	if (found->kind == BLOCK_ZEROES)
		return now->zero >= floor;
	return found->kind == BLOCK_WHOLE && does_ledger_own_block(ledger, &found->name) &&
		found->name.generation >= floor && found->name.generation <= now->high;
}

/* Ignore a unit with undefined content: its block need not be that of the last write. */
void ledger_update_unit_from_block(struct ledger *ledger, u64 unit, const struct block_found *found,
				   bool durable)
{
	struct ledger_unit *now = &ledger->units[unit];
	bool written = found->kind == BLOCK_WHOLE && does_ledger_own_block(ledger, &found->name);
	u32 generation = written ? found->name.generation : now->zero;

	if (now->any >= now->low || ledger->header->frozen)
		return;
	now->low = generation;
	/* Content that is not @durable may be replaced by older data after a power failure. */
	if (durable) {
		now->high = written ? generation : 0;
		now->zero = written && now->zero > generation ? 0 : now->zero;
		now->durable = generation;
	}
	write_ledger_units(ledger, unit, 1);
}

static void print_block_identity(const struct ledger *ledger, u64 unit,
				 const struct block_name *name, char *text, size_t size)
{
	if (!does_ledger_own_block(ledger, name))
		snprintf(text, size, "generation %u of unit %llu of another run (seed %u)",
			 name->generation, (unsigned long long)name->unit, name->seed);
	else if (name->unit != unit)
		snprintf(text, size, "generation %u of unit %llu", name->generation,
			 (unsigned long long)name->unit);
	else
		snprintf(text, size, "its generation %u", name->generation);
}

static void print_found_block(const struct ledger *ledger, u64 unit,
			      const struct block_found *found, char *text, size_t size)
{
	char first[128], second[128] = "something damaged";

	print_block_identity(ledger, unit, &found->name, first, sizeof(first));
	if (found->other_known)
		print_block_identity(ledger, unit, &found->other, second, sizeof(second));
	switch (found->kind) {
	case BLOCK_ZEROES:
		snprintf(text, size, "zeroes");
		break;
	case BLOCK_WHOLE:
		snprintf(text, size, "%s", first);
		break;
	case BLOCK_TORN:
		snprintf(text, size, "%s, and from byte %u on %s (%u bits differ)", first,
			 found->torn_at, second, found->flips);
		break;
	default:
		snprintf(text, size, "what nobody here has written (%u bits are ones)",
			 found->flips);
	}
}

void ledger_explain_wrong_content(const struct ledger *ledger, u64 unit, u32 floor,
				  const struct block_found *found, char *text, size_t size)
{
	const struct ledger_unit *now = &ledger->units[unit];
	char what[400], allowed[128];

	print_found_block(ledger, unit, found, what, sizeof(what));
	if (now->high >= floor)
		snprintf(allowed, sizeof(allowed), "generations %u to %u%s", floor, now->high,
			 now->zero >= floor ? " or zeroes" : "");
	else
		snprintf(allowed, sizeof(allowed), "%s",
			 now->zero >= floor ? "zeroes" : "anything but another unit's data");
	snprintf(text, size, "unit %llu (byte %llu) holds %s; allowed: %s",
		 (unsigned long long)unit,
		 (unsigned long long)unit * ledger->header->unit_bytes, what, allowed);
}
