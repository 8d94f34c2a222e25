// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describes the device in JSON.
 */
#include "json-writer.h"
#include "play.h"

/* Limits of a JSON answer: numbers of events, of a page's events, and of a unit's flipped bits. */
#define TOLD_EVENTS 256
#define TOLD_HISTORY 64
#define TOLD_FLIPS 4096

static const char *const mode_words[] = {
#define MODE(name, word, bits, program, share, read, curve, rate) word,
#include "core/base/mode-list.h"
#undef MODE
};

static const char *const state_words[] = { "free", "open", "closed", "bad" };
static const char *const order_words[] = {
	"in sequence", "in two passes over the checkerboard", "leaders first, layer by layer",
	"in super layers", "coarse, then fine", "one bit, then the rest",
};

static const char *const cause_words[] = {
	"host write", "garbage collection", "wear levelling", "refresh", "promotion", "rewrite",
	"retirement", "folding", "map", "rebuilding", "parity",
};

static_assert(ARRAY_SIZE(cause_words) == AFTL_CAUSES, "a word for each cause");
static_assert(ARRAY_SIZE(order_words) == AFTL_ORDERS, "a word for each order");

static void write_word_list_json(struct json_writer *json, const char *key,
				 const char *const *words, u32 count)
{
	json_begin_inline_array(json, key);
	for (u32 i = 0; i < count && words[i]; i++)
		json_string(json, NULL, words[i]);
	json_end_array(json);
}

static void write_geometry_json(struct json_writer *json, const struct aftl_geometry *geo)
{
	json_u64(json, "channels", geo->channels);
	json_u64(json, "luns", geo->luns);
	json_u64(json, "blocks_per_lun", geo->blocks_per_lun);
	json_u64(json, "layers", geo->layers);
	json_u64(json, "word_lines", geo->word_lines);
	json_u64(json, "word_line_pages", geo->word_line_pages);
	json_u64(json, "pages", geo->pages);
	json_u64(json, "program_pages", geo->program_pages);
	json_u64(json, "page_bytes", geo->page_bytes);
	json_u64(json, "unit_bytes", geo->unit_bytes);
	json_u64(json, "units", geo->units);
	json_u64(json, "page_units", geo->page_units);
}

int playground_describe_device(void)
{
	const struct aftl_policy_type *type = aftl_policy_type(play.drive.ftl);
	struct json_writer json;

	playground_json_begin(&json);
	write_geometry_json(&json, play.drive.geo);
	json_string(&json, "policy", type->name);
	json_string(&json, "policy_about", type->about);
	write_word_list_json(&json, "kinds", type->kinds, AFTL_KINDS_MAX);
	write_word_list_json(&json, "modes", mode_words, AFTL_MODES);
	return playground_json_end(&json);
}

/* Counters and times */

static void write_histogram_json(struct json_writer *json, const char *key,
				 const struct aftl_histogram *times)
{
	json_begin_inline_object(json, key);
	json_u64(json, "count", times->count);
	json_u64(json, "sum_ns", times->sum);
	json_u64(json, "p99_ns", aftl_histogram_quantile(times, 9900));
	json_u64(json, "p99_9_ns", aftl_histogram_quantile(times, 9990));
	json_u64(json, "max_ns", times->largest);
	json_end_object(json);
}

static void write_block_counts_json(struct json_writer *json)
{
	const struct aftl_media *media = aftl_media(play.drive.ftl);
	u64 sum = 0, wear = 0, valid = 0;
	u32 most = 0, free = 0, i;

	for (i = 0; i < media->geo->blocks; i++) {
		sum += media->blocks[i].erases;
		wear += media->blocks[i].wear;
		valid += media->blocks[i].valid;
		most = max(most, media->blocks[i].erases);
		free += media->blocks[i].state == AFTL_BLOCK_FREE;
	}
	json_u64(json, "free_blocks", free);
	json_u64(json, "blocks", media->geo->blocks);
	json_u64(json, "units", media->geo->units);
	json_u64(json, "unit_bytes", media->geo->unit_bytes);
	json_u64(json, "valid_units", valid);
	json_u64(json, "erases", sum);
	json_u64(json, "most_erases", most);
	json_u64(json, "wear", wear);
}

