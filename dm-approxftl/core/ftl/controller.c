// SPDX-License-Identifier: GPL-2.0-only
/* Creation and destruction of a device, and values derived from its configuration. */
#include "core/ftl/block-manager.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/gc-margin.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/oob-extra.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/policy-services.h"
#include "core/ftl/read-cache.h"
#include "core/ftl/refresh.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/wait.h"
#include "core/ftl/wear-level.h"
#include "core/ftl/write-buffer.h"
#include "core/ftl/zone.h"
#include "core/policy/ftl-policy-core.h"
#include "core/policy/ftl-policy.h"

/* Hosts are told the size of what they free, so aftl_memory_alloc() stores it beside the chunk. */
static void *alloc_chunk_of_array(void *host, size_t bytes)
{
	return aftl_memory_alloc(host, bytes, 1);
}

static void free_chunk_of_array(void *host, void *memory, size_t bytes __maybe_unused)
{
	aftl_memory_free(host, memory);
}

static bool alloc_chunked_array(struct aftl *ftl, struct aftl_chunks *chunks, u32 entries, u32 size)
{
	return aftl_chunks_alloc(chunks, entries, size, alloc_chunk_of_array, ftl);
}

static void free_chunked_array(struct aftl *ftl, struct aftl_chunks *chunks, u32 entries, u32 size)
{
	aftl_chunks_free(chunks, entries, size, free_chunk_of_array, ftl);
}

static int alloc_page_metadata_arrays(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;

	media->models_errors = ftl->config.errors;
	aftl_oob_layout_init(media);
	if (!alloc_chunked_array(ftl, &media->oob, geo->blocks * geo->pages,
				 media->oob_layout.bytes) ||
	    !alloc_chunked_array(ftl, &ftl->l2p, aftl_count_mappable_pages(geo), sizeof(u32)))
		return -ENOMEM;
	return aftl_oob_extra_alloc(ftl);
}

static void free_page_arrays(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;

	if (media->blocks)
		aftl_oob_extra_free(ftl);
	free_chunked_array(ftl, &media->oob, geo->blocks * geo->pages, media->oob_layout.bytes);
	free_chunked_array(ftl, &ftl->l2p, aftl_count_mappable_pages(geo), sizeof(u32));
}

static int alloc_flash_media(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	struct aftl_media *media = &ftl->media;
	size_t bitmap = DIV_ROUND_UP(geo->ppns, 64) + 1;

	media->blocks = aftl_memory_alloc(ftl, geo->blocks, sizeof(*media->blocks));
	media->valid = aftl_memory_alloc(ftl, bitmap, sizeof(*media->valid));
	media->lost = aftl_memory_alloc(ftl, bitmap, sizeof(*media->lost));
	if (!media->blocks || !media->valid || !media->lost)
		return -ENOMEM;
	return alloc_page_metadata_arrays(ftl);
}

static int alloc_event_queue(struct aftl *ftl)
{
	struct aftl_events *events = &ftl->events;

	ftl->event_completions = ftl->geo.luns;
	ftl->event_clock = ftl->event_completions;
	ftl->event_clock += ftl->read_cache.count ? AFTL_COMPLETION_QUEUES :
						    AFTL_COMPLETION_CACHE_HIT;
	ftl->event_faults = ftl->event_clock + 1;
	aftl_events_set_number_of_sources(events, ftl->geo.luns,
					  ftl->event_faults + 1 - ftl->geo.luns);
	events->when = aftl_memory_alloc(ftl, aftl_events_get_time_array_length(events),
					 sizeof(*events->when));
	events->winner = aftl_memory_alloc(ftl, aftl_events_count_tree_nodes(events),
					   sizeof(*events->winner));
	if (!events->when || !events->winner)
		return -ENOMEM;
	aftl_events_init(events);
	return 0;
}

static int alloc_commands(struct aftl *ftl)
{
	ftl->commands = aftl_memory_alloc(ftl, ftl->command_count, sizeof(*ftl->commands));
	ftl->pending = aftl_memory_alloc(ftl, (size_t)ftl->pending_mask + 1, sizeof(*ftl->pending));
	if (!ftl->commands || !ftl->pending)
		return -ENOMEM;
	aftl_commands_init(ftl);
	return 0;
}

