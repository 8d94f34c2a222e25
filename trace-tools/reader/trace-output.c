// SPDX-License-Identifier: GPL-2.0-only
#include "trace-format.h"

/* Size of the write buffer. */
#define BUFFER 262144

static int report_trace_output_error(const struct trace_output *output, const char *what,
				     struct aftl_error *error)
{
	return aftl_fail(error, -EIO, "%.120s: %s: %s", output->name, what, strerror(errno));
}

static int close_output_file(struct trace_output *output, struct aftl_error *error)
{
	FILE *file = output->file;
	bool failed;

	output->file = NULL;
	if (!file)
		return 0;
	failed = fflush(file) || ferror(file);
	if (file != stdout && fclose(file))
		failed = true;
	return failed ? report_trace_output_error(output, "cannot write", error) : 0;
}

int trace_output_open(struct trace_output *output, struct aftl_error *error)
{
	int ret;

	if (!output->format->own_file) {
		output->file = strcmp(output->path, "-") ? fopen(output->path, "wb") : stdout;
		if (!output->file)
			return report_trace_output_error(output, "cannot create", error);
		setvbuf(output->file, NULL, _IOFBF, BUFFER);
	}
	ret = output->format->begin ? output->format->begin(output, error) : 0;
	if (ret && close_output_file(output, error))
		return ret;
	return ret;
}

int trace_output_write_request(struct trace_output *output, const struct trace_request *request,
			       struct aftl_error *error)
{
	int ret = output->format->put(output, request, error);

	if (ret)
		return ret;
	output->written++;
	if (output->file && ferror(output->file))
		return report_trace_output_error(output, "cannot write", error);
	return 0;
}

int trace_output_finish(struct trace_output *output, struct aftl_error *error)
{
	struct aftl_error other;
	int ret = output->format->finish ? output->format->finish(output, error) : 0;
	int closed = close_output_file(output, ret ? &other : error);

	return ret ? ret : closed;
}