int playground_describe_state(void)
{
	const struct aftl *ftl = play.drive.ftl;
	const struct aftl_stats *stats = aftl_get_stats(ftl);
	struct json_writer json;

	playground_json_begin(&json);
	json_u64(&json, "now_ns", aftl_device_time_ns(ftl));
	json_u64(&json, "since_ns", stats->since_ns);
	json_u64(&json, "hours", aftl_device_age_hours(ftl));
	json_u64(&json, "requests", play.drive.submitted);
	json_u64(&json, "under_way", aftl_pending_requests(ftl));
	json_bool(&json, "over", has_sim_stream_ended_early(&play.drive));
	json_bool(&json, "read_only", aftl_is_read_only(ftl));
	json_u64(&json, "events", play.event_count);
	write_block_counts_json(&json);
	json_begin_inline_object(&json, "counters");
	for (u32 i = 0; i < AFTL_COUNTERS; i++)
		json_u64(&json, aftl_counter_info[i].name, aftl_counter_get(&stats->counters, i));
	json_end_object(&json);
	write_histogram_json(&json, "read_response", &stats->read_response);
	write_histogram_json(&json, "write_response", &stats->write_response);
	write_histogram_json(&json, "write_service", &stats->write_service);
	json_begin_inline_array(&json, "mode_pages");
	for (u32 i = 0; i < AFTL_MODES; i++)
		json_u64(&json, NULL, stats->mode_pages[i]);
	json_end_array(&json);
	return playground_json_end(&json);
}

/* Events */

static void write_event_json(struct json_writer *json, const struct play_event *event)
{
	json_begin_inline_object(json, NULL);
	json_u64(json, "ns", event->begin_ns);
	json_u64(json, "request", event->request);
	json_u64(json, "block", event->block);
	json_u64(json, "page", event->page);
	json_u64(json, "pages", event->pages);
	json_bool(json, "erase", event->op == AFTL_ARRAY_ERASE);
	json_u64(json, "mode", event->mode);
	json_string(json, "cause",
		    event->op == AFTL_ARRAY_ERASE ? "erase" : cause_words[event->cause]);
	json_end_object(json);
}

static u32 get_oldest_event_number(u32 most)
{
	return play.event_count > most ? play.event_count - most : 0;
}

int playground_list_events(u32 since)
{
	u32 n = max(since, get_oldest_event_number(min(TOLD_EVENTS, PLAY_EVENTS)));
	struct json_writer json;

	playground_json_begin(&json);
	json_u64(&json, "next", play.event_count);
	json_begin_array(&json, "events");
	for (; n < play.event_count; n++)
		write_event_json(&json, &play.events[n % PLAY_EVENTS]);
	json_end_array(&json);
	return playground_json_end(&json);
}

/* List the latest programs and erases, the newest first. */
static void write_page_history_json(struct json_writer *json, u32 block, u32 page)
{
	u32 oldest = get_oldest_event_number(PLAY_EVENTS);
	u32 told = 0;

	json_bool(json, "history_complete", !oldest);
	json_begin_array(json, "history");
	for (u32 n = play.event_count; n > oldest && told < TOLD_HISTORY; n--) {
		const struct play_event *event = &play.events[(n - 1) % PLAY_EVENTS];

		if (!(event->block == block &&
		      (event->op == AFTL_ARRAY_ERASE ||
		       (page >= event->page && page < event->page + event->pages))))
			continue;
		write_event_json(json, event);
		told++;
	}
	json_end_array(json);
}

/* Blocks and pages */

static const struct aftl_block *find_block_or_last(u32 block)
{
	return &aftl_media(play.drive.ftl)->blocks[min(block, play.drive.geo->blocks - 1)];
}

static u32 count_valid_page_units(const struct aftl_media *media, const struct aftl_block *block,
				  u32 page)
{
	u32 first = from_ppn(aftl_page_ppn(media, block, page));
	u32 valid = 0;

	for (u32 i = 0; i < media->geo->page_units; i++)
		valid += aftl_ppn_is_valid(media, to_ppn(first + i));
	return valid;
}

