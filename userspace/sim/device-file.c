// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include "device-file.h"
#include "file-claims.h"
#include "core/persist/snapshot.h"

static int write_device_file_bytes(void *host, const void *data, size_t bytes)
{
	errno = 0;
	return fwrite(data, 1, bytes, host) == bytes ? 0 : -(errno ? errno : EIO);
}

static int read_device_file_bytes(void *host, void *data, size_t bytes)
{
	return fread(data, 1, bytes, host) == bytes ? 0 : -EIO;
}

static int report_device_file_error(const char *path, const char *what, int code,
				    struct aftl_error *error)
{
	return aftl_fail(error, code, "%.120s: cannot %s: %s", path, what, strerror(-code));
}

static int report_snapshot_error(const char *path, int code, const struct aftl_error *cause,
				 struct aftl_error *error)
{
	return aftl_fail(error, code, "%.80s: %.150s", path, cause->text);
}

int device_file_save(struct aftl *ftl, const struct output_file *to, struct aftl_error *error)
{
	bool standard = !strcmp(to->temporary, "-");
	FILE *file = standard ? stdout : fopen(to->temporary, "wb");
	struct aftl_snapshot_sink sink = { .write = write_device_file_bytes, .host = file };
	struct aftl_error cause;
	int ret;

	if (!file)
		return report_device_file_error(to->path, "create", -errno, error);
	ret = aftl_save(ftl, &sink, &cause);
	if (ret)
		ret = ferror(file) ? report_device_file_error(to->path, "write", ret, error) :
				     report_snapshot_error(to->path, ret, &cause, error);
	if ((standard ? fflush(file) : fclose(file)) && !ret)
		ret = report_device_file_error(to->path, "write", -errno, error);
	return ret;
}

int device_file_load(struct aftl **out, const char *path, const struct aftl_host_ops *ops,
		     void *host, struct aftl_error *error)
{
	struct aftl_snapshot_source source = { .read = read_device_file_bytes };
	struct aftl_error cause;
	FILE *file;
	int ret = claim_input_file(path, error);

	if (ret)
		return ret;
	file = fopen(path, "rb");
	if (!file)
		return report_device_file_error(path, "open", -errno, error);
	source.host = file;
	ret = aftl_load(out, &source, ops, host, &cause);
	/* errno is still that of the read error: aftl_load() has only freed memory since. */
	if (ret && ferror(file))
		ret = report_device_file_error(path, "read", -errno, error);
	else if (ret)
		ret = report_snapshot_error(path, ret, &cause, error);
	fclose(file);
	return ret;
}
