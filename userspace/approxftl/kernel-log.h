/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel logs between two moments.
 */
#ifndef AFTL_KERNEL_LOG_H
#define AFTL_KERNEL_LOG_H

#include "core/base/params.h"

/* From now on. Return: a descriptor, negative if the log may not be read. */
int kernel_log_begin(void);

/**
 * kernel_log_end() - the target's last sentence since then
 * @log: of kernel_log_begin(); is closed
 *
 * Return: false if there was none.
 */
bool kernel_log_end(int log, struct aftl_error *sentence);

#endif
