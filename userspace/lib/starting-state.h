/* SPDX-License-Identifier: GPL-2.0-only */
/* Describe the data that a device holds before its first request. */
#ifndef AFTL_STARTING_STATE_H
#define AFTL_STARTING_STATE_H

#include "core/base/params.h"

#define STARTING_STATE_SIZE 128

/* Return the starting state of the device: "empty", "sequential" or "random". */
const char *starting_state_get_name(const struct aftl_config *config);

/* Print a phrase such as "starts filled at random, 100 % valid, then 100 % overwritten". */
void starting_state_print(const struct aftl_config *config, char text[STARTING_STATE_SIZE]);

#endif
