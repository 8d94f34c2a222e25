/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of volumes share.
 */
#ifndef AFTL_VOLUME_VERBS_H
#define AFTL_VOLUME_VERBS_H

#include "device-verbs.h"
#include "medium-file.h"

/* Says @error of @path and makes @ret, a negative error number, an exit code. */
enum exit_code volume_failed(const struct device_options *options, const char *path, int ret,
			     const struct aftl_error *error);

/* Names of the superblock: into an open JSON object, or as lines for a person. */
void volume_json_super(struct json_writer *json, const struct aftl_superblock *super);
void volume_print_super(const struct aftl_superblock *super);

#endif
