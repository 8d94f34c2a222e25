// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generator of requests, which depend on options and seed only.
 *
 * Each property of a request is drawn from a random sequence of its own, so that two runs that
 * differ in one option see the same values of all other properties.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "distributions.h"
#include "request-stream.h"
#include "sim-options.h"

enum purpose {
	PURPOSE_KIND,
	PURPOSE_SIZE,
	PURPOSE_PLACE,
	PURPOSE_TAG,
	PURPOSE_HOT_SIZE,
	PURPOSE_LEVEL,
};

/**
 * struct lengths - request lengths with weights
 * @sectors: the lengths, in sectors
 * @end: for each length, the sum of the weights up to it
 * @count: number of lengths
 */
struct lengths {
	u32 sectors[SIM_SIZES];
	u32 end[SIM_SIZES];
	u32 count;
};

/* A zone that the stream writes to; @reset: the reset before its first write was generated. */
struct open_zone {
	u64 number;
	u32 written;
	bool reset;
};

/**
 * struct generator - a generated stream
 * @stream: base class
 * @workload: enum sim_workload
 * @footprint: number of sectors that are used
 * @grain: alignment of addresses in sectors: the smallest length
 * @unit_shift: log2 of the sectors in a unit
 * @hot_share: share of requests to the hot range
 * @places: number of grains in the footprint
 * @hot_places: number of grains in the hot range
 * @window: size of the drifting working set in grains
 * @window_requests: requests in which it moves by its own size
 * @active: extents that are in use at a time, or NULL
 * @active_count: number of them
 * @active_extent: grains in each
 * @active_others: share of requests to any address
 * @extents: number of extents in the footprint
 * @active_requests: mean number of requests to each active extent
 * @open: zones that are being written, or NULL
 * @open_count: number of them
 * @zone: grains in each
 * @zones: number of zones in the footprint
 * @zone_sectors: distance of the device's zones in sectors; 0: not a zoned device
 * @append: writes to the device's zones are zone appends
 * @area: sectors of the random write area of a zone; 0: zones have none
 * @granule: sectors by which the area moves
 * @zone_rewrites: share of writes to data in the area
 * @step: multiplier that scatters ranks, coprime to @places
 * @scatter: scatter the hot range, too, or the order of a sequential workload
 * @zipf_order: how ranks of a Zipf distribution become addresses
 * @cursor: next grain of a sequential workload
 * @stride: minimum distance of its requests in grains; 0: contiguous
 * @write_share: share of writes in reads and writes
 * @discard_share: share of discards in all requests
 * @flush_every: requests between two flushes
 * @count: requests without flushes so far
 * @flush_due: a flush comes next
 * @lengths: lengths of requests
 * @hot_lengths: lengths of requests to the hot range
 * @hot_stream: placement id of writes to the hot range
 * @level_share: share of each quality level beyond 1 in approximate writes
 * @own_hot_lengths: @hot_lengths differs from @lengths
 */
struct generator {
	struct sim_stream stream;
	u64 workload;
	u64 footprint;
	u32 grain;
	u32 unit_shift;
	u32 hot_share;
	u64 places;
	u64 hot_places;
	u64 window;
	u64 window_requests;
	u64 *active;
	u64 active_count;
	u32 active_extent;
	u32 active_others;
	u64 extents;
	u64 active_requests;
	struct open_zone *open;
	u32 open_count;
	u32 zone;
	u64 zones;
	u64 zone_sectors;
	bool append;
	u64 area;
	u64 granule;
	u32 zone_rewrites;
	u64 step;
	bool scatter;
	u64 zipf_order;
	u64 cursor;
	u64 stride;
	u32 write_share;
	u32 discard_share;
	u64 flush_every;
	u64 count;
	bool flush_due;
	struct lengths lengths;
	struct lengths hot_lengths;
	u8 hot_stream;
	bool own_hot_lengths;
	struct zipf *zipf;
	struct tags tags;
	u32 level_share[AFTL_LEVELS];
	struct aftl_random level_random;
	struct aftl_random kind_random;
	struct aftl_random size_random;
	struct aftl_random hot_size_random;
	struct aftl_random place_random;
};

/* Lengths */

