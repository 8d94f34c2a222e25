// SPDX-License-Identifier: GPL-2.0-only
/* Rules: which files can store approximate data, and who may tag them. */
#include <linux/magic.h>

#include "compat.h"
#include "tags/tags.h"

/* Store why an ioctl is refused, and return @errno. */
static int set_refusal_reason(u32 *reason, enum approxftl_reason why, int errno)
{
	*reason = why;
	return errno;
}

/* Return true if the file system verifies data by checksums: a flipped bit would fail the read. */
static bool file_has_checksums(struct dentry *dentry, const struct inode *inode)
{
	struct aftl_file_attributes attributes = { };

	if (inode->i_sb->s_magic != BTRFS_SUPER_MAGIC)
		return false;
	return vfs_fileattr_get(dentry, &attributes) || !(attributes.flags & FS_NOCOW_FL);
}

int aftl_check_file_may_be_tagged(struct dentry *dentry, u32 *reason)
{
	const struct inode *inode = d_real_inode(dentry);

	if (IS_SWAPFILE(inode))
		return set_refusal_reason(reason, APPROXFTL_REASON_SWAP, -ETXTBSY);
	if (IS_ENCRYPTED(inode))
		return set_refusal_reason(reason, APPROXFTL_REASON_ENCRYPTED, -EOPNOTSUPP);
	if (IS_VERITY(inode))
		return set_refusal_reason(reason, APPROXFTL_REASON_VERITY, -EOPNOTSUPP);
	if (file_has_checksums(dentry, inode))
		return set_refusal_reason(reason, APPROXFTL_REASON_CHECKSUM, -EOPNOTSUPP);
	return 0;
}

int aftl_check_file_tag_owner(struct file *file, u32 *reason)
{
	if (!S_ISREG(file_inode(file)->i_mode))
		return set_refusal_reason(reason, APPROXFTL_REASON_KIND, -EINVAL);
	if (!(file->f_mode & FMODE_WRITE))
		return set_refusal_reason(reason, APPROXFTL_REASON_READ_ONLY, -EBADF);
	if (!aftl_file_owner_or_capable(file))
		return set_refusal_reason(reason, APPROXFTL_REASON_OWNER, -EPERM);
	return 0;
}
