// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: dmsetup message DEVICE 0 VERB [ARGUMENT]...
 *
 *   stats            every counter as "name value", one a line; then the lateness of
 *                    completions as late_* in host nanoseconds, and its histogram as
 *                    late_le_<ns> <completions>, for bins that are not empty
 *   reset            counters and lateness back to zero
 *   age <duration>   let time pass for the cells, nothing else
 *   block <number>   what is in a block
 *   fail <number>    a block has gone bad
 *   digest           one number for the state of the FTL; suspended devices only
 *   audit            check the FTL's structures; suspended devices only
 */
#include "approxftl.h"

/**
 * struct verb - a message
 * @name: first word
 * @arguments: words that must follow
 * @suspended: looks at the whole device, which I/O would have to wait for
 * @run: 0, 1 with text in @result, or an error code with a sentence
 */
struct verb {
	const char *name;
	unsigned int arguments;
	bool suspended;
	int (*run)(struct aftl_disk *disk, const char *argument, char *result,
		   unsigned int maxlen, struct aftl_error *error);
};

static unsigned int emit_counters(struct aftl_disk *disk, char *result, unsigned int maxlen)
{
	const struct aftl_stats *stats = aftl_stats(disk->ftl);
	unsigned int sz = 0;
	unsigned int i;

	for (i = 0; i < AFTL_COUNTERS; i++)
		DMEMIT("%s %llu\n", aftl_counter_info[i].name,
		       aftl_counter_get(&stats->counters, i));
	DMEMIT("device_ns %llu\n", aftl_disk_now(disk));
	DMEMIT("since_ns %llu\n", stats->since_ns);
	return sz;
}

static unsigned int emit_lateness(const struct aftl_histogram *late, char *result,
				  unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i;

	DMEMIT("late_count %llu\nlate_sum_ns %llu\nlate_max_ns %llu\n", late->count, late->sum,
	       late->largest);
	DMEMIT("late_p50_ns %llu\nlate_p99_ns %llu\n", aftl_histogram_quantile(late, 5000),
	       aftl_histogram_quantile(late, 9900));
	for (i = 0; i < AFTL_HISTOGRAM_BINS; i++)
		if (late->bins[i])
			DMEMIT("late_le_%llu %u\n", aftl_histogram_top(i), late->bins[i]);
	return sz;
}

static int run_stats(struct aftl_disk *disk, const char *argument, char *result,
		     unsigned int maxlen, struct aftl_error *error)
{
	unsigned int sz;

	spin_lock_bh(&disk->lock);
	sz = emit_counters(disk, result, maxlen);
	spin_unlock_bh(&disk->lock);
	spin_lock_bh(&disk->late_lock);
	emit_lateness(&disk->late, result + sz, maxlen - sz);
	spin_unlock_bh(&disk->late_lock);
	return 1;
}

static int run_reset(struct aftl_disk *disk, const char *argument, char *result,
		     unsigned int maxlen, struct aftl_error *error)
{
	spin_lock_bh(&disk->lock);
	aftl_reset_stats(disk->ftl);
	spin_unlock_bh(&disk->lock);
	spin_lock_bh(&disk->late_lock);
	memset(&disk->late, 0, sizeof(disk->late));
	spin_unlock_bh(&disk->late_lock);
	return 0;
}

static int run_age(struct aftl_disk *disk, const char *argument, char *result,
		   unsigned int maxlen, struct aftl_error *error)
{
	struct aftl_request *done;
	u64 ns;
	int ret = aftl_parse_value(AFTL_PARAM_TIME, NULL, argument, &ns, error);

	if (ret)
		return ret;
	spin_lock_bh(&disk->lock);
	aftl_advance(disk->ftl, aftl_disk_now(disk));
	aftl_age(disk->ftl, ns);
	done = aftl_disk_settle(disk);
	spin_unlock_bh(&disk->lock);
	aftl_io_finish(disk, done);
	return 0;
}

static int parse_block(struct aftl_disk *disk, const char *text, u32 *index,
		       struct aftl_error *error)
{
	u32 blocks = aftl_geometry(disk->ftl)->blocks;

	if (kstrtou32(text, 10, index) || *index >= blocks)
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not a block; there are 0 to %u",
				 text, blocks - 1);
	return 0;
}

static unsigned int emit_block(const struct aftl *ftl, const struct aftl_block *block,
			       char *result, unsigned int maxlen)
{
	static const char *const states[] = { "free", "open", "closed", "bad" };
	const char *kind = aftl_policy_type(ftl)->kinds[block->kind];
	unsigned int sz = 0;

	DMEMIT("state %s\nkind %s\nvalid_units %u\napprox_units %u\nprogrammed_pages %u\n",
	       states[block->state], kind ? kind : "-", block->valid, block->valid_approx,
	       block->programmed);
	DMEMIT("erases %u\nwear %u\nreads %u\n", block->erases, block->wear, block->reads);
	return sz;
}