/* Convert a list of at least one request size to lengths, each rounded up to @sectors sectors. */
static void request_lengths_init(struct lengths *lengths, const struct sim_size_list *list,
				 u32 sectors)
{
	u64 grain = (u64)sectors * AFTL_SECTOR_BYTES;
	u32 sum = 0;
	u32 i = 0;

	do {
		sum += list->sizes[i].weight;
		lengths->end[i] = sum;
		lengths->sectors[i] = (u32)DIV_ROUND_UP(list->sizes[i].bytes, grain) * sectors;
	} while (++i < list->count);
	lengths->count = i;
}

static u32 draw_request_length(const struct lengths *lengths, struct aftl_random *random)
{
	u64 draw;
	u32 i;

	if (lengths->count == 1)
		return lengths->sectors[0];
	draw = aftl_random_below(random, lengths->end[lengths->count - 1]);
	for (i = 0; lengths->end[i] <= draw; i++)
		;
	return lengths->sectors[i];
}

static u32 get_smallest_request_length(const struct lengths *lengths)
{
	u32 least = lengths->sectors[0];

	for (u32 i = 1; i < lengths->count; i++)
		least = min(least, lengths->sectors[i]);
	return least;
}

static u32 get_largest_request_length(const struct lengths *lengths)
{
	u32 most = 0;

	for (u32 i = 0; i < lengths->count; i++)
		most = max(most, lengths->sectors[i]);
	return most;
}

static u64 compute_mean_pages_of_lengths_q16(const struct sim_size_list *list,
					     const struct aftl_geometry *geo)
{
	u32 page_sectors = geo->page_bytes / AFTL_SECTOR_BYTES;
	struct lengths lengths = { .count = 0 };
	u64 sum = 0;

	request_lengths_init(&lengths, list, 1);
	for (u32 i = 0; i < lengths.count; i++)
		sum += (u64)DIV_ROUND_UP(lengths.sectors[i], page_sectors) * list->sizes[i].weight;
	return (sum << 16) / lengths.end[lengths.count - 1];
}

static bool do_hot_requests_have_own_sizes(const struct sim_options *options)
{
	return options->hot_size_list.count && options->hot_share && options->hot_range;
}

u64 sim_get_mean_request_pages_q16(const struct sim_options *options,
				   const struct aftl_geometry *geo)
{
	u64 mean = compute_mean_pages_of_lengths_q16(&options->size_list, geo);
	u64 hot_share = options->hot_range < SHARE_WHOLE ? options->hot_share : SHARE_WHOLE;
	u64 hot_mean;

	if (!do_hot_requests_have_own_sizes(options))
		return mean;
	hot_mean = compute_mean_pages_of_lengths_q16(&options->hot_size_list, geo);
	return (hot_mean * hot_share + mean * (SHARE_WHOLE - hot_share)) / SHARE_WHOLE;
}

/* Addresses */

/* The hot range, if any, is the start of the footprint, or the whole footprint. */
static bool draw_whether_request_is_hot(struct generator *generator)
{
	if (!generator->hot_places)
		return false;
	return draw_with_probability(&generator->place_random, generator->hot_share) ||
	       generator->hot_places == generator->places;
}

/* Map @rank to an address such that neighbouring ranks are far apart. */
static u64 map_rank_to_scattered_address(const struct generator *generator, u64 rank)
{
	u64 step = generator->step;
	u64 high;

	if (likely(generator->places <= U32_MAX))
		return rank * step % generator->places;
	/* Addresses have up to 40 bits, so multiply in two steps to avoid an overflow. */
	high = (rank >> 20) * step % generator->places;
	return ((high << 20) + (rank & 0xfffff) * step) % generator->places;
}

static u64 draw_uniform_address(struct generator *generator, bool hot)
{
	struct aftl_random *random = &generator->place_random;
	u64 cold = generator->places - generator->hot_places;
	u64 place;

	if (hot)
		place = draw_number_below(random, generator->hot_places);
	else
		place = generator->hot_places + draw_number_below(random, cold);
	return generator->scatter ? map_rank_to_scattered_address(generator, place) : place;
}

/* Multiplier of fio's hash of 64 bits, by which its random_distribution=zipf scatters ranks. */
#define FIO_HASH_MULTIPLIER 0x61C8864680B583EBULL

