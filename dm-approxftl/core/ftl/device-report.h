/* SPDX-License-Identifier: GPL-2.0-only */
/* Queries of the state of a device: mapping, statistics, LUNs, digest, audit. */
#ifndef AFTL_DEVICE_REPORT_H
#define AFTL_DEVICE_REPORT_H

#include "core/base/stats.h"
#include "core/nand/cell.h"
#include "core/ftl/host-ops.h"
#include "core/policy/policy-type.h"

struct aftl;

/**
 * aftl_lookup() - find the physical page of @lpn
 * @ftl: device
 * @lpn: logical page
 * @class: set to its enum aftl_class if it is mapped
 *
 * Return: the physical page, or AFTL_NO_PPN.
 */
aftl_ppn_t aftl_lookup(const struct aftl *ftl, aftl_lpn_t lpn, u32 *class);

/* Quality level with which @lpn is stored; 0 also if @lpn is not mapped. */
u32 aftl_lpn_quality_level(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_get_lpn_read_errors() - bit errors that a read of @lpn would return now
 * @ftl: device
 * @lpn: logical page
 * @errors: takes the result
 *
 * Return: false if @lpn is not on flash, or if errors are not modelled and it is not lost.
 */
bool aftl_get_lpn_read_errors(const struct aftl *ftl, aftl_lpn_t lpn, struct aftl_errors *errors);

/**
 * aftl_lpn_is_unreadable() - return true if a read of @lpn would fail now
 * @ftl: device
 * @lpn: logical page
 *
 * The read fails if the data are lost, the LUN has died, or ECC cannot correct the errors.
 */
bool aftl_lpn_is_unreadable(const struct aftl *ftl, aftl_lpn_t lpn);

/**
 * aftl_zone_state() - get the state of a zone
 * @ftl: device
 * @zone: below aftl_geometry()->zones
 * @written: takes the number of logical pages below the write pointer
 */
enum aftl_zone_state aftl_zone_state(const struct aftl *ftl, u32 zone, u32 *written);

void aftl_reset_stats(struct aftl *ftl);

/**
 * aftl_restore_stats() - add the statistics of the device whose data @ftl loaded
 * @ftl: device
 * @before: statistics of the former device
 * @now_ns: device time of the former device
 * @same_policy: both devices have one policy; else streams and block kinds are not added
 *
 * Time since the last reset goes on from the former device, up to all of @ftl's device time.
 */
void aftl_restore_stats(struct aftl *ftl, const struct aftl_stats *before, u64 now_ns,
			bool same_policy);
const struct aftl_stats *aftl_get_stats(const struct aftl *ftl);
const struct aftl_geometry *aftl_geometry(const struct aftl *ftl);
const struct aftl_media *aftl_media(const struct aftl *ftl);

/*
 * Return the L2P table. The low AFTL_PPN_BITS bits of an entry are the ppn plus 1, the bits above
 * the quality level; 0: the lpn is not mapped. NULL if the table is in several chunks.
 */
const u32 *aftl_l2p_table(const struct aftl *ftl);
const struct aftl_cell *aftl_cell(const struct aftl *ftl);
const struct aftl_config *aftl_config(const struct aftl *ftl);
const struct aftl_policy_type *aftl_policy_type(const struct aftl *ftl);

/**
 * struct aftl_lun_info - state of a LUN, for reports
 * @busy_ns: time at work, including transfers
 * @good_blocks: blocks that are not bad
 * @free_blocks: erased blocks
 * @cached_blocks: SLC cache blocks in use
 * @valid_units: valid logical pages, including those lost with a dead LUN
 * @queued: waiting host commands
 */
struct aftl_lun_info {
	u64 busy_ns;
	u32 good_blocks;
	u32 free_blocks;
	u32 cached_blocks;
	u32 valid_units;
	u32 queued;
};

void aftl_get_lun_info(const struct aftl *ftl, u32 lun, struct aftl_lun_info *info);

/* Bytes of memory allocated from the host. */
u64 aftl_memory_bytes(const struct aftl *ftl);

/* Return about how many logical pages aftl_precondition(), which is running, has written. */
u64 aftl_get_fill_progress(const struct aftl *ftl);

/**
 * aftl_compute_device_digest() - 64-bit digest of L2P table, media and wear
 * @ftl: device
 *
 * Equal on every host for equal configuration and requests.
 */
u64 aftl_compute_device_digest(const struct aftl *ftl);

/**
 * aftl_audit() - check the invariants of all data structures
 * @ftl: device
 * @error: error message, on failure
 *
 * Slow. Return: 0; -EUCLEAN with a message about the first violation; or the error code of the
 * host's pause(), with a message that the audit was interrupted.
 */
int __must_check aftl_audit(const struct aftl *ftl, struct aftl_error *error);

#endif
