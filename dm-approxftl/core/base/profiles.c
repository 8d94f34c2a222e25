// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named profiles: the devices of published papers, a small demo device, and models of drives on
 * sale.
 *
 * A profile lists the differences from "demo", whose values are in param-table.h. Values that a
 * paper does not state are marked "assumed".
 */
#include "core/base/params.h"
#include "core/base/profiles.h"

#define US 1000ULL
#define MS 1000000ULL

struct setting {
	const char *key;
	u64 value;
};

struct profile {
	const char *name;
	const char *about;
	const struct setting *settings;
	const struct setting *common;
};

static const struct setting demo_settings[] = { { NULL, 0 } };

/*
 * Settings of all profiles from papers: in the papers' simulators reads always overtake writes, and
 * collection keeps a fixed number of blocks free.
 */
static const struct setting paper_settings[] = {
	{ "write_expire", 0 },
	{ "gc_idle_limit", AFTL_GC_IDLE_FIXED },
	{ NULL, 0 },
};

/* ApproxFTL, TCAD 2018: 128 GB MLC, 8 layers of 64 pages. */
static const struct setting tcad18_settings[] = {
	{ "channels", 8 }, /* assumed: 8 channels of 4 chips; reads do not overtake writes */
	{ "chips", 4 },
	{ "blocks", 1024 },
	{ "word_lines", 64 },
	{ "unit", 0 },
	{ "order", AFTL_SCHED_FCFS },
	/* assumed: "static" LUN allocation queues requests as the paper's response times suggest */
	{ "allocate", AFTL_ALLOCATE_static },
	{ NULL, 0 },
};

/* AGCR, FAST 2016: 8 channels of 8 chips with 4 planes; three ISPP steps, each with a read time. */
static const struct setting fast16_settings[] = {
	{ "channels", 8 },
	{ "chips", 8 },
	{ "planes", 4 },
	{ "blocks", 512 }, /* assumed */
	{ "layers", 1 },
	{ "word_lines", 64 }, /* assumed: 128 pages of 8 KiB */
	{ "bits", 2 },
	{ "unit", 0 },
	{ "op", 1000 }, /* assumed */
	{ "read", 170 * US },
	{ "read_coarse", 310 * US },
	{ "read_fine", 70 * US },
	{ "rber", 1000000000 }, /* assumed: 1e-3, the RBER of medium ISPP steps at end of life */
	{ "program", 600 * US },
	{ "program_coarse", 450 * US },
	{ "program_fine", 800 * US },
	{ NULL, 0 },
};

/* cubeFTL, MICRO 2019: TLC, 48 layers of 4 word lines, limited to 32 GB. */
static const struct setting micro19_settings[] = {
	{ "channels", 2 },
	{ "chips", 4 },
	{ "blocks", 428 },
	{ "layers", 48 },
	{ "word_lines", 4 },
	{ "bits", 3 },
	{ "page", 16384 },
	{ "unit", 0 },
	{ "one_shot", AFTL_ON },
	{ "read", 60 * US }, /* assumed */
	{ "ecc_bits", 80 }, /* assumed: ReSSD's paper calls ECC of 80 bits per KiB typical */
	{ "buffer", 16 << 20 }, /* assumed */
	{ NULL, 0 },
};

/* TVR, ICS 2014: MT29F8G08MAAWC, MLC with a fast and a slow page. */
static const struct setting ics14_settings[] = {
	{ "channels", 4 }, /* assumed: four packages of one chip */
	{ "chips", 1 },
	{ "planes", 2 },
	{ "blocks", 2048 },
	{ "layers", 1 },
	{ "word_lines", 64 },
	{ "bits", 2 },
	{ "page", 2048 },
	{ "unit", 0 },
	{ "read", 50 * US }, /* assumed */
	{ "program", 1118 * US }, /* slow page; the mean of slow and fast pages is 789 us */
	{ "program_fast", 460 * US }, /* fast page: mean of 380 us and 1.42 * 380 us (by data) */
	{ "program_reduced", 559 * US },
	{ "erase", 3300 * US },
	{ "wear_times", AFTL_ON },
	{ "bus", 40 }, /* assumed: a bus of asynchronous ONFI 1.0 */
	{ NULL, 0 },
};

