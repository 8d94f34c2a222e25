// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "human-units.h"
#include "target-line.h"
#include "target-state.h"

#define CONTROL "/dev/mapper/control"

/* The answer of device-mapper to DM_TABLE_STATUS, for a table of one target. */
struct status_answer {
	union {
		struct dm_ioctl header;
		char bytes[16384];
	};
};

/* Ask device-mapper for the status line, which it returns without DM_STATUS_TABLE_FLAG. */
static bool query_target_status_line(dev_t device, struct status_answer *answer)
{
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	bool done;

	memset(answer, 0, sizeof(*answer));
	answer->header.version[0] = DM_VERSION_MAJOR;
	answer->header.data_size = sizeof(*answer);
	answer->header.data_start = sizeof(answer->header);
	/* The ioctl takes a device number in the encoding that stat() returns. */
	answer->header.dev = device;
	done = fd >= 0 && !ioctl(fd, DM_TABLE_STATUS, answer);
	if (fd >= 0)
		close(fd);
	return done && answer->header.target_count == 1;
}

bool target_state_read(const struct replay_target *target, struct target_status *status)
{
	static struct status_answer answer;
	const struct dm_target_spec *spec;
	struct aftl_error unused;
	struct stat found;

	if (!target->device || fstat(target->fd, &found) ||
	    !query_target_status_line(found.st_rdev, &answer))
		return false;
	answer.bytes[sizeof(answer) - 1] = '\0';
	spec = (const struct dm_target_spec *)(answer.bytes + answer.header.data_start);
	return !strcmp(spec->target_type, TARGET_NAME) &&
	       !target_status_parse(status, (const char *)(spec + 1), &unused);
}

void target_state_print_fullness(const char *path, const struct target_status *status, FILE *out)
{
	char share[HUMAN_SIZE];

	format_fixed_point(share, scaled_ratio(status->valid_units, status->units, 1000), 1, " %");
	fprintf(out, "%s: starts %s full, %llu of %llu logical pages hold data", path, share,
		(unsigned long long)status->valid_units, (unsigned long long)status->units);
	if (!status->valid_units) {
		fputs("; --simulate starts full: give it \"-- --fill none\", ", out);
		fputs("or create the device with \"fill random\"", out);
	}
	fputc('\n', out);
}

void target_state_warn_of_late_completions(const char *path, const struct target_status *status,
					   u64 late_ns, FILE *out)
{
	char late[HUMAN_SIZE];

	if (status->late_p99_ns <= late_ns)
		return;
	human_format_time_without_padding(late, status->late_p99_ns);
	fprintf(out, "this machine's timers were late: since its last reset %s completed ", path);
	fprintf(out, "1 %% of the requests more than %s after the model's time, ", late);
	fputs("and the percentiles are not those of the modelled device; ", out);
	fputs("timing scale:N slows the device down\n", out);
}

void print_note_about_simulated_fill(int count, char *const *arguments, FILE *out)
{
	for (int i = 0; i < count; i++) {
		if (!strncmp(arguments[i], "--fill", 6) || strstr(arguments[i], "fill=") ||
		    !strncmp(arguments[i], "--load", 6))
			return;
	}
	fputs("approxftl replay: note: the simulated device starts filled at random ", out);
	fputs("(zones start empty), a new device in the kernel starts empty: ", out);
	fputs("give \"-- --fill none\" here, or create that device with \"fill random\"\n", out);
}
