// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "tap.h"

#define TAP_CLEANUPS_MAX 2

static struct {
	char name[160];
	unsigned int points;
	unsigned int failed_points;
	unsigned int failures;
	struct tap_test *tests;
	void (*one_seed)(u64 seed);
} tap;

static void (*cleanups[TAP_CLEANUPS_MAX])(void);

static void tap_print_result(const char *verdict)
{
	printf("%s %u - %s\n", verdict, tap.points, tap.name);
	fflush(stdout);
}

void tap_begin(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!tap.points)
		printf("KTAP version 1\n");
	vsnprintf(tap.name, sizeof(tap.name), format, args);
	va_end(args);
	tap.points++;
	tap.failures = 0;
}

void tap_add_cleanup(void (*cleanup)(void))
{
	u32 i;

	for (i = 0; i < TAP_CLEANUPS_MAX && cleanups[i]; i++)
		if (cleanups[i] == cleanup)
			return;
	if (i == TAP_CLEANUPS_MAX)
		tap_bail_out("too many cleanups");
	cleanups[i] = cleanup;
}

bool tap_end(void)
{
	u32 i;

	for (i = TAP_CLEANUPS_MAX; i--;)
		if (cleanups[i])
			cleanups[i]();
	if (tap.failures > TAP_MESSAGES_MAX)
		printf("# and %u more\n", tap.failures - TAP_MESSAGES_MAX);
	tap.failed_points += tap.failures != 0;
	tap_print_result(tap.failures ? "not ok" : "ok");
	return !tap.failures;
}

bool tap_run(const char *name, void (*body)(void))
{
	tap_begin("%s", name);
	body();
	return tap_end();
}

void tap_run_test_per_name(const char *what, const char *const *names, u32 count,
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

static void run_registered_test(const struct tap_test *test)
{
	char name[sizeof(tap.name)], *at;

	snprintf(name, sizeof(name), "%s", *test->text ? test->text : test->function);
	for (at = name; !*test->text && (at = strchr(at, '_'));)
		*at = ' ';
	tap_run(name, test->body);
}

int tap_run_all(void)
{
	const struct tap_test *test;

	if (!tap.tests)
		tap_bail_out("the program has no test point");
	for (test = tap.tests; test; test = test->next)
		run_registered_test(test);
	return tap_finish();
}

void tap_register_seed(void (*body)(u64 seed))
{
	tap.one_seed = body;
}

#pragma weak main
int main(int argc, char **argv)
{
	if (argc < 2 || !tap.one_seed)
		return tap_run_all();
	tap_begin("seed %s", argv[1]);
	tap.one_seed(strtoull(argv[1], NULL, 10));
	tap_end();
	return tap_finish();
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

void tap_printf(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

bool tap_report_failure(const char *file, int line, const char *format, ...)
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

unsigned int tap_failure_count(void)
{
	return tap.failures;
}

int tap_finish(void)
{
	printf("1..%u\n", tap.points);
	return tap.failed_points ? 1 : 0;
}
