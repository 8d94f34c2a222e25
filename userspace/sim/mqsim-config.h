/* SPDX-License-Identifier: GPL-2.0-only */
/* Reader of the configuration files of the simulator MQSim (ssdconfig.xml). */
#ifndef AFTL_MQSIM_CONFIG_H
#define AFTL_MQSIM_CONFIG_H

#include "core/base/params.h"

struct sim_options;

/**
 * mqsim_config_apply() - set parameters of the device from an ssdconfig.xml
 * @options: takes the parameters
 * @path: the file
 * @error: takes the message on failure
 *
 * Prints a note that names the parameters whose effect on times is not modelled.
 *
 * Return: 0, or a negative error code with an error message that names the value without a
 * counterpart.
 */
int __must_check mqsim_config_apply(struct sim_options *options, const char *path,
				    struct aftl_error *error);

#endif
