// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a write of a page of a tagged file how that file itself is stored?
 *
 * A page under writeback may meanwhile be written elsewhere as well: into another file by
 * O_DIRECT from a mapping or from a pipe, or into a journal. Flags tell these writes from
 * writeback where nothing is between the file system and the disk; layers may lose flags.
 * What no layer can lose is that whoever writes another's page holds a reference to it.
 */
#include <linux/blkdev.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "compat.h"
#include "tags/tags.h"

/* File systems of which it is known how they write. */
static bool is_known(const struct aftl_file *file)
{
	return file->magic == EXT4_SUPER_MAGIC || file->magic == XFS_SUPER_MAGIC ||
	       file->magic == F2FS_SUPER_MAGIC || file->magic == BTRFS_SUPER_MAGIC;
}

/* Is its file system right on @disk? It holds that by its type, in newer kernels as itself. */
static bool is_right_on(const struct aftl_file *file, const struct gendisk *disk)
{
	const void *holder = READ_ONCE(disk->part0->bd_holder);

	return holder == file->type || holder == file->super;
}

/*
 * Where nothing is between, they write through the page cache, and by direct I/O that says so.
 * But RAID-5 and -6 of Btrfs make bios without flags: what is none of these has the flag of
 * writeback that is waited for, or of writeback that nobody waits for.
 */
static bool flags_tell(const struct aftl_file *file, const struct bio *bio)
{
	return file->magic != BTRFS_SUPER_MAGIC || bio->bi_opf & (REQ_SYNC | REQ_BACKGROUND);
}

/*
 * References by the page cache, by what the file system keeps with the page, and by page
 * tables. Who takes a page off its LRU list has a reference before, be it a page table's; so
 * has the batch in which a new page waits for the list.
 */
static int known_references(const struct folio *folio)
{
	int mapped = aftl_folio_mapcount(folio);
	bool waits = !mapped && !folio_test_lru((struct folio *)folio);

	return folio_nr_pages((struct folio *)folio) + folio_test_private((struct folio *)folio) +
	       mapped + waits;
}

/*
 * Page tables and lists change their reference first when they begin and last when they end:
 * what is counted of them before and after, and is the same, was in between. What the kernel
 * holds for a while besides counts against the page.
 */
static bool nobody_else_holds(const struct folio *folio)
{
	int known = known_references(folio);
	int found;

	smp_rmb(); /* known before found */
	found = folio_ref_count((struct folio *)folio);
	smp_rmb(); /* found before known again */
	return found == known && known_references(folio) == known;
}

void aftl_writeback_begin(struct aftl_file *file, const struct inode *inode)
{
	const struct super_block *super = inode->i_sb;

	file->super = super;
	file->type = super->s_type;
	file->magic = super->s_magic;
	file->on_loop = super->s_bdev && MAJOR(super->s_bdev->bd_dev) == LOOP_MAJOR;
}

/*
 * What a loop device has written may be stored when it has let go of the file: that is noted,
 * for who watches a file is not told of all that such a device does to it.
 */
static bool has_loop(struct aftl_file *file, const struct address_space *mapping)
{
	if (aftl_backs_loop(mapping))
		WRITE_ONCE(file->on_loop, true);
	return READ_ONCE(file->on_loop);
}

bool aftl_writeback_is(struct aftl_file *file, struct folio *folio, const struct bio *bio,
		       const struct gendisk *disk)
{
	const struct address_space *mapping = READ_ONCE(folio->mapping);

	if (!is_known(file) || !mapping || has_loop(file, mapping))
		return false;
	if (!folio_test_writeback(folio) || bio->bi_opf & REQ_IDLE ||
	    folio_maybe_dma_pinned(folio))
		return false;
	if (is_right_on(file, disk) && flags_tell(file, bio))
		return true;
	return !aftl_journals_data(file->magic, mapping) && nobody_else_holds(folio);
}