/* A hash as fio's may map several ranks to one address, and none to another. */
static u64 draw_zipf_address(struct generator *generator)
{
	u64 rank = zipf_draw_rank(generator->zipf, &generator->place_random);

	switch (generator->zipf_order) {
	case SIM_ZIPF_SORTED:
		return rank;
	case SIM_ZIPF_HASHED:
		return rank * FIO_HASH_MULTIPLIER % generator->places;
	default:
		return map_rank_to_scattered_address(generator, rank);
	}
}

static u64 draw_address_in_drifting_window(struct generator *generator)
{
	u64 begin = (__uint128_t)generator->count * generator->window /
		    generator->window_requests;

	return (begin + draw_number_below(&generator->place_random, generator->window)) %
	       generator->places;
}

/* Draw an address in a random extent in use; after some requests another extent replaces it. */
static u64 draw_address_in_active_extent(struct generator *generator)
{
	struct aftl_random *random = &generator->place_random;
	u64 *turn;
	u64 place;

	if (draw_with_probability(random, generator->active_others))
		return draw_number_below(random, generator->places);
	turn = &generator->active[draw_number_below(random, generator->active_count)];
	place = aftl_random_below(random, generator->active_extent);
	place += *turn * generator->active_extent;
	if (!draw_number_below(random, generator->active_requests))
		*turn = draw_number_below(random, generator->extents);
	return place;
}

static u64 draw_sequential_address(struct generator *generator, u32 sectors)
{
	u64 place = generator->cursor;

	if (place * generator->grain + sectors > generator->footprint)
		place = 0;
	generator->cursor = place + max((u64)DIV_ROUND_UP(sectors, generator->grain),
					generator->stride);
	return generator->scatter ? map_rank_to_scattered_address(generator, place) : place;
}

static bool is_zone_open(const struct generator *generator, u64 zone)
{
	for (u32 i = 0; i < generator->open_count; i++)
		if (generator->open[i].number == zone)
			return true;
	return false;
}

/* Replace the full zone @open by a random zone that the stream is not writing to already. */
static void replace_full_zone(struct generator *generator, struct open_zone *open)
{
	u64 zone;

	do {
		zone = draw_number_below(&generator->place_random, generator->zones);
	} while (generator->zones > generator->open_count && is_zone_open(generator, zone));
	*open = (struct open_zone){ .number = zone };
}

static u64 draw_open_zone(struct generator *generator)
{
	u32 turn = aftl_random_below(&generator->place_random, generator->open_count);
	struct open_zone *open = &generator->open[turn];
	u64 place = open->number * generator->zone + open->written;

	if (++open->written == generator->zone)
		replace_full_zone(generator, open);
	return place;
}

/* Return the first grain of a zone that is beyond its write pointer, if all below @written is. */
static u32 find_first_rewritable_grain(const struct generator *generator, u32 written)
{
	u64 end = (u64)written * generator->grain;
	u64 committed = end > generator->area ? end - generator->area : 0;

	committed = DIV_ROUND_UP(committed, generator->granule) * generator->granule;
	return (u32)DIV_ROUND_UP(committed, generator->grain);
}

/* Draw a grain of the random write area that has been written. Return: false for the next grain. */
static bool draw_rewrite_of_zone(struct generator *generator, const struct open_zone *open,
				 u32 *grain)
{
	u32 first;

	if (!generator->zone_rewrites || !open->written ||
	    aftl_random_below(&generator->place_random, SHARE_WHOLE) >= generator->zone_rewrites)
		return false;
	first = find_first_rewritable_grain(generator, open->written);
	if (first >= open->written)
		return false;
	*grain = first + aftl_random_below(&generator->place_random, open->written - first);
	return true;
}

/* Commit all of a zone that has been written to its end, and go on with another zone. */
static void commit_full_zone(struct generator *generator, struct open_zone *open,
			     struct sim_request *request)
{
	u64 end = open->number * generator->zone_sectors + (u64)generator->zone * generator->grain;

	*request = (struct sim_request){
		.op = AFTL_OP_ZONE_COMMIT,
		.unit = (u32)(end >> generator->unit_shift) - 1,
	};
	replace_full_zone(generator, open);
}

