// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device: building it and taking it apart.
 */
#include "core/ftl/command.h"

/* The host may want its size back there, too. */
static void *take_chunk(void *host, size_t bytes)
{
	return aftl_memory_take(host, bytes, 1);
}

static void give_chunk(void *host, void *memory, size_t bytes __maybe_unused)
{
	aftl_memory_give(host, memory);
}

static bool take_chunks(struct aftl *ftl, struct aftl_chunks *chunks, u32 entries, u32 size)
{
	return aftl_chunks_take(chunks, entries, size, take_chunk, ftl);
}

static void give_chunks(struct aftl *ftl, struct aftl_chunks *chunks, u32 entries, u32 size)
{
	aftl_chunks_give(chunks, entries, size, give_chunk, ftl);
}

static int take_arrays(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;

	media->origins = ftl->config.errors;
	aftl_imprint_init(media);
	if (!take_chunks(ftl, &media->imprints, geo->blocks * geo->pages, media->imprint.bytes) ||
	    !take_chunks(ftl, &ftl->map, aftl_mapped(geo), sizeof(u32)))
		return -ENOMEM;
	return aftl_extras_take(ftl);
}

static void give_arrays(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;

	if (media->blocks)
		aftl_extras_give(ftl);
	give_chunks(ftl, &media->imprints, geo->blocks * geo->pages, media->imprint.bytes);
	give_chunks(ftl, &ftl->map, aftl_mapped(geo), sizeof(u32));
}

static int take_media(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;
	size_t bitmap = DIV_ROUND_UP(geo->slots, 64) + 1;

	media->blocks = aftl_memory_take(ftl, geo->blocks, sizeof(*media->blocks));
	media->valid = aftl_memory_take(ftl, bitmap, sizeof(*media->valid));
	media->lost = aftl_memory_take(ftl, bitmap, sizeof(*media->lost));
	if (!media->blocks || !media->valid || !media->lost)
		return -ENOMEM;
	return take_arrays(ftl);
}

static int take_events(struct aftl *ftl)
{
	struct aftl_events *events = &ftl->events;

	ftl->event_lines = ftl->geo.luns;
	ftl->event_clock = ftl->event_lines + (ftl->recent.count ? AFTL_LINES : AFTL_LINE_RECENT);
	aftl_events_shape(events, ftl->geo.luns, ftl->event_clock + 1 - ftl->geo.luns);
	events->when = aftl_memory_take(ftl, aftl_events_times(events), sizeof(*events->when));
	events->winner = aftl_memory_take(ftl, aftl_events_nodes(events), sizeof(*events->winner));
	if (!events->when || !events->winner)
		return -ENOMEM;
	aftl_events_init(events);
	return 0;
}

static void size_commands(struct aftl *ftl)
{
	u64 writes = aftl_buffered(ftl) ? ftl->config.buffer / ftl->geo.unit_bytes :
					  ftl->config.depth;

	ftl->write_commands = max_t(u32, writes, ftl->program_units);
	ftl->command_count = ftl->write_commands + (u32)ftl->config.depth;
	ftl->pending_mask = (1U << fls64(2 * ftl->write_commands - 1)) - 1;
}

static int take_commands(struct aftl *ftl)
{
	size_commands(ftl);
	ftl->commands = aftl_memory_take(ftl, ftl->command_count, sizeof(*ftl->commands));
	ftl->pending = aftl_memory_take(ftl, (size_t)ftl->pending_mask + 1, sizeof(*ftl->pending));
	if (!ftl->commands || !ftl->pending)
		return -ENOMEM;
	aftl_commands_init(ftl);
	return 0;
}

static void init_lun(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun = &ftl->luns[index];
	u32 lane;

	lun->index = index;
	lun->bus_ns = &ftl->bus_ns[index % ftl->geo.channels];
	lun->refresh_block = ftl->geo.blocks_per_lun;
	lun->reads.head = AFTL_NIL;
	lun->ahead.head = AFTL_NIL;
	for (lane = 0; lane < AFTL_LANES; lane++)
		lun->writes[lane].head = AFTL_NIL;
}

/* The policy's open blocks and the core's own can have word lines between their passes. */
static int take_foggy(struct aftl *ftl)
{
	u32 i;

	if (ftl->geo.passes == 1)
		return 0;
	ftl->foggy_blocks = ftl->type->open_blocks + ftl->handles + 1;
	ftl->luns->foggy = aftl_memory_take(ftl, (size_t)ftl->geo.luns * ftl->foggy_blocks,
					    sizeof(*ftl->luns->foggy));
	if (!ftl->luns->foggy)
		return -ENOMEM;
	for (i = 1; i < ftl->geo.luns; i++)
		ftl->luns[i].foggy = ftl->luns->foggy + (size_t)i * ftl->foggy_blocks;
	return 0;
}

