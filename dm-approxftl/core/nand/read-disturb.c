// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read disturb, interpolated from the physics tables.
 */
#include "core/nand/read-disturb.h"
#include "core/nand/physics-tables.h"
#include "core/base/table-lookup.h"

static u64 interpolate_disturb_by_reads(const u64 *row, struct aftl_axis_point reads)
{
	return aftl_interpolate_entries(row[reads.index], row[reads.index + 1], reads.fraction);
}

u64 aftl_read_disturb_rber(const struct aftl_block *block, u32 pages)
{
	const u64 (*row)[AFTL_READ_POINTS];
	struct aftl_axis_point reads;
	struct aftl_axis_point wear;

	if (block->reads < pages)
		return 0;
	reads = aftl_axis_position(aftl_read_axis, AFTL_READ_POINTS, block->reads / pages);
	wear = aftl_axis_position(aftl_rber_pe_axis, AFTL_RBER_PE_POINTS, block->erases);
	row = &aftl_read_disturb_q40[wear.index];
	return aftl_interpolate_entries(interpolate_disturb_by_reads(row[0], reads),
					interpolate_disturb_by_reads(row[1], reads), wear.fraction);
}
