/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which process has which name, as far as a trace says.
 */
#ifndef AFTL_PROCESS_NAMES_H
#define AFTL_PROCESS_NAMES_H

#include "aftl-host.h"

#define PROCESS_NAME_SIZE 17

struct process_names;

struct process_names *process_names_create(void);
void process_names_free(struct process_names *names);

/* @name: up to 16 characters; a process may change its name. */
void process_names_set(struct process_names *names, u32 pid, const char *name);

/* NULL if nobody said. */
const char *process_names_get(const struct process_names *names, u32 pid);

/**
 * process_names_number() - a small number that stands for the name
 *
 * Processes of one name have one number, counted from 1; 0 if nobody said.
 */
u32 process_names_number(const struct process_names *names, u32 pid);

#endif
