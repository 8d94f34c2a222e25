// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide whether a write of a page of a tagged file stores that file itself.
 *
 * A page under write-back may also be written elsewhere meanwhile: into another file by O_DIRECT
 * from a mapping or a pipe, or into a journal. Flags of the bio distinguish these writes from
 * write-back if the file system is directly on the device, but intermediate layers may lose flags.
 * No layer can lose the reference that a writer of somebody else's page holds.
 */
#include <linux/blkdev.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "compat.h"
#include "tags/tags.h"

/* Return true if write-back bios of the file system of @file can be told from other bios. */
static bool can_recognise_writeback_of_file(const struct aftl_file *file)
{
	return file->magic == EXT4_SUPER_MAGIC || file->magic == XFS_SUPER_MAGIC ||
	       file->magic == F2FS_SUPER_MAGIC || file->magic == BTRFS_SUPER_MAGIC;
}

/*
 * Return true if the file system is directly on @disk. The holder of the block device is the file
 * system's type, or the super block in newer kernels.
 */
static bool is_file_system_directly_on_disk(const struct aftl_file *file,
					    const struct gendisk *disk)
{
	const void *holder = READ_ONCE(disk->part0->bd_holder);

	return holder == file->type || holder == file->super;
}

/*
 * Return true if the flags of @bio show that it is write-back. A file system directly on the
 * device writes through the page cache, or by direct I/O, which has a flag (REQ_IDLE). But RAID-5
 * and RAID-6 of Btrfs create bios without flags, so require the flag of write-back: REQ_SYNC if it
 * is waited for, else REQ_BACKGROUND.
 */
static bool do_bio_flags_show_writeback(const struct aftl_file *file, const struct bio *bio)
{
	return file->magic != BTRFS_SUPER_MAGIC || bio->bi_opf & (REQ_SYNC | REQ_BACKGROUND);
}

/*
 * Return the number of references to @folio by the page cache, by private data of the file system,
 * and by page tables. An unmapped folio off the LRU list has one more: of the task that isolated
 * it, or of the batch in which it waits for the list. A mapped folio is not given this reference,
 * because it may be the one of a page table.
 */
static int count_cache_and_map_refs_of_folio(const struct folio *folio)
{
	int mapped = aftl_folio_mapcount(folio);
	bool waits = !mapped && !folio_test_lru((struct folio *)folio);

	return folio_nr_pages((struct folio *)folio) + folio_test_private((struct folio *)folio) +
	       mapped + waits;
}

/*
 * Return true if only the references of count_cache_and_map_refs_of_folio() exist. Users take a
 * reference before they appear in that count and drop it after; so if the count is the same before
 * and after the read of folio_ref_count(), it was valid in between. A temporary reference of the
 * kernel makes the result false.
 */
static bool has_folio_only_cache_and_map_refs(const struct folio *folio)
{
	int known = count_cache_and_map_refs_of_folio(folio);
	int found;

	smp_rmb(); /* Count the known references before reading the reference count. */
	found = folio_ref_count((struct folio *)folio);
	smp_rmb(); /* Read the reference count before counting the known ones again. */
	return found == known && count_cache_and_map_refs_of_folio(folio) == known;
}

void aftl_writeback_record_file_system(struct aftl_file *file, const struct inode *inode)
{
	const struct super_block *super = inode->i_sb;

	file->super = super;
	file->type = super->s_type;
	file->magic = super->s_magic;
	file->on_loop = super->s_bdev && MAJOR(super->s_bdev->bd_dev) == LOOP_MAJOR;
}

/*
 * Return true if a loop device uses the file or has used it. Data of the loop device may be written
 * back after it has released the file, and fsnotify misses some of its writes: so set on_loop.
 */
static bool has_file_backed_loop_device(struct aftl_file *file, const struct address_space *mapping)
{
	if (aftl_file_backs_loop_device(mapping))
		WRITE_ONCE(file->on_loop, true);
	return READ_ONCE(file->on_loop);
}

bool aftl_is_bio_file_writeback(struct aftl_file *file, struct folio *folio, const struct bio *bio,
				const struct gendisk *disk)
{
	const struct address_space *mapping = READ_ONCE(folio->mapping);

	if (!can_recognise_writeback_of_file(file) || !mapping ||
	    has_file_backed_loop_device(file, mapping))
		return false;
	if (!folio_test_writeback(folio) || bio->bi_opf & REQ_IDLE ||
	    folio_maybe_dma_pinned(folio))
		return false;
	if (is_file_system_directly_on_disk(file, disk) && do_bio_flags_show_writeback(file, bio))
		return true;
	return !aftl_may_ext4_journal_data(file->magic, mapping) &&
	       has_folio_only_cache_and_map_refs(folio);
}
