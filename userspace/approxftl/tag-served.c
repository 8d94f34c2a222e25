// SPDX-License-Identifier: GPL-2.0-only
/* Set and list the tags of a device that "approxftl serve" serves, by its control socket. */
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "tag-verbs.h"
#include "unix-socket.h"

/* "approxftl serve" prints addresses that begin with this text. */
#define ADDRESS "nbd+unix:///?socket="

bool is_server_address(const char *word)
{
	return !strncmp(word, ADDRESS, strlen(ADDRESS));
}

/* Return the server's answer without the final "ok", to be freed; NULL after an error message. */
static char *send_request_to_server(const struct device_options *options, const char *address,
				    const char *request)
{
	char path[4096];
	struct aftl_error error;
	char *answer = NULL;
	size_t used = 0;
	ssize_t count;
	int fd;

	scnprintf(path, sizeof(path), "%s.tags", address + strlen(ADDRESS));
	fd = unix_socket_connect(path, &error);
	if (fd < 0) {
		complain_as(options->verb, "%s; is the device served by approxftl serve?",
			    error.text);
		return NULL;
	}
	count = write(fd, request, strlen(request));
	do {
		answer = memory_resize(answer, used + 4096, 1);
		count = count < 0 ? count : read(fd, answer + used, 4095);
		used += (size_t)max(count, (ssize_t)0);
	} while (count > 0);
	close(fd);
	answer[used] = '\0';
	if (used >= 3 && !strcmp(answer + used - 3, "ok\n") &&
	    (used == 3 || answer[used - 4] == '\n')) {
		answer[used - 3] = '\0';
		return answer;
	}
	answer[strcspn(answer, "\n")] = '\0';
	complain_as(options->verb, "%s: %s", address,
		    strncmp(answer, "error: ", 7) ? "the server sent no answer" : answer + 7);
	free(answer);
	return NULL;
}

int tag_range_of_nbd_device(const struct device_options *options, int level, off_t offset,
			    off_t length)
{
	char request[128];
	char number[16];
	char *answer;

	scnprintf(number, sizeof(number), "%d", level);
	scnprintf(request, sizeof(request), "tag %s %llu %llu\n",
		  level < 0 ? "default" : number, (unsigned long long)offset,
		  length == APPROXFTL_TO_END ? U64_MAX : (unsigned long long)length);
	answer = send_request_to_server(options, options->words[0], request);
	free(answer);
	return answer ? 0 : -EIO;
}

int query_tags_of_nbd_device(const struct device_options *options, const char *address,
			     struct approxftl_extent **extents)
{
	char *answer = send_request_to_server(options, address, "list\n");
	const char *line = answer;
	int count = 0;

	*extents = NULL;
	if (!answer)
		return -EIO;
	for (; *line; line = strchr(line, '\n') + 1) {
		struct approxftl_extent one = { .kind = APPROXFTL_APPROXIMATE };
		long long offset, length;

		if (sscanf(line, "%lld %lld %u\n", &offset, &length, &one.level) != 3)
			break;
		one.offset = offset;
		one.length = length;
		*extents = memory_resize(*extents, (size_t)count + 1, sizeof(one));
		(*extents)[count++] = one;
	}
	free(answer);
	return count;
}
