// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "unix-socket.h"

#define BACKLOG 16

static int report_socket_error(int fd, const char *path, int code, struct aftl_error *error)
{
	if (fd >= 0)
		close(fd);
	return aftl_fail(error, -code, "%.160s: %s", path, strerror(code));
}

static int open_socket(struct sockaddr_un *address, const char *path, struct aftl_error *error)
{
	int fd;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return aftl_fail(error, -ENAMETOOLONG,
				 "%.160s: a socket's path has at most %zu characters", path,
				 sizeof(address->sun_path) - 1);
	memcpy(address->sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? report_socket_error(fd, path, errno, error) : fd;
}

int unix_socket_connect(const char *path, struct aftl_error *error)
{
	struct sockaddr_un address;
	int fd = open_socket(&address, path, error);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return report_socket_error(fd, path, errno, error);
	return fd;
}

/* Remove the socket of a server that was killed; other types of files stay. */
static void remove_stale_socket(const char *path)
{
	struct aftl_error unused;
	int fd = unix_socket_connect(path, &unused);
	struct stat info;

	if (fd >= 0)
		close(fd);
	else if (fd == -ECONNREFUSED && !lstat(path, &info) && S_ISSOCK(info.st_mode))
		unlink(path);
}

int unix_socket_listen(const char *path, struct aftl_error *error)
{
	struct sockaddr_un address;
	int fd = open_socket(&address, path, error);
	mode_t mask;
	int code;

	if (fd < 0)
		return fd;
	remove_stale_socket(path);
	mask = umask(0177);
	code = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	umask(mask);
	if (!code && listen(fd, BACKLOG))
		code = errno;
	return code ? report_socket_error(fd, path, code, error) : fd;
}
