// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes in a block trace; docs/tags.md describes their format.
 *
 *   approxftl write <sector> <sectors> <class> <by> [<level>]
 *   approxftl zeroes <sector> <sectors>
 *   approxftl region <pid> <whose> <class> [<label>]
 *   approxftl label <pid> <label>
 */
#include <linux/blktrace_api.h>
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/user_namespace.h>

#include "core/persist/record.h"
#include "tags/tags.h"

static const char *const by_names[AFTL_TAG_SOURCES] = {
	[AFTL_BY_PRECISE_TAG] = "tag", [AFTL_BY_FILE] = "file",
	[AFTL_BY_BUFFER] = "buffer",   [AFTL_BY_THREAD] = "thread",
	[AFTL_BY_PROCESS] = "process", [AFTL_BY_PRIORITY] = "priority",
	[AFTL_BY_HINT] = "hint",       [AFTL_BY_STREAM] = "stream",
	[AFTL_BY_DEVICE] = "device",   [AFTL_BY_TABLE] = "table",
};

static struct request_queue *get_queue_of_target(const struct aftl_target *target)
{
	return dm_disk(dm_table_get_md(target->ti->table))->queue;
}

void aftl_blktrace_emit_class_of_write(const struct aftl_target *target, const struct bio *bio,
				       const struct aftl_tag_decision *decision)
{
	/* A note ends with its quality level if that is above 1; old programs ignore it. */
	static const char *const levels[] = { "", "", " 2", " 3" };
	struct request_queue *queue = get_queue_of_target(target);

	if (blk_trace_note_message_enabled(queue))
		blk_add_trace_msg(queue, "approxftl write %llu %u %s %s%s",
				  (u64)bio->bi_iter.bi_sector, bio_sectors(bio),
				  aftl_level_names[min(decision->level, 1U)],
				  by_names[decision->by], levels[decision->level]);
}

void aftl_blktrace_emit_write_zeroes(const struct aftl_target *target, const struct bio *bio)
{
	struct request_queue *queue = get_queue_of_target(target);

	if (blk_trace_note_message_enabled(queue))
		blk_add_trace_msg(queue, "approxftl zeroes %llu %u",
				  (u64)bio->bi_iter.bi_sector, bio_sectors(bio));
}

static int add_note_to_target_trace(struct aftl_target *target, void *text)
{
	struct request_queue *queue = get_queue_of_target(target);

	if (blk_trace_note_message_enabled(queue))
		blk_add_trace_msg(queue, "%s", (const char *)text);
	return 0;
}

static uint max_notes = 1000;
module_param(max_notes, uint, 0644);
MODULE_PARM_DESC(max_notes, "notes a second in block traces by users without privileges");

/* All unprivileged callers have one rate limit together, so that they cannot flood a trace. */
static bool is_trace_note_allowed(void)
{
	static struct ratelimit_state others =
		RATELIMIT_STATE_INIT_FLAGS(others, HZ, 0, RATELIMIT_MSG_ON_RELEASE);

	others.burst = READ_ONCE(max_notes);
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) || __ratelimit(&others);
}

void aftl_blktrace_emit_task_tag_change(u32 owner, u32 tag, const char *label)
{
	char text[BLK_TN_MAX_MSG];

	if (!is_trace_note_allowed())
		return;
	scnprintf(text, sizeof(text), "approxftl region %d %s %s%s%s", current->pid,
		  owner == APPROXFTL_THREAD ? "thread" : "process",
		  tag == AFTL_TAG_NONE ? "end" : aftl_level_names[tag], *label ? " " : "", label);
	aftl_call_fn_on_each_target(add_note_to_target_trace, text);
}

int aftl_blktrace_emit_user_label(const char *label)
{
	char text[BLK_TN_MAX_MSG];

	if (!is_trace_note_allowed())
		return -EAGAIN;
	scnprintf(text, sizeof(text), "approxftl label %d %s", current->pid, label);
	aftl_call_fn_on_each_target(add_note_to_target_trace, text);
	return 0;
}
