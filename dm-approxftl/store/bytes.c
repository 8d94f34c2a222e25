// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copying data between bios and stores, and inverting the bits that have errors.
 *
 * This file takes no lock; io.h says which of its functions need the disk's lock.
 */
#include <linux/slab.h>

#include "store/disk-types.h"
#include "store/io.h"
#include "store/store.h"

void aftl_copy_from_bio(char *to, struct bio *bio, struct bvec_iter at)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at) {
		memcpy_from_bvec(to, &segment);
		to += segment.bv_len;
	}
}

static void copy_bytes_to_bio_segments(struct bio *bio, struct bvec_iter at, const char *from)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at) {
		memcpy_to_bvec(&segment, from);
		from += segment.bv_len;
	}
}

static void zero_unit_in_bio(struct bio *bio, struct bvec_iter at)
{
	struct bvec_iter iter;
	struct bio_vec segment;

	__bio_for_each_segment(segment, bio, iter, at)
		memzero_bvec(&segment);
}

void aftl_copy_to_bio(struct bio *bio, struct bvec_iter at, const char *from)
{
	struct bio_vec whole = bio_iter_iovec(bio, at);

	if (unlikely(!from))
		zero_unit_in_bio(bio, at);
	else if (likely(whole.bv_len == at.bi_size))
		memcpy_to_bvec(&whole, from);
	else
		copy_bytes_to_bio_segments(bio, at, from);
}

static inline struct bvec_iter get_bio_lpn_offset(const struct aftl_disk *disk,
						  const struct aftl_io *io, aftl_lpn_t lpn)
{
	u32 unit_bytes = aftl_disk_unit_sectors(disk) << SECTOR_SHIFT;
	struct bio *bio = aftl_io_bio(io);
	struct bvec_iter at = bio->bi_iter;

	if (unlikely(from_lpn(lpn) != io->request.unit))
		bio_advance_iter(bio, &at, (from_lpn(lpn) - io->request.unit) * unit_bytes);
	at.bi_size = unit_bytes;
	return at;
}

struct bvec_iter aftl_io_lpn_offset(const struct aftl_disk *disk, const struct aftl_io *io,
				    aftl_lpn_t lpn)
{
	return get_bio_lpn_offset(disk, io, lpn);
}

static void flip_bit_in_bio(struct bio *bio, struct bvec_iter at, u32 position)
{
	struct bio_vec segment;
	u8 *byte;

	bio_advance_iter(bio, &at, position / BITS_PER_BYTE);
	segment = bio_iter_iovec(bio, at);
	byte = bvec_kmap_local(&segment);
	*byte ^= 1U << position % BITS_PER_BYTE;
	kunmap_local(byte);
}

u64 aftl_io_compute_key_of_bit_flips(const struct aftl_disk *disk, const struct aftl_read *read)
{
	lockdep_assert_held(&disk->lock);
	return aftl_compute_key_of_bit_flips(aftl_cell(disk->ftl), read->lpn, read->generation);
}

void aftl_io_flip_bits(const struct aftl_disk *disk, struct aftl_io *io,
		       const struct aftl_read *read, u64 key)
{
	const struct aftl_geometry *geo = aftl_geometry(disk->ftl);
	struct bvec_iter at = aftl_io_lpn_offset(disk, io, read->lpn);
	u32 i;

	for (i = 0; i < read->flips; i++)
		flip_bit_in_bio(aftl_io_bio(io), at,
				aftl_get_bit_flip_position_by_key(geo, key, i));
}

void aftl_io_fill_bio_of_read(const struct aftl_disk *disk, struct aftl_io *io,
			      const struct aftl_read *read, const char *from)
{
	aftl_copy_to_bio(aftl_io_bio(io), aftl_io_lpn_offset(disk, io, read->lpn), from);
	aftl_io_flip_bits(disk, io, read, aftl_io_compute_key_of_bit_flips(disk, read));
}

void aftl_io_alloc_array_of_pinned_pages(struct aftl_io *io)
{
	io->content_count = 0;
	io->content_room = io->request.units;
	io->contents = NULL;
	if (unlikely(io->content_room > 1))
		io->contents = kmalloc_array(io->content_room, sizeof(*io->contents),
					     GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	if (io->contents)
		return;
	io->contents = &io->content;
	io->content_room = 1;
}

static void copy_pinned_page_to_bio(const struct aftl_disk *disk, struct aftl_io *io,
				    const struct aftl_content *content)
{
	const struct aftl_read *read = &content->read;
	struct bvec_iter at = get_bio_lpn_offset(disk, io, read->lpn);

	if (unlikely(read->source == AFTL_SOURCE_ZERO))
		aftl_copy_to_bio(aftl_io_bio(io), at, NULL);
	else
		disk->store->type->copy(content->page, aftl_io_bio(io), at);
	if (unlikely(read->flips))
		aftl_io_flip_bits(disk, io, read, content->flip_key);
}

static void pin_store_page_of_read(const struct aftl_disk *disk, const struct aftl_read *read,
				   struct aftl_content *content)
{
	content->read = *read;
	if (likely(read->source != AFTL_SOURCE_ZERO))
		content->page = disk->store->type->hold(disk->store, read->lpn);
	if (unlikely(read->flips))
		content->flip_key = aftl_io_compute_key_of_bit_flips(disk, read);
}

/* @io->contents is full: copy the data of @read to the bio at once, under the disk's lock. */
static noinline void copy_read_data_at_once(const struct aftl_disk *disk, struct aftl_io *io,
					    const struct aftl_read *read)
{
	struct aftl_content content;

	pin_store_page_of_read(disk, read, &content);
	copy_pinned_page_to_bio(disk, io, &content);
}

void aftl_io_pin_page_or_copy_at_once(const struct aftl_disk *disk, struct aftl_io *io,
				      const struct aftl_read *read)
{
	if (likely(io->content_count < io->content_room))
		pin_store_page_of_read(disk, read, &io->contents[io->content_count++]);
	else
		copy_read_data_at_once(disk, io, read);
}

void aftl_io_copy_pinned_pages_to_bio(const struct aftl_disk *disk, struct aftl_io *io)
{
	u32 i;

	for (i = 0; i < io->content_count; i++)
		copy_pinned_page_to_bio(disk, io, &io->contents[i]);
	if (unlikely(io->contents != &io->content))
		kfree(io->contents);
}
