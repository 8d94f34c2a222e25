// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <unistd.h>

#include "core/persist/snapshot.h"
#include "nbd-volume.h"

static u32 get_unit_bytes_of_volume(const struct nbd_volume *volume)
{
	return aftl_volume_geometry(volume->volume)->unit_bytes;
}

static u8 *get_buffered_page_data(const struct nbd_volume *volume, u32 tag)
{
	return volume->data + (size_t)tag * get_unit_bytes_of_volume(volume);
}

/* Store the first error of the medium: after a lost change the volume must not change any more. */
static void set_volume_error(struct nbd_volume *volume, int ret)
{
	if (!ret || volume->error)
		return;
	volume->error = ret;
	fprintf(stderr, "nbdkit: %s: %s; only reads succeed from now on\n", volume->file.path,
		strerror(-ret));
}

static void store_device_time_in_volume(struct nbd_volume *volume)
{
	const struct aftl *ftl = volume->device->ftl;

	aftl_volume_set_time(volume->volume, aftl_device_time_ns(ftl), aftl_get_device_age_ns(ftl),
			     aftl_get_policy_state_word(ftl));
}

static void write_volume_page(struct nbd_volume *volume, u64 offset, void *page)
{
	if (!volume->error)
		set_volume_error(volume,
				 medium_file_transfer_bytes(&volume->file, offset, page,
							    get_unit_bytes_of_volume(volume),
							    true));
}

/* The following functions maintain the persisted write buffer (PLP) in the volume. */

static void persist_buffered_page(struct nbd_volume *volume, u32 tag)
{
	struct nbd_tag *at = &volume->tags[tag];
	u64 offset = 0;
	int ret = aftl_volume_persist_unit(volume->volume, tag, &at->entry, &offset);

	volume->waiting -= at->waiting;
	at->waiting = ret == -EAGAIN;
	volume->waiting += at->waiting;
	if (!ret)
		write_volume_page(volume, offset, get_buffered_page_data(volume, tag));
	else if (ret != -EAGAIN)
		set_volume_error(volume, ret);
}

/* A commit frees PLP slots for the buffered pages that wait for one. */
static void persist_pages_awaiting_plp_slots(struct nbd_volume *volume)
{
	u32 tags = aftl_count_buffer_tags(volume->device->ftl);

	if (!volume->waiting || volume->error)
		return;
	set_volume_error(volume, aftl_volume_commit(volume->volume));
	for (u32 i = 0; i < tags && !volume->error; i++)
		if (volume->tags[i].waiting)
			persist_buffered_page(volume, i);
}

static void persist_write_if_volume_has_plp(struct nbd_volume *volume, u32 tag)
{
	struct aftl_buffered_lpn what;

	if (volume->error || !nbd_volume_has_plp_entries(volume) ||
	    !aftl_get_buffered_write(volume->device->ftl, tag, &what))
		return;
	volume->tags[tag].persisted = true;
	volume->tags[tag].entry = (struct aftl_plp_entry){ .what = what };
	persist_buffered_page(volume, tag);
}

bool nbd_volume_has_plp_entries(const struct nbd_volume *volume)
{
	return aftl_volume_geometry(volume->volume)->plp_entries;
}

void nbd_volume_accept_page(struct nbd_volume *volume, u32 tag, const void *page)
{
	memcpy(get_buffered_page_data(volume, tag), page, get_unit_bytes_of_volume(volume));
	persist_write_if_volume_has_plp(volume, tag);
}

int nbd_volume_commit(struct nbd_volume *volume)
{
	persist_pages_awaiting_plp_slots(volume);
	if (!volume->error) {
		store_device_time_in_volume(volume);
		set_volume_error(volume, aftl_volume_commit(volume->volume));
	}
	return volume->error ? -EIO : 0;
}

int nbd_volume_read_page(struct nbd_volume *volume, const struct aftl_read *read, u32 first,
			 void *bytes, u32 count)
{
	u64 offset;

	if (read->source == AFTL_SOURCE_BUFFER) {
		memcpy(bytes, get_buffered_page_data(volume, read->tag) + first, count);
		return 0;
	}
	offset = aftl_volume_data_offset(volume->volume, read->ppn) + first;
	return medium_file_transfer_bytes(&volume->file, offset, bytes, count, false) ? -EIO : 0;
}

/* Callbacks of the FTL */

static struct nbd_volume *host_to_nbd_volume(void *host)
{
	return ((struct nbd_device *)host)->volume;
}

