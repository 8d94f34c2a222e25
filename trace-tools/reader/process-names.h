/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps process ids to process names, as far as a trace has them.
 */
#ifndef AFTL_PROCESS_NAMES_H
#define AFTL_PROCESS_NAMES_H

#include "aftl-host.h"

#define PROCESS_NAME_SIZE 17

struct process_names;

struct process_names *process_names_create(void);
void process_names_free(struct process_names *names);

/* Store the name of a process, up to 16 characters; it replaces an earlier name of the process. */
void process_names_set(struct process_names *names, u32 pid, const char *name);

/* Return the name of a process, or NULL if the trace has none. */
const char *process_names_get(const struct process_names *names, u32 pid);

/**
 * process_names_number_of_pid() - get a small number that stands for the name
 *
 * Processes with equal names share a number, counted from 1; 0 if the name is unknown.
 */
u32 process_names_number_of_pid(const struct process_names *names, u32 pid);

#endif
