/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AFTL_BIO_H
#define AFTL_BIO_H

#include <linux/device-mapper.h>

/**
 * aftl_map_bio() - the map method of the target
 * @ti: target
 * @bio: bio to be mapped
 *
 * Context: process, no lock held; may sleep for memory (GFP_NOIO) and for room in the queue of a
 * durable store.
 * Return: DM_MAPIO_SUBMITTED, or DM_MAPIO_KILL for a bio that the target's limits exclude.
 */
int aftl_map_bio(struct dm_target *ti, struct bio *bio);

#endif
