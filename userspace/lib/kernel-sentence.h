/* SPDX-License-Identifier: GPL-2.0-only */
/* Extract the target's error messages from the kernel log. */
#ifndef AFTL_KERNEL_SENTENCE_H
#define AFTL_KERNEL_SENTENCE_H

#include "core/base/params.h"

/**
 * kernel_log_get_target_message() - extract the target's message from a record of the kernel log
 * @record: as read from /dev/kmsg, or a line of dmesg
 * @sentence: receives the message, without device and error number
 *
 * Return: false if neither the target nor device-mapper on its behalf wrote the record.
 */
bool kernel_log_get_target_message(const char *record, struct aftl_error *sentence);

#endif
