/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "approxftl stat --prometheus": what devices do, in the text format of Prometheus.
 */
#ifndef AFTL_DEVICE_METRICS_H
#define AFTL_DEVICE_METRICS_H

#include "device-verbs.h"

/* Of the device that the command line names, or of all. */
enum exit_code metrics_print(const struct device_options *options);

#endif