static unsigned int count_valid(const struct aftl *ftl, const struct aftl_block *block, u32 page)
{
	const struct aftl_media *media = aftl_media(ftl);
	u32 first = from_slot(aftl_page_slot(media, block, page));
	unsigned int valid = 0;
	u32 i;

	for (i = 0; i < media->geo->page_units; i++)
		valid += aftl_slot_valid(media, to_slot(first + i));
	return valid;
}

/* Programmed pages only: number, class, mode, units that are current. */
static void emit_pages(const struct aftl *ftl, const struct aftl_block *block, char *result,
		       unsigned int maxlen)
{
	const struct aftl_media *media = aftl_media(ftl);
	unsigned int sz = 0;
	u32 page;

	for (page = 0; page < media->geo->pages; page++) {
		u8 attr = media->attr[aftl_device_page(media, block, page)];

		if (attr & AFTL_PAGE_PROGRAMMED)
			DMEMIT("page %u class %u mode %u valid %u\n", page, aftl_page_class(attr),
			       aftl_page_mode(attr), count_valid(ftl, block, page));
	}
}

static int run_block(struct aftl_disk *disk, const char *argument, char *result,
		     unsigned int maxlen, struct aftl_error *error)
{
	const struct aftl_block *block;
	unsigned int sz;
	u32 index;
	int ret = parse_block(disk, argument, &index, error);

	if (ret)
		return ret;
	spin_lock_bh(&disk->lock);
	block = &aftl_media(disk->ftl)->blocks[index];
	sz = emit_block(disk->ftl, block, result, maxlen);
	emit_pages(disk->ftl, block, result + sz, maxlen - sz);
	spin_unlock_bh(&disk->lock);
	return 1;
}

static int run_fail(struct aftl_disk *disk, const char *argument, char *result,
		    unsigned int maxlen, struct aftl_error *error)
{
	struct aftl_request *done;
	u32 index;
	int ret = parse_block(disk, argument, &index, error);

	if (ret)
		return ret;
	spin_lock_bh(&disk->lock);
	aftl_advance(disk->ftl, aftl_disk_now(disk));
	ret = aftl_fail_block(disk->ftl, index);
	done = aftl_disk_settle(disk);
	spin_unlock_bh(&disk->lock);
	aftl_io_finish(disk, done);
	return ret;
}

static int run_digest(struct aftl_disk *disk, const char *argument, char *result,
		      unsigned int maxlen, struct aftl_error *error)
{
	unsigned int sz = 0;

	DMEMIT("%016llx\n", aftl_digest(disk->ftl));
	return 1;
}

static int run_audit(struct aftl_disk *disk, const char *argument, char *result,
		     unsigned int maxlen, struct aftl_error *error)
{
	unsigned int sz = 0;

	if (aftl_audit(disk->ftl, error))
		return -EUCLEAN;
	DMEMIT("clean\n");
	return 1;
}

static const struct verb verbs[] = {
	{ "stats", 0, false, run_stats },
	{ "reset", 0, false, run_reset },
	{ "age", 1, false, run_age },
	{ "block", 1, false, run_block },
	{ "fail", 1, false, run_fail },
	{ "digest", 0, true, run_digest },
	{ "audit", 0, true, run_audit },
};

static const struct verb *find_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcasecmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int check_message(const struct aftl_target *target, const struct verb *verb,
			 unsigned int argc, char **argv, struct aftl_error *error)
{
	if (!verb)
		return aftl_fail(error, -EINVAL,
				 "unknown message \"%.40s\"; there are stats, reset, age, block, fail, digest and audit",
				 argv[0]);
	if (argc - 1 != verb->arguments)
		return aftl_fail(error, -EINVAL, "message %s takes %u arguments, not %u",
				 verb->name, verb->arguments, argc - 1);
	if (!target->disk)
		return aftl_fail(error, -ENXIO, "another table has taken the device over");
	if (verb->suspended && !target->suspended)
		return aftl_fail(error, -EBUSY,
				 "message %s needs the device at rest; suspend it first",
				 verb->name);
	return 0;
}

int aftl_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		 unsigned int maxlen)
{
	struct aftl_target *target = ti->private;
	const struct verb *verb = find_verb(argv[0]);
	struct aftl_error error = { "" };
	int ret;

	mutex_lock(&target->gate);
	ret = check_message(target, verb, argc, argv, &error);
	if (!ret)
		ret = verb->run(target->disk, argc > 1 ? argv[1] : NULL, result, maxlen, &error);
	mutex_unlock(&target->gate);
	if (ret < 0)
		DMERR("%s: %s", dm_table_device_name(ti->table), error.text);
	return ret;
}
