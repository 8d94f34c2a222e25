/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of an emulated drive below a target, from its status line.
 */
#ifndef AFTL_REPLAY_TARGET_STATE_H
#define AFTL_REPLAY_TARGET_STATE_H

#include <stdio.h>

#include "replay-target.h"
#include "target-status.h"

/* Read the status of an emulated drive. Return: false for other devices, or without permission. */
bool target_state_read(const struct replay_target *target, struct target_status *status);

/* Print how full a drive is before the replay, and the option to fill a simulated drive as much. */
void target_state_print_fullness(const char *path, const struct target_status *status, FILE *out);

/* Print a warning if the drive completed requests more than @late_ns later than it should. */
void target_state_warn_of_late_completions(const char *path, const struct target_status *status,
					   u64 late_ns, FILE *out);

/*
 * Print a note that a simulated device starts filled, but a new device in the kernel starts empty,
 * unless one of the simulator's arguments says how to fill.
 */
void print_note_about_simulated_fill(int count, char *const *arguments, FILE *out);

#endif
