/* SPDX-License-Identifier: GPL-2.0-only */
/* Services of the core for policies, which call them by the functions of policy.h. */
#ifndef AFTL_CORE_SERVICES_H
#define AFTL_CORE_SERVICES_H

#include "core/base/params.h"
#include "core/nand/chip.h"

struct aftl;
struct aftl_lun;
struct aftl_policy;
struct aftl_policy_type;

/**
 * struct aftl_policy_services - services of the core, called by the functions below; called one at
 *	a time, never sleep
 * @part: create an instance of another policy, as aftl_policy_part() does
 * @spare: return true if the LUN has more free blocks than the reserve for relocation
 * @open: take a free block of the LUN for a program of this cause and open it; NULL if there is
 *	none
 * @close: close a block that is not full
 * @find: look up the ppn of an lpn; false if it is not on flash
 * @hours: age of the device in hours
 * @queued: number of host commands that wait for the LUN
 * @room: return true if LUN number @lun has room for @units logical pages
 * @works: return true if LUN number @lun has not failed
 * @work: number of host reads and programs that wait for the LUN, with the one in progress
 * @command_seq: a number that changes with each command and each erase of the LUN
 */
struct aftl_policy_services {
	struct aftl_policy *(*part)(struct aftl_policy *whole, const struct aftl_policy_type *type);
	bool (*spare)(const struct aftl *ftl, const struct aftl_lun *lun);
	struct aftl_block *(*open)(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
				   enum aftl_order order, u32 kind);
	void (*close)(struct aftl *ftl, struct aftl_block *block);
	bool (*find)(const struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t *ppn);
	u64 (*hours)(const struct aftl *ftl);
	u32 (*queued)(const struct aftl_lun *lun);
	bool (*room)(const struct aftl *ftl, u32 lun, u32 units);
	bool (*works)(const struct aftl *ftl, u32 lun);
	u32 (*work)(const struct aftl *ftl, u32 lun);
	u64 (*command_seq)(const struct aftl *ftl, const struct aftl_lun *lun);
};

/**
 * struct aftl_policy_core - a device as its policy sees it
 * @config: parameters
 * @geo: geometry
 * @media: flash array
 * @chip: flash chip, for monitoring
 * @now_ns: device time
 * @fill_left_ns: time that the rest of preconditioning would take
 * @filling: preconditioning writes data that count as older than the first request
 * @services: services of the core
 */
struct aftl_policy_core {
	const struct aftl_config *config;
	const struct aftl_geometry *geo;
	const struct aftl_media *media;
	struct aftl_chip *chip;
	const u64 *now_ns;
	const u64 *fill_left_ns;
	const bool *filling;
	const struct aftl_policy_services *services;
};

#endif