static int take_luns(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	u32 i;

	ftl->luns = aftl_memory_take(ftl, geo->luns, sizeof(*ftl->luns));
	ftl->victims = aftl_memory_take(ftl, (size_t)geo->luns * (geo->block_slots + 1),
					sizeof(*ftl->victims));
	ftl->bus_ns = aftl_memory_take(ftl, geo->channels, sizeof(*ftl->bus_ns));
	if (!ftl->luns || !ftl->victims || !ftl->bus_ns)
		return -ENOMEM;
	for (i = 0; i < geo->luns; i++)
		init_lun(ftl, i);
	return aftl_handle_take(ftl) && aftl_zone_take(ftl) && aftl_sheet_take(ftl) &&
	       aftl_recent_take(ftl) && aftl_super_take(ftl) ? take_foggy(ftl) : -ENOMEM;
}

/* A policy that names none has one. */
static u32 named_streams(const struct aftl_policy_type *type)
{
	u32 streams = 1;

	while (streams < AFTL_STREAMS && type->streams[streams])
		streams++;
	return streams;
}

static u32 copy_passes(const struct aftl *ftl)
{
	if (ftl->type->copy)
		return ftl->type->copy_passes;
	return ftl->type->ignores_tags ? 1 : AFTL_CLASSES;
}

/*
 * Collecting a block must free more than it uses: each pass may leave its last
 * program nearly empty, and a second pass may want another one after it.
 */
static u32 most_valid(const struct aftl *ftl)
{
	u32 last = ftl->program_units * ftl->geo.passes - 1;
	u32 waste = ftl->copy_passes * last + 1;

	return ftl->geo.block_slots > waste ? ftl->geo.block_slots - waste : 0;
}

/* What has open blocks of its own before any policy: active zones, the map, or handles. */
static u32 slots_of_blocks(const struct aftl *ftl)
{
	if (ftl->geo.zones)
		return (u32)ftl->config.max_active_zones;
	return ftl->geo.sheets ? 1 : (u32)ftl->config.placement_handles;
}

/* Whoever waits, a round begins with other weights. */
static void derive_queues(struct aftl *ftl)
{
	u32 i;

	ftl->queues = aftl_weights(ftl->config.queue_weights);
	for (i = 0; i < ARRAY_SIZE(ftl->turns); i++) {
		ftl->turns[i].queue = 0;
		ftl->turns[i].left = 0;
	}
}

/*
 * aftl_derive() - the configuration is new
 */
void aftl_derive(struct aftl *ftl)
{
	const struct aftl_config *config = &ftl->config;

	ftl->program_units = aftl_program_units(&ftl->geo);
	ftl->lun_rule = aftl_lun_rule(ftl->type, config->allocate);
	ftl->lun_params = aftl_params_of(config, ftl->lun_rule.params);
	ftl->bind_units = ftl->lun_rule.fixed ? 1 : ftl->program_units;
	ftl->unit_transfer_ns = DIV_ROUND_UP(ftl->geo.unit_bytes * 1000ULL, config->bus);
	ftl->unit_link_ns = config->link ?
			DIV_ROUND_UP(ftl->geo.unit_bytes * 1000ULL, config->link) : 0;
	ftl->paced = config->link || config->controller_command;
	ftl->gc_blocks = max((u32)(ftl->geo.blocks_per_lun * config->gc / 10000),
			     aftl_reserve(ftl) + 1);
	ftl->gc_idle_valid = (u32)(ftl->geo.block_slots * config->gc_idle_valid / 10000);
	ftl->copy_passes = copy_passes(ftl);
	ftl->streams = named_streams(ftl->type);
	ftl->gc_most_valid = most_valid(ftl);
	ftl->gc_idle_valid = min(ftl->gc_idle_valid, ftl->gc_most_valid);
	ftl->handles = slots_of_blocks(ftl);
	derive_queues(ftl);
	ftl->ahead_units = (u32)div64_u64(config->read_ahead, ftl->geo.unit_bytes);
	aftl_cache_derive(ftl);
	aftl_sheet_derive(ftl);
	ftl->lines[AFTL_LINE_PLAIN].delay_ns = config->controller;
	ftl->lines[AFTL_LINE_DECODED].delay_ns = config->controller + config->ecc;
	ftl->lines[AFTL_LINE_INWARD].delay_ns = config->controller;
	ftl->lines[AFTL_LINE_RECENT].delay_ns = config->read_hit ? : config->controller;
	aftl_chip_init(&ftl->chip, &ftl->media, config);
	ftl->most_reads = config->read_limit ? config->read_limit * ftl->geo.pages : U64_MAX;
	aftl_cell_init(&ftl->cell, &ftl->media, &ftl->config);
	aftl_sense_init(&ftl->sense, &ftl->cell, &ftl->config);
}

static int check_steps(const struct aftl *ftl, struct aftl_error *error)
{
	if (aftl_steps(&ftl->geo) < ftl->type->least_steps)
		return aftl_fail(error, -EINVAL,
				 "policy %s needs at least %u program steps in a block, the geometry has %u; raise layers, word_lines or bits",
				 ftl->type->name, ftl->type->least_steps, aftl_steps(&ftl->geo));
	if (ftl->type->word_line_steps && ftl->geo.program_pages != ftl->geo.word_line_pages)
		return aftl_fail(error, -EINVAL,
				 "policy %s programs whole word lines; set one_shot on or bits 1",
				 ftl->type->name);
	if (ftl->geo.passes > 1 && !ftl->type->two_passes)
		return aftl_fail(error, -EINVAL,
				 "policy %s programs each word line in one pass; set passes 1",
				 ftl->type->name);
	return 0;
}

