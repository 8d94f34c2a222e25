// SPDX-License-Identifier: GPL-2.0-only
/*
 * Derives the geometry from the parameters, and refuses parameters that no device can have.
 */
#include "core/base/address.h"
#include "core/base/geometry.h"

static bool is_power_of_two(u64 n)
{
	return n && !(n & (n - 1));
}

static int check_page_and_unit_sizes(const struct aftl_config *config, struct aftl_error *error)
{
	u64 unit = config->unit ? config->unit : config->page;

	if (!is_power_of_two(config->page))
		return aftl_fail(error, -EINVAL, "page: %llu bytes is not a power of two",
				 (unsigned long long)config->page);
	if (!is_power_of_two(unit) || unit < 512)
		return aftl_fail(error, -EINVAL,
				 "unit: %llu bytes is not a power of two of at least 512",
				 (unsigned long long)unit);
	if (unit > config->page)
		return aftl_fail(error, -EINVAL,
				 "unit: %llu bytes do not fit a page of %llu; make page larger",
				 (unsigned long long)unit, (unsigned long long)config->page);
	return 0;
}

int aftl_check_two_pass_program_params(const struct aftl_config *config, struct aftl_error *error)
{
	if (config->passes == 1)
		return 0;
	if (config->bits != AFTL_BITS_MAX || !config->one_shot)
		return aftl_fail(error, -EINVAL,
				 "passes: a coarse and a fine one are for whole word lines of four bits; set bits 4 and one_shot on");
	if (!config->buffer)
		return aftl_fail(error, -EINVAL,
				 "passes: data waits in the write buffer for its fine pass; set buffer");
	if (config->program_foggy > config->program)
		return aftl_fail(error, -EINVAL,
				 "program_foggy: a coarse pass has fewer levels to verify than a fine one; it must not take longer than program");
	return 0;
}

/* Each shard of a device has its own FTL: refuse a configuration for more than one shard. */
static int check_single_shard_config(const struct aftl_config *config, struct aftl_error *error)
{
	if (config->shards == 1)
		return 0;
	return aftl_fail(error, -EINVAL, "shards: an FTL serves only one shard; set shards 1");
}

static void compute_lun_geometry(struct aftl_geometry *geo, const struct aftl_config *config)
{
	u32 dies = config->channels * config->chips * config->dies;

	geo->channels = config->channels;
	geo->luns = dies;
	geo->blocks_per_lun = config->blocks;
	geo->planes_wide = 1;
	geo->passes = config->passes;
	geo->superblock_luns = config->superblock;
	if (config->plane_mode == AFTL_PLANES_INDEPENDENT)
		geo->luns *= config->planes;
	else if (config->plane_mode == AFTL_PLANES_WIDE)
		geo->planes_wide = config->planes;
	else
		geo->blocks_per_lun *= config->planes;
}

/* LUNs are numbered by channel first, then by chip, die and plane. */
static void compute_allocation_order(struct aftl_geometry *geo, const struct aftl_config *config)
{
	const char *word = aftl_core_params[AFTL_PARAM_AT(stripe)].words[config->stripe];
	const struct {
		char letter;
		u32 count;
	} levels[] = {
		{ 'c', config->channels },
		{ 'w', config->chips },
		{ 'd', config->dies },
		{ 'p', geo->luns / (config->channels * config->chips * config->dies) },
	};
	u32 stride = 1;
	u32 place;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		for (place = 0; word[place] != levels[i].letter;)
			place++;
		geo->allocation_order[place].count = levels[i].count;
		geo->allocation_order[place].stride = stride;
		stride *= levels[i].count;
	}
}

static void compute_block_geometry(struct aftl_geometry *geo, const struct aftl_config *config)
{
	geo->layers = config->layers;
	geo->super_layers = config->super_layers;
	geo->word_lines = config->word_lines;
	geo->word_line_pages = config->bits * geo->planes_wide;
	geo->pages = geo->layers * geo->word_lines * geo->word_line_pages;
	geo->program_pages = config->one_shot ? geo->word_line_pages : geo->planes_wide;
	geo->layer_steps = geo->word_lines * geo->word_line_pages / geo->program_pages;
	geo->program_pages_inverse = aftl_inverse(geo->program_pages);
	geo->layer_steps_inverse = aftl_inverse(geo->layer_steps);
	geo->page_bytes = config->page;
	geo->unit_bytes = config->unit ? config->unit : config->page;
	geo->page_units = geo->page_bytes / geo->unit_bytes;
	geo->page_unit_shift = fls64(geo->page_units) - 1;
	geo->block_ppns = geo->pages * geo->page_units;
	geo->unit_bits = geo->unit_bytes * 8;
}

static int compute_device_geometry(struct aftl_geometry *geo, const struct aftl_config *config,
				   struct aftl_error *error)
{
	u64 blocks = (u64)geo->luns * geo->blocks_per_lun;
	/* With more than AFTL_PPNS_MAX blocks, their number of ppns could overflow 64 bits. */
	u64 slots = blocks > AFTL_PPNS_MAX ? blocks : blocks * geo->block_ppns;

	if (slots > AFTL_PPNS_MAX)
		return aftl_fail(error, -EINVAL,
				 "the geometry has %llu mapping units, at most %u can be mapped; use a larger unit or fewer blocks",
				 (unsigned long long)slots, AFTL_PPNS_MAX);
	geo->blocks = geo->luns * geo->blocks_per_lun;
	geo->ppns = slots;
	geo->pages_inverse = aftl_inverse(geo->pages);
	geo->blocks_per_lun_inverse = aftl_inverse(geo->blocks_per_lun);
	geo->units = div64_u64(slots * (10000 - config->op), 10000);
	/* Parity reduces the capacity without adding over-provisioning. */
	if (config->rain && config->superblock)
		geo->units -= geo->units / (u32)config->superblock;
	if (!geo->units)
		return aftl_fail(error, -EINVAL,
				 "op: with this over-provisioning no capacity is left; lower op");
	return 0;
}

