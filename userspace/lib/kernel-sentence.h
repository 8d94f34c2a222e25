/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sentences of the target in the kernel's log.
 */
#ifndef AFTL_KERNEL_SENTENCE_H
#define AFTL_KERNEL_SENTENCE_H

#include "core/base/params.h"

/**
 * kernel_sentence() - the target's sentence in a record of the kernel's log
 * @record: as read from /dev/kmsg, or a line of dmesg
 * @sentence: takes it, without device and error number
 *
 * Return: false if the record is not of the target or of device-mapper about it.
 */
bool kernel_sentence(const char *record, struct aftl_error *sentence);

#endif
