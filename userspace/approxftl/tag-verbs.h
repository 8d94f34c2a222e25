/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of "approxftl tag" share.
 */
#ifndef AFTL_TAG_VERBS_H
#define AFTL_TAG_VERBS_H

#include <approxftl.h>

#include "device-verbs.h"

/* Does it for one of these verbs; the first word is on the device that it is about. */
typedef enum exit_code (*tag_fn)(struct approxftl *library, const struct device_options *options);
enum exit_code tag_run(const struct device_options *options, tag_fn run);

extern const struct device_verb tag_add;
extern const struct device_verb tag_del;
extern const struct device_verb tag_list;
extern const struct device_verb tag_query;
extern const struct device_verb tag_scan;
extern const struct device_verb tag_watch;

/* One line about @path on stderr, and the exit code: @ret is a negative error number. */
enum exit_code tag_failed(const struct device_options *options, const char *path, int ret);

/* Opens a file of a command line; says why not, and returns a negative error number. */
int tag_open(const struct device_options *options, const char *path, int flags, int *fd);

/* "OFFSET+LENGTH" or "OFFSET+", with units such as KiB. Says what is wrong with it. */
int tag_parse_range(const struct device_options *options, const char *text, off_t *offset,
		    off_t *length);

/* Stores the data of a range of a file once more; returns a negative error number. */
int tag_rewrite(const struct device_options *options, int fd, off_t offset, off_t length);

/* Everything that is said of a file, to be freed; returns how many ranges, or an error number. */
int tag_ranges_of(struct approxftl *library, int fd, struct approxftl_extent **extents);

/* "0+4096", "4096+" */
#define TAG_RANGE_SIZE 48
void tag_range_text(const struct approxftl_extent *extent, char text[TAG_RANGE_SIZE]);

/* The name of its class, with its quality level. */
const char *tag_range_class(const struct approxftl_extent *extent);

/* An array of what is said of a file, into an open JSON object. */
void tag_json_ranges(struct json_writer *json, const char *key,
		     const struct approxftl_extent *extents, unsigned int count);

#endif
