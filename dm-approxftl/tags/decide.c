// SPDX-License-Identifier: GPL-2.0-only
/*
 * Determine the class of a write, once, when it arrives.
 *
 * A bio does not record the source of its pages, but the pages do. A page of a page cache leads to
 * the inode of its file: the file that is being written back, or the file in memory that a buffer
 * was mapped from. All other pages that a program can write from are anonymous. Pages of no process
 * belong to the kernel: metadata, journals, copies.
 *
 * docs/tags.md defines the order of precedence.
 */
#include <linux/ioprio.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>

#include "compat.h"
#include "disk/carriers.h"
#include "tags/tags.h"

/* Low bits of the pointer folio->mapping; if one is set, it points to no address space. */
#define NO_ADDRESS_SPACE 3UL

/**
 * struct tag_query - state of the tag decision for one bio
 * @target: target
 * @bio: write
 * @host: inode of the last page that had one
 * @file: tagged file of @host, or NULL
 * @scope: decision by the scopes of the calling thread
 * @scope_known: @scope is valid
 * @carried: mask of APPROXFTL_CARRIER_*: fields of @bio that mark the write as approximate
 */
struct tag_query {
	const struct aftl_target *target;
	const struct bio *bio;
	const struct inode *host;
	struct aftl_file *file;
	struct aftl_tag_decision scope;
	bool scope_known;
	u32 carried;
};

/* Counters: logical pages by source of the tag decision and by level, and bios split. */
struct counts {
	u64 units[AFTL_TAG_SOURCES];
	u64 levels[AFTL_LEVELS];
	u64 splits;
};

static DEFINE_PER_CPU(struct counts, counts);

static const struct aftl_tag_decision nothing = { AFTL_BY_NONE };

static_assert(APPROXFTL_CARRIER_INODE == 1 << AFTL_CARRIER_INODE);
static_assert(APPROXFTL_CARRIER_WRITE_HINT == 1 << AFTL_CARRIER_WRITE_HINT);
static_assert(APPROXFTL_CARRIER_IOPRIO == 1 << AFTL_CARRIER_IOPRIO);
static_assert(APPROXFTL_CARRIER_WRITE_STREAM == 1 << AFTL_CARRIER_WRITE_STREAM);

/*
 * Return which fields of @bio (I/O priority, write hint, write stream) mark the write as
 * approximate, of those that the option tag_carrier of the table line enables, as bits
 * APPROXFTL_CARRIER_*.
 */
static u32 get_bio_fields_declaring_approximate(const struct aftl_options *options,
						const struct bio *bio)
{
	u32 found = 0;

	if (IOPRIO_PRIO_HINT(bio->bi_ioprio) == options->ioprio_hint)
		found |= APPROXFTL_CARRIER_IOPRIO;
	if (aftl_bio_write_hint(bio) == APPROXFTL_WRITE_HINT)
		found |= APPROXFTL_CARRIER_WRITE_HINT;
	if (aftl_bio_write_stream(bio) == aftl_get_write_stream_of_tag(options))
		found |= APPROXFTL_CARRIER_WRITE_STREAM;
	return found & options->carriers;
}

/*
 * Decide the class of a page of the calling program's memory: by scope, else by the I/O priority,
 * the write hint of the file that it writes to, or the write stream.
 */
static struct aftl_tag_decision decide_by_writer(struct tag_query *query)
{
	u32 carried = query->carried;

	if (!query->scope_known) {
		query->scope = aftl_decide_by_scopes();
		query->scope_known = true;
	}
	if (query->scope.by != AFTL_BY_NONE)
		return query->scope;
	if (!carried)
		return nothing;
	return aftl_decide_class(carried & APPROXFTL_CARRIER_IOPRIO	? AFTL_BY_PRIORITY :
				 carried & APPROXFTL_CARRIER_WRITE_HINT ? AFTL_BY_HINT :
									  AFTL_BY_STREAM,
				 AFTL_APPROX);
}

/*
 * Decide the class of a page of the page cache, of a file on disk without a tag, by the file's
 * write hint. The file of the page must have the hint, too: a loop device writes other files' pages
 * with the hint of its image, and the image holds metadata.
 */
static struct aftl_tag_decision decide_by_write_hint(const struct tag_query *query,
						     const struct address_space *mapping)
{
	const struct inode *host = READ_ONCE(mapping->host);

	if (!(query->carried & APPROXFTL_CARRIER_WRITE_HINT) || !host)
		return nothing;
	if (!S_ISREG(READ_ONCE(host->i_mode)) ||
	    READ_ONCE(host->i_write_hint) != APPROXFTL_WRITE_HINT ||
	    aftl_file_backs_loop_device(mapping))
		return nothing;
	return aftl_decide_class(AFTL_BY_HINT, AFTL_APPROX);
}

static struct aftl_file *find_tagged_page(struct tag_query *query, const struct inode *host)
{
	if (host != query->host) {
		query->host = host;
		query->file = aftl_find_tagged_file(host);
	}
	return query->file;
}

static const struct gendisk *get_gendisk_of_target(const struct aftl_target *target)
{
	return dm_disk(dm_table_get_md(target->ti->table));
}