static int check_zone_geometry(const struct aftl_geometry *geo, const struct aftl_config *config,
			       u64 capacity, struct aftl_error *error)
{
	if (!is_power_of_two(config->zoned) || config->zoned < geo->unit_bytes)
		return aftl_fail(error, -EINVAL,
				 "zoned: %llu bytes are not a power of two of at least a mapping unit",
				 (unsigned long long)config->zoned);
	if (capacity > config->zoned || (capacity & (geo->unit_bytes - 1)))
		return aftl_fail(error, -EINVAL,
				 "zone_capacity: %llu bytes are more than a zone of %llu, or not a multiple of the mapping unit",
				 (unsigned long long)capacity,
				 (unsigned long long)config->zoned);
	return 0;
}

/* A zone uses as many LUNs as it has blocks, reduced to a divisor of the number of LUNs. */
static u32 count_luns_of_zone(const struct aftl_geometry *geo, u64 capacity)
{
	u64 blocks = div64_u64(capacity + geo->block_ppns - 1, geo->block_ppns);
	u32 luns = (u32)min_t(u64, geo->luns, blocks);

	while (geo->luns % luns)
		luns--;
	return luns;
}

static u64 count_blocks_of_zone_per_lun(const struct aftl_geometry *geo, u64 capacity)
{
	u64 programs =
		div64_u64(capacity + aftl_units_per_program(geo) - 1, aftl_units_per_program(geo));
	u64 each = div64_u64(programs + geo->zone_luns - 1, geo->zone_luns);

	return div64_u64(each * aftl_units_per_program(geo) + geo->block_ppns - 1, geo->block_ppns);
}

/* A zone consists of whole blocks; blocks that no zone uses are over-provisioning. */
static int compute_zone_geometry(struct aftl_geometry *geo, const struct aftl_config *config,
				 struct aftl_error *error)
{
	u64 bytes = config->zone_capacity ? config->zone_capacity : config->zoned;
	u64 capacity = div64_u64(bytes, geo->unit_bytes);
	u64 usable = div64_u64((u64)geo->blocks_per_lun * (10000 - config->op), 10000);
	int ret = check_zone_geometry(geo, config, bytes, error);
	u64 blocks;
	u64 zones;
	u64 units;

	if (ret)
		return ret;
	geo->zone_luns = count_luns_of_zone(geo, capacity);
	blocks = count_blocks_of_zone_per_lun(geo, capacity);
	zones = div64_u64(usable, blocks) * (geo->luns / geo->zone_luns);
	units = zones * div64_u64(config->zoned, geo->unit_bytes);
	if (!zones || units > AFTL_PPNS_MAX)
		return aftl_fail(error, -EINVAL,
				 "zoned: the device would have %llu zones and %llu mapping units, at least one zone and at most %u units are possible; change zoned or blocks",
				 (unsigned long long)zones, (unsigned long long)units,
				 AFTL_PPNS_MAX);
	geo->zones = (u32)zones;
	geo->zone_units = (u32)div64_u64(config->zoned, geo->unit_bytes);
	geo->zone_capacity = (u32)capacity;
	geo->zone_blocks = (u32)blocks;
	geo->units = (u32)units;
	return 0;
}

/* Number of buffered logical pages that a volume can persist: as many as the write buffer holds. */
static void compute_buffer_geometry(struct aftl_geometry *geo, const struct aftl_config *config)
{
	u64 units = max_t(u64, config->buffer / geo->unit_bytes, aftl_units_per_program(geo));

	if (geo->zones || (config->buffer && config->buffer_safe))
		geo->plp_entries = (u32)units;
}

/* A translation page holds as many entries as fit into a unit, a power of two. */
static void compute_trans_page_geometry(struct aftl_geometry *geo, const struct aftl_config *config)
{
	if (!config->map_cache)
		return;
	geo->trans_page_shift = fls64(geo->unit_bytes / AFTL_L2P_ENTRY_BYTES / 2);
	geo->trans_pages = ((geo->units - 1) >> geo->trans_page_shift) + 1;
}

int aftl_geometry_init(struct aftl_geometry *geo, const struct aftl_config *config,
		       struct aftl_error *error)
{
	int ret = check_page_and_unit_sizes(config, error);

	if (!ret)
		ret = check_single_shard_config(config, error);
	if (!ret)
		ret = aftl_check_two_pass_program_params(config, error);
	if (ret)
		return ret;
	*geo = (struct aftl_geometry){ 0 };
	compute_lun_geometry(geo, config);
	compute_allocation_order(geo, config);
	compute_block_geometry(geo, config);
	if (aftl_units_per_program(geo) > AFTL_PROGRAM_UNITS_MAX)
		return aftl_fail(error, -EINVAL,
				 "one program would carry %u mapping units, at most %u; use a larger unit",
				 aftl_units_per_program(geo), AFTL_PROGRAM_UNITS_MAX);
	ret = compute_device_geometry(geo, config, error);
	if (!ret && config->zoned)
		ret = compute_zone_geometry(geo, config, error);
	if (ret)
		return ret;
	compute_buffer_geometry(geo, config);
	compute_trans_page_geometry(geo, config);
	return 0;
}
