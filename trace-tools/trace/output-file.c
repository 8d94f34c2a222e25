// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output-file.h"

static bool is_standard(const char *path)
{
	return !strcmp(path, "-");
}

/* Devices and pipes are written as they are. */
static bool is_special(const char *path)
{
	struct stat state;

	return !stat(path, &state) && !S_ISREG(state.st_mode);
}

int output_file_begin(struct output_file *file, const char *path, bool force,
		      struct aftl_error *error)
{
	int length;

	*file = (struct output_file){ .path = path };
	if (is_standard(path) || is_special(path)) {
		scnprintf(file->temporary, sizeof(file->temporary), "%s", path);
		return 0;
	}
	if (!force && !access(path, F_OK))
		return aftl_fail(error, -EEXIST, "%.120s is there already; --force replaces it",
				 path);
	length = snprintf(file->temporary, sizeof(file->temporary), "%s.%d.part", path,
			  (int)getpid());
	if (length >= (int)sizeof(file->temporary))
		return aftl_fail(error, -ENAMETOOLONG, "%.120s: the name is too long", path);
	return 0;
}

int output_file_commit(struct output_file *file, struct aftl_error *error)
{
	if (!strcmp(file->temporary, file->path))
		return 0;
	if (!rename(file->temporary, file->path))
		return 0;
	aftl_fail(error, -errno, "%.120s: cannot rename to it: %s", file->path, strerror(errno));
	unlink(file->temporary);
	return -EIO;
}

void output_file_drop(struct output_file *file)
{
	if (strcmp(file->temporary, file->path) != 0)
		unlink(file->temporary);
}
