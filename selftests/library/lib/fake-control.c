// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implements the ioctls of <linux/approxftl.h> without a kernel.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/approxftl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control-node.h"
#include "fake-control.h"

#define LAST_BYTE (UINT64_MAX / 2)

struct fake_control fake_control = { .scope = APPROXFTL_NONE };

void reset_fake_control_device(void)
{
	fake_control = (struct fake_control){ .scope = APPROXFTL_NONE };
}

static void *convert_address_to_pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void log_fake_call(const char *what, int fd, uint64_t offset, uint64_t length, uint32_t kind)
{
	const char *path = getenv("FAKE_CONTROL_LOG");
	struct stat status = { 0 };
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	if (fd >= 0)
		fstat(fd, &status);
	fprintf(file, "%s %llu %llu %lld %u\n", what, (unsigned long long)status.st_ino,
		(unsigned long long)offset, (long long)length, kind);
	fclose(file);
}

static struct fake_file *fake_file_of_fd(int fd)
{
	struct fake_file *file = fake_control.files;
	struct stat status;

	if (fstat(fd, &status))
		return NULL;
	while (file->number && (file->number != status.st_ino || file->device != status.st_dev))
		file++;
	file->number = status.st_ino;
	file->device = status.st_dev;
	return file;
}

static void add_tagged_range(struct fake_file *file, uint64_t first, uint64_t last, uint32_t kind)
{
	uint32_t at = file->count++;

	while (at && file->ranges[at - 1].first > first) {
		file->ranges[at] = file->ranges[at - 1];
		at--;
	}
	file->ranges[at] = (struct fake_range){ first, last, kind };
}

/* Remove the bytes [first, last) from the file's tagged ranges, before they are tagged anew. */
static void cut_tagged_range(struct fake_file *file, uint64_t first, uint64_t last)
{
	struct fake_file old = *file;
	uint32_t i;

	file->count = 0;
	for (i = 0; i < old.count; i++) {
		const struct fake_range *range = &old.ranges[i];

		if (range->first < first)
			add_tagged_range(file, range->first, range->last < first ? range->last :
					 first - 1, range->kind);
		if (range->last > last)
			add_tagged_range(file, range->first > last ? range->first : last + 1,
					 range->last, range->kind);
	}
}

