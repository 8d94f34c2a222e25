// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named devices: the papers' and a small one to try things on.
 *
 * A profile lists only how it differs from "demo", whose values stand in
 * param-table.h. Values that a paper does not give are marked "assumed".
 */
#include "core/base/params.h"

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
};

static const struct setting demo_settings[] = { { NULL, 0 } };

/* ApproxFTL, TCAD 2018: 128 GB MLC, 8 layers of 64 pages. */
static const struct setting tcad18_settings[] = {
	{ "channels", 8 }, /* assumed: 8 x 4, first come first served */
	{ "chips", 4 },
	{ "blocks", 1024 },
	{ "word_lines", 64 },
	{ "unit", 0 },
	{ "order", AFTL_SCHED_FCFS },
	/* assumed: the paper's response times need queues, which a rotation avoids */
	{ "allocate", AFTL_ALLOCATE_static },
	{ NULL, 0 },
};

/* AGCR, FAST 2016: 8 channels of 8 chips with 4 planes, three coupled costs. */
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
	{ "rber", 1000000000 }, /* assumed: 1e-3, which medium steps have when worn and old */
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
	{ "ecc_bits", 80 }, /* assumed: what ReSSD's authors call typical of TLC */
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
	{ "program", 1198 * US }, /* the slow page; with the fast one 789 us on average */
	{ "program_fast", 380 * US },
	{ "program_reduced", 599 * US },
	{ "erase", 3300 * US },
	{ "wear_times", AFTL_ON },
	{ "bus", 40 }, /* assumed: asynchronous ONFI 1.0 */
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
	{ "wear_gap", 100 }, /* assumed: wear is levelled statically, the gap is not named */
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

/* QLC in a coarse and a fine pass, with blocks of one bit for who wants them; all assumed. */
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

static const struct profile profiles[] = {
	{ "demo", "512 MiB MLC in 4 dies, 8 layers; small and quick", demo_settings },
	{ "tcad18", "ApproxFTL's device: 128 GiB MLC in 32 dies, 8 layers", tcad18_settings },
	{ "fast16", "AGCR's device: 128 GiB MLC in 64 dies, three program costs", fast16_settings },
	{ "micro19", "cubeFTL's device: 30 GiB TLC in 8 dies, 48 layers", micro19_settings },
	{ "ics14", "TVR's device: 4 GiB MLC in 4 dies, fast and slow pages", ics14_settings },
	{ "tos22", "ReSSD's device: 576 GiB TLC in 64 planes, 64 layers", tos22_settings },
	{ "qlc", "16 GiB QLC in 8 dies, 64 layers; a coarse and a fine pass", qlc_settings },
};

const char *aftl_profile_name(unsigned int index)
{
	return index < ARRAY_SIZE(profiles) ? profiles[index].name : NULL;
}

const char *aftl_profile_about(unsigned int index)
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

static int complain_profile(const char *name, struct aftl_error *error)
{
	char list[80];
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		used += scnprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				  profiles[i].name);
	return aftl_fail(error, -EINVAL, "unknown profile \"%.40s\"; there are %s", name, list);
}

int aftl_profile_apply(struct aftl_config *config, const char *name, struct aftl_error *error)
{
	const struct profile *profile = find_profile(name);
	const struct setting *setting;
	unsigned int i;

	if (!profile)
		return complain_profile(name, error);
	for (i = 0; i < AFTL_CORE_PARAMS; i++)
		*aftl_param_value(config, i) = aftl_core_params[i].standard;
	for (setting = profile->settings; setting->key; setting++)
		*aftl_param_value(config, aftl_core_param_find(setting->key)) = setting->value;
	return 0;
}
