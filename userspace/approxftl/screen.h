/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal, while a program has all of it. Whatever ends the program, it gets its own back.
 */
#ifndef AFTL_SCREEN_H
#define AFTL_SCREEN_H

#include "aftl-host.h"

/* Takes the terminal, if standard output and input are one; else nothing below does anything. */
void screen_begin(void);

void screen_end(void);

bool screen_taken(void);

/* Its size as it is now; @rows is 0 where there is none. */
void screen_size(unsigned int *columns, unsigned int *rows);

/* The next picture goes over the last one. */
void screen_home(void);

/* What is left of the last picture below this one goes. */
void screen_clear_rest(void);

/**
 * screen_wait() - wait for a moment or a key
 * @until_ns: of the machine's clock
 *
 * Whoever stops the program, as by Ctrl-Z, sees the terminal as it was.
 *
 * Return: the key; 0 when time is up or a signal came.
 */
int screen_wait(u64 until_ns);

#endif
