// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "tap.h"

static struct {
	char name[160];
	unsigned int points;
	unsigned int failed_points;
	unsigned int failures;
	struct tap_test *tests;
} tap;

static void print_name(const char *verdict)
{
	printf("%s %u - %s\n", verdict, tap.points, tap.name);
	fflush(stdout);
}

void tap_begin(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap.name, sizeof(tap.name), format, args);
	va_end(args);
	tap.points++;
	tap.failures = 0;
}

bool tap_end(void)
{
	if (tap.failures > TAP_MESSAGES_MAX)
		printf("# and %u more\n", tap.failures - TAP_MESSAGES_MAX);
	tap.failed_points += tap.failures != 0;
	print_name(tap.failures ? "not ok" : "ok");
	return !tap.failures;
}

bool tap_run(const char *name, void (*body)(void))
{
	tap_begin("%s", name);
	body();
	return tap_end();
}

void tap_run_each(const char *what, const char *const *names, u32 count,
		  void (*body)(const char *name))
{
	for (; count; count--, names++) {
		tap_begin("%s: %s", what, *names);
		body(*names);
		tap_end();
	}
}

void tap_register(struct tap_test *test)
{
	struct tap_test **place = &tap.tests;

	while (*place && (*place)->line < test->line)
		place = &(*place)->next;
	test->next = *place;
	*place = test;
}

int tap_run_all(void)
{
	const struct tap_test *test;

	if (!tap.tests)
		tap_bail_out("the program has no test point");
	for (test = tap.tests; test; test = test->next)
		tap_run(test->name, test->body);
	return tap_finish();
}

#pragma weak main
int main(void)
{
	return tap_run_all();
}

void tap_bail_out(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

void *tap_zalloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		tap_bail_out("out of memory");
	return memory;
}

void tap_note(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

bool tap_wrong(const char *file, int line, const char *format, ...)
{
	va_list args;

	if (tap.failures++ >= TAP_MESSAGES_MAX)
		return false;
	printf("# %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	return false;
}

unsigned int tap_failures(void)
{
	return tap.failures;
}

int tap_finish(void)
{
	printf("1..%u\n", tap.points);
	return tap.failed_points ? 1 : 0;
}
