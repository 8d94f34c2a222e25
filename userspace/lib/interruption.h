/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deferred handling of SIGINT, SIGTERM and SIGHUP: long loops poll is_stop_requested(), so
 * that no partial result stays behind.
 */
#ifndef AFTL_INTERRUPTION_H
#define AFTL_INTERRUPTION_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * From now on is_stop_requested() returns true after a SIGINT, SIGTERM or SIGHUP, and a second
 * such signal ends the program. A SIGHUP that was ignored at the start, as under nohup, stays so.
 */
void interruption_catch_stop_signals(void);

bool is_stop_requested(void);

/* Let interruption_catch_stop_signals() install no handlers, as the program has its own. */
void interruption_disable_signal_handlers(void);

/* Let is_stop_requested() in this thread return true if @flag is set, too; NULL: no flag. */
void interruption_set_stop_flag_of_thread(const atomic_bool *flag);

/* Return this thread's stop flag, which the caller makes the stop flag of its worker threads. */
const atomic_bool *get_stop_flag_of_thread(void);

/* True if the stop flag of this thread is set: the caller then ends without partial results. */
bool is_stop_requested_for_this_thread(void);

/*
 * Call this in a forked child after interruption_catch_stop_signals(): a second signal then ends
 * only the parent.
 */
void interruption_survive_second_signal(void);

/*
 * Make the first signal print @sentence and exit with EXIT_INTERRUPTED, for a program without
 * partial results.
 */
void interruption_exit_with_message(const char *sentence);

/**
 * interruption_register_clean_up() - register a function to call when a signal ends the program
 * @clean_up: runs in a signal handler and must be async-signal-safe
 */
void interruption_register_clean_up(void (*clean_up)(void));

#endif
