/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ctrl-C: asked for now and then, so that nothing half done stays behind.
 */
#ifndef AFTL_INTERRUPTION_H
#define AFTL_INTERRUPTION_H

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP are noted from now on. A second one ends the program. */
void interruption_catch(void);

bool interrupted(void);

#endif
