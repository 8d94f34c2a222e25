/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket of a device: tags by byte range, from "approxftl tag". A connection is
 * for one request, a line:
 *
 *	tag LEVEL OFFSET LENGTH
 *		Data written to the range from now on has this quality level, 0 for precise, or
 *		"default": that of tag_all. A mapping unit that the range covers in part takes the
 *		safer class: it stays as it is if the tag is approximate, and becomes precise if the
 *		tag is precise.
 *	list
 *		"OFFSET LENGTH LEVEL" for each range of approximate data, in lines
 *
 * The last line of the answer is "ok", or the only one is "error: " and a sentence.
 */
#ifndef AFTL_NBD_CONTROL_H
#define AFTL_NBD_CONTROL_H

#include "nbd-device.h"

/**
 * struct nbd_control - the control socket of a device
 * @device: device that the socket belongs to
 * @path: path of the socket; NULL: there is none
 * @fd: the socket
 * @thread: answers the requests
 * @running: @thread exists
 */
struct nbd_control {
	struct nbd_device *device;
	const char *path;
	int fd;
	pthread_t thread;
	bool running;
};

/* Make the socket at @path, to which only the present user can connect. */
int __must_check nbd_control_open(struct nbd_control *control, struct nbd_device *device,
				  const char *path, struct aftl_error *error);

/* Answer requests in a thread, from now on. */
int __must_check nbd_control_start(struct nbd_control *control);

/* Remove the socket, and wait for the thread. */
void nbd_control_close(struct nbd_control *control);

#endif