static int answer_tag_ioctl(struct approxftl_range *range, uint32_t kind)
{
	struct fake_file *file = fake_file_of_fd(range->fd);
	uint64_t last = LAST_BYTE;

	if (!file)
		return -EBADF;
	if ((fcntl(range->fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		range->reason = APPROXFTL_REASON_READ_ONLY;
		return -EBADF;
	}
	if (!range->length || range->offset > LAST_BYTE)
		return -EINVAL;
	if (range->length != APPROXFTL_TO_END)
		last = range->offset + range->length - 1;
	cut_tagged_range(file, range->offset, last);
	if (kind != APPROXFTL_NONE)
		add_tagged_range(file, range->offset, last, kind);
	log_fake_call(kind == APPROXFTL_NONE ? "untag" : "tag", range->fd, range->offset,
		      range->length, kind);
	return 0;
}

static int answer_tag_fd_ioctl(struct approxftl_tag_fd *whole)
{
	struct approxftl_range range = {
		.fd = whole->fd, .length = APPROXFTL_TO_END,
	};
	int ret = answer_tag_ioctl(&range, whole->class);

	whole->reason = range.reason;
	fake_control.whole_files += !ret;
	return ret;
}

static uint32_t quality_level_of_kind(uint32_t kind)
{
	return kind == APPROXFTL_LEVEL_2 ? 2 : kind == APPROXFTL_LEVEL_3 ? 3 : kind;
}

static uint32_t kind_without_level(uint32_t kind)
{
	return kind > APPROXFTL_NONE ? APPROXFTL_APPROXIMATE : kind;
}

static int answer_query_ioctl(struct approxftl_query *query)
{
	const struct fake_file *file = fake_file_of_fd(query->fd);
	struct approxftl_extent *out = convert_address_to_pointer(query->extents);
	uint32_t room = fake_control.most && fake_control.most < query->room ?
				fake_control.most : query->room;
	uint32_t i;

	query->count = 0;
	for (i = 0; i < file->count; i++) {
		const struct fake_range *range = &file->ranges[i];

		if (range->last < query->cursor)
			continue;
		if (query->count == room) {
			query->cursor = range->first;
			return 0;
		}
		out[query->count++] = (struct approxftl_extent){
			.offset = range->first,
			.length = range->last == LAST_BYTE ? APPROXFTL_TO_END :
							     range->last - range->first + 1,
			.class = kind_without_level(range->kind),
			.level = quality_level_of_kind(range->kind),
		};
	}
	query->cursor = APPROXFTL_TO_END;
	return 0;
}

static uint32_t class_at_offset(const struct fake_file *file, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < file->count; i++)
		if (file->ranges[i].first <= offset &&
		    file->ranges[i].last >= offset + FAKE_UNIT - 1)
			return file->ranges[i].kind;
	return APPROXFTL_PRECISE;
}

static struct approxftl_unit fake_unit_at_offset(const struct fake_file *file, uint64_t offset)
{
	struct approxftl_unit unit = { .offset = offset, .device_offset = offset + (1 << 20) };

	unit.class = kind_without_level(class_at_offset(file, offset));
	if (class_at_offset(file, offset) > APPROXFTL_NONE)
		unit.flags = class_at_offset(file, offset) == APPROXFTL_LEVEL_2 ?
				     APPROXFTL_UNIT_LEVEL_2 : APPROXFTL_UNIT_LEVEL_3;
	if (unit.class == APPROXFTL_APPROXIMATE) {
		unit.flips = fake_control.flips;
		unit.raw = 2 * fake_control.flips;
	}
	return unit;
}

static int answer_stored_ioctl(struct approxftl_stored *stored)
{
	const struct fake_file *file = fake_file_of_fd(stored->fd);
	struct approxftl_unit *out = convert_address_to_pointer(stored->units);
	uint32_t room = fake_control.most && fake_control.most < stored->room ?
				fake_control.most : stored->room;
	struct stat status;
	uint64_t end;

	if (fake_control.elsewhere) {
		stored->reason = APPROXFTL_REASON_DEVICE;
		return -EOPNOTSUPP;
	}
	fstat(stored->fd, &status);
	end = status.st_size;
	if (stored->length != APPROXFTL_TO_END && stored->cursor + stored->length < end)
		end = stored->cursor + stored->length;
	stored->cursor = stored->cursor / FAKE_UNIT * FAKE_UNIT;
	stored->unit_bytes = FAKE_UNIT;
	while (stored->count < room && stored->cursor < end) {
		out[stored->count++] = fake_unit_at_offset(file, stored->cursor);
		stored->cursor += FAKE_UNIT;
	}
	if (stored->cursor >= end)
		stored->cursor = APPROXFTL_TO_END;
	return 0;
}

static void copy_text_argument(char *to, uint64_t address, uint32_t length)
{
	if (length)
		memcpy(to, convert_address_to_pointer(address), length);
	to[length] = '\0';
}

static int answer_scope_ioctl(struct approxftl_scope *scope)
{
	scope->previous = fake_control.scope;
	fake_control.scope = scope->class;
	copy_text_argument(fake_control.scope_label, scope->label, scope->label_length);
	log_fake_call("scope", -1, 0, 0, scope->class);
	return 0;
}

static int write_pwritev_data(struct approxftl_pwritev *wanted)
{
	const struct iovec *pieces = convert_address_to_pointer(wanted->iov);
	ssize_t written = pwritev(wanted->fd, pieces, wanted->iov_count, wanted->offset);
	struct approxftl_range range = { .fd = wanted->fd, .offset = wanted->offset };

	if (written < 0)
		return -errno;
	wanted->written = written;
	range.length = written;
	return answer_tag_ioctl(&range, wanted->class);
}

static int answer_caps_ioctl(struct approxftl_caps *caps)
{
	caps->version = APPROXFTL_VERSION;
	caps->can = 0x7f;
	caps->may = 0x57;
	caps->max_files = 65536;
	caps->max_ranges = 262144;
	caps->devices = 1;
	return 0;
}

static int answer_watch_ioctl(struct approxftl_watch *watch)
{
	fake_control.watched = watch->on;
	log_fake_call(watch->on ? "watch" : "unwatch", watch->fd, 0, 0, 0);
	return 0;
}

static int answer_note_ioctl(struct approxftl_note *note)
{
	copy_text_argument(fake_control.note, note->label, note->length);
	return 0;
}

/* Return the address of the reason field in @argument of the ioctl with the given number. */
static uint32_t *reason_field_of_ioctl(unsigned long number, void *argument)
{
	static uint32_t nowhere;

	switch (number) {
	case APPROXFTL_TAG:
	case APPROXFTL_DEVICE_TAG:
		return &((struct approxftl_range *)argument)->reason;
	case APPROXFTL_TAG_FD:
		return &((struct approxftl_tag_fd *)argument)->reason;
	case APPROXFTL_PWRITEV:
		return &((struct approxftl_pwritev *)argument)->reason;
	case APPROXFTL_STORED:
		return &((struct approxftl_stored *)argument)->reason;
	case APPROXFTL_WATCH:
		return &((struct approxftl_watch *)argument)->reason;
	default:
		return &nowhere;
	}
}

static int answer_ioctl(unsigned long number, void *argument)
{
	switch (number) {
	case APPROXFTL_CAPS:
		return answer_caps_ioctl(argument);
	case APPROXFTL_TAG:
		return answer_tag_ioctl(argument, ((struct approxftl_range *)argument)->class);
	case APPROXFTL_TAG_FD:
		return answer_tag_fd_ioctl(argument);
	case APPROXFTL_QUERY:
		return answer_query_ioctl(argument);
	case APPROXFTL_SCOPE:
		return answer_scope_ioctl(argument);
	case APPROXFTL_PWRITEV:
		return write_pwritev_data(argument);
	case APPROXFTL_STORED:
		return answer_stored_ioctl(argument);
	case APPROXFTL_WATCH:
		return answer_watch_ioctl(argument);
	case APPROXFTL_NOTE:
		return answer_note_ioctl(argument);
	default:
		return -ENOTTY;
	}
}

static bool must_refuse_ioctl(unsigned long number)
{
	if (!fake_control.refuse || number == APPROXFTL_CAPS)
		return false;
	return !fake_control.refuse_number || fake_control.refuse_number == number;
}

int aftl_lib_device_open(void)
{
	int fd;

	if (fake_control.missing)
		return -fake_control.missing;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int aftl_lib_device_ioctl(int control, unsigned long number, void *argument)
{
	(void)control;
	fake_control.calls++;
	if (!must_refuse_ioctl(number))
		return answer_ioctl(number, argument);
	*reason_field_of_ioctl(number, argument) = fake_control.reason;
	return -fake_control.refuse;
}