/*
 * Return true if the tag of a file applies to this write. A tag of a file on disk is for write-back
 * of the file. A tag of a file in memory is for writes by the program; write-back of such a file is
 * swapping.
 */
static bool does_file_tag_apply(const struct tag_query *query, struct aftl_file *file,
				struct folio *folio)
{
	if (file->buffer)
		return !folio_test_writeback(folio);
	return aftl_is_bio_file_writeback(file, folio, query->bio,
					  get_gendisk_of_target(query->target));
}

static struct aftl_tag_decision decide_by_file(const struct tag_query *query,
					       struct aftl_file *file, struct folio *folio,
					       const struct bio_vec *segment)
{
	u64 first = aftl_page_file_offset(folio, segment->bv_page) + segment->bv_offset;
	u32 tag = aftl_get_tag_of_byte_range(&file->ranges, first, first + segment->bv_len - 1);

	if (tag != AFTL_TAG_NONE && !does_file_tag_apply(query, file, folio))
		return (struct aftl_tag_decision){ AFTL_BY_OTHER_WRITER };
	if (tag != AFTL_PRECISE && !(query->target->options.carriers & APPROXFTL_CARRIER_INODE))
		return nothing;
	return aftl_decide_class(file->buffer ? AFTL_BY_BUFFER : AFTL_BY_FILE, tag);
}

static struct aftl_tag_decision decide_for_file_buffer(struct tag_query *query,
						       struct aftl_file *file, struct folio *folio,
						       const struct bio_vec *segment)
{
	struct aftl_tag_decision writer = decide_by_writer(query);
	struct aftl_tag_decision range = file ? decide_by_file(query, file, folio, segment) :
						nothing;

	if (range.by == AFTL_BY_NONE || writer.by == AFTL_BY_PRECISE_TAG)
		return writer;
	return range;
}

static struct aftl_tag_decision decide_for_segment(struct tag_query *query,
						   const struct bio_vec *segment)
{
	struct folio *folio = page_folio(segment->bv_page);
	const struct address_space *mapping;
	struct aftl_tag_decision range;
	struct aftl_file *file;

	if (folio_test_slab(folio) || folio_test_swapcache(folio))
		return nothing;
	if (folio_test_anon(folio))
		return decide_by_writer(query);
	mapping = READ_ONCE(folio->mapping);
	if (!mapping || (unsigned long)mapping & NO_ADDRESS_SPACE)
		return nothing;
	file = find_tagged_page(query, READ_ONCE(mapping->host));
	/* Page caches of files in memory are swap-backed, or those of hugetlbfs. */
	if (folio_test_swapbacked(folio) || folio_test_hugetlb(folio))
		return decide_for_file_buffer(query, file, folio, segment);
	range = file ? decide_by_file(query, file, folio, segment) : nothing;
	return range.by == AFTL_BY_NONE ? decide_by_write_hint(query, mapping) : range;
}

/* Combine the tag decisions for two parts of a logical page: the stricter quality level wins. */
static struct aftl_tag_decision combine_tag_decisions(struct aftl_tag_decision one,
						      struct aftl_tag_decision other)
{
	if (one.by == AFTL_BY_PRECISE_TAG || (one.level && other.level)) {
		one.level = min(one.level, other.level);
		return one;
	}
	if (other.by == AFTL_BY_PRECISE_TAG)
		return other;
	if (one.level || other.level)
		return (struct aftl_tag_decision){ AFTL_BY_PARTIAL_TAG };
	return one.by > other.by ? one : other;
}

static struct aftl_tag_decision decide_for_bio_pages(struct tag_query *query, struct bvec_iter at)
{
	struct aftl_tag_decision decision = { AFTL_TAG_SOURCES };
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, query->bio, iter, at) {
		struct aftl_tag_decision part = decide_for_segment(query, &segment);

		decision = decision.by == AFTL_TAG_SOURCES ? part :
							     combine_tag_decisions(decision, part);
	}
	return decision;
}

/* Tags of the device apply only while no file system, other device or loop device uses it. */
static bool device_tags_apply(const struct aftl_target *target)
{
	const struct block_device *device = get_gendisk_of_target(target)->part0;

	return READ_ONCE(target->table.device->tags.count) && !READ_ONCE(device->bd_holder) &&
	       !aftl_file_backs_loop_device(aftl_device_mapping(device));
}

static struct aftl_tag_decision decide_by_range(const struct tag_query *query, struct bvec_iter at)
{
	const struct aftl_target *target = query->target;
	u64 first = dm_target_offset(target->ti, at.bi_sector) << SECTOR_SHIFT;

	return aftl_decide_class(AFTL_BY_DEVICE,
				 aftl_get_tag_of_byte_range(&target->table.device->tags, first,
							    first + at.bi_size - 1));
}

static struct aftl_tag_decision decide_for_unit(struct tag_query *query, struct bvec_iter at)
{
	struct aftl_tag_decision decision = decide_for_bio_pages(query, at);
	struct aftl_tag_decision place;