/* The host's data must leave every LUN the blocks that the policy works with. */
static int check_room(struct aftl *ftl, struct aftl_error *error)
{
	u64 room = 0;
	u32 least = U32_MAX;
	u64 needed;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		room += ftl->luns[i].room;
		least = min(least, ftl->luns[i].room);
	}
	if (ftl->lun_rule.fixed)
		room = (u64)least * ftl->geo.luns;
	needed = aftl_mapped(&ftl->geo) + (u64)ftl->program_units * ftl->geo.luns;
	if (room >= needed)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "policy %s%s keeps %u of the %u blocks of each LUN for its own work, which leaves room for %llu units and not for %llu; raise op or blocks",
			 ftl->type->name, ftl->geo.sheets ? " with a cached map" :
			 ftl->handles ? " with handles" :
			 ftl->cache_most ? " with a cache" : "",
			 aftl_kept_blocks(ftl), ftl->geo.blocks_per_lun, (unsigned long long)room,
			 (unsigned long long)needed);
}

static int build(struct aftl *ftl, struct aftl_error *error)
{
	int ret = take_media(ftl);

	if (!ret)
		ret = take_luns(ftl);
	if (!ret)
		ret = take_events(ftl);
	if (!ret)
		ret = take_commands(ftl);
	if (ret)
		return aftl_fail(error, ret, "not enough memory for %u mapping units",
				 ftl->geo.slots);
	ftl->reads_watched = ftl->recent.count || ftl->config.rain;
	ret = aftl_super_check(ftl, &ftl->config, error);
	if (ret)
		return ret;
	aftl_supply_init(ftl);
	ret = aftl_instance_check(ftl->type, error);
	if (!ret)
		ret = check_steps(ftl, error);
	if (!ret)
		ret = aftl_cache_check(ftl, error);
	if (!ret)
		ret = aftl_sheet_check(ftl, error);
	if (!ret)
		ret = aftl_recent_check(ftl, error);
	if (!ret && !ftl->geo.sheets)
		ret = ftl->geo.zones ? aftl_zone_check(ftl, error) : aftl_handle_check(ftl, error);
	if (!ret && !ftl->geo.zones)
		ret = check_room(ftl, error);
	if (ret)
		return ret;
	aftl_contract_init(ftl);
	ftl->policy = aftl_instance_create(ftl);
	if (!ftl->policy)
		return aftl_fail(error, -ENOMEM, "not enough memory for policy %s",
				 ftl->type->name);
	aftl_refresh_clock(ftl);
	return 0;
}

int aftl_create(struct aftl **out, const struct aftl_config *config,
		const struct aftl_policy_type *type, const struct aftl_host_ops *ops, void *host,
		struct aftl_error *error)
{
	struct aftl_geometry geo;
	struct aftl *ftl;
	int ret = aftl_geometry_init(&geo, config, error);

	if (ret)
		return ret;
	ftl = ops->alloc(host, sizeof(*ftl));
	if (!ftl)
		return aftl_fail(error, -ENOMEM, "not enough memory for a device");
	ftl->config = *config;
	ftl->geo = geo;
	ftl->media.geo = &ftl->geo;
	ftl->rotation = aftl_first_turn(&ftl->geo);
	ftl->type = type;
	ftl->ops = ops;
	ftl->host = host;
	ftl->memory_bytes = sizeof(*ftl);
	ftl->age_ns = config->age;
	aftl_derive(ftl);
	ret = build(ftl, error);
	if (ret)
		aftl_destroy(ftl);
	else
		*out = ftl;
	return ret;
}

void aftl_destroy(struct aftl *ftl)
{
	if (!ftl)
		return;
	aftl_instance_destroy(ftl->policy);
	aftl_memory_give(ftl, ftl->pending);
	aftl_memory_give(ftl, ftl->commands);
	aftl_memory_give(ftl, ftl->events.winner);
	aftl_memory_give(ftl, ftl->events.when);
	aftl_memory_give(ftl, ftl->bus_ns);
	aftl_memory_give(ftl, ftl->victims);
	aftl_memory_give(ftl, ftl->zones.all);
	aftl_memory_give(ftl, ftl->sheets.all);
	aftl_memory_give(ftl, ftl->recent.chains);
	aftl_memory_give(ftl, ftl->recent.all);
	aftl_memory_give(ftl, ftl->supers);
	aftl_memory_give(ftl, ftl->groups);
	if (ftl->luns) {
		aftl_memory_give(ftl, ftl->luns->placed);
		aftl_memory_give(ftl, ftl->luns->foggy);
	}
	aftl_memory_give(ftl, ftl->luns);
	aftl_memory_give(ftl, ftl->media.valid);
	aftl_memory_give(ftl, ftl->media.lost);
	give_arrays(ftl);
	aftl_memory_give(ftl, ftl->media.blocks);
	ftl->ops->free(ftl->host, ftl, sizeof(*ftl));
}
