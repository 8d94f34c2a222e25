// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device: building it, taking it apart, letting its time pass.
 */
#include "core/ftl/device.h"

/* Memory comes from the host, which wants its size back. */
struct allocation {
	u64 bytes;
	u64 reserved;
};

static void *take_memory(struct aftl *ftl, size_t count, size_t size)
{
	u64 bytes = (u64)count * size + sizeof(struct allocation);
	struct allocation *memory = ftl->ops->alloc(ftl->host, bytes);

	if (!memory)
		return NULL;
	memory->bytes = bytes;
	ftl->memory_bytes += bytes;
	return memory + 1;
}

static void give_memory(struct aftl *ftl, void *memory)
{
	struct allocation *allocation;

	if (!memory)
		return;
	allocation = (struct allocation *)memory - 1;
	ftl->memory_bytes -= allocation->bytes;
	ftl->ops->free(ftl->host, allocation, allocation->bytes);
}

void *aftl_policy_alloc(struct aftl *ftl, size_t count, size_t size)
{
	return take_memory(ftl, count, size);
}

void aftl_policy_free(struct aftl *ftl, void *memory)
{
	give_memory(ftl, memory);
}

/* The host may want its size back there, too. */
static void *take_chunk(void *host, size_t bytes)
{
	return take_memory(host, bytes, 1);
}

static void give_chunk(void *host, void *memory, size_t bytes __maybe_unused)
{
	give_memory(host, memory);
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

	if (!take_chunks(ftl, &media->hours, geo->blocks * geo->pages, sizeof(u16)) ||
	    !take_chunks(ftl, &media->unit, geo->slots, sizeof(aftl_unit_t)) ||
	    !take_chunks(ftl, &ftl->map, geo->units, sizeof(u32)))
		return -ENOMEM;
	if (ftl->config.errors &&
	    !take_chunks(ftl, &media->origin, geo->slots, sizeof(struct aftl_origin)))
		return -ENOMEM;
	return 0;
}

static void give_arrays(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;

	give_chunks(ftl, &media->hours, geo->blocks * geo->pages, sizeof(u16));
	give_chunks(ftl, &media->unit, geo->slots, sizeof(aftl_unit_t));
	give_chunks(ftl, &media->origin, geo->slots, sizeof(struct aftl_origin));
	give_chunks(ftl, &ftl->map, geo->units, sizeof(u32));
}

static int take_media(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;
	size_t pages = (size_t)geo->blocks * geo->pages;

	media->geo = geo;
	media->blocks = take_memory(ftl, geo->blocks, sizeof(*media->blocks));
	media->attr = take_memory(ftl, pages, sizeof(*media->attr));
	media->valid = take_memory(ftl, DIV_ROUND_UP(geo->slots, 64) + 1, sizeof(*media->valid));
	if (!media->blocks || !media->attr || !media->valid)
		return -ENOMEM;
	return take_arrays(ftl);
}

static int take_events(struct aftl *ftl)
{
	struct aftl_events *events = &ftl->events;

	ftl->event_lines = ftl->geo.luns;
	ftl->event_clock = ftl->event_lines + AFTL_LINES;
	events->leaves = aftl_events_leaves(ftl->event_clock + 1);
	events->when = take_memory(ftl, events->leaves, sizeof(*events->when));
	events->winner = take_memory(ftl, 2 * (size_t)events->leaves, sizeof(*events->winner));
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
	ftl->commands = take_memory(ftl, ftl->command_count, sizeof(*ftl->commands));
	ftl->pending = take_memory(ftl, (size_t)ftl->pending_mask + 1, sizeof(*ftl->pending));
	if (!ftl->commands || !ftl->pending)
		return -ENOMEM;
	aftl_commands_init(ftl);
	return 0;
}

static void init_lun(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun = &ftl->luns[index];
	u32 stream;

	lun->index = index;
	lun->bus_ns = &ftl->bus_ns[index % ftl->geo.channels];
	lun->refresh_block = ftl->geo.blocks_per_lun;
	lun->reads.head = AFTL_NIL;
	for (stream = 0; stream < AFTL_STREAMS; stream++)
		lun->writes[stream].head = AFTL_NIL;
}

