// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl tag scan" and "tag watch": apply tags from file attributes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "complain.h"
#include "tag-verbs.h"

/**
 * struct scan - a scan of a directory tree
 * @library: libapproxftl
 * @options: the command line
 * @looked: number of regular files that were found
 * @tagged: number of files that were tagged
 * @ranges: number of tagged ranges
 * @failed: number of files and directories that could not be processed
 */
struct scan {
	struct approxftl *library;
	const struct device_options *options;
	u64 looked;
	u64 tagged;
	u64 ranges;
	u64 failed;
};

static void apply_tag_attribute_of_file(struct scan *scan, const char *path)
{
	int fd, ret;

	if (open_file_to_tag(scan->options, path, O_RDWR | O_NOFOLLOW, &fd)) {
		scan->failed++;
		return;
	}
	ret = approxftl_recall(scan->library, fd);
	close(fd);
	if (ret < 0) {
		tag_report_failure(scan->options, path, ret);
		scan->failed++;
		return;
	}
	scan->tagged += ret > 0;
	scan->ranges += ret;
}

static void process_file_tree_entry(struct scan *scan, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_F:
		scan->looked++;
		if (lgetxattr(entry->fts_accpath, "user.approxftl", NULL, 0) >= 0)
			apply_tag_attribute_of_file(scan, entry->fts_path);
		return;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		complain_as(scan->options->verb, "%s: %s", entry->fts_path,
			    strerror(entry->fts_errno));
		scan->failed++;
		return;
	default:
		return;
	}
}

static void scan_file_tree(struct scan *scan)
{
	char *const paths[] = { (char *)scan->options->words[0], NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	const FTSENT *entry;

	if (!tree) {
		complain_as(scan->options->verb, "%s: %s", paths[0], strerror(errno));
		scan->failed++;
		return;
	}
	while ((entry = fts_read(tree)))
		process_file_tree_entry(scan, entry);
	fts_close(tree);
}

static void print_scan_result(const struct scan *scan)
{
	struct json_writer json;

	if (!scan->options->json) {
		printf("%llu of %llu files tagged, in %llu ranges\n",
		       (unsigned long long)scan->tagged, (unsigned long long)scan->looked,
		       (unsigned long long)scan->ranges);
		return;
	}
	device_begin_json_of_verb(scan->options, &json);
	json_string(&json, "path", scan->options->words[0]);
	json_u64(&json, "files", scan->looked);
	json_u64(&json, "tagged_files", scan->tagged);
	json_u64(&json, "tagged_ranges", scan->ranges);
	json_u64(&json, "failed_files", scan->failed);
	json_envelope_end(&json);
}

static enum exit_code run_tag_scan(struct approxftl *library, const struct device_options *options)
{
	struct scan scan = { .library = library, .options = options };

	scan_file_tree(&scan);
	print_scan_result(&scan);
	return scan.failed ? EXIT_FAILED : EXIT_DONE;
}

const struct device_verb tag_scan = {
	.name = "tag scan",
	.words = "DIRECTORY",
	.least_words = 1,
	.most_words = 1,
	.options = "",
	.about = "Tags the files below a directory according to their attribute user.approxftl,\n"
		 "for use after a mount. Stays on one file system and follows no links.",
	.run = run_tag_verb_on_device,
	.run_tag = run_tag_scan,
};

/* watch */

static enum exit_code run_tag_watch(struct approxftl *library, const struct device_options *options)
{
	bool on = !strcmp(options->words[1], "on");
	int fd, ret;
	struct json_writer json;

	if (!on && strcmp(options->words[1], "off") != 0) {
		complain_as(options->verb, "\"%s\" is neither on nor off", options->words[1]);
		return EXIT_USAGE;
	}
	if (open_file_to_tag(options, options->words[0], O_RDONLY, &fd))
		return EXIT_FAILED;
	ret = approxftl_watch(library, fd, on);
	close(fd);
	if (ret)
		return tag_report_failure(options, options->words[0], ret);
	if (options->json) {
		device_begin_json_of_verb(options, &json);
		json_string(&json, "path", options->words[0]);
		json_bool(&json, "watched", on);
		json_envelope_end(&json);
	}
	return EXIT_DONE;
}

const struct device_verb tag_watch = {
	.name = "tag watch",
	.words = "MOUNTPOINT on|off",
	.least_words = 2,
	.most_words = 2,
	.options = "",
	.about = "Makes the kernel tag each file of a file system by its attribute when it is\n"
		 "opened, or stops that. Needs root. Users who may write a file may set the attribute.",
	.run = run_tag_verb_on_device,
	.run_tag = run_tag_watch,
};