static u32 count_write_queues_per_lun(const struct aftl *ftl)
{
	u32 last = ftl->streams + ftl->handles - 1;

	if (ftl->geo.zones)
		return aftl_get_index_of_write_stream(AFTL_PRECISE, last) + 1;
	return last < AFTL_STREAMS ? AFTL_WRITE_STREAMS : AFTL_HANDLE_WRITE_STREAMS;
}

static void init_lun_queues(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun = &ftl->luns[index];
	u32 lane;

	lun->index = index;
	lun->bus_ns = &ftl->bus_ns[index % ftl->geo.channels];
	lun->refresh_block = ftl->geo.blocks_per_lun;
	lun->reads.head = AFTL_NIL;
	lun->prefetches.head = AFTL_NIL;
	lun->lanes = count_write_queues_per_lun(ftl);
	lun->writes = ftl->luns->writes + (size_t)index * lun->lanes;
	for (lane = 0; lane < lun->lanes; lane++)
		lun->writes[lane].head = AFTL_NIL;
}

/*
 * Allocate entries for the blocks of a LUN that may have word lines between coarse and fine pass:
 * the open blocks of the policy and of the core, and the fallback block.
 */
static int alloc_foggy_block_tables_of_luns(struct aftl *ftl)
{
	u32 i;

	if (ftl->geo.passes == 1)
		return 0;
	ftl->foggy_blocks = ftl->type->open_blocks + ftl->handles + 1;
	ftl->luns->foggy = aftl_memory_alloc(ftl, (size_t)ftl->geo.luns * ftl->foggy_blocks,
					     sizeof(*ftl->luns->foggy));
	if (!ftl->luns->foggy)
		return -ENOMEM;
	for (i = 1; i < ftl->geo.luns; i++)
		ftl->luns[i].foggy = ftl->luns->foggy + (size_t)i * ftl->foggy_blocks;
	return 0;
}

static int alloc_luns(struct aftl *ftl)
{
	const struct aftl_geometry *geo = &ftl->geo;
	u32 i;

	ftl->luns = aftl_memory_alloc(ftl, geo->luns, sizeof(*ftl->luns));
	ftl->victims = aftl_memory_alloc(ftl, (size_t)geo->luns * (geo->block_ppns + 1),
					 sizeof(*ftl->victims));
	ftl->bus_ns = aftl_memory_alloc(ftl, geo->channels, sizeof(*ftl->bus_ns));
	if (!ftl->luns || !ftl->victims || !ftl->bus_ns)
		return -ENOMEM;
	ftl->luns->writes = aftl_memory_alloc(ftl,
					      (size_t)geo->luns * count_write_queues_per_lun(ftl),
					      sizeof(*ftl->luns->writes));
	if (!ftl->luns->writes)
		return -ENOMEM;
	for (i = 0; i < geo->luns; i++)
		init_lun_queues(ftl, i);
	if (!aftl_alloc_handle_block_table(ftl) || !aftl_alloc_reclaim_groups(ftl) ||
	    !aftl_zone_alloc_states(ftl) || !aftl_cmt_alloc(ftl) || !aftl_read_cache_alloc(ftl) ||
	    !aftl_superblock_alloc(ftl))
		return -ENOMEM;
	return alloc_foggy_block_tables_of_luns(ftl);
}

/* Return the number of streams that the policy names, at least one. */
static u32 count_policy_streams(const struct aftl_policy_type *type)
{
	u32 streams = 1;

	while (streams < AFTL_STREAMS && type->streams[streams])
		streams++;
	return streams;
}

static u32 count_passes_to_relocate_block(const struct aftl *ftl)
{
	if (ftl->type->relocate)
		return ftl->type->copy_passes;
	return ftl->type->ignores_tags ? 1 : AFTL_CLASSES;
}

/*
 * Limit of valid pages in a GC victim: GC must free more pages than it programs. Each pass over the
 * victim may end with a nearly empty program, and two-pass programming may add another one.
 */