static int take_luns(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	u32 i;

	ftl->luns = take_memory(ftl, geo->luns, sizeof(*ftl->luns));
	ftl->victims = take_memory(ftl, (size_t)geo->luns * (geo->block_slots + 1),
				   sizeof(*ftl->victims));
	ftl->bus_ns = take_memory(ftl, geo->channels, sizeof(*ftl->bus_ns));
	if (!ftl->luns || !ftl->victims || !ftl->bus_ns)
		return -ENOMEM;
	for (i = 0; i < geo->luns; i++)
		init_lun(ftl, i);
	return 0;
}

static void set_program_times(struct aftl *ftl)
{
	const struct aftl_config *config = &ftl->config;
	u64 *ns = ftl->mode_program_ns;

	ns[AFTL_MODE_NORMAL] = config->program;
	ns[AFTL_MODE_REDUCED] = config->program_reduced;
	ns[AFTL_MODE_BETWEEN] = config->program_between;
	ns[AFTL_MODE_AFTER] = config->program_after;
	ns[AFTL_MODE_COARSE] = config->program_coarse;
	ns[AFTL_MODE_FINE] = config->program_fine;
	ns[AFTL_MODE_FOLLOWER] = config->program_follower ? : config->program;
	ns[AFTL_MODE_MLC] = config->program_mlc;
}

static u32 copy_passes(const struct aftl *ftl)
{
	if (ftl->type->copy)
		return ftl->type->copy_passes;
	return ftl->type->ignores_tags ? 1 : AFTL_CLASSES;
}

/*
 * Collecting a block must free more than it uses: each pass may leave its last
 * program nearly empty.
 */
static u32 most_valid(const struct aftl *ftl)
{
	u32 waste = ftl->copy_passes * (ftl->program_units - 1) + 1;

	return ftl->geo.block_slots > waste ? ftl->geo.block_slots - waste : 0;
}

static void derive(struct aftl *ftl)
{
	const struct aftl_config *config = &ftl->config;

	ftl->program_units = aftl_program_units(&ftl->geo);
	ftl->unit_transfer_ns = DIV_ROUND_UP(ftl->geo.unit_bytes * 1000ULL, config->bus);
	ftl->gc_blocks = max((u32)(ftl->geo.blocks_per_lun * config->gc / 10000),
			     aftl_reserve(ftl) + 1);
	ftl->gc_idle_valid = (u32)(ftl->geo.block_slots * config->gc_idle_valid / 10000);
	ftl->copy_passes = copy_passes(ftl);
	ftl->gc_most_valid = most_valid(ftl);
	ftl->gc_idle_valid = min(ftl->gc_idle_valid, ftl->gc_most_valid);
	ftl->lines[AFTL_LINE_PLAIN].delay_ns = config->controller;
	ftl->lines[AFTL_LINE_DECODED].delay_ns = config->controller + config->ecc;
	set_program_times(ftl);
	ftl->most_reads = config->read_limit ? config->read_limit * ftl->geo.pages : U64_MAX;
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
	if (ftl->config.allocate == AFTL_ALLOCATE_STATIC)
		room = (u64)least * ftl->geo.luns;
	needed = ftl->geo.units + (u64)ftl->program_units * ftl->geo.luns;
	if (room >= needed)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "policy %s keeps %u of the %u blocks of each LUN for its own work, which leaves room for %llu units and not for %llu; raise op or blocks",
			 ftl->type->name, ftl->type->open_blocks + ftl->type->reserve + 1,
			 ftl->geo.blocks_per_lun, (unsigned long long)room,
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
	ftl->chip = (struct aftl_chip){ .media = &ftl->media, .config = &ftl->config };
	aftl_cell_init(&ftl->cell, &ftl->media, &ftl->config);
	aftl_sense_init(&ftl->sense, &ftl->cell, &ftl->config);
	aftl_supply_init(ftl);
	ret = check_steps(ftl, error);
	if (!ret)
		ret = check_room(ftl, error);
	if (ret)
		return ret;
	ftl->policy = ftl->type->create(ftl);
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
	ftl->type = type;
	ftl->ops = ops;
	ftl->host = host;
	ftl->memory_bytes = sizeof(*ftl);
	ftl->age_ns = config->age;
	derive(ftl);
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
	if (ftl->policy)
		ftl->type->destroy(ftl->policy);
	give_memory(ftl, ftl->pending);
	give_memory(ftl, ftl->commands);
	give_memory(ftl, ftl->events.winner);
	give_memory(ftl, ftl->events.when);
	give_memory(ftl, ftl->bus_ns);
	give_memory(ftl, ftl->victims);
	give_memory(ftl, ftl->luns);
	give_memory(ftl, ftl->media.valid);
	give_arrays(ftl);
	give_memory(ftl, ftl->media.attr);
	give_memory(ftl, ftl->media.blocks);
	ftl->ops->free(ftl->host, ftl, sizeof(*ftl));
}

