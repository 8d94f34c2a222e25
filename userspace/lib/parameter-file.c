// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include "file-claims.h"
#include "parameter-file.h"

/* Maximum size in bytes of all parameter files of a command; all parameters need a tenth of it. */
static __thread char text[1 << 16];
static __thread size_t used;

static int read_parameter_text(const char *path, struct aftl_error *error)
{
	FILE *file = fopen(path, "re");
	size_t length;
	int code;

	if (!file)
		return aftl_fail(error, -ENOENT, "%.120s: %s", path, strerror(errno));
	length = fread(text + used, 1, sizeof(text) - used - 1, file);
	code = ferror(file) ? errno : 0;
	fclose(file);
	text[used + length] = '\0';
	if (code)
		return aftl_fail(error, -EIO, "%.120s: %s", path, strerror(code));
	if (used + length == sizeof(text) - 1 || strlen(text + used) != length)
		return aftl_fail(error, -EINVAL, "%.120s is not a file of parameters", path);
	return 0;
}

int parameter_file_call_per_pair(const char *path,
				 int (*take)(void *context, const char *pair,
					     struct aftl_error *error),
				 void *context, struct aftl_error *error)
{
	int ret = claim_input_file(path, error);
	char *line, *next;

	if (!ret)
		ret = read_parameter_text(path, error);
	for (line = text + used; line && !ret; line = next) {
		char *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		used = next ? (size_t)(next - text) : used + strlen(line) + 1;
		/* Remove the blanks at both ends of a line. */
		end = line + strlen(line);
		while (end > line && strchr(" \t\r", end[-1]))
			*--end = '\0';
		line = line + strspn(line, " \t");
		if (*line && *line != '#')
			ret = take(context, line, error);
	}
	return ret;
}

void parameter_file_reset_text_buffer(void)
{
	used = 0;
}