	if (decision.by == AFTL_BY_PRECISE_TAG || !device_tags_apply(query->target))
		return decision;
	place = decide_by_range(query, at);
	if (place.by == AFTL_BY_NONE)
		return decision;
	return decision.level && place.level ? combine_tag_decisions(decision, place) : place;
}

static void count_tag_decision(const struct aftl_tag_decision *decision, u32 units)
{
	if (decision->by == AFTL_BY_NONE)
		return;
	this_cpu_add(counts.units[decision->by], units);
	this_cpu_add(counts.levels[decision->level], units);
}

/*
 * Decide the quality level of the bio's leading logical pages of one level, and split the bio
 * before the first page of another level. Returns the decision for the first page or, if a later
 * one of the same level is tagged precise, for that page.
 */
static struct aftl_tag_decision decide_for_leading_units(struct tag_query *query, struct bio *bio)
{
	u32 unit_bytes = query->target->shards.geo.unit_bytes;
	struct aftl_tag_decision decision = { AFTL_TAG_SOURCES };
	struct bvec_iter at = bio->bi_iter;
	u32 bytes;

	for (bytes = 0; bytes < bio->bi_iter.bi_size; bytes += unit_bytes) {
		struct bvec_iter unit = at;
		struct aftl_tag_decision next;

		unit.bi_size = unit_bytes;
		next = decide_for_unit(query, unit);
		if (decision.by == AFTL_TAG_SOURCES)
			decision = next;
		else if (next.level != decision.level)
			break;
		else if (next.by == AFTL_BY_PRECISE_TAG)
			decision = next;
		count_tag_decision(&next, 1);
		bio_advance_iter(bio, &at, unit_bytes);
	}
	if (bytes < bio->bi_iter.bi_size) {
		this_cpu_inc(counts.splits);
		dm_accept_partial_bio(bio, bytes >> SECTOR_SHIFT);
	}
	return decision;
}

static struct aftl_tag_decision decide_for_bio(const struct aftl_target *target, struct bio *bio)
{
	struct tag_query query = { .target = target, .bio = bio };
	struct aftl_tag_decision decision;

	if (bio->bi_opf & (REQ_META | REQ_PRIO | REQ_SWAP))
		return nothing;
	query.carried = get_bio_fields_declaring_approximate(&target->options, bio);
	if (!query.carried && !atomic_read(&aftl_tags_in_use))
		return nothing;
	rcu_read_lock();
	decision = decide_for_leading_units(&query, bio);
	rcu_read_unlock();
	return decision;
}

u32 aftl_tag_bio(const struct aftl_target *target, struct bio *bio)
{
	struct aftl_tag_decision decision;

	/*
	 * All data of a zoned device are precise, so there is no reason to split the bio, and
	 * splitting is a BUG() in dm_accept_partial_bio() for zone appends and, since 6.12, for
	 * writes to zones.
	 */
	if (target->shards.geo.zones)
		return AFTL_PRECISE;
	if (target->options.class == AFTL_APPROX) {
		decision = aftl_decide_class(AFTL_BY_TABLE, AFTL_APPROX);
		count_tag_decision(&decision, bio_sectors(bio) >> target->table.device->unit_shift);
	} else if (atomic_read(&aftl_tags_in_use) ||
		   target->options.carriers != APPROXFTL_CARRIER_INODE) {
		decision = decide_for_bio(target, bio);
	} else {
		return AFTL_PRECISE;
	}
	if (decision.by == AFTL_BY_PRECISE_TAG || decision.level)
		aftl_blktrace_emit_class_of_write(target, bio, &decision);
	return decision.level;
}

static u64 sum_decisions_by_source(enum aftl_tag_source by)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counts, cpu).units[by];
	return sum;
}

static u64 sum_written_units_of_quality_level(u32 level)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counts, cpu).levels[level];
	return sum;
}

static u64 sum_split_writes(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counts, cpu).splits;
	return sum;
}

void aftl_get_decision_stats(struct approxftl_stats *stats)
{
	stats->by_file = sum_decisions_by_source(AFTL_BY_FILE);
	stats->by_buffer = sum_decisions_by_source(AFTL_BY_BUFFER);
	stats->by_thread = sum_decisions_by_source(AFTL_BY_THREAD);
	stats->by_process = sum_decisions_by_source(AFTL_BY_PROCESS);
	stats->by_priority = sum_decisions_by_source(AFTL_BY_PRIORITY);
	stats->by_hint = sum_decisions_by_source(AFTL_BY_HINT);
	stats->by_stream = sum_decisions_by_source(AFTL_BY_STREAM);
	stats->by_device = sum_decisions_by_source(AFTL_BY_DEVICE);
	stats->by_table = sum_decisions_by_source(AFTL_BY_TABLE);
	stats->explicit_precise = sum_decisions_by_source(AFTL_BY_PRECISE_TAG);
	stats->mixed = sum_decisions_by_source(AFTL_BY_PARTIAL_TAG);
	stats->vetoed = sum_decisions_by_source(AFTL_BY_OTHER_WRITER);
	stats->splits = sum_split_writes();
	stats->level_2 = sum_written_units_of_quality_level(2);
	stats->level_3 = sum_written_units_of_quality_level(3);
}
