/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that goes on as another one with the same data.
 */
#ifndef SIM_RELOAD_H
#define SIM_RELOAD_H

#include "changes.h"
#include "drive.h"

/**
 * sim_drive_change() - change the device of @drive between two of its requests
 * @drive: whose stream goes on afterwards
 * @change: what
 * @ops: of the host
 * @host: first argument of @ops
 * @error: the sentence
 *
 * Time passes beside what is under way. For anything else that completes, and the device is saved
 * and loaded: @drive has another one then, with counters that begin anew.
 *
 * Return: 0; or a negative error number, and the device is what it was
 */
int sim_drive_change(struct sim_drive *drive, const struct sim_change *change,
		     const struct aftl_host_ops *ops, void *host, struct aftl_error *error);

#endif
