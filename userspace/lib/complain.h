/* SPDX-License-Identifier: GPL-2.0-only */
/* Error messages for the user, on stderr unless redirect_messages_to_function() was called. */
#ifndef AFTL_COMPLAIN_H
#define AFTL_COMPLAIN_H

#include "aftl-host.h"
#include "core/base/params.h"

/* Print a message as "approxftl: ..." and a newline. */
__printf(1, 2) void complain(const char *format, ...);

/* Return the prefix of a command in messages: "approxftl " for a verb, "" for a program. */
const char *get_message_prefix_of_command(const char *verb);

/* Print a message as "approxftl VERB: ..." or "PROGRAM: ...", and a newline. */
__printf(2, 3) void complain_as(const char *verb, const char *format, ...);

/* Print the message of a failure of a command, and return @code. */
int report_command_failure(const char *verb, const struct aftl_error *error, int code);

/**
 * redirect_messages_to_function() - pass later messages of this thread to a function
 * @take: receives each message without the name of the program; NULL: print to stderr again
 * @context: first argument of @take
 */
void redirect_messages_to_function(void (*take)(void *context, const char *text), void *context);

/**
 * find_closest_word() - find the word that a misspelt word probably stands for
 * @words: ends with NULL
 *
 * Return: one of @words, or NULL if none is near.
 */
const char *find_closest_word(const char *wrong, const char *const *words);

#endif
