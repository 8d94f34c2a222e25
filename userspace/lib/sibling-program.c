// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sibling-program.h"

/* Find the directory of this program, without a trailing slash. */
static bool get_directory_of_this_program(char *directory, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", directory, size - 1);
	char *slash;

	if (length <= 0)
		return false;
	directory[length] = '\0';
	slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

void find_sibling_program(const char *name, char *path, size_t size)
{
	char own[PATH_MAX];

	if (!get_directory_of_this_program(own, sizeof(own)) ||
	    snprintf(path, size, "%s/%s", own, name) >= (int)size || access(path, X_OK))
		snprintf(path, size, "%s", name);
}
