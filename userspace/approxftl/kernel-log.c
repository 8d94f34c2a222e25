// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <unistd.h>

#include "kernel-log.h"
#include "kernel-sentence.h"

/* Upper bound of the length of a record of the kernel log. */
#define RECORD_SIZE 8192

int kernel_log_open_at_end(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

bool kernel_log_read_target_error(int log, struct aftl_error *sentence)
{
	char record[RECORD_SIZE];
	bool found = false;
	ssize_t length;

	if (log < 0)
		return false;
	/* EPIPE: records were overwritten; the next read() returns the oldest remaining record. */
	while ((length = read(log, record, sizeof(record) - 1)) > 0 ||
	       (length < 0 && errno == EPIPE)) {
		record[max(length, (ssize_t)0)] = '\0';
		found |= kernel_log_get_target_message(record, sentence);
	}
	close(log);
	return found;
}
