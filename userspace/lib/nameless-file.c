// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "nameless-file.h"

int nameless_file_create(struct aftl_error *error)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	scnprintf(path, sizeof(path), "%s/approxftl-XXXXXX", directory ? directory : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return aftl_fail(error, -errno, "%.120s: cannot create: %s", path, strerror(errno));
	unlink(path);
	return fd;
}

void nameless_file_print_path(int fd, char path[NAMELESS_FILE_PATH])
{
	scnprintf(path, NAMELESS_FILE_PATH, "/proc/self/fd/%d", fd);
}
