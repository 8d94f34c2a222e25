/* SPDX-License-Identifier: GPL-2.0-only */
/* The remap table of a volume. */
#ifndef AFTL_REMAP_H
#define AFTL_REMAP_H

#include "core/persist/volume-private.h"

void aftl_remap_init(struct aftl_volume *volume);

/* Offset on the backing device of the data of @ppn; 0: its usual place. */
u64 aftl_remap_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn);

/* Load the remap table, and drop entries that are not current in the recovered device @ftl. */
int __must_check aftl_remap_load(struct aftl_volume *volume, const struct aftl *ftl,
				 struct aftl_error *error);

/* Write the remap table and flush. The caller updates the volume header. */
int __must_check aftl_remap_write(struct aftl_volume *volume);

#endif
