// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Approximate memory: a mapped file whose address does not change when the file grows.
 *
 * The whole address range is reserved at the beginning. The bookkeeping is in ordinary memory,
 * because it must not lose bits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handle.h"
#include "refusal.h"

/* Bounds of the size of the reserved address range, which a limit of the process may reduce. */
#define MOST_BYTES ((size_t)1 << 40)
#define FEWEST_BYTES ((size_t)1 << 28)

/* Minimum number of bytes by which the file of an arena grows. */
#define GROWTH ((size_t)1 << 20)

/**
 * struct piece - a run of pages, free or allocated
 * @offset: offset in the file
 * @bytes: size, a multiple of the page size
 * @used: the piece is allocated
 * @next: the following piece
 */
struct piece {
	size_t offset;
	size_t bytes;
	bool used;
	struct piece *next;
};

/**
 * struct approxftl_arena - approximate memory
 * @fd: the file of the arena
 * @lock: protects all members below
 * @base: start of the reserved addresses
 * @reserved: size of the reserved address range
 * @mapped: size of the part that is backed by the file
 * @page: size of a page
 * @first: list of pieces, in order; they cover the mapped part
 */
struct approxftl_arena {
	int fd;
	pthread_mutex_t lock;
	char *base;
	size_t reserved;
	size_t mapped;
	size_t page;
	struct piece *first;
};