/* ReSSD, TOS 2022: 576 GB TLC, 64 layers of 2 word lines, 64 planes. */
static const struct setting tos22_settings[] = {
	{ "channels", 4 },
	{ "chips", 4 },
	{ "dies", 2 },
	{ "planes", 2 },
	{ "plane_mode", AFTL_PLANES_INDEPENDENT },
	{ "blocks", 1536 },
	{ "layers", 64 },
	{ "word_lines", 2 },
	{ "bits", 3 },
	{ "page", 16384 },
	{ "unit", 0 },
	{ "one_shot", AFTL_ON },
	{ "op", 800 },
	{ "gc", 800 },
	{ "wear_gap", 100 }, /* assumed: the paper names wear levelling, but no erase-count gap */
	{ "allocate", AFTL_ALLOCATE_static },
	{ "read", 66 * US },
	{ "read_mlc", 53 * US },
	{ "program", 3000 * US },
	{ "program_mlc", 2675 * US },
	{ "reprogram", 2705 * US },
	{ "erase", 10 * MS },
	{ "ecc_bits", 80 },
	{ NULL, 0 },
};

/* QLC with coarse and fine passes and an optional SLC cache; all values are assumed. */
static const struct setting qlc_settings[] = {
	{ "channels", 4 },
	{ "chips", 2 },
	{ "blocks", 128 },
	{ "layers", 64 },
	{ "word_lines", 4 },
	{ "bits", 4 },
	{ "page", 16384 },
	{ "one_shot", AFTL_ON },
	{ "passes", 2 },
	{ "op", 1200 },
	{ "read", 110 * US },
	{ "program", 1800 * US },
	{ "program_foggy", 900 * US },
	{ "erase", 10 * MS },
	{ "ecc_bits", 120 },
	{ "buffer", 16 << 20 },
	{ NULL, 0 },
};

/*
 * Scaled-down models of real drives: dies, channels and times as in the drive, but shorter and
 * fewer blocks, so that a device has some gigabytes; erases take less time in proportion.
 * docs/drives.md states for each value whether it comes from a data sheet, is derived, or was
 * fitted by "approxftl drives --refit".
 */
static const struct setting drive_settings[] = {
	{ "channels", 8 },
	{ "word_lines", 4 },
	{ "bits", 3 },
	{ "page", 16384 },
	{ "gc", 100 },
	{ "gc_idle_limit", AFTL_GC_IDLE_FIXED }, /* the drives' values of gc were fitted with it */
	{ "allocate", AFTL_ALLOCATE_least_busy },
	{ "buffer_safe", AFTL_ON },
	{ "buffer_hold", 1000 * MS },
	{ "read_limit", 0 },
	{ "errors", AFTL_OFF },
	{ NULL, 0 },
};

/*
 * An enterprise TLC drive, from which "approxftl drives --refit" starts if a drive has no profile.
 * All values are assumed.
 */
static const struct setting generic_drive_settings[] = {
	{ "chips", 2 },
	{ "blocks", 96 },
	{ "layers", 8 },
	{ "one_shot", AFTL_ON },
	{ "op", 1800 },
	{ "gc", 400 },
	{ "read", 55 * US },
	{ "read_last", 55 * US },
	{ "read_move", 25 * US },
	{ "program", 600 * US },
	{ "erase", 500 * US },
	{ "bus", 1200 },
	{ "controller", 9 * US },
	{ "controller_vary", 300 },
	{ "suspend", AFTL_SUSPEND_PROGRAM },
	{ "suspend_step", 150 * US },
	{ "suspend_cost", 10 * US },
	{ "buffer", 8 << 20 },
	{ NULL, 0 },
};

static const struct setting micron_7450_max_settings[] = {
	{ "chips", 2 },
	{ "blocks", 208 },
	{ "layers", 4 },
	{ "one_shot", AFTL_ON },
	{ "op", 3300 },
	{ "gc", 1300 },
	{ "read", 52 * US },
	{ "read_last", 66 * US },
	{ "read_move", 13 * US },
	{ "program", 500 * US },
	{ "erase", 450 * US },
	{ "bus", 1200 },
	{ "controller", 9 * US },
	{ "controller_program", 12 * US },
	{ "controller_relocate", 5 * US },
	{ "suspend", AFTL_SUSPEND_PROGRAM },
	{ "suspend_step", 102 * US },
	{ "suspend_cost", 9 * US },
	{ "buffer", 8 << 20 },
	{ NULL, 0 },
};

static const struct setting solidigm_p5520_settings[] = {
	{ "chips", 4 },
	{ "blocks", 128 },
	{ "layers", 4 },
	{ "one_shot", AFTL_ON },
	{ "op", 2000 },
	{ "gc", 1050 },
	{ "victim", AFTL_VICTIM_cost_benefit },
	{ "read", 57 * US },
	{ "read_first", 37 * US },
	{ "read_move", 29 * US },
	{ "program", 735 * US },
	{ "erase", 525 * US },
	{ "bus", 1200 },
	{ "controller", 8 * US },
	{ "controller_program", 5500 },
	{ "controller_relocate", 14500 },
	{ "suspend", AFTL_SUSPEND_PROGRAM },
	{ "suspend_step", 182 * US },
	{ "suspend_cost", 13 * US },
	{ "buffer", 16 << 20 },
	{ NULL, 0 },
};

