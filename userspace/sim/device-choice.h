/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that describe the simulated device: profile, parameters, seeds, policies. */
#ifndef AFTL_DEVICE_CHOICE_H
#define AFTL_DEVICE_CHOICE_H

#include "core/base/params.h"

struct sim_options;

/* Find --profile on the command line, and load it before other options change its parameters. */
int __must_check load_chosen_profile(struct sim_options *options, int argc, char **argv,
				     struct aftl_error *error);

/* Set a parameter; @text begins with its name, which is @length bytes long. */
int __must_check set_sim_parameter(struct sim_options *options, const char *text, size_t length,
				   const char *value, struct aftl_error *error);

/* Parse KEY=VALUE, or @FILE, a file with several pairs. */
int __must_check set_parameters_from_text_or_file(struct sim_options *options, const char *value,
						  struct aftl_error *error);

/* Parse a list of seeds and ranges of seeds: 7, or 1..8. */
int __must_check parse_seed_list(struct sim_options *options, const char *list,
				 struct aftl_error *error);

/**
 * get_share_to_overwrite_for_steady_state() - tell how many overwrites use up the free blocks
 * @config: parameters of the device
 * @units: logical pages of the device
 * @slots: physical pages, in mapping units
 *
 * Return: a value of the parameter fill_overwrite, a multiple of 100 %, or 0 for an empty device.
 */
u64 get_share_to_overwrite_for_steady_state(const struct aftl_config *config, u64 units, u64 slots);

/* Fill and overwrite the device at random unless an option set the parameter fill. */
void set_steady_state_as_default(struct sim_options *options);

/* Parse the policy names of --policy. */
int __must_check choose_listed_policies(struct sim_options *options, struct aftl_error *error);

#endif