/* Encode each page of a block as a number: 0 if erased, else 1 + mode * 64 + class * 32 + valid. */
int playground_describe_block(u32 index)
{
	const struct aftl_media *media = aftl_media(play.drive.ftl);
	const struct aftl_block *block = find_block_or_last(index);
	struct json_writer json;
	const char *kind;

	playground_json_begin(&json);
	kind = aftl_policy_type(play.drive.ftl)->kinds[block->kind];
	json_string(&json, "state", state_words[block->state]);
	json_string(&json, "kind", block->programmed && kind ? kind : "");
	json_string(&json, "order", order_words[block->order]);
	json_u64(&json, "programmed", block->programmed);
	json_u64(&json, "valid", block->valid);
	json_u64(&json, "valid_approx", block->valid_approx);
	json_u64(&json, "erases", block->erases);
	json_decimal(&json, "wear", block->wear, 4);
	json_u64(&json, "reads", block->reads);
	json_u64(&json, "first_colour", aftl_first_checkerboard_colour(block));
	json_begin_inline_array(&json, "pages");
	for (u32 page = 0; page < media->geo->pages; page++) {
		u16 attr = aftl_block_page_attr(media, block, page);

		json_u64(&json, NULL,
			 !attr ? 0 :
				 1 + aftl_page_mode(attr) * 64 + aftl_page_class(attr) * 32 +
					 min(count_valid_page_units(media, block, page), 31U));
	}
	json_end_array(&json);
	return playground_json_end(&json);
}

static void write_bit_flip_positions_json(struct json_writer *json, aftl_lpn_t lpn, u16 generation,
					  u32 flips)
{
	json_begin_inline_array(json, "flipped");
	for (u32 i = 0; i < min(flips, (u32)TOLD_FLIPS); i++)
		json_u64(json, NULL,
			 aftl_get_bit_flip_position(aftl_cell(play.drive.ftl), lpn, generation, i));
	json_end_array(json);
}

static void write_unit_errors_json(struct json_writer *json, const struct aftl_media *media,
				   aftl_ppn_t ppn)
{
	struct aftl_errors errors;

	if (!aftl_has_error_model(media))
		return;
	errors = aftl_cell_read_errors(aftl_cell(play.drive.ftl), ppn,
				       aftl_device_age_hours(play.drive.ftl));
	json_u64(json, "raw_errors", errors.raw);
	json_u64(json, "flips", errors.flips);
	json_u64(json, "levels", errors.levels);
	json_bool(json, "lost", errors.lost);
	write_bit_flip_positions_json(json, aftl_ppn_lpn(media, ppn),
				      *aftl_oob_write_generation_ptr(media, ppn), errors.flips);
}

static void write_page_detail_json(struct json_writer *json, const struct aftl_media *media,
				   const struct aftl_block *block, u32 page)
{
	u16 attr = aftl_block_page_attr(media, block, page);
	u64 hour = aftl_device_age_hours(play.drive.ftl);

	json_u64(json, "mode", aftl_page_mode(attr));
	json_u64(json, "class", aftl_page_class(attr));
	json_u64(json, "hours", aftl_page_age_hours(media, block, page, hour));
	json_u64(json, "disturb_mv", aftl_compute_page_disturbance_mv(media, block, page));
	json_u64(json, "rber_q40",
		 aftl_cell_rber_q40(aftl_cell(play.drive.ftl), block, page, hour));
	json_begin_array(json, "slots");
	for (u32 i = 0; i < media->geo->page_units; i++) {
		aftl_ppn_t ppn = to_ppn(from_ppn(aftl_page_ppn(media, block, page)) + i);

		json_begin_inline_object(json, NULL);
		json_bool(json, "valid", aftl_ppn_is_valid(media, ppn));
		if (from_lpn(aftl_ppn_lpn(media, ppn)) < media->geo->units) {
			json_u64(json, "unit", from_lpn(aftl_ppn_lpn(media, ppn)));
			write_unit_errors_json(json, media, ppn);
		}
		json_end_object(json);
	}
	json_end_array(json);
}

int playground_describe_page(u32 index, u32 page)
{
	const struct aftl_media *media = aftl_media(play.drive.ftl);
	const struct aftl_block *block = find_block_or_last(index);
	struct json_writer json;

	page = min(page, media->geo->pages - 1);
	playground_json_begin(&json);
	json_u64(&json, "layer", aftl_layer_of_page(media->geo, page));
	json_u64(&json, "word_line",
		 aftl_word_line_of_page(media->geo, page) % media->geo->word_lines);
	json_u64(&json, "bit", page % media->geo->word_line_pages);
	json_bool(&json, "programmed", aftl_page_is_programmed(media, block, page));
	if (aftl_page_is_programmed(media, block, page))
		write_page_detail_json(&json, media, block, page);
	write_page_history_json(&json, aftl_block_index(media, block), page);
	return playground_json_end(&json);
}
