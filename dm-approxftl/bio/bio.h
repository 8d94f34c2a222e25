/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AFTL_BIO_H
#define AFTL_BIO_H

#include <linux/device-mapper.h>

/**
 * aftl_io_map() - the target's map method
 */
int aftl_io_map(struct dm_target *ti, struct bio *bio);

#endif