/* A zone is reset before its first write: turn @request into the reset. */
static void draw_zone_write(struct generator *generator, struct sim_request *request)
{
	u32 turn = aftl_random_below(&generator->place_random, generator->open_count);
	struct open_zone *open = &generator->open[turn];
	u64 first = open->number * generator->zone_sectors;
	u32 grain = open->written;
	bool rewrite;

	if (!open->reset) {
		open->reset = true;
		*request = (struct sim_request){
			.op = AFTL_OP_ZONE_RESET,
			.unit = first >> generator->unit_shift,
		};
		return;
	}
	rewrite = draw_rewrite_of_zone(generator, open, &grain);
	if (!rewrite && grain == generator->zone) {
		commit_full_zone(generator, open, request);
		return;
	}
	if (generator->append)
		request->flags = AFTL_REQUEST_APPEND;
	else
		first += (u64)grain * generator->grain;
	sim_request_set_sectors(request, first, generator->grain, generator->unit_shift);
	open->written += !rewrite;
	if (open->written == generator->zone && !generator->area)
		replace_full_zone(generator, open);
}

static u64 draw_request_address_by_workload(struct generator *generator, bool hot, u32 sectors)
{
	switch (generator->workload) {
	case SIM_WORKLOAD_ZIPF:
		return draw_zipf_address(generator);
	case SIM_WORKLOAD_SEQUENTIAL:
		return draw_sequential_address(generator, sectors);
	case SIM_WORKLOAD_DRIFT:
		return draw_address_in_drifting_window(generator);
	case SIM_WORKLOAD_ACTIVE:
		return draw_address_in_active_extent(generator);
	case SIM_WORKLOAD_ZONES:
		return draw_open_zone(generator);
	default:
		return draw_uniform_address(generator, hot);
	}
}

/* A request that would cross the end of the footprint is moved to end there. */
static u64 draw_first_sector(struct generator *generator, bool hot, u32 sectors)
{
	u64 first = draw_request_address_by_workload(generator, hot, sectors) * generator->grain;

	return min(first, generator->footprint - sectors);
}

/* Requests */

static u8 draw_request_operation(struct generator *generator)
{
	if (draw_with_probability(&generator->kind_random, generator->discard_share))
		return AFTL_OP_DISCARD;
	return draw_with_probability(&generator->kind_random, generator->write_share) ?
		       AFTL_OP_WRITE :
		       AFTL_OP_READ;
}

/* Draw a cold length for hot requests, too, so that cold requests do not depend on hot ones. */
static u32 draw_request_sectors(struct generator *generator, bool hot)
{
	u32 sectors = draw_request_length(&generator->lengths, &generator->size_random);

	if (hot && generator->own_hot_lengths)
		return draw_request_length(&generator->hot_lengths, &generator->hot_size_random);
	return sectors;
}

/* Draw the quality level of an approximate write, unless the options give no levels. */
static u8 draw_quality_level(struct generator *generator)
{
	u32 draw;

	if (!generator->level_share[3] && !generator->level_share[2])
		return 0;
	draw = (u32)aftl_random_below(&generator->level_random, SHARE_WHOLE);
	if (draw < generator->level_share[3])
		return 3;
	return draw < generator->level_share[3] + generator->level_share[2] ? 2 : AFTL_APPROX;
}

static struct sim_request draw_request(struct generator *generator)
{
	bool hot = draw_whether_request_is_hot(generator);
	u32 sectors = draw_request_sectors(generator, hot);
	u64 first = draw_first_sector(generator, hot, sectors);
	struct sim_request request = { .op = draw_request_operation(generator) };

	sim_request_set_sectors(&request, first, sectors, generator->unit_shift);
	if (request.op != AFTL_OP_WRITE)
		return request;
	request.class = draw_whether_write_is_approximate(&generator->tags) ? AFTL_APPROX :
									      AFTL_PRECISE;
	request.level = request.class ? draw_quality_level(generator) : 0;
	request.hint.stream = hot ? generator->hot_stream : 0;
	return request;
}

