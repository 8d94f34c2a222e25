/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fill of a device by its host, before the request stream: sequential writes through a closed
 * queue, in device time. Where the allocation rule depends on the load of the dies, such a fill
 * places data differently from the parameter fill, which takes no time.
 */
#ifndef SIM_HOST_FILL_H
#define SIM_HOST_FILL_H

#include "drive.h"

/**
 * sim_write_host_fill() - write the footprint of --host-fill, then leave the device alone
 * @drive: a device without requests, before sim_drive_open_request_stream()
 * @options: options of the command line
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int sim_write_host_fill(struct sim_drive *drive, const struct sim_options *options,
			struct aftl_error *error);

#endif
