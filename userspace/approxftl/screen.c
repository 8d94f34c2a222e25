// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "device-sample.h"
#include "interruption.h"
#include "screen.h"

/* Escape sequences that take the alternate screen and hide the cursor, and that undo this. */
#define TAKE "\033[?1049h\033[?25l\033[H\033[2J"
#define GIVE_BACK "\033[?25h\033[?1049l"

#define COLUMNS 80

static struct termios before;
static bool taken;
static atomic_bool to_stop;

static void write_screen_text(const char *text)
{
	const char *at = text, *end = text + strlen(text);

	while (at < end) {
		ssize_t done = write(STDOUT_FILENO, at, (size_t)(end - at));

		if (done <= 0)
			return;
		at += done;
	}
}

static void set_terminal_to_raw_mode(void)
{
	struct termios raw = before;

	/* Read single keys without echo; Ctrl-C and Ctrl-Z still raise signals. */
	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	write_screen_text(TAKE);
}

/* Restore the terminal; async-signal-safe. */
static void restore_terminal(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	write_screen_text(GIVE_BACK);
}

static void record_stop_signal(int number)
{
	(void)number;
	atomic_store(&to_stop, true);
}

void screen_begin(void)
{
	struct sigaction stop = { .sa_handler = record_stop_signal };

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return;
	taken = true;
	sigaction(SIGTSTP, &stop, NULL);
	interruption_register_clean_up(restore_terminal);
	interruption_catch_stop_signals();
	set_terminal_to_raw_mode();
}

void screen_end(void)
{
	if (!taken)
		return;
	fflush(stdout);
	restore_terminal();
	taken = false;
}

bool is_terminal_in_full_screen(void)
{
	return taken;
}

void screen_get_size(unsigned int *columns, unsigned int *rows)
{
	struct winsize size;

	*columns = COLUMNS;
	*rows = 0;
	if (!taken || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return;
	*columns = size.ws_col;
	*rows = size.ws_row;
}

void screen_move_cursor_home(void)
{
	if (taken)
		fputs("\033[H", stdout);
}

void screen_clear_below_cursor(void)
{
	if (taken)
		fputs("\033[J", stdout);
	fflush(stdout);
}

static int poll_for_key(u64 left_ns)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec left = {
		.tv_sec = (time_t)(left_ns / SECOND_NS),
		.tv_nsec = (long)(left_ns % SECOND_NS),
	};
	unsigned char key;

	if (ppoll(&input, 1, &left, NULL) <= 0)
		return 0;
	/* Return 'q' if the terminal was closed, so that the caller ends. */
	return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

int screen_wait_for_key(u64 until_ns)
{
	u64 now = get_monotonic_time_ns();
	int key = 0;

	if (!taken) {
		sleep_until_sample_time(until_ns);
		return 0;
	}
	if (now < until_ns)
		key = poll_for_key(until_ns - now);
	if (atomic_exchange(&to_stop, false)) {
		fflush(stdout);
		restore_terminal();
		kill(getpid(), SIGSTOP);
		set_terminal_to_raw_mode();
	}
	return key;
}
