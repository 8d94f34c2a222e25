/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ctrl-C and its like: asked for now and then, so that nothing half done stays behind.
 */
#ifndef AFTL_INTERRUPTION_H
#define AFTL_INTERRUPTION_H

#include <stdbool.h>

/*
 * The first SIGINT, SIGTERM or SIGHUP is noted from now on, the second one ends the program.
 * Who has asked for SIGHUP to be ignored, as nohup does, is heeded.
 */
void interruption_catch(void);

bool interrupted(void);

/* For a child of who has called interruption_catch(): the second one ends the parent alone. */
void interruption_leave_to_parent(void);

/* For who has nothing to keep: the first one ends the program, with a line and EXIT_INTERRUPTED. */
void interruption_ends(const char *sentence);

/**
 * interruption_clean_up() - what is done when a signal ends the program
 * @clean_up: called in a signal handler
 */
void interruption_clean_up(void (*clean_up)(void));

#endif
