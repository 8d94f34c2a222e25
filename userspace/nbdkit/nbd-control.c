// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nbd-control.h"
#include "unix-socket.h"

/* Buffer size for a request line, longer than any valid one */
#define LINE 80
/* Seconds after which a client that neither writes nor reads loses its connection. */
#define PATIENCE_S 2

static u32 get_default_quality_level(const struct nbd_device *device)
{
	return device->line.class == AFTL_APPROX ? AFTL_APPROX : AFTL_PRECISE;
}

static void tag_nbd_range(struct nbd_device *device, u64 offset, u64 length, u32 level)
{
	u64 unit_bytes = device->geo->unit_bytes;
	u64 end = offset + min(length, device->bytes - offset);
	u64 first, last;

	if (level) {
		first = DIV_ROUND_UP(offset, unit_bytes);
		last = end == device->bytes ? device->geo->units : end / unit_bytes;
	} else {
		first = offset / unit_bytes;
		last = DIV_ROUND_UP(end, unit_bytes);
	}
	nbd_device_lock_and_advance(device);
	for (; first < last; first++)
		device->pages[first] = (u8)((device->pages[first] & ~NBD_PAGE_LEVEL) | level);
	nbd_device_unlock(device);
}

static void answer_tag_request(struct nbd_device *device, const char *word, u64 offset, u64 length,
			       FILE *out)
{
	u32 level = get_default_quality_level(device);

	if (strcmp(word, "default") != 0) {
		if (strlen(word) != 1 || *word < '0' || *word > '0' + NBD_PAGE_LEVEL) {
			fprintf(out, "error: level %s: it is 0 to %d\n", word, NBD_PAGE_LEVEL);
			return;
		}
		level = (u32)(*word - '0');
	}
	if (offset >= device->bytes) {
		fprintf(out, "error: byte %llu is beyond the device's %llu\n",
			(unsigned long long)offset, (unsigned long long)device->bytes);
		return;
	}
	tag_nbd_range(device, offset, length, level);
	fputs("ok\n", out);
}

static void answer_query_of_tag_ranges(struct nbd_device *device, FILE *out)
{
	u64 unit_bytes = device->geo->unit_bytes;
	u64 units = DIV_ROUND_UP(device->bytes, unit_bytes);
	u64 unit = 0;

	nbd_device_lock_and_advance(device);
	while (unit < units) {
		u64 first = unit;
		u32 level = device->pages[first] & NBD_PAGE_LEVEL;

		while (unit < units && (device->pages[unit] & NBD_PAGE_LEVEL) == level)
			unit++;
		if (level) {
			unsigned long long offset = first * unit_bytes;
			unsigned long long end = min(unit * unit_bytes, device->bytes);

			fprintf(out, "%llu %llu %u\n", offset, end - offset, level);
		}
	}
	nbd_device_unlock(device);
	fputs("ok\n", out);
}

static void answer_request_line(struct nbd_device *device, const char *line, FILE *out)
{
	char word[LINE];
	unsigned long long offset, length;
	int end = -1;

	if (sscanf(line, "tag %79s %llu %llu%n", word, &offset, &length, &end) == 3 &&
	    end >= 0 && !line[end])
		answer_tag_request(device, word, offset, length, out);
	else if (!strcmp(line, "list"))
		answer_query_of_tag_ranges(device, out);
	else
		fputs("error: requests are \"tag LEVEL OFFSET LENGTH\" and \"list\"\n", out);
}

/* Read a request line; return false if its end does not arrive. */
static bool read_request_line(int fd, char line[LINE])
{
	size_t used = 0;

	while (used < LINE - 1) {
		ssize_t count = read(fd, line + used, LINE - 1 - used);
		char *end;

		if (count <= 0)
			return false;
		used += (size_t)count;
		line[used] = '\0';
		end = strchr(line, '\n');
		if (end) {
			*end = '\0';
			return true;
		}
	}
	return true;
}

static void answer_client_of_control_socket(struct nbd_device *device, int fd)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	char line[LINE];
	char *text = NULL;
	size_t size = 0;
	size_t sent = 0;
	FILE *out;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!read_request_line(fd, line))
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	answer_request_line(device, line, out);
	if (fclose(out))
		size = 0;
	while (sent < size) {
		ssize_t count = send(fd, text + sent, size - sent, MSG_NOSIGNAL);

		if (count <= 0)
			break;
		sent += (size_t)count;
	}
	free(text);
}

static void *serve_control_connections(void *context)
{
	const struct nbd_control *control = context;
	int fd;

	while ((fd = accept(control->fd, NULL, NULL)) >= 0 || errno == ECONNABORTED ||
	       errno == EINTR || errno == EMFILE) {
		if (fd < 0)
			continue;
		answer_client_of_control_socket(control->device, fd);
		close(fd);
	}
	return NULL;
}

int nbd_control_open(struct nbd_control *control, struct nbd_device *device, const char *path,
		     struct aftl_error *error)
{
	int fd = unix_socket_listen(path, error);

	if (fd < 0)
		return fd;
	*control = (struct nbd_control){ .device = device, .path = path, .fd = fd };
	return 0;
}

int nbd_control_start(struct nbd_control *control)
{
	int ret = 0;

	if (control->path)
		ret = pthread_create(&control->thread, NULL, serve_control_connections, control);
	control->running = control->path && !ret;
	return -ret;
}

void nbd_control_close(struct nbd_control *control)
{
	if (!control->path)
		return;
	unlink(control->path);
	shutdown(control->fd, SHUT_RDWR);
	if (control->running)
		pthread_join(control->thread, NULL);
	close(control->fd);
}
