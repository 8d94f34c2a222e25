/* SPDX-License-Identifier: GPL-2.0-only */
/* Save a device to a file and load it. */
#ifndef AFTL_DEVICE_FILE_H
#define AFTL_DEVICE_FILE_H

#include "core/ftl/ftl.h"
#include "output-file.h"

/* Save or load a device. Return: 0, or a negative error number, with a message about the file. */
int device_file_save(struct aftl *ftl, const struct output_file *to, struct aftl_error *error);
int device_file_load(struct aftl **out, const char *path, const struct aftl_host_ops *ops,
		     void *host, struct aftl_error *error);

#endif
