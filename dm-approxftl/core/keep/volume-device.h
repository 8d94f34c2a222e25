/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of a volume: what volume.c and volume-load.c share.
 */
#ifndef AFTL_VOLUME_DEVICE_H
#define AFTL_VOLUME_DEVICE_H

#include "core/keep/volume.h"

/* Changed frames that fit between two commits; a power of two. */
#define AFTL_VOLUME_FRAMES 512

/**
 * struct aftl_frame - a frame in memory
 * @number: in the volume
 * @next: in the chain of its hash
 * @used: holds a frame
 * @dirty: bit by sector: changed since the last commit
 */
struct aftl_frame {
	u64 number;
	u32 next;
	bool used;
	u8 dirty;
};

/**
 * struct aftl_volume - an open volume
 * @medium: where it is
 * @super: its superblock
 * @geo: shape of its device
 * @state: as of the last commit; times and memory as of the next
 * @nonce: in every sector
 * @ret: first error; the volume takes no notes after it
 * @uncommitted: changes that the reuse of space must wait for
 * @dirty: frames with changes
 * @hand: frame that is looked at next when one is needed
 * @hash: first frame of each chain
 * @frames: frames in memory
 * @bytes: their content
 * @scratch: one frame
 */
struct aftl_volume {
	const struct aftl_medium *medium;
	struct aftl_superblock super;
	struct aftl_geometry geo;
	struct aftl_volume_state state;
	u32 nonce;
	int ret;
	bool uncommitted;
	u32 dirty;
	u32 hand;
	u32 hash[AFTL_VOLUME_FRAMES];
	struct aftl_frame frames[AFTL_VOLUME_FRAMES];
	u8 *bytes;
	u8 *scratch;
};

/* Is there anything in @config that a volume cannot do? */
int __must_check aftl_volume_supports(const struct aftl_config *config, struct aftl_error *error);

/* Number of the first unsound sector of @count frames from @first on; U64_MAX if none. */
u64 aftl_volume_unsound(const struct aftl_volume *volume, const u8 *bytes, u64 first, u32 count);

#endif