/* Requests to a zoned device: writes append to an open zone, reads go to any zone. */
static struct sim_request draw_zoned_request(struct generator *generator)
{
	struct sim_request request = { .op = draw_request_operation(generator) };
	u64 first;

	if (request.op != AFTL_OP_READ) {
		draw_zone_write(generator, &request);
		return request;
	}
	first = draw_number_below(&generator->place_random, generator->zones) *
		generator->zone_sectors;
	first += (u64)aftl_random_below(&generator->place_random, generator->zone) *
		 generator->grain;
	sim_request_set_sectors(&request, first, generator->grain, generator->unit_shift);
	return request;
}

static int generate_next_request(struct sim_stream *stream, struct sim_request *request,
				 struct aftl_error *error)
{
	struct generator *generator = container_of(stream, struct generator, stream);

	(void)error;
	if (generator->flush_due) {
		*request = (struct sim_request){ .op = AFTL_OP_FLUSH };
		generator->flush_due = false;
		return 1;
	}
	if (generator->zone_sectors)
		*request = draw_zoned_request(generator);
	else
		*request = draw_request(generator);
	generator->count++;
	generator->flush_due = generator->flush_every &&
			       generator->count % generator->flush_every == 0;
	return 1;
}

static void close_generator(struct sim_stream *stream)
{
	struct generator *generator = container_of(stream, struct generator, stream);

	zipf_destroy(generator->zipf);
	free(generator->active);
	free(generator->open);
	free(generator);
}

/* Preparation */

