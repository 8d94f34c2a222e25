/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper's methods.
 */
#ifndef AFTL_TARGET_H
#define AFTL_TARGET_H

#include "disk/targets.h"

/* reload.c */

/**
 * aftl_device_take_over() - make all that is on @from be on @to, whatever their shards
 *
 * Both are stopped, their stores are of one kind in memory, and their units of one size.
 *
 * Return: 0, and @from is of no more use; or an error code with a sentence.
 */
int __must_check aftl_device_take_over(struct aftl_device *to, struct aftl_device *from,
				       struct aftl_error *error);

/* message.c */

int aftl_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		 unsigned int maxlen);

/* zones.c, for a device with zones */

struct dm_report_zones_args;

#ifdef CONFIG_BLK_DEV_ZONED
/**
 * aftl_zones_create() - prepare what device-mapper asks of a device with zones
 *
 * Return: 0, or an error code with a sentence.
 */
int __must_check aftl_zones_create(struct aftl_target *target, struct aftl_error *error);
void aftl_zones_destroy(struct aftl_target *target);
void aftl_zones_limit(const struct aftl_target *target, struct queue_limits *limits);
int aftl_zones_report(struct dm_target *ti, struct dm_report_zones_args *args,
		      unsigned int zones);
#else
static inline int __must_check aftl_zones_create(struct aftl_target *target,
						 struct aftl_error *error)
{
	return aftl_fail(error, -EOPNOTSUPP,
			 "zoned: this kernel was built without CONFIG_BLK_DEV_ZONED");
}

static inline void aftl_zones_destroy(struct aftl_target *target)
{
}

static inline void aftl_zones_limit(const struct aftl_target *target, struct queue_limits *limits)
{
}

#define aftl_zones_report NULL
#endif

/* target/status.c */

void aftl_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		 char *result, unsigned int maxlen);

#endif
