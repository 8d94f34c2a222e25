/* SPDX-License-Identifier: GPL-2.0-only */
/* Read records that the kernel logs during an operation. */
#ifndef AFTL_KERNEL_LOG_H
#define AFTL_KERNEL_LOG_H

#include "core/base/params.h"

/* Open the kernel log at its end. Return: a descriptor, negative if the log is not readable. */
int kernel_log_open_at_end(void);

/**
 * kernel_log_read_target_error() - get the target's last message since kernel_log_open_at_end()
 * @log: descriptor of kernel_log_open_at_end(), which is closed
 *
 * Return: false if there was none.
 */
bool kernel_log_read_target_error(int log, struct aftl_error *sentence);

#endif
