/* SPDX-License-Identifier: GPL-2.0-only */
/* "approxftl stat --prometheus": statistics in the text format of Prometheus. */
#ifndef AFTL_DEVICE_METRICS_H
#define AFTL_DEVICE_METRICS_H

#include "device-verbs.h"

/* Print the metrics of the device on the command line, or of all devices. */
enum exit_code metrics_print(const struct device_options *options);

#endif
