/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All parameters by name and number: first those of param-table.h, then what policies and
 * rules add, in the order of their lists.
 */
#ifndef AFTL_PARAM_REGISTRY_H
#define AFTL_PARAM_REGISTRY_H

#include "core/base/params.h"

/**
 * aftl_param_at() - the parameter number @index, NULL past the last
 * @index: position, from 0
 */
const struct aftl_param *aftl_param_at(unsigned int index);

/* How many there are. */
unsigned int aftl_param_count(void);

/**
 * aftl_param_find() - index of the parameter called @key, or -ENOENT
 * @key: name of a parameter
 */
int aftl_param_find(const char *key);

/**
 * aftl_param_set() - parse @text as the value of @key
 * @config: configuration
 * @key: name of a parameter
 * @text: as it stands on a command line
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with @error saying which key, what was wrong with the
 * value and what would be right; @config is then as it was.
 */
int __must_check aftl_param_set(struct aftl_config *config, const char *key, const char *text,
				struct aftl_error *error);

/**
 * aftl_param_change() - when the parameter @index may change
 * @index: below aftl_param_count()
 */
enum aftl_change aftl_param_change(unsigned int index);

/* The values of @group in @config; NULL if there is none or AFTL_OWN_PARAMS is too small. */
const void *aftl_param_group_values(const struct aftl_config *config,
			   const struct aftl_param_group *group);

/* Every parameter as in the profile "demo". */
void aftl_config_standard(struct aftl_config *config);

/**
 * aftl_profile_load() - start a configuration from a named profile
 * @config: configuration
 * @name: as on a command line
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with @error listing the profiles there are.
 */
int __must_check aftl_profile_load(struct aftl_config *config, const char *name,
				   struct aftl_error *error);

#endif