static u32 max_valid_pages_of_victim(const struct aftl *ftl)
{
	u32 last = ftl->program_units * ftl->geo.passes - 1;
	u32 waste = ftl->copy_passes * last + 1;

	return ftl->geo.block_ppns > waste ? ftl->geo.block_ppns - waste : 0;
}

/* Count the core's own open blocks: of translation pages, and of zones or placement handles. */
static u32 count_open_blocks_not_owned_by_policy(const struct aftl *ftl)
{
	return aftl_count_trans_page_streams(ftl) +
	       (u32)(ftl->geo.zones ? ftl->config.max_active_zones : ftl->config.placement_handles);
}

/* Begin a new round of host queue arbitration with the new weights; requests stay in queues. */
static void restart_queue_arbitration(struct aftl *ftl)
{
	u32 i;

	ftl->queues = aftl_queue_weight_count(ftl->config.queue_weights);
	for (i = 0; i < ARRAY_SIZE(ftl->host_queues); i++) {
		ftl->host_queues[i].queue = 0;
		ftl->host_queues[i].left = 0;
	}
}

static void compute_command_pool_sizes(struct aftl *ftl)
{
	u64 writes = aftl_has_write_buffer(ftl) ? ftl->config.buffer / ftl->geo.unit_bytes :
					  ftl->config.depth;

	ftl->write_commands = max_t(u32, writes, ftl->program_units);
	ftl->command_count = ftl->write_commands + (u32)ftl->config.depth;
	ftl->buffer_high = (u32)(ftl->write_commands * ftl->config.buffer_high / 10000);
	ftl->pending_mask = (1U << fls64(2 * ftl->write_commands - 1)) - 1;
}

/*
 * Return true if a copyback relocates one logical page, and neither an optional part of the
 * controller nor a callback of the host takes part in it.
 */
static bool is_copyback_plain(const struct aftl *ftl)
{
	return ftl->program_units == 1 && !ftl->geo.superblock_luns && !ftl->geo.zones &&
	       !ftl->geo.trans_pages && !ftl->handles && !ftl->slc_max_blocks &&
	       !ftl->ops->copy && !ftl->ops->programmed;
}

/* Derive all values that follow from the configuration. */
void aftl_apply_config(struct aftl *ftl)
{
	const struct aftl_config *config = &ftl->config;

	ftl->program_units = aftl_units_per_program(&ftl->geo);
	compute_command_pool_sizes(ftl);
	ftl->allocation.rule = aftl_lun_rule(ftl->type, config->allocate);
	ftl->allocation.params =
		aftl_get_values_of_param_group(config, ftl->allocation.rule.params);
	ftl->allocation.units = ftl->allocation.rule.fixed ? 1 : ftl->program_units;
	ftl->unit_transfer_ns = DIV_ROUND_UP(ftl->geo.unit_bytes * 1000ULL, config->bus);
	ftl->unit_link_ns = config->link ?
			DIV_ROUND_UP(ftl->geo.unit_bytes * 1000ULL, config->link) : 0;
	ftl->completion.link_paced = config->link || config->controller_command ||
				     config->controller_append || config->controller_vary ||
				     config->controller_program || config->controller_relocate;
	ftl->completion.special = ftl->completion.link_paced || ftl->ops->waits;
	ftl->gc_blocks = max((u32)(ftl->geo.blocks_per_lun * config->gc / 10000),
			     aftl_count_gc_reserve_blocks(ftl) + 1);
	ftl->gc_margin_base = aftl_count_gc_reserve_blocks(ftl) + 1;
	if (config->gc_mode == AFTL_GC_PACED)
		ftl->gc_margin_base += (u32)config->gc_pace;
	/* The dynamic SLC cache takes the blocks that the fixed watermark keeps free. */
	ftl->gc_margin_is_adaptive =
		config->gc_idle_limit == AFTL_GC_IDLE_ADAPTIVE && !config->slc_dynamic;
	ftl->gc_idle_valid = (u32)(ftl->geo.block_ppns * config->gc_idle_valid / 10000);
	ftl->copy_passes = count_passes_to_relocate_block(ftl);
	ftl->streams = count_policy_streams(ftl->type);
	ftl->gc_max_valid = max_valid_pages_of_victim(ftl);
	ftl->gc_idle_valid = min(ftl->gc_idle_valid, ftl->gc_max_valid);
	ftl->handles = count_open_blocks_not_owned_by_policy(ftl);
	restart_queue_arbitration(ftl);
	ftl->read_ahead.units = (u32)div64_u64(config->read_ahead, ftl->geo.unit_bytes);
	aftl_slc_cache_size_from_config(ftl);
	aftl_cmt_configure(ftl);
	ftl->completion.queues[AFTL_COMPLETION_READ].delay_ns = config->controller;
	ftl->completion.queues[AFTL_COMPLETION_ECC_READ].delay_ns =
		config->controller + config->ecc;
	ftl->completion.queues[AFTL_COMPLETION_WRITE].delay_ns = config->controller;
	ftl->completion.queues[AFTL_COMPLETION_CACHE_HIT].delay_ns =
		config->read_hit ? : config->controller;
	aftl_chip_init(&ftl->chip, &ftl->media, config);
	ftl->max_block_reads = config->read_limit ? config->read_limit * ftl->geo.pages : U64_MAX;
	aftl_cell_init(&ftl->cell, &ftl->media, &ftl->config);
	aftl_read_timing_init(&ftl->sense, &ftl->cell, &ftl->config);
	ftl->plain_copyback = is_copyback_plain(ftl);
}