static const struct setting kioxia_cm7r_settings[] = {
	{ "chips", 4 },
	{ "blocks", 64 },
	{ "layers", 8 },
	{ "op", 2180 },
	{ "superblock", 8 },
	{ "rain", AFTL_ON },
	{ "read", 63 * US },
	{ "read_first", 29 * US },
	{ "read_move", 46 * US },
	{ "program", 37 * US },
	{ "row", 4 },
	{ "erase", 760 * US },
	{ "bus", 2400 },
	{ "link", 8300 },
	{ "controller", 7200 },
	{ "controller_vary", 770 },
	{ "housekeeping", 10600 * US },
	{ "housekeeping_every", 22400 * US },
	{ "buffer", 6400 << 10 },
	{ NULL, 0 },
};

static const struct setting samsung_pm9a3_settings[] = {
	{ "chips", 2 },
	{ "blocks", 96 },
	{ "layers", 8 },
	{ "one_shot", AFTL_ON },
	{ "op", 1720 },
	{ "gc", 400 },
	{ "read", 49 * US },
	{ "read_last", 52 * US },
	{ "read_move", 23 * US },
	{ "program", 508 * US },
	{ "erase", 560 * US },
	{ "bus", 1200 },
	{ "controller", 10500 },
	{ "controller_vary", 700 },
	{ "suspend", AFTL_SUSPEND_PROGRAM },
	{ "suspend_step", 168 * US },
	{ "suspend_cost", 8 * US },
	{ "buffer", 8 << 20 },
	{ NULL, 0 },
};

static const struct setting wd_dc_960_settings[] = {
	{ "chips", 2 },
	{ "blocks", 96 },
	{ "layers", 8 },
	{ "one_shot", AFTL_ON },
	{ "op", 1700 },
	{ "gc", 400 },
	{ "victim", AFTL_VICTIM_fifo },
	{ "read", 62 * US },
	{ "read_last", 49 * US },
	{ "read_move", 37 * US },
	{ "program", 712 * US },
	{ "erase", 600 * US },
	{ "bus", 480 },
	{ "controller", 12500 },
	{ "controller_vary", 800 },
	{ "controller_program", 3 * US },
	{ "controller_relocate", 4 * US },
	{ "suspend", AFTL_SUSPEND_PROGRAM },
	{ "suspend_step", 243 * US },
	{ "suspend_cost", 15 * US },
	{ "buffer", 8 << 20 },
	{ NULL, 0 },
};

/*
 * Western Digital's ZN540. Some values were measured on its conventional (not zoned) sibling: equal
 * read times of the two drives show that they have the same flash.
 */
static const struct setting zn540_settings[] = {
	{ "chips", 4 },
	{ "planes", 2 },
	{ "plane_mode", AFTL_PLANES_WIDE },
	{ "blocks", 48 },
	{ "layers", 8 },
	{ "one_shot", AFTL_ON },
	{ "read", 43 * US },
	{ "read_last", 52 * US },
	{ "program", 2330 * US },
	{ "erase", 300 * US },
	{ "bus", 480 },
	{ "command", 8 * US },
	{ "link", 2950 },
	{ "controller_command", 2370 },
	{ "controller_append", 4200 },
	{ "controller", 7160 },
	{ "read_cache", 4 << 20 },
	{ "read_ahead", 2 << 20 },
	{ "read_hit", 3860 },
	{ "suspend", AFTL_SUSPEND_BOTH },
	{ "suspend_step", 180 * US },
	{ "suspend_cost", 15 * US },
	{ "suspend_limit", 6 },
	{ "suspend_reads", 3 },
	{ "buffer", 8 << 20 },
	{ "buffer_high", 0 },
	{ NULL, 0 },
};

/*
 * Features that current enterprise drives have, together in one device; it models no single drive.
 * All values are assumed. The mapping unit is a page of 16 KiB instead of 4 KiB, so that the
 * simulator needs less than 1 GiB of memory.
 */
