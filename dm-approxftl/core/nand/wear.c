// SPDX-License-Identifier: GPL-2.0-only
/*
 * Erases: their time and wear, which depend on the erase voltage (ApproxFTL) and on how far the
 * cells were programmed (TVR), and program times of worn blocks.
 */
#include "core/nand/cell.h"
#include "core/nand/chip.h"
#include "core/base/table-lookup.h"

/* How far the cells of a page are charged, ascending by the erase voltage that they need. */
enum swing { SWING_NONE, SWING_REDUCED, SWING_WITHOUT_MARGINS, SWING_FULL };

static enum swing page_voltage_swing(u16 attr)
{
	if (!attr)
		return SWING_NONE;
	if (aftl_page_has_low_top_voltage(attr))
		return SWING_REDUCED;
	return aftl_page_mode(attr) == AFTL_MODE_REDUCED ? SWING_WITHOUT_MARGINS : SWING_FULL;
}

static enum swing block_voltage_swing(const struct aftl_chip *chip, const struct aftl_block *block)
{
	enum swing most = SWING_NONE;
	u32 page;

	for (page = 0; page < chip->media->geo->pages && most < SWING_FULL; page++)
		most = max(most,
			   page_voltage_swing(aftl_block_page_attr(chip->media, block, page)));
	return most;
}

static u32 compute_wear_of_full_erase(const struct aftl_chip *chip, enum swing swing)
{
	u32 kept = aftl_retention_margin_to_index(chip->config->tvr_margin);

	if (swing != SWING_WITHOUT_MARGINS || chip->config->errors == AFTL_OFF)
		return AFTL_FULL_WEAR;
	return (u32)div64_u64((u64)AFTL_FULL_WEAR << 16, aftl_tvr_endurance_q16[kept]);
}

static struct aftl_axis_point wear_axis_point(u32 erases)
{
	return aftl_axis_position(aftl_tvr_wear_axis, AFTL_TVR_WEAR_POINTS, erases);
}

u64 aftl_compute_program_ns_after_wear(u64 ns, u32 erases)
{
	struct aftl_axis_point wear = wear_axis_point(erases);
	u64 high = aftl_tvr_program_wear_q16[wear.index];
	u64 low = aftl_tvr_program_wear_q16[wear.index + 1];

	return (ns * (high - (((high - low) * wear.fraction) >> 16))) >> 16;
}

/* Mean erase time of the two data patterns that the paper on TVR measured. */
static u64 mean_erase_ns_by_wear(u32 index)
{
	return (aftl_tvr_erase_ns[0][index] + aftl_tvr_erase_ns[1][index]) / 2;
}

static u64 compute_worn_erase_ns(u64 ns, u32 erases)
{
	struct aftl_axis_point wear = wear_axis_point(erases);
	u64 worn = aftl_interpolate_entries(mean_erase_ns_by_wear(wear.index),
					    mean_erase_ns_by_wear(wear.index + 1), wear.fraction);

	return div64_u64(ns * worn, mean_erase_ns_by_wear(0));
}

static u64 block_erase_ns(const struct aftl_chip *chip, const struct aftl_block *block)
{
	u64 ns = chip->config->erase;

	return chip->config->wear_times ? compute_worn_erase_ns(ns, block->erases) : ns;
}

/* If a shallow erase leaves residue, a full erase follows; time and wear of both count. */
struct aftl_erase_result aftl_chip_erase(const struct aftl_chip *chip,
					 const struct aftl_block *block, bool shallow)
{
	enum swing swing = block_voltage_swing(chip, block);
	struct aftl_erase_result erased = {
		.ns = block_erase_ns(chip, block),
		.wear = compute_wear_of_full_erase(chip, swing),
	};

	if (!shallow)
		return erased;
	if (swing <= SWING_REDUCED) {
		erased.wear = (u32)chip->config->wear_low;
		erased.shallow = true;
		return erased;
	}
	erased.ns *= 2;
	erased.wear += (u32)chip->config->wear_low;
	erased.residue = true;
	return erased;
}
