/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The store of a device in a volume, in a file or on a block device: the format of the kernel's
 * durable store, so that a volume moves between the two.
 *
 * The callbacks of the FTL write and record at once, under the device's lock, so nothing is queued.
 * After the first error of the medium nothing is written any more, and all requests but reads fail;
 * the next opening recovers what the last commit covers. core/persist/volume.h has the rules.
 */
#ifndef AFTL_NBD_VOLUME_H
#define AFTL_NBD_VOLUME_H

#include "medium-file.h"
#include "nbd-device.h"

/**
 * struct nbd_tag - a logical page in the write buffer
 * @persisted: the volume has an entry of the persisted write buffer (PLP) for the page, or will get
 *	one
 * @waiting: the page gets its entry after the next commit
 * @entry: number of the entry
 */
struct nbd_tag {
	bool persisted;
	bool waiting;
	struct aftl_plp_entry entry;
};

/**
 * struct nbd_volume - the store
 * @device: device that it belongs to
 * @file: medium
 * @volume: volume on @file
 * @tags: logical pages in the write buffer, by tag
 * @data: their data, by tag
 * @page: data of a relocation
 * @waiting: number of tags with @waiting
 * @error: first error of the medium
 */
struct nbd_volume {
	struct nbd_device *device;
	struct medium_file file;
	struct aftl_volume *volume;
	struct nbd_tag *tags;
	u8 *data;
	u8 *page;
	u32 waiting;
	int error;
};

extern const struct aftl_host_ops nbd_volume_ops;

/* Open the volume on @path. Return: 0 or a negative error number. */
int __must_check nbd_volume_open(struct nbd_volume *volume, const char *path,
				 struct aftl_error *error);

/* Load the FTL of @device from the volume, and mark the volume as in use. */
int __must_check nbd_volume_load(struct nbd_volume *volume, struct nbd_device *device,
				 struct aftl_error *error);

/*
 * Save the idle device in the volume; without this, the next opening recovers it as after a crash.
 * Return: 0 or a negative error number, with a message.
 */
int __must_check nbd_volume_save(struct nbd_volume *volume, struct aftl_error *error);

void nbd_volume_close(struct nbd_volume *volume);

/* Store the data of a logical page that has entered the write buffer. */
void nbd_volume_accept_page(struct nbd_volume *volume, u32 tag, const void *page);

/* Read a part of a page that is in the write buffer or on flash. Return: 0 or -EIO. */
int __must_check nbd_volume_read_page(struct nbd_volume *volume, const struct aftl_read *read,
				      u32 first, void *bytes, u32 count);

/* Return true if writes of this device complete after a commit, even without FUA. */
bool nbd_volume_has_plp_entries(const struct nbd_volume *volume);

/* Commit: make all recorded changes durable. Return: 0 or -EIO. */
int __must_check nbd_volume_commit(struct nbd_volume *volume);

#endif
