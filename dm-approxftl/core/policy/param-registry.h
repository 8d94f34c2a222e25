/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All parameters by name and index: first those of param-table.h, then those of policies and rules
 * in the order of their lists.
 */
#ifndef AFTL_PARAM_REGISTRY_H
#define AFTL_PARAM_REGISTRY_H

#include "core/base/param-group.h"

/**
 * aftl_param_at() - parameter @index, NULL after the last
 * @index: index, from 0
 */
const struct aftl_param *aftl_param_at(unsigned int index);

/* Number of parameters. */
unsigned int aftl_param_count(void);

/**
 * aftl_param_find() - index of the parameter @key, or -ENOENT
 * @key: name of a parameter
 */
int aftl_param_find(const char *key);

/**
 * aftl_param_set() - parse @text and set the parameter @key
 * @config: parameters to change
 * @key: name of a parameter
 * @text: text of the value
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message that names the key, what is wrong with the value, and what
 * is allowed; @config is then unchanged.
 */
int __must_check aftl_param_set(struct aftl_config *config, const char *key, const char *text,
				struct aftl_error *error);

/**
 * aftl_param_change() - tell whether the parameter @index may change live, at a reload or never
 * @index: below aftl_param_count()
 */
enum aftl_change aftl_param_change(unsigned int index);

/* Return the values of @group in @config; NULL if @config has none for the group. */
const void *aftl_get_values_of_param_group(const struct aftl_config *config,
					   const struct aftl_param_group *group);

/* Set every parameter to its value in the profile "demo". */
void aftl_config_set_defaults(struct aftl_config *config);

/*
 * Set the parameters for reading a volume or snapshot, which may be older than some parameters: to
 * their defaults, except that idle GC had a fixed limit before gc_idle_limit existed.
 */
void aftl_config_set_defaults_of_absent_params(struct aftl_config *config);

/**
 * aftl_profile_load() - set all parameters from a named profile
 * @config: takes the parameters
 * @name: name of the profile
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message that lists the profiles.
 */
int __must_check aftl_profile_load(struct aftl_config *config, const char *name,
				   struct aftl_error *error);

#endif
