/* SPDX-License-Identifier: GPL-2.0-only */
/* Change the policy or the parameters of a device, which keeps its data. */
#ifndef SIM_RELOAD_H
#define SIM_RELOAD_H

#include "changes.h"
#include "drive.h"

/**
 * sim_drive_apply_device_change() - change the device of @drive between two of its requests
 * @drive: its stream continues afterwards
 * @change: the change
 * @ops: operations of the host
 * @host: first argument of @ops
 * @error: receives the error message
 *
 * A change of age applies while requests are in flight. For any other change the requests
 * complete first, and the device is saved and reloaded: @drive then has a new device, whose
 * counters start anew.
 *
 * Return: 0; or a negative error number, and the device is unchanged
 */
int sim_drive_apply_device_change(struct sim_drive *drive, const struct sim_change *change,
				  const struct aftl_host_ops *ops, void *host,
				  struct aftl_error *error);

#endif