/* Before flash pages are overwritten, commit the relocation of the data that were on them. */
static void commit_relocation_before_overwrite(struct nbd_volume *volume, aftl_ppn_t first,
					       u32 ppns, bool bad)
{
	if (volume->error)
		return;
	store_device_time_in_volume(volume);
	if (aftl_volume_awaits_plp_slots(volume->volume, bad))
		persist_pages_awaiting_plp_slots(volume);
	if (!volume->error)
		set_volume_error(volume, aftl_volume_commit_if_changed(volume->volume));
	if (!volume->error)
		aftl_volume_free_remap_slots_of_ppns(volume->volume, first, ppns);
}

static void commit_relocation_before_reprogram(struct nbd_volume *volume, aftl_ppn_t ppn)
{
	if (aftl_get_reprogram_count_of_page(aftl_ppn_attr(aftl_media(volume->device->ftl), ppn)))
		commit_relocation_before_overwrite(volume, ppn, 1, false);
}

static void write_unit_to_volume(void *host, u32 tag, aftl_lpn_t lpn __maybe_unused, aftl_ppn_t ppn)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);

	commit_relocation_before_reprogram(volume, ppn);
	write_volume_page(volume, aftl_volume_data_offset(volume->volume, ppn),
			  get_buffered_page_data(volume, tag));
}

static void copy_unit_in_volume(void *host, aftl_lpn_t lpn __maybe_unused, aftl_ppn_t from,
				aftl_ppn_t to)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);

	commit_relocation_before_reprogram(volume, to);
	if (volume->error)
		return;
	set_volume_error(volume,
			 medium_file_transfer_bytes(&volume->file,
						    aftl_volume_data_offset(volume->volume, from),
						    volume->page, get_unit_bytes_of_volume(volume),
						    false));
	write_volume_page(volume, aftl_volume_data_offset(volume->volume, to), volume->page);
}

static void record_program_in_nbd_volume(void *host, aftl_ppn_t first)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);
	const struct aftl *ftl = volume->device->ftl;
	struct aftl_spare spare;

	if (volume->error)
		return;
	aftl_init_spare_entry(&spare, ftl, first);
	set_volume_error(volume,
			 aftl_volume_record_program(volume->volume,
						    aftl_page_of_ppn(aftl_media(ftl), first),
						    &spare));
}

static void persist_page_that_cannot_be_programmed(void *host, u32 tag)
{
	persist_write_if_volume_has_plp(host_to_nbd_volume(host), tag);
}

static void release_plp_entry_of_buffer_tag(void *host, u32 tag)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);
	struct nbd_tag *at = &volume->tags[tag];
	struct aftl_buffered_lpn what;

	/* Keep the PLP entry of a page that cannot be programmed: the next load needs it. */
	if (at->persisted && !aftl_get_buffered_write(volume->device->ftl, tag, &what)) {
		volume->waiting -= at->waiting;
		at->waiting = false;
		aftl_volume_release_plp_entry(volume->volume, tag);
	}
	at->persisted = false;
}

static void record_unmap_in_volume(void *host, aftl_lpn_t first, u32 units)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);

	nbd_device_unmap_lpns(host, first, units);
	if (!volume->error)
		set_volume_error(volume, aftl_volume_record_discard(volume->volume, first, units));
}

static void record_erase_in_volume(void *host, aftl_ppn_t first, u32 ppns)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);
	u32 block = from_ppn(first) / ppns;
	struct aftl_erase_entry entry;

	commit_relocation_before_overwrite(volume, first, ppns, false);
	aftl_erase_entry_describe_block(&entry, volume->device->ftl, block);
	if (!volume->error)
		set_volume_error(volume, aftl_volume_record_erase(volume->volume, block, &entry));
}

static void record_retired_volume_blocks(void *host, u32 first, u32 blocks)
{
	struct nbd_volume *volume = host_to_nbd_volume(host);
	u32 ppns = aftl_volume_geometry(volume->volume)->block_ppns;
	struct aftl_erase_entry entry;

	for (; blocks; blocks--, first++) {
		commit_relocation_before_overwrite(volume, to_ppn(first * ppns), ppns, true);
		aftl_erase_entry_describe_block(&entry, volume->device->ftl, first);
		if (!volume->error)
			set_volume_error(volume, aftl_volume_record_retirement(volume->volume,
									       first, &entry));
	}
}

const struct aftl_host_ops nbd_volume_ops = {
	NBD_DEVICE_OPS,
	.unmap = record_unmap_in_volume,
	.program = write_unit_to_volume,
	.copy = copy_unit_in_volume,
	.programmed = record_program_in_nbd_volume,
	.unstored = persist_page_that_cannot_be_programmed,
	.release = release_plp_entry_of_buffer_tag,
	.erase = record_erase_in_volume,
	.retire = record_retired_volume_blocks,
};

