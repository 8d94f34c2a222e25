/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles: named sets of parameters. */
#ifndef AFTL_PROFILES_H
#define AFTL_PROFILES_H

#include "core/base/params.h"

/* Set the parameters of param-table.h from a named profile; hosts call aftl_profile_load(). */
int __must_check aftl_profile_apply(struct aftl_config *config, const char *name,
				    struct aftl_error *error);

/**
 * aftl_profile_name() - name of profile @index, NULL after the last
 * @index: index, from 0
 */
const char *aftl_profile_name(unsigned int index);

/**
 * aftl_profile_description() - description of profile @index
 * @index: index, from 0
 */
const char *aftl_profile_description(unsigned int index);

#endif