static int check_policy_fits_geometry(const struct aftl *ftl, struct aftl_error *error)
{
	if (aftl_count_program_steps_per_block(&ftl->geo) < ftl->type->least_steps)
		return aftl_fail(error, -EINVAL,
				 "policy %s needs at least %u program steps in a block, the geometry has %u; raise layers, word_lines or bits",
				 ftl->type->name, ftl->type->least_steps,
				 aftl_count_program_steps_per_block(&ftl->geo));
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

/* Check that all host data fit beside the blocks that the policy needs free or open in each LUN. */
static int check_host_data_fit_in_luns(struct aftl *ftl, struct aftl_error *error)
{
	u64 room = 0;
	u32 least = U32_MAX;
	u64 needed;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		room += ftl->luns[i].max_valid;
		least = min(least, ftl->luns[i].max_valid);
	}
	if (ftl->allocation.rule.fixed)
		room = (u64)least * ftl->geo.luns;
	needed = aftl_count_mappable_pages(&ftl->geo) + (u64)ftl->program_units * ftl->geo.luns;
	if (room >= needed)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "policy %s%s keeps %u of the %u blocks of each LUN for its own work, which leaves room for %llu units and not for %llu; raise op or blocks",
			 ftl->type->name, ftl->geo.trans_pages ? " with a cached map" :
			 ftl->handles ? " with handles" :
			 ftl->slc_max_blocks ? " with a cache" : "",
			 aftl_count_reserved_blocks_per_lun(ftl), ftl->geo.blocks_per_lun,
			 (unsigned long long)room, (unsigned long long)needed);
}

/* Modules get the events of a block in this order; an unused module is not called. */
static void register_block_handlers(struct aftl *ftl)
{
	struct aftl_block_events *events = &ftl->block_events;

	if (ftl->handles) {
		aftl_block_event_register(events, AFTL_ON_CLOSE, aftl_fdp_block_closed);
		aftl_block_event_register(events, AFTL_ON_ERASE, aftl_fdp_block_erased);
	}
	if (ftl->slc_max_blocks)
		aftl_block_event_register(events, AFTL_ON_ERASE, aftl_slc_block_erased);
	aftl_block_event_register(events, AFTL_ON_ERASE, aftl_gc_margin_block_erased);
	aftl_block_event_register(events, AFTL_ON_ERASE, aftl_wear_block_erased);
	if (ftl->geo.superblock_luns) {
		aftl_block_event_register(events, AFTL_ON_PROGRAM, aftl_parity_queue_if_due);
		aftl_block_event_register(events, AFTL_ON_CLOSE, aftl_parity_queue_if_due);
	}
	if (ftl->geo.zones)
		aftl_block_event_register(events, AFTL_ON_RETIRE, aftl_zone_block_retired);
}