static u64 compute_greatest_common_divisor(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Return a multiplier near 0.618 * @n (golden section) that permutes the numbers 0 .. @n - 1. */
static u64 compute_rank_permutation_step(u64 n)
{
	u64 step = (u64)((__uint128_t)n * 0x9e3779b9ULL >> 32) | 1;

	while (step > 1 && compute_greatest_common_divisor(step, n) > 1)
		step++;
	return step;
}

static u64 scale_by_share_to_at_least_one(u64 whole, u64 share)
{
	u64 units = whole * share / SHARE_WHOLE;

	return units ? units : 1;
}

static void prepare_request_lengths(struct generator *generator, const struct sim_options *options,
				    const struct aftl_geometry *geo)
{
	u32 sectors = sim_are_requests_whole_units(options, geo) ? sim_sectors_per_unit(geo) : 1;

	generator->unit_shift = sim_get_unit_shift(geo);
	request_lengths_init(&generator->lengths, &options->size_list, sectors);
	generator->own_hot_lengths = do_hot_requests_have_own_sizes(options);
	request_lengths_init(&generator->hot_lengths,
			     generator->own_hot_lengths ? &options->hot_size_list :
							  &options->size_list,
			     sectors);
}

static int fit_footprint_to_device(struct generator *generator, const struct sim_options *options,
				   u64 units, struct aftl_error *error)
{
	u32 longest = get_largest_request_length(&generator->lengths);
	u32 longest_hot = get_largest_request_length(&generator->hot_lengths);
	bool hot = longest_hot > longest;
	u32 grain, grain_hot;

	longest = max(longest, longest_hot);
	generator->footprint = scale_by_share_to_at_least_one(units, options->footprint)
			       << generator->unit_shift;
	if (longest > generator->footprint)
		return aftl_fail(error, -EINVAL,
				 "a request of %llu bytes is larger than the %llu bytes that are used; lower --%s or raise --footprint",
				 (unsigned long long)longest * AFTL_SECTOR_BYTES,
				 (unsigned long long)generator->footprint * AFTL_SECTOR_BYTES,
				 hot ? "hot-size" : "size");
	grain = get_smallest_request_length(&generator->lengths);
	grain_hot = get_smallest_request_length(&generator->hot_lengths);
	grain = min(grain, grain_hot);
	/* Static analysis does not see that the smallest request length is at least 1. */
	generator->grain = max(grain, 1U);
	generator->places = generator->footprint / generator->grain;
	return 0;
}

/* Draw the extents (address ranges) used first; call this after init_random_sequences(). */
static void prepare_active_extents(struct generator *generator, const struct sim_options *options)
{
	if (generator->workload != SIM_WORKLOAD_ACTIVE)
		return;
	generator->active_extent = max(min(options->active_extent, generator->places), 1ULL);
	generator->extents = generator->places / generator->active_extent;
	generator->active_count =
		scale_by_share_to_at_least_one(generator->extents, options->active_set);
	generator->active_requests = options->active_requests * generator->active_extent;
	generator->active_others = options->active_others;
	generator->active =
		memory_alloc_zeroed(generator->active_count, sizeof(*generator->active));
	for (u64 i = 0; i < generator->active_count; i++)
		generator->active[i] =
			draw_number_below(&generator->place_random, generator->extents);
}

/* Draw the open zones, after init_random_sequences(); a footprint has at least one zone. */
static void prepare_zone_writes(struct generator *generator, const struct sim_options *options,
				const struct aftl_geometry *geo)
{
	u64 places = options->zone_size / ((u64)generator->grain * AFTL_SECTOR_BYTES);

	if (generator->workload != SIM_WORKLOAD_ZONES)
		return;
	if (geo->zones)
		places = ((u64)geo->zone_capacity << generator->unit_shift) / generator->grain;
	generator->zone = (u32)max(min(places, generator->places), 1ULL);
	if (!geo->zones)
		generator->zones = generator->places / generator->zone;
	generator->open_count = (u32)min(options->open_zones, generator->zones);
	generator->open = memory_alloc_zeroed(generator->open_count, sizeof(*generator->open));
	for (u32 i = 0; i < generator->open_count; i++)
		generator->open[i].number = U64_MAX;
	for (u32 i = 0; i < generator->open_count; i++)
		replace_full_zone(generator, &generator->open[i]);
}

/* Restrict the generated requests to the zones of a zoned device. */
static int restrict_requests_to_zones(struct generator *generator,
				      const struct sim_options *options,
				      const struct aftl_config *config,
				      const struct aftl_geometry *geo, struct aftl_error *error)
{
	u64 zone_sectors = (u64)geo->zone_units << generator->unit_shift;
	u64 capacity = (u64)geo->zone_capacity << generator->unit_shift;
	u32 zones = geo->zones ? (u32)(generator->footprint / zone_sectors) : 0;

	if (!geo->zones && options->zone_append)
		return aftl_fail(error, -EINVAL,
				 "--zone-append: only a device with zones has appends; set zoned");
	if (!geo->zones)
		return 0;
	if (options->workload != SIM_WORKLOAD_ZONES || options->discard_share ||
	    options->size_list.count > 1 || do_hot_requests_have_own_sizes(options))
		return aftl_fail(error, -EINVAL,
				 "a device with zones is written in order: use --workload zones, with one --size and without discards");
	if (capacity % generator->grain)
		return aftl_fail(error, -EINVAL,
				 "--size: a zone of %llu bytes is not a multiple of requests of %llu",
				 (unsigned long long)capacity * AFTL_SECTOR_BYTES,
				 (unsigned long long)generator->grain * AFTL_SECTOR_BYTES);
	if (options->open_zones > config->max_active_zones || options->open_zones >= zones)
		return aftl_fail(error, -EINVAL,
				 "--open-zones: %llu of the %u zones that are used, %llu of which may be active, leave none to go on with",
				 (unsigned long long)options->open_zones, zones,
				 (unsigned long long)config->max_active_zones);
	generator->zone_sectors = zone_sectors;
	generator->append = options->zone_append;
	generator->zones = zones;
	generator->granule = config->zrwa_granularity * aftl_units_per_program(geo)
			     << generator->unit_shift;
	generator->area = config->zrwa * aftl_units_per_program(geo) << generator->unit_shift;
	generator->zone_rewrites = (u32)options->zone_rewrites;
	if (generator->area && options->zone_append)
		return aftl_fail(error, -EINVAL,
				 "--zone-append: an append to a zone with a random write area fails; set zrwa 0");
	if (generator->area ? generator->grain > generator->area : options->zone_rewrites)
		return aftl_fail(error, -EINVAL,
				 "--zone-rewrites, --size: the random write area of a zone has %llu bytes, fewer than a request of %llu; raise zrwa",
				 (unsigned long long)generator->area * AFTL_SECTOR_BYTES,
				 (unsigned long long)generator->grain * AFTL_SECTOR_BYTES);
	return 0;
}

/* Check that --stride is a multiple of the smallest length and less than the used capacity. */
static int check_and_set_address_stride(struct generator *generator,
					const struct sim_options *options, struct aftl_error *error)
{
	u64 grain = (u64)generator->grain * AFTL_SECTOR_BYTES;

	if (options->stride % grain)
		return aftl_fail(error, -EINVAL,
				 "--stride %llu is not a multiple of the requests' %llu bytes",
				 (unsigned long long)options->stride, (unsigned long long)grain);
	if (options->stride / grain >= generator->places && options->stride)
		return aftl_fail(error, -EINVAL,
				 "--stride %llu leads out of the %llu bytes that are used",
				 (unsigned long long)options->stride,
				 (unsigned long long)generator->footprint * AFTL_SECTOR_BYTES);
	generator->stride = options->stride / grain;
	return 0;
}

static void init_random_sequences(struct generator *generator, u64 seed)
{
	generator->kind_random = get_random_sequence_of_purpose(seed, PURPOSE_KIND);
	generator->size_random = get_random_sequence_of_purpose(seed, PURPOSE_SIZE);
	generator->hot_size_random = get_random_sequence_of_purpose(seed, PURPOSE_HOT_SIZE);
	generator->place_random = get_random_sequence_of_purpose(seed, PURPOSE_PLACE);
	generator->level_random = get_random_sequence_of_purpose(seed, PURPOSE_LEVEL);
}

static int set_operation_and_tag_shares(struct generator *generator,
					const struct sim_options *options, u64 seed,
					struct aftl_error *error)
{
	generator->write_share = options->write_share;
	generator->discard_share = options->discard_share;
	generator->flush_every = options->flush_every;
	generator->level_share[2] = options->level_2_share;
	generator->level_share[3] = options->level_3_share;
	if (!init_approx_tag_generator(&generator->tags, options->approx_share, options->approx_run,
				       get_random_sequence_of_purpose(seed, PURPOSE_TAG)))
		return aftl_fail(error, -EINVAL,
				 "--approx-run %llu is too short for this --approx-share: precise runs would be shorter than one write",
				 (unsigned long long)options->approx_run);
	if (options->level_2_share + options->level_3_share > SHARE_WHOLE)
		return aftl_fail(error, -EINVAL,
				 "--level-2-share and --level-3-share are more than all together");
	return 0;
}

int sim_generator_open(struct sim_stream **out, const struct sim_options *options,
		       const struct aftl_config *config, const struct aftl_geometry *geo,
		       u64 units, struct aftl_error *error)
{
	struct generator *generator = memory_alloc_zeroed(1, sizeof(*generator));
	int ret;

	generator->stream.next = generate_next_request;
	generator->stream.close = close_generator;
	generator->stream.levels = options->level_2_share || options->level_3_share;
	prepare_request_lengths(generator, options, geo);
	ret = fit_footprint_to_device(generator, options, units, error);
	if (!ret)
		ret = restrict_requests_to_zones(generator, options, config, geo, error);
	if (!ret)
		ret = check_and_set_address_stride(generator, options, error);
	if (!ret)
		ret = set_operation_and_tag_shares(generator, options, config->seed, error);
	if (ret) {
		free(generator);
		return ret;
	}
	generator->workload = options->workload;
	if (options->hot_share && options->hot_range)
		generator->hot_places =
			scale_by_share_to_at_least_one(generator->places, options->hot_range);
	generator->hot_share = options->hot_share;
	generator->hot_stream = (u8)options->hot_stream;
	generator->window = scale_by_share_to_at_least_one(generator->places, options->drift_set);
	generator->window_requests = options->drift_requests;
	generator->step = compute_rank_permutation_step(generator->places);
	generator->scatter = options->scatter;
	generator->zipf_order = options->zipf_order;
	if (generator->workload == SIM_WORKLOAD_ZIPF)
		generator->zipf = zipf_create(generator->places,
					      ((__uint128_t)options->zipf_skew << 32) /
						      SIM_RATE_ONE);
	init_random_sequences(generator, config->seed);
	prepare_active_extents(generator, options);
	prepare_zone_writes(generator, options, geo);
	*out = &generator->stream;
	return 0;
}
