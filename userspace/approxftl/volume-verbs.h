/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations for the verbs on volumes. */
#ifndef AFTL_VOLUME_VERBS_H
#define AFTL_VOLUME_VERBS_H

#include "device-verbs.h"
#include "medium-file.h"

/* Print @error about @path and convert @ret, a negative error number, to an exit code. */
enum exit_code report_volume_failure(const struct device_options *options, const char *path,
				     int ret, const struct aftl_error *error);

/* Print the volume header: into an open JSON object, or as text lines. */
void volume_write_header_json(struct json_writer *json, const struct aftl_volume_header *super);
void volume_print_header(const struct aftl_volume_header *super);

/**
 * volume_make_if_path_has_none() - make a volume on an empty block device or empty or new file
 * @path: path of an unused block device or file
 * @super: policy, profile and parameters of the new volume; receives its UUID
 * @made: set if a volume was made
 * @error: receives the error message
 *
 * The device is held exclusively from the check to the last write. An existing volume of any
 * kind is left alone. Return: 0; -EEXIST with a description if the device holds other data;
 * -EBUSY, -EROFS, -ENOSPC, -EINTR, or another negative error number.
 */
int __must_check volume_make_if_path_has_none(const char *path, struct aftl_volume_header *super,
					      bool *made, struct aftl_error *error);

/* Call volume_make_if_path_has_none() for the store of @line, unless it is in memory. */
int __must_check device_make_volume_header(const struct target_line *line,
					   struct aftl_volume_header *super, bool *made,
					   struct aftl_error *error);

#endif