/* Opening and closing */

int nbd_volume_open(struct nbd_volume *volume, const char *path, struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = medium_file_open(&volume->file, path, true, error);

	if (ret)
		return ret;
	ret = aftl_volume_open(&volume->volume, &volume->file.medium, &cause);
	if (ret == -ENODATA || ret == -EMEDIUMTYPE)
		return aftl_fail(error, ret, "%.120s; to make a volume: approxftl format %.100s",
				 cause.text, path);
	if (ret)
		*error = cause;
	return ret;
}

/* Refill the write buffer with the pages that the volume had persisted before a power failure. */
static int restore_volume_buffer(struct nbd_volume *volume, struct aftl_error *error)
{
	struct aftl *ftl = volume->device->ftl;
	struct aftl_buffered_lpn what;
	u64 offset = 0;
	u32 slot = 0;

	while (aftl_volume_get_next_persisted_lpn(volume->volume, &slot, &what, &offset)) {
		u32 tag = aftl_restore_buffered_write(ftl, &what);

		if (tag >= aftl_count_buffer_tags(ftl))
			return aftl_fail(error, -EUCLEAN, "%.120s: the write buffer is damaged",
					 volume->file.path);
		if (medium_file_transfer_bytes(&volume->file, offset,
					       get_buffered_page_data(volume, tag),
					       get_unit_bytes_of_volume(volume), false))
			return aftl_fail(error, -EIO, "%.120s: the write buffer cannot be read",
					 volume->file.path);
		volume->device->pages[from_lpn(what.lpn)] |= NBD_PAGE_DATA;
		volume->tags[tag].persisted = true;
		aftl_volume_set_plp_slot_of_tag(volume->volume, slot, tag);
	}
	return 0;
}

static int alloc_volume_memory(struct nbd_volume *volume, struct aftl_error *error)
{
	u32 tags = aftl_count_buffer_tags(volume->device->ftl);

	volume->tags = calloc(tags, sizeof(*volume->tags));
	volume->data = calloc(tags, get_unit_bytes_of_volume(volume));
	volume->page = calloc(1, get_unit_bytes_of_volume(volume));
	return volume->tags && volume->data && volume->page ? 0 :
		       aftl_fail(error, -ENOMEM, "not enough memory for %u buffered pages", tags);
}

/* Retire erase blocks whose data the kernel's store has remapped after a failed write. */
static void retire_worn_volume_blocks(struct nbd_volume *volume)
{
	u32 block = aftl_volume_find_next_remapped_block(volume->volume, 0);

	for (; block != U32_MAX;
	     block = aftl_volume_find_next_remapped_block(volume->volume, block + 1))
		if (aftl_fail_block(volume->device->ftl, block))
			set_volume_error(volume, -EUCLEAN);
}

int nbd_volume_load(struct nbd_volume *volume, struct nbd_device *device,
		    struct aftl_error *error)
{
	const struct target_line *line = &device->line;
	struct aftl_recovery recovery;
	int ret;

	volume->device = device;
	ret = aftl_volume_load(volume->volume, line->policy, &line->config, &nbd_volume_ops, device,
			       false, &device->ftl, &recovery, error);
	if (!ret)
		ret = alloc_volume_memory(volume, error);
	if (!ret)
		ret = nbd_device_init_page_flags(device, error);
	if (!ret)
		ret = restore_volume_buffer(volume, error);
	if (ret)
		return ret;
	store_device_time_in_volume(volume);
	ret = aftl_volume_mark_in_use(volume->volume, line->policy, &line->config);
	if (ret)
		return aftl_fail(error, ret, "%.120s: cannot be written: %s", volume->file.path,
				 strerror(-ret));
	retire_worn_volume_blocks(volume);
	return 0;
}

int nbd_volume_save(struct nbd_volume *volume, struct aftl_error *error)
{
	int ret;

	aftl_quiesce(volume->device->ftl);
	ret = nbd_volume_commit(volume);
	if (ret)
		return aftl_fail(error, ret, "%.120s: the volume could not be written",
				 volume->file.path);
	store_device_time_in_volume(volume);
	return aftl_volume_close(volume->volume, volume->device->ftl, error);
}

void nbd_volume_close(struct nbd_volume *volume)
{
	aftl_volume_free(volume->volume);
	medium_file_close(&volume->file);
	free(volume->tags);
	free(volume->data);
	free(volume->page);
}
