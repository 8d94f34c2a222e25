/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots: the complete state of a device as a stream of bytes; snapshot.c has the format. */
#ifndef AFTL_SNAPSHOT_H
#define AFTL_SNAPSHOT_H

#include "core/ftl/ftl.h"

#define AFTL_SNAPSHOT_MAJOR 2
#define AFTL_SNAPSHOT_MAJOR_LOST 3
#define AFTL_SNAPSHOT_MINOR 1

/**
 * struct aftl_snapshot_sink - output of a snapshot
 * @write: returns 0, or a negative error code that ends the snapshot
 * @host: first argument of @write
 */
struct aftl_snapshot_sink {
	int (*write)(void *host, const void *data, size_t bytes);
	void *host;
};

/**
 * struct aftl_snapshot_source - input of a snapshot
 * @read: returns 0 with all of @bytes, or a negative error code
 * @host: first argument of @read
 */
struct aftl_snapshot_source {
	int (*read)(void *host, void *data, size_t bytes);
	void *host;
};

/**
 * aftl_quiesce() - complete running operations and start no others until aftl_unquiesce_device()
 * @ftl: device
 *
 * A host that persists data uses it before aftl_save(), to record what the last operations did. The
 * host must not submit requests in between.
 */
void aftl_quiesce(struct aftl *ftl);

/* Process one event of aftl_quiesce(). Return: true if operations are still running. */
bool aftl_quiesce_device_by_slice(struct aftl *ftl);
void aftl_unquiesce_device(struct aftl *ftl);

/**
 * aftl_save() - write a snapshot of the device
 * @ftl: device
 * @sink: output
 * @error: takes the message on failure
 *
 * Running operations are completed first. Background tasks start anew afterwards, in this device
 * and in the loaded one. Statistics are not saved.
 *
 * Return: 0; -EBUSY while requests or buffered writes are in progress (flush and wait first);
 * -ENOSPC if a persistent write buffer holds data that no block is left for; or an error of the
 * sink.
 */
int __must_check aftl_save(struct aftl *ftl, const struct aftl_snapshot_sink *sink,
			   struct aftl_error *error);

/**
 * aftl_snapshot_bytes_max() - upper limit of the size of a snapshot
 * @geo: shape of the device
 */
u64 aftl_snapshot_bytes_max(const struct aftl_geometry *geo);

/**
 * aftl_snapshot_check_policy_change() - check that a saved device can be loaded with another policy
 * @config: parameters of the device
 * @error: takes the message if it cannot
 *
 * Return: 0 or -EINVAL.
 */
int __must_check aftl_snapshot_check_policy_change(const struct aftl_config *config,
						   struct aftl_error *error);

/**
 * aftl_load() - create a device from a snapshot
 * @out: takes the device, before the first call of @ops; NULL after a failure
 * @source: input
 * @ops: callbacks of the host
 * @host: first argument of @ops
 * @error: takes the message on failure
 *
 * The bytes are not trusted: anything but the state of a possible device is refused.
 *
 * Return: 0, -EINVAL or -EUCLEAN with a message, -ENOMEM, or an error of the source.
 */
int __must_check aftl_load(struct aftl **out, const struct aftl_snapshot_source *source,
			   const struct aftl_host_ops *ops, void *host, struct aftl_error *error);

/**
 * aftl_load_with_policy_and_params() - load a snapshot with another policy or parameters
 * @out: takes the device
 * @source: input
 * @type: policy; NULL: that of the snapshot
 * @config: parameters; NULL: those of the snapshot. See aftl_config_check()
 * @ops: callbacks of the host
 * @host: first argument of @ops
 * @error: takes the message on failure
 *
 * Data, L2P table, classes, wear, age and errors stay. For another policy all blocks get kind 0 and
 * no note, and open blocks are closed. A LUN with fewer free blocks than the policy needs collects
 * garbage first. If the data leave no room for the policy, as after many bad blocks, the device is
 * read-only.
 *
 * Return: as aftl_load(); -EINVAL also if these parameters cannot change or the policy does not fit
 * the device.
 */
int __must_check aftl_load_with_policy_and_params(struct aftl **out,
						  const struct aftl_snapshot_source *source,
						  const struct aftl_policy_type *type,
						  const struct aftl_config *config,
						  const struct aftl_host_ops *ops, void *host,
						  struct aftl_error *error);

/* Start the device after media and L2P table have been loaded and audited. */
void aftl_start_loaded_device(struct aftl *ftl);

#endif
