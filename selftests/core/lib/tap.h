/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of tests that print TAP: a test point is a function; its failed checks print messages.
 */
#ifndef TAP_H
#define TAP_H

#include "aftl-host.h"

/* Number of messages printed for a test point; further messages are only counted. */
#define TAP_MESSAGES_MAX 12

/**
 * tap_run() - run @body as the test point @name
 *
 * Return: true if every check passed.
 */
bool tap_run(const char *name, void (*body)(void));

/* Run @body once for each of @names, as a test point with this name. */
void tap_run_test_per_name(const char *what, const char *const *names, u32 count,
			   void (*body)(const char *name));

/**
 * struct tap_test - a test point of TAP_TEST()
 * @text: name of the point; if empty, the function's name with blanks for underscores
 * @next: the test point with the next higher line
 */
struct tap_test {
	const char *function;
	const char *text;
	void (*body)(void);
	int line;
	struct tap_test *next;
};

void tap_register(struct tap_test *test);

/**
 * TAP_TEST() - define @function as a test point; its name with blanks names the point
 *
 * A text after @function is used as the point's name instead.
 *
 * Constructors register the test points before main(), in any order.
 */
#define TAP_TEST(function, ...)							\
	static void function(void);						\
	static void __attribute__((constructor)) register_##function(void)	\
	{									\
		static struct tap_test test = { #function, "" __VA_ARGS__, function,	\
						__LINE__, NULL };		\
										\
		tap_register(&test);						\
	}									\
	static void function(void)

/**
 * tap_run_all() - run the points of TAP_TEST() in the order of their lines, and print the plan
 *
 * The library's main() calls only tap_run_all(), or the function that TAP_SEED() names.
 *
 * Return: the exit status for main().
 */
int tap_run_all(void);

void tap_register_seed(void (*body)(u64 seed));

/* Call @function instead of the test points if the command line has a seed as argument. */
#define TAP_SEED(function)							\
	static void __attribute__((constructor)) register_##function(void)	\
	{									\
		tap_register_seed(function);					\
	}

/**
 * tap_begin(), tap_end() - begin and end a test point within a function
 */
void tap_begin(const char *format, ...) __printf(1, 2);
bool tap_end(void);

/* Call @cleanup at the end of every test point, before the functions that were added earlier. */
void tap_add_cleanup(void (*cleanup)(void));

/* Print the TAP line "Bail out!" and exit. */
void tap_bail_out(const char *format, ...) __printf(1, 2);

/* Allocate zeroed memory; bail out if there is none. */
void *tap_zalloc(size_t count, size_t size);

/* Print a diagnostic line. */
void tap_printf(const char *format, ...) __printf(1, 2);

/* Print the TAP plan; return the exit status for main(). */
int tap_finish(void);

/* Number of failed checks of the current test point. */
unsigned int tap_failure_count(void);

/* Report a failed check; called by the CHECK macros. Return: false. */
bool tap_report_failure(const char *file, int line, const char *format, ...) __printf(3, 4);

/* Discard the result of a check, so that the compiler does not warn of an unused check. */
static inline bool tap_ignore_result(bool held)
{
	return held;
}

static inline bool tap_compare(u64 got, u64 wanted, const char *file, int line, const char *text)
{
	return got == wanted ||
	       tap_report_failure(file, line, "%s is %llu, not %llu", text, (unsigned long long)got,
				  (unsigned long long)wanted);
}

static inline bool tap_check_range(u64 got, u64 low, u64 high, const char *file, int line,
				   const char *text)
{
	return (got >= low && got <= high) ||
	       tap_report_failure(file, line, "%s is %llu, not in %llu .. %llu", text,
				  (unsigned long long)got, (unsigned long long)low,
				  (unsigned long long)high);
}

static inline bool tap_check_text_equals(const char *got, const char *wanted, const char *file,
					 int line)
{
	return !strcmp(got, wanted) ||
	       tap_report_failure(file, line, "\"%s\" is not \"%s\"", got, wanted);
}

static inline bool tap_check_contains(const char *got, const char *part, const char *file, int line)
{
	return strstr(got, part) ||
	       tap_report_failure(file, line, "\"%s\" lacks \"%s\"", got, part);
}

#define CHECK(condition) CHECK_MSG(condition, "%s", #condition)
#define CHECK_MSG(condition, ...) \
	tap_ignore_result((condition) || tap_report_failure(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_EQ(got, wanted) \
	tap_compare((u64)(got), (u64)(wanted), __FILE__, __LINE__, #got)
#define CHECK_RANGE(got, low, high) \
	tap_check_range((u64)(got), (u64)(low), (u64)(high), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, wanted) tap_check_text_equals(got, wanted, __FILE__, __LINE__)
#define CHECK_CONTAINS(got, part) tap_check_contains(got, part, __FILE__, __LINE__)

#endif
