/* SPDX-License-Identifier: GPL-2.0-only */
/* Full-screen use of the terminal, whose state is restored however the program ends. */
#ifndef AFTL_SCREEN_H
#define AFTL_SCREEN_H

#include "aftl-host.h"

/* Take over the terminal. If stdin and stdout are no terminal, the other functions do nothing. */
void screen_begin(void);

void screen_end(void);

bool is_terminal_in_full_screen(void);

/* Get the current size of the terminal; @rows is 0 without a terminal. */
void screen_get_size(unsigned int *columns, unsigned int *rows);

/* Move the cursor home, so that the next screenful overwrites the last one. */
void screen_move_cursor_home(void);

/* Clear the rest of the last screenful, below the cursor. */
void screen_clear_below_cursor(void);

/**
 * screen_wait_for_key() - wait for a time or a key
 * @until_ns: on get_monotonic_time_ns()
 *
 * Ctrl-Z restores the terminal while the program is stopped.
 *
 * Return: the key; 0 at @until_ns or after a signal.
 */
int screen_wait_for_key(u64 until_ns);

#endif
