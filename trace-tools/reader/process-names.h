/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps process ids to the process names that a trace contains. */
#ifndef AFTL_PROCESS_NAMES_H
#define AFTL_PROCESS_NAMES_H

#include "aftl-host.h"

#define PROCESS_NAME_SIZE 17

struct process_names;

struct process_names *process_names_create(void);
void process_names_free(struct process_names *names);

/* Store the name of a process id, up to 16 characters; it replaces the id's earlier name. */
void process_names_set(struct process_names *names, u32 pid, const char *name);

/* Return the name of a process id, or NULL if the trace has no name for it. */
const char *process_names_get(const struct process_names *names, u32 pid);

/**
 * process_names_find_number_by_pid() - get the small number of a process id's name
 *
 * Processes with equal names share a number, counted from 1; 0 if the name is unknown.
 */
u32 process_names_find_number_by_pid(const struct process_names *names, u32 pid);

#endif
