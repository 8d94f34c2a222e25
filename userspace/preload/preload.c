// SPDX-License-Identifier: GPL-2.0-only
/*
 * Library preloaded into the program: it looks up in the rules each file that is opened for
 * writing.
 *
 * A tag belongs to the file, not to the descriptor, so close() need not be intercepted. The
 * library closes its own handle at once, so that a program that closes unknown descriptors does no
 * harm.
 */
#define _GNU_SOURCE
#include <approxftl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aftl-host.h"
#include "fortified.h"
#include "rules.h"

#define HOOK __attribute__((visibility("default")))

static struct rules rules;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* True while the library itself opens files: no rule applies to the library's own files. */
static __thread bool busy;

static bool does_verbosity_variable_equal(const char *how)
{
	const char *wanted = getenv(APPROXRUN_TALK);

	return wanted && !strcmp(wanted, how);
}

__printf(1, 2) static void print_message(const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(text) - 1)
		length = sizeof(text) - 2;
	text[length++] = '\n';
	if (write(STDERR_FILENO, text, length) < 0)
		errno = 0;
}

static void read_preload_rules(void)
{
	const char *path = getenv(APPROXRUN_RULES);
	char complaint[RULE_COMPLAINT];

	if (path && rules_read(&rules, path, complaint)) {
		rules_free(&rules);
		print_message("approxrun: %s", complaint);
	}
}

static int apply_rule_to_file(struct approxftl *library, const struct rule *rule, int fd)
{
	enum approxftl_class kind = rule->precise ? APPROXFTL_PRECISE : APPROXFTL_APPROXIMATE;
	int ret = approxftl_tag(library, fd, 0, APPROXFTL_TO_END, kind);

	if (!ret && rule->header)
		ret = approxftl_protect(library, fd, 0, rule->header);
	if (!ret && rule->remember)
		ret = approxftl_remember(library, fd);
	return ret;
}

static void tag_file_by_rule(const struct rule *rule, const char *path, int fd)
{
	struct approxftl *library;
	int ret = approxftl_open(path, 0, &library);

	if (!ret) {
		bool active = approxftl_active(library);

		ret = apply_rule_to_file(library, rule, fd);
		if (!ret && does_verbosity_variable_equal("verbose"))
			print_message("approxrun: %s: %s", path,
				      !active	    ? approxftl_reason(library) :
				      rule->precise ? "precise" :
						      "approximate");
		approxftl_close(library);
	}
	if (ret && !does_verbosity_variable_equal("quiet"))
		print_message("approxrun: %s: %s", path, approxftl_reason(NULL));
}

static void find_and_apply_rule(int fd)
{
	char link[64], path[PATH_MAX];
	const struct rule *rule;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return;
	path[length] = '\0';
	pthread_once(&once, read_preload_rules);
	rule = rules_find_match(&rules, path, program_invocation_short_name);
	if (rule)
		tag_file_by_rule(rule, path, fd);
}

/* Tag the file, and restore errno: the program must not notice the library. */
static int tag_file_after_open(int fd)
{
	int before = errno;

	if (fd < 0 || busy)
		return fd;
	busy = true;
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		find_and_apply_rule(fd);
	busy = false;
	errno = before;
	return fd;
}

static FILE *tag_opened_stream(FILE *stream)
{
	if (stream)
		tag_file_after_open(fileno(stream));
	return stream;
}

/* Find the C library's definition of a function, which the program meant to call. */
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

typedef int (*open_fn)(const char *path, int flags, ...);
typedef int (*openat_fn)(int folder, const char *path, int flags, ...);
typedef int (*open_2_fn)(const char *path, int flags);
typedef int (*openat_2_fn)(int folder, const char *path, int flags);
typedef int (*creat_fn)(const char *path, mode_t mode);
typedef FILE *(*fopen_fn)(const char *path, const char *mode);
typedef FILE *(*freopen_fn)(const char *path, const char *mode, FILE *stream);

/* Callers pass the argument mode only with flags that create a file. */
static mode_t get_open_mode(int flags, va_list rest)
{
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(rest, mode_t);
	return 0;
}

HOOK int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = get_open_mode(flags, rest);
	va_end(rest);
	return tag_file_after_open(NEXT("open", open_fn)(path, flags, mode));
}

HOOK int open64(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = get_open_mode(flags, rest);
	va_end(rest);
	return tag_file_after_open(NEXT("open64", open_fn)(path, flags, mode));
}

HOOK int openat(int folder, const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = get_open_mode(flags, rest);
	va_end(rest);
	return tag_file_after_open(NEXT("openat", openat_fn)(folder, path, flags, mode));
}

HOOK int openat64(int folder, const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = get_open_mode(flags, rest);
	va_end(rest);
	return tag_file_after_open(NEXT("openat64", openat_fn)(folder, path, flags, mode));
}

HOOK int __open_2(const char *path, int flags)
{
	return tag_file_after_open(NEXT("__open_2", open_2_fn)(path, flags));
}

HOOK int __open64_2(const char *path, int flags)
{
	return tag_file_after_open(NEXT("__open64_2", open_2_fn)(path, flags));
}

HOOK int __openat_2(int folder, const char *path, int flags)
{
	return tag_file_after_open(NEXT("__openat_2", openat_2_fn)(folder, path, flags));
}

HOOK int __openat64_2(int folder, const char *path, int flags)
{
	return tag_file_after_open(NEXT("__openat64_2", openat_2_fn)(folder, path, flags));
}

HOOK int creat(const char *path, mode_t mode)
{
	return tag_file_after_open(NEXT("creat", creat_fn)(path, mode));
}

HOOK int creat64(const char *path, mode_t mode)
{
	return tag_file_after_open(NEXT("creat64", creat_fn)(path, mode));
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	return tag_opened_stream(NEXT("fopen", fopen_fn)(path, mode));
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return tag_opened_stream(NEXT("fopen64", fopen_fn)(path, mode));
}

HOOK FILE *freopen(const char *path, const char *mode, FILE *stream)
{
	return tag_opened_stream(NEXT("freopen", freopen_fn)(path, mode, stream));
}

HOOK FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
	return tag_opened_stream(NEXT("freopen64", freopen_fn)(path, mode, stream));
}
