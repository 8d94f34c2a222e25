/* SPDX-License-Identifier: GPL-2.0-only */
/* How the device of a volume is created from its snapshot or its tables. */
#ifndef AFTL_VOLUME_LOAD_H
#define AFTL_VOLUME_LOAD_H

#include "core/base/error.h"

struct aftl;
struct aftl_config;
struct aftl_host_ops;
struct aftl_policy_type;
struct aftl_volume;

/**
 * struct aftl_recovery - result of loading a volume
 * @closed: the volume had been closed, and was loaded from its snapshot
 * @snapshot: why the snapshot of a closed volume could not be used; else empty
 * @programmed_pages: flash pages with data, valid or not
 * @mapped_units: mapped logical pages
 * @bad_blocks: retired blocks
 * @lost_units: lost logical pages, of @mapped_units
 * @header: one of the headers is damaged; it can be repaired, and so can @state and @tables
 * @state: one of the state records is damaged
 * @tables: damaged sectors of tables
 * @displaced_units: logical pages that are remapped
 */
struct aftl_recovery {
	bool closed;
	struct aftl_error snapshot;
	u64 programmed_pages;
	u32 mapped_units;
	u32 bad_blocks;
	u32 lost_units;
	bool header;
	bool state;
	u32 tables;
	u32 displaced_units;
};

/**
 * aftl_volume_load() - create the device of a volume; writes nothing
 * @volume: just opened
 * @type: policy of the device
 * @config: parameters of the whole device; those of its shape as in the header
 * @ops: callbacks of the host
 * @host: first argument of @ops
 * @scan: recover from the tables even if there is a snapshot
 * @out: takes the device, before the first call of @ops; NULL after a failure
 * @recovery: takes the result
 * @error: takes the message on failure
 *
 * Return: 0; -EUCLEAN with a message that says where the volume is damaged; -EINVAL for parameters
 * of another device; -ENOMEM; or an error of the backing device.
 */
int __must_check aftl_volume_load(struct aftl_volume *volume, const struct aftl_policy_type *type,
				  const struct aftl_config *config,
				  const struct aftl_host_ops *ops, void *host, bool scan,
				  struct aftl **out, struct aftl_recovery *recovery,
				  struct aftl_error *error);

/**
 * aftl_volume_ignore_damage() - let aftl_volume_load() ignore damaged entries
 * @volume: just opened
 *
 * After a crash only the tables know which logical pages a flash page holds, and which were
 * discarded. Without the damaged sectors a logical page may read as an older version, or as zeroes.
 */
void aftl_volume_ignore_damage(struct aftl_volume *volume);

#endif
