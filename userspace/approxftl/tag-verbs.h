/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that the verbs of "approxftl tag" share. */
#ifndef AFTL_TAG_VERBS_H
#define AFTL_TAG_VERBS_H

#include <approxftl.h>

#include "device-verbs.h"

/* Open libapproxftl for the device that stores the first operand, and call device_verb.run_tag. */
enum exit_code run_tag_verb_on_device(const struct device_options *options);

extern const struct device_verb tag_add;
extern const struct device_verb tag_del;
extern const struct device_verb tag_list;
extern const struct device_verb tag_query;
extern const struct device_verb tag_scan;
extern const struct device_verb tag_watch;

/* Print an error message about @path and convert @ret, a negative error number, to an exit code. */
enum exit_code tag_report_failure(const struct device_options *options, const char *path, int ret);

/* Open a file; on failure print an error message and return a negative error number. */
int open_file_to_tag(const struct device_options *options, const char *path, int flags, int *fd);

/* Parse "OFFSET+LENGTH" or "OFFSET+", with units such as KiB. Print a message on failure. */
int parse_range_to_tag(const struct device_options *options, const char *text, off_t *offset,
		       off_t *length);

/* Return true if the operand is the address of a device that "approxftl serve" serves. */
bool is_server_address(const char *word);

/*
 * Tag a range of the served device that the first operand names. @level 0 is precise; a negative
 * @level restores the device's default. Return: a negative error number after a message.
 */
int tag_range_of_nbd_device(const struct device_options *options, int level, off_t offset,
			    off_t length);

/* Get the approximate ranges of a served device, as query_tagged_ranges() does. */
int query_tags_of_nbd_device(const struct device_options *options, const char *address,
			     struct approxftl_extent **extents);

/* Store the data of a file's range again; return a negative error number on failure. */
int rewrite_range_of_file(const struct device_options *options, int fd, off_t offset, off_t length);

/* Get all tagged ranges of a file, to be freed; return their number or a negative error number. */
int query_tagged_ranges(struct approxftl *library, int fd, struct approxftl_extent **extents);

/* Print a range as "0+4096" or "4096+". */
#define TAG_RANGE_SIZE 48
void format_tagged_range(const struct approxftl_extent *extent, char text[TAG_RANGE_SIZE]);

/* Return the name of the range's class, including its quality level. */
const char *get_class_name_of_tagged_range(const struct approxftl_extent *extent);

/* Print the tagged ranges as an array into an open JSON object. */
void write_tagged_ranges_json(struct json_writer *json, const char *key,
			      const struct approxftl_extent *extents, unsigned int count);

#endif
