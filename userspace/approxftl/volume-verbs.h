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
void volume_json_super(struct json_writer *json, const struct aftl_volume_header *super);
void volume_print_super(const struct aftl_volume_header *super);

/**
 * volume_ensure() - the volume on a block device, made there if the device is empty
 * @path: of the device, which nobody may use
 * @super: policy, profile and parameters of the volume to be made; takes its UUID
 * @made: whether it was
 * @error: takes the sentence on failure
 *
 * The device is held from the first look to the last write. What is a volume, of whatever kind,
 * stays as it is. Return: 0; -EEXIST with what else the device holds; -EBUSY, -EROFS, -ENOSPC,
 * -EINTR, or what else went wrong.
 */
int __must_check volume_ensure(const char *path, struct aftl_volume_header *super, bool *made,
			       struct aftl_error *error);

#endif