static void handle(struct aftl *ftl, u32 source)
{
	if (source < ftl->geo.luns)
		aftl_lun_event(ftl, &ftl->luns[source]);
	else if (source < ftl->event_clock)
		aftl_requests_complete(ftl, source - ftl->event_lines);
	else
		aftl_refresh_event(ftl);
}

/*
 * Each LUN can begin one program, and has an array that is busy then. Besides one LUN can
 * end an erase and lose the block, or be lost itself; or something is discarded.
 */
u32 aftl_burst(const struct aftl_geometry *geo)
{
	return geo->luns * (aftl_program_units(geo) + geo->program_pages) + 2;
}

bool aftl_step(struct aftl *ftl, u64 now_ns)
{
	bool due;

	now_ns = min(now_ns, AFTL_TIME_MAX);
	due = aftl_events_when(&ftl->events) <= now_ns;
	ftl->running = true;
	if (due) {
		ftl->now_ns = aftl_events_when(&ftl->events);
		handle(ftl, aftl_events_first(&ftl->events));
		aftl_requests_retry(ftl);
	} else {
		ftl->now_ns = max(ftl->now_ns, now_ns);
	}
	ftl->running = false;
	return due;
}

void aftl_advance(struct aftl *ftl, u64 now_ns)
{
	while (aftl_step(ftl, now_ns))
		;
}

void aftl_age(struct aftl *ftl, u64 ns)
{
	u64 day = div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS);

	ftl->age_ns = min(ftl->age_ns + min(ns, AFTL_TIME_MAX / 2), AFTL_TIME_MAX / 2);
	if (div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS) != day)
		aftl_refresh_day(ftl);
	aftl_refresh_clock(ftl);
}

static int check_live(const struct aftl *ftl, const struct aftl_config *config,
		      unsigned int index, struct aftl_error *error)
{
	char value[AFTL_VALUE_SIZE];
	int ret = aftl_config_check(&ftl->config, config, error);

	if (ret || aftl_param_change(index) == AFTL_CHANGE_LIVE ||
	    aftl_param_get(&ftl->config, index) == aftl_param_get(config, index))
		return ret;
	aftl_param_print(&aftl_params[index], aftl_param_get(&ftl->config, index), value);
	return aftl_fail(error, -EINVAL, "%s is %s as long as the device is loaded",
			 aftl_params[index].key, value);
}

int aftl_set_param(struct aftl *ftl, const char *key, const char *text, struct aftl_error *error)
{
	struct aftl_config config = ftl->config;
	int ret = aftl_param_set(&config, key, text, error);
	u32 i;

	if (!ret)
		ret = check_live(ftl, &config, aftl_param_find(key), error);
	if (ret)
		return ret;
	ftl->config = config;
	derive(ftl);
	aftl_cell_init(&ftl->cell, &ftl->media, &ftl->config);
	aftl_sense_init(&ftl->sense, &ftl->cell, &ftl->config);
	aftl_refresh_clock(ftl);
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_lun_kick(ftl, &ftl->luns[i], false);
	aftl_requests_retry(ftl);
	return 0;
}

u64 aftl_hours(const struct aftl *ftl)
{
	return div64_u64(ftl->age_ns + ftl->now_ns, AFTL_HOUR_NS);
}