static int build_ftl_device(struct aftl *ftl, struct aftl_error *error)
{
	int ret = alloc_flash_media(ftl);

	if (!ret)
		ret = alloc_luns(ftl);
	if (!ret)
		ret = alloc_event_queue(ftl);
	if (!ret)
		ret = alloc_commands(ftl);
	if (ret)
		return aftl_fail(error, ret, "not enough memory for %u mapping units",
				 ftl->geo.ppns);
	ret = aftl_wait_alloc_stats(ftl);
	if (ret)
		return aftl_fail(error, ret, "not enough memory to account waiting times");
	ftl->reads_are_tracked = ftl->read_cache.count || ftl->config.rain || ftl->waits;
	ftl->reads_are_observed = ftl->type->host_read || ftl->waits;
	ftl->writes_are_observed = ftl->ops->accept || ftl->ops->release || ftl->waits;
	ftl->array_is_observed = ftl->ops->array || ftl->waits;
	ret = aftl_superblock_check_config(ftl, &ftl->config, error);
	if (ret)
		return ret;
	aftl_block_manager_init(ftl);
	register_block_handlers(ftl);
	ret = aftl_policy_instance_check(ftl->type, error);
	if (!ret)
		ret = check_policy_fits_geometry(ftl, error);
	if (!ret)
		ret = aftl_slc_cache_check_config(ftl, error);
	if (!ret)
		ret = aftl_cmt_check_config(ftl, error);
	if (!ret)
		ret = aftl_read_cache_check_config(ftl, error);
	if (!ret)
		ret = aftl_zone_check_config(ftl, error);
	if (!ret)
		ret = aftl_check_handle_config(ftl, error);
	if (!ret && !ftl->geo.zones)
		ret = check_host_data_fit_in_luns(ftl, error);
	if (ret)
		return ret;
	aftl_policy_services_init(ftl);
	ftl->policy = aftl_policy_instance_create(ftl);
	if (!ftl->policy)
		return aftl_fail(error, -ENOMEM, "not enough memory for policy %s",
				 ftl->type->name);
	aftl_refresh_set_daily_event(ftl);
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
	ftl->allocation.turn = aftl_get_first_allocation_position(&ftl->geo);
	ftl->named_type = type;
	ftl->type = aftl_ftl_policy_type(type, &ftl->ftl_type);
	ftl->ops = ops;
	ftl->host = host;
	ftl->memory_bytes = sizeof(*ftl);
	ftl->age_ns = config->age;
	ftl->completion.vary.state = aftl_hash64(config->seed ^ 0xc0de);
	aftl_apply_config(ftl);
	ret = build_ftl_device(ftl, error);
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
	aftl_policy_instance_destroy(ftl->policy);
	aftl_wait_free_stats(ftl);
	aftl_memory_free(ftl, ftl->pending);
	aftl_memory_free(ftl, ftl->commands);
	aftl_memory_free(ftl, ftl->events.winner);
	aftl_memory_free(ftl, ftl->events.when);
	aftl_memory_free(ftl, ftl->bus_ns);
	aftl_memory_free(ftl, ftl->victims);
	aftl_memory_free(ftl, ftl->zones.all);
	aftl_memory_free(ftl, ftl->zones.online);
	aftl_memory_free(ftl, ftl->cmt.all);
	aftl_memory_free(ftl, ftl->read_cache.chains);
	aftl_memory_free(ftl, ftl->read_cache.all);
	aftl_memory_free(ftl, ftl->superblocks);
	aftl_memory_free(ftl, ftl->superblock_candidates);
	aftl_memory_free(ftl, ftl->die_groups);
	aftl_memory_free(ftl, ftl->allocation.members);
	aftl_memory_free(ftl, ftl->allocation.groups);
	if (ftl->luns) {
		aftl_memory_free(ftl, ftl->luns->handle_blocks);
		aftl_memory_free(ftl, ftl->luns->foggy);
		aftl_memory_free(ftl, ftl->luns->writes);
	}
	aftl_memory_free(ftl, ftl->luns);
	aftl_memory_free(ftl, ftl->media.valid);
	aftl_memory_free(ftl, ftl->media.lost);
	free_page_arrays(ftl);
	aftl_memory_free(ftl, ftl->media.blocks);
	ftl->ops->free(ftl->host, ftl, sizeof(*ftl));
}
