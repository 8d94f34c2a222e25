/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say what is simulated: profile, parameters, seeds, policies.
 */
#ifndef AFTL_DEVICE_CHOICE_H
#define AFTL_DEVICE_CHOICE_H

#include "core/base/params.h"

struct sim_options;

/* The profile comes first wherever it stands: parameters are set on top of it. */
int __must_check device_choice_profile(struct sim_options *options, int argc, char **argv,
				       struct aftl_error *error);

/* A parameter; @text begins with its name, of that @length. */
int __must_check device_choice_set(struct sim_options *options, const char *text, size_t length,
				   const char *value, struct aftl_error *error);

/* KEY=VALUE, or @FILE with many of them. */
int __must_check device_choice_pairs(struct sim_options *options, const char *value,
				     struct aftl_error *error);

/* 7, or 1..8, or several of either. */
int __must_check device_choice_seeds(struct sim_options *options, const char *list,
				     struct aftl_error *error);

/* What --policy lists. */
int __must_check device_choice_policies(struct sim_options *options, struct aftl_error *error);

#endif