static const struct setting enterprise_settings[] = {
	{ "channels", 8 },
	{ "chips", 4 },
	{ "planes", 4 },
	{ "plane_mode", AFTL_PLANES_WIDE },
	{ "blocks", 448 },
	{ "layers", 128 },
	{ "word_lines", 4 },
	{ "bits", 3 },
	{ "one_shot", AFTL_ON },
	{ "page", 16 << 10 },
	{ "unit", 0 },
	{ "op", 2200 },
	{ "superblock", 16 },
	{ "rain", AFTL_ON },
	{ "slc_static", 100 },
	{ "slc_dynamic", 500 },
	{ "map_cache", 64 << 20 },
	{ "buffer", 64 << 20 },
	{ "buffer_safe", AFTL_ON },
	{ "gc_mode", AFTL_GC_PACED },
	{ "read", 50 * US },
	{ "program", 660 * US },
	{ "erase", 3500 * US },
	{ "bus", 1600 },
	{ "link", 7000 },
	{ "controller", 5 * US },
	{ "suspend", AFTL_SUSPEND_BOTH },
	{ "cache_commands", AFTL_CACHE_COMMANDS_BOTH },
	{ NULL, 0 },
};

static const struct setting kioxia_xg6_settings[] = {
	{ "chips", 4 },
	{ "blocks", 48 },
	{ "layers", 16 },
	{ "read", 63 * US },
	{ "program", 170 * US },
	{ "bus", 800 },
	{ "link", 3110 },
	{ "controller", 9 * US },
	{ "buffer", 16 << 20 },
	{ NULL, 0 },
};

static const struct profile profiles[] = {
	{ "demo", "512 MiB MLC in 4 dies, 8 layers; small and quick",
	  demo_settings, NULL },
	{ "tcad18", "ApproxFTL's device: 128 GiB MLC in 32 dies, 8 layers",
	  tcad18_settings, paper_settings },
	{ "fast16", "AGCR's device: 128 GiB MLC in 64 dies, three program costs",
	  fast16_settings, paper_settings },
	{ "micro19", "cubeFTL's device: 30 GiB TLC in 8 dies, 48 layers",
	  micro19_settings, paper_settings },
	{ "ics14", "TVR's device: 4 GiB MLC in 4 dies, fast and slow pages",
	  ics14_settings, paper_settings },
	{ "tos22", "ReSSD's device: 576 GiB TLC in 64 planes, 64 layers",
	  tos22_settings, paper_settings },
	{ "qlc", "16 GiB QLC in 8 dies, 64 layers; a coarse and a fine pass",
	  qlc_settings, NULL },
	{ "enterprise", "1 TB TLC in 32 dies: superblocks, parity, SLC cache, cached map",
	  enterprise_settings, NULL },
	{ "generic-drive", "enterprise TLC drive, small; where a fit to a drive starts",
	  generic_drive_settings, drive_settings },
	{ "micron-7450-max", "Micron 7450 MAX 800 GB, small",
	  micron_7450_max_settings, drive_settings },
	{ "solidigm-p5520", "Solidigm D7-P5520 1.92 TB, small",
	  solidigm_p5520_settings, drive_settings },
	{ "kioxia-cm7r", "Kioxia CM7-R 3.84 TB, small", kioxia_cm7r_settings, drive_settings },
	{ "samsung-pm9a3", "Samsung PM9A3 960 GB, small",
	  samsung_pm9a3_settings, drive_settings },
	{ "wd-dc-960", "a WD DC drive of 960 GB, small", wd_dc_960_settings, drive_settings },
	{ "wd-zn540", "flash of a WD ZN540 1 TB, scaled down, without zones",
	  zn540_settings, drive_settings },
	{ "wd-conventional", "conventional sibling of the ZN540, scaled down",
	  zn540_settings, drive_settings },
	{ "kioxia-xg6", "Kioxia XG6, small", kioxia_xg6_settings, drive_settings },
};

const char *aftl_profile_name(unsigned int index)
{
	return index < ARRAY_SIZE(profiles) ? profiles[index].name : NULL;
}

const char *aftl_profile_description(unsigned int index)
{
	return profiles[index].about;
}

static const struct profile *find_profile(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

static int report_unknown_profile(const char *name, struct aftl_error *error)
{
	char list[192];
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		used += scnprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				  profiles[i].name);
	return aftl_fail(error, -EINVAL, "unknown profile \"%.40s\"; there are %s", name, list);
}

static void apply_profile_settings(struct aftl_config *config, const struct setting *setting)
{
	for (; setting->key; setting++)
		*aftl_config_param_ptr(config, aftl_core_param_find(setting->key)) = setting->value;
}

int aftl_profile_apply(struct aftl_config *config, const char *name, struct aftl_error *error)
{
	const struct profile *profile = find_profile(name);
	unsigned int i;

	if (!profile)
		return report_unknown_profile(name, error);
	for (i = 0; i < AFTL_CORE_PARAMS; i++)
		*aftl_config_param_ptr(config, i) = aftl_core_params[i].standard;
	if (profile->common)
		apply_profile_settings(config, profile->common);
	apply_profile_settings(config, profile->settings);
	return 0;
}