static size_t round_up_to_unit(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static int reserve_arena_addresses(struct approxftl_arena *arena)
{
	for (arena->reserved = MOST_BYTES; arena->reserved >= FEWEST_BYTES; arena->reserved /= 2) {
		void *base = mmap(NULL, arena->reserved, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base == MAP_FAILED)
			continue;
		arena->base = base;
		return 0;
	}
	return aftl_lib_set_refusal(-ENOMEM, "there are no addresses for an arena; see ulimit -v");
}

/* Extend the mapping to @bytes, growing the file if necessary. */
static int extend_arena_mapping(struct approxftl_arena *arena, size_t bytes)
{
	char *from = arena->base + arena->mapped;
	size_t more = bytes - arena->mapped;

	if (bytes > arena->reserved)
		return -ENOMEM;
	if (ftruncate(arena->fd, bytes))
		return -errno;
	if (mmap(from, more, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, arena->fd,
		 arena->mapped) == MAP_FAILED)
		return -errno;
	arena->mapped = bytes;
	return 0;
}

static struct piece *alloc_piece_node(size_t offset, size_t bytes, bool used)
{
	struct piece *piece = malloc(sizeof(*piece));

	if (piece)
		*piece = (struct piece){ .offset = offset, .bytes = bytes, .used = used };
	return piece;
}

/* Treat the existing content of the file as one allocated piece. */
static int mark_file_content_allocated_in_arena(struct approxftl_arena *arena)
{
	struct stat status;
	size_t bytes;
	int ret;

	if (fstat(arena->fd, &status))
		return -errno;
	bytes = round_up_to_unit(status.st_size, arena->page);
	if (!bytes)
		return 0;
	ret = extend_arena_mapping(arena, bytes);
	if (ret)
		return ret;
	arena->first = alloc_piece_node(0, bytes, true);
	return arena->first ? 0 : -ENOMEM;
}

static int init_arena(struct approxftl_arena *arena, struct approxftl *a)
{
	int ret = approxftl_tag(a, arena->fd, 0, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE);

	if (!ret)
		ret = reserve_arena_addresses(arena);
	if (ret)
		return ret;
	ret = mark_file_content_allocated_in_arena(arena);
	if (ret)
		aftl_lib_set_operation_refusal(ret, 0, "arena");
	return ret;
}

int approxftl_arena_create(struct approxftl *a, int fd, struct approxftl_arena **out)
{
	struct approxftl_arena *arena = calloc(1, sizeof(*arena));
	int ret;

	*out = NULL;
	if (!arena)
		return -ENOMEM;
	pthread_mutex_init(&arena->lock, NULL);
	arena->page = sysconf(_SC_PAGESIZE);
	arena->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	ret = arena->fd < 0 ? aftl_lib_set_operation_refusal(-errno, 0, "arena") :
			      init_arena(arena, a);
	if (ret)
		approxftl_arena_destroy(arena);
	else
		*out = arena;
	return ret;
}

void approxftl_arena_destroy(struct approxftl_arena *arena)
{
	if (!arena)
		return;
	if (arena->base)
		munmap(arena->base, arena->reserved);
	while (arena->first) {
		struct piece *piece = arena->first;

		arena->first = piece->next;
		free(piece);
	}
	if (arena->fd >= 0)
		close(arena->fd);
	pthread_mutex_destroy(&arena->lock);
	free(arena);
}

/* Shrink @piece to @bytes and insert the rest as the next piece. */
static int split_arena_memory_range(struct piece *piece, size_t bytes)
{
	struct piece *rest;

	if (piece->bytes == bytes)
		return 0;
	rest = alloc_piece_node(piece->offset + bytes, piece->bytes - bytes, false);
	if (!rest)
		return -ENOMEM;
	rest->next = piece->next;
	piece->next = rest;
	piece->bytes = bytes;
	return 0;
}

static struct piece *find_free_piece(const struct approxftl_arena *arena, size_t bytes)
{
	struct piece *piece = arena->first;

	while (piece && (piece->used || piece->bytes < bytes))
		piece = piece->next;
	return piece;
}

/* Grow the file of the arena, and append a free piece. */
static struct piece *grow_arena_by_free_piece(struct approxftl_arena *arena, size_t bytes)
{
	size_t more = bytes < GROWTH ? GROWTH : bytes;
	struct piece *piece = alloc_piece_node(arena->mapped, more, false);
	struct piece **end = &arena->first;
	int ret = piece ? extend_arena_mapping(arena, arena->mapped + more) : -ENOMEM;

	if (ret) {
		free(piece);
		errno = -ret;
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = piece;
	return piece;
}

static void *allocate_memory_from_arena(struct approxftl_arena *arena, size_t bytes)
{
	struct piece *piece = find_free_piece(arena, bytes);

	if (!piece)
		piece = grow_arena_by_free_piece(arena, bytes);
	if (!piece)
		return NULL;
	if (split_arena_memory_range(piece, bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	piece->used = true;
	return arena->base + piece->offset;
}

void *approxftl_alloc(struct approxftl_arena *arena, size_t size)
{
	void *memory;

	if (!size || size > arena->reserved) {
		errno = size ? ENOMEM : EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&arena->lock);
	memory = allocate_memory_from_arena(arena, round_up_to_unit(size, arena->page));
	pthread_mutex_unlock(&arena->lock);
	return memory;
}

static void merge_free_arena_neighbours(struct piece *piece)
{
	while (piece) {
		struct piece *next = piece->next;

		if (next && !piece->used && !next->used) {
			piece->bytes += next->bytes;
			piece->next = next->next;
			free(next);
		} else {
			piece = next;
		}
	}
}

void approxftl_free(struct approxftl_arena *arena, void *memory)
{
	off_t offset = memory ? approxftl_arena_offset(arena, memory) : -EINVAL;
	struct piece *piece;

	if (offset < 0)
		return;
	pthread_mutex_lock(&arena->lock);
	for (piece = arena->first; piece; piece = piece->next)
		if (piece->offset == (size_t)offset)
			piece->used = false;
	merge_free_arena_neighbours(arena->first);
	pthread_mutex_unlock(&arena->lock);
}

off_t approxftl_arena_offset(struct approxftl_arena *arena, const void *memory)
{
	size_t offset = (const char *)memory - arena->base;
	size_t mapped;

	pthread_mutex_lock(&arena->lock);
	mapped = arena->mapped;
	pthread_mutex_unlock(&arena->lock);
	return offset < mapped ? (off_t)offset : -EINVAL;
}

void *approxftl_arena_at(struct approxftl_arena *arena, off_t offset)
{
	size_t mapped;

	pthread_mutex_lock(&arena->lock);
	mapped = arena->mapped;
	pthread_mutex_unlock(&arena->lock);
	return offset >= 0 && (size_t)offset < mapped ? arena->base + offset : NULL;
}

int approxftl_arena_sync(struct approxftl_arena *arena)
{
	return fdatasync(arena->fd) ? aftl_lib_set_operation_refusal(-errno, 0, "arena") : 0;
}
