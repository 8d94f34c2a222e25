// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "aftl-host.h"
#include "exit-codes.h"
#include "interruption.h"

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
static atomic_bool to_note, seen, patient;
static void (*last_words)(void);
static const char *last_sentence;
static atomic_bool embedded;
static __thread const atomic_bool *stop;

static void terminate_program_by_signal(int number)
{
	if (last_words)
		last_words();
	/*
	 * Print the program's last message, except after SIGPIPE; a print error is ignored.
	 */
	if (last_sentence && number != SIGPIPE &&
	    write(STDERR_FILENO, last_sentence, strlen(last_sentence)) != 0)
		_exit(EXIT_INTERRUPTED);
	signal(number, SIG_DFL);
	raise(number);
}

static void record_interruption_signal(int number)
{
	if (!atomic_load(&to_note) || (atomic_exchange(&seen, true) && !atomic_load(&patient)))
		terminate_program_by_signal(number);
}

static bool is_signal_ignored(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

static void install_signal_handlers(void)
{
	struct sigaction action = { .sa_handler = record_interruption_signal };

	for (unsigned int i = 0; i < ARRAY_SIZE(numbers) && !atomic_load(&embedded); i++)
		if (numbers[i] != SIGHUP || !is_signal_ignored(SIGHUP))
			sigaction(numbers[i], &action, NULL);
}

void interruption_catch_stop_signals(void)
{
	atomic_store(&to_note, true);
	install_signal_handlers();
}

bool is_stop_requested(void)
{
	return atomic_load(&seen) || is_stop_requested_for_this_thread();
}

void interruption_disable_signal_handlers(void)
{
	atomic_store(&embedded, true);
}

void interruption_set_stop_flag_of_thread(const atomic_bool *flag)
{
	stop = flag;
}

const atomic_bool *get_stop_flag_of_thread(void)
{
	return stop;
}

bool is_stop_requested_for_this_thread(void)
{
	return stop && atomic_load(stop);
}

void interruption_survive_second_signal(void)
{
	atomic_store(&patient, true);
}

void interruption_exit_with_message(const char *sentence)
{
	last_sentence = sentence;
	install_signal_handlers();
}

void interruption_register_clean_up(void (*clean_up)(void))
{
	struct sigaction action = { .sa_handler = terminate_program_by_signal };

	last_words = clean_up;
	install_signal_handlers();
	if (!atomic_load(&embedded) && !is_signal_ignored(SIGPIPE))
		sigaction(SIGPIPE, &action, NULL);
}
