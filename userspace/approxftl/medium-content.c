// SPDX-License-Identifier: GPL-2.0-only
#include <blkid/blkid.h> /* header from libblkid-dev, which "make deps" installs */

#include "human-units.h"
#include "medium-content.h"
#include "core/base/random.h"
#include "uuid.h"

#define PART_BYTES 1048576

static int report_medium_content(const struct medium_file *file, const char *what,
				 struct aftl_error *error)
{
	return aftl_fail(error, -EEXIST, "%.80s %s; approxftl format --force overwrites it",
			 file->path, what);
}

/* A volume */

static int report_medium_volume(const struct medium_file *file, struct aftl_volume *volume,
				struct aftl_error *error)
{
	char what[64 + UUID_TEXT_SIZE] = "is a volume already, ";
	size_t used = strlen(what);

	uuid_format(aftl_volume_get_header(volume)->uuid, what + used);
	aftl_volume_free(volume);
	return report_medium_content(file, what, error);
}

static int check_medium_volume(struct medium_file *file, struct aftl_error *error)
{
	struct aftl_volume *volume;
	struct aftl_error cause;
	char what[128];
	int ret = file->medium.bytes ? aftl_volume_open(&volume, &file->medium, &cause) : -ENODATA;

	switch (ret) {
	case 0:
		return report_medium_volume(file, volume, error);
	case -ENODATA:
	case -EMEDIUMTYPE:
		return 0;
	case -EUCLEAN:
	case -EINVAL:
	case -ENOSPC:
		scnprintf(what, sizeof(what), "is a volume (%s)", cause.text);
		return report_medium_content(file, what, error);
	default:
		*error = cause;
		return ret;
	}
}

/* Signatures of libblkid */

static const char *get_blkid_value(blkid_probe probe, const char *name)
{
	const char *value;

	return blkid_probe_lookup_value(probe, name, &value, NULL) ? NULL : value;
}

static void append_formatted_text(char *text, size_t size, const char *format, const char *value)
{
	size_t used = strlen(text);

	if (value)
		scnprintf(text + used, size - used, format, value);
}

static int report_blkid_signature(const struct medium_file *file, blkid_probe probe,
				  struct aftl_error *error)
{
	const char *usage = get_blkid_value(probe, "USAGE");
	char what[128] = "holds something that libblkid knows";

	if (get_blkid_value(probe, "PTTYPE"))
		scnprintf(what, sizeof(what), "holds a partition table of type %.16s",
			  get_blkid_value(probe, "PTTYPE"));
	else if (get_blkid_value(probe, "TYPE"))
		scnprintf(what, sizeof(what), "holds %.20s (%.12s)", get_blkid_value(probe, "TYPE"),
			  usage ? usage : "signature");
	append_formatted_text(what, sizeof(what), ", label \"%.24s\"",
			      get_blkid_value(probe, "LABEL"));
	append_formatted_text(what, sizeof(what), ", UUID %.36s", get_blkid_value(probe, "UUID"));
	return report_medium_content(file, what, error);
}

/* Probe for each signature as wipefs does: at all offsets, even with a wrong checksum. */
static int probe_medium_signatures(const struct medium_file *file, blkid_probe probe,
				   struct aftl_error *error)
{
	int ret;

	if (blkid_probe_set_device(probe, file->fd, 0, (blkid_loff_t)file->size) ||
	    blkid_probe_enable_superblocks(probe, true) ||
	    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID |
					      BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
					      BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM) ||
	    blkid_probe_enable_partitions(probe, true) ||
	    blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT))
		return aftl_fail(error, -EIO, "%.160s cannot be probed by libblkid", file->path);
	errno = 0;
	ret = blkid_do_probe(probe);
	if (ret < 0)
		return aftl_fail(error, errno ? -errno : -EIO, "%.160s cannot be read: %s",
				 file->path, strerror(errno ? errno : EIO));
	return ret ? 0 : report_blkid_signature(file, probe, error);
}

static int check_blkid_signatures(const struct medium_file *file, struct aftl_error *error)
{
	blkid_probe probe = blkid_new_probe();
	int ret;

	if (!probe)
		return aftl_fail(error, -ENOMEM, "not enough memory to probe %.160s", file->path);
	ret = probe_medium_signatures(file, probe, error);
	blkid_free_probe(probe);
	return ret;
}

/* Zeroes */

u64 medium_compute_sampled_offset(u64 bytes, u32 index)
{
	u64 places = (bytes - 2ULL * MEDIUM_END_BYTES) / MEDIUM_PLACE_BYTES;

	return MEDIUM_END_BYTES + aftl_hash64_pair(bytes, index) % places * MEDIUM_PLACE_BYTES;
}

static bool are_all_bytes_zero(const u8 *bytes, u32 size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

static int report_nonzero_medium_byte(const struct medium_file *file, u64 offset,
				      struct aftl_error *error)
{
	char what[128];

	scnprintf(what, sizeof(what), "is not empty: there are bytes that nobody knows at %llu",
		  (unsigned long long)offset);
	return report_medium_content(file, what, error);
}

static int check_buffer_is_zero(struct medium_file *file, u64 offset, u32 size,
				struct aftl_error *error)
{
	static u8 bytes[PART_BYTES];
	int ret = file->medium.read(file, offset, bytes, size);

	if (ret)
		return aftl_fail(error, ret, "%.160s cannot be read: %s", file->path,
				 strerror(-ret));
	return are_all_bytes_zero(bytes, size) ? 0 :
						 report_nonzero_medium_byte(file, offset, error);
}

static int check_range_is_zero(struct medium_file *file, u64 from, u64 to, struct aftl_error *error)
{
	int ret = 0;

	while (!ret && from < to) {
		u32 part = (u32)min(to - from, (u64)PART_BYTES);

		ret = check_buffer_is_zero(file, from, part, error);
		from += part;
	}
	return ret;
}

static int check_sampled_ranges_are_zero(struct medium_file *file, struct aftl_error *error)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < MEDIUM_PLACES; i++)
		ret = check_buffer_is_zero(file, medium_compute_sampled_offset(file->size, i),
					   MEDIUM_PLACE_BYTES, error);
	return ret;
}

static int check_medium_is_zero(struct medium_file *file, struct aftl_error *error)
{
	u64 tail = file->size - min_t(u64, file->size, MEDIUM_END_BYTES);
	int ret = check_range_is_zero(file, 0, min_t(u64, file->size, MEDIUM_END_BYTES), error);

	if (!ret)
		ret = check_range_is_zero(file, max(tail, (u64)MEDIUM_END_BYTES), file->size,
					  error);
	if (!ret && tail >= MEDIUM_END_BYTES + MEDIUM_PLACE_BYTES)
		ret = check_sampled_ranges_are_zero(file, error);
	return ret;
}

int medium_check_empty(struct medium_file *file, struct aftl_error *error)
{
	int ret = check_medium_volume(file, error);

	if (!ret && file->size)
		ret = check_blkid_signatures(file, error);
	if (ret)
		return ret;
	file->moved = 0;
	progress_begin(&file->progress, PROGRESS_ON_TERMINAL, "bytes looked at",
		       min(file->size, 2ULL * MEDIUM_END_BYTES +
				       MEDIUM_PLACES * MEDIUM_PLACE_BYTES));
	ret = check_medium_is_zero(file, error);
	progress_end(&file->progress);
	return ret;
}
