/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every counter, defined once: COUNTER(name, help). The unit is in the name.
 *
 * The names are the keys of the JSON output and of the status message. No include
 * guard on purpose.
 */

/* What the host asked for */
COUNTER(host_read_requests, "read requests completed")
COUNTER(host_write_requests, "write requests completed")
COUNTER(host_flush_requests, "flush requests completed")
COUNTER(host_discard_requests, "discard and write-zeroes requests completed")
COUNTER(host_failed_requests, "requests completed with an error")
COUNTER(host_read_units, "units read")
COUNTER(host_write_units, "units written")
COUNTER(host_write_approx_units, "units written with the approximate tag")
COUNTER(host_write_level_1_units, "those of them of quality level 1, or of none that was named")
COUNTER(host_write_level_2_units, "those of level 2")
COUNTER(host_write_level_3_units, "those of level 3")
COUNTER(host_discard_units, "mapped units that a discard released")
COUNTER(unmapped_read_units, "units read that nobody had written; they cost no flash time")
COUNTER(buffer_read_units, "units read from the write buffer or from a program under way")
COUNTER(read_cache_units, "units read from the cache of what was read before, or ahead")
COUNTER(read_ahead_units, "units read into it ahead of the host")
COUNTER(read_ahead_vain_units, "those of them that left it, or were overwritten, unread")
COUNTER(buffer_coalesced_units, "buffered units overwritten before they were programmed")

/* What the flash did */
COUNTER(array_reads, "pages sensed, moves included")
COUNTER(read_retries, "sensings repeated with other references, moves included")
COUNTER(carried_reads, "pages sensed to be programmed with what joins them, as part of the program")
COUNTER(array_programs, "program operations, moves included")
COUNTER(overshot_programs, "programs that left out too much: more errors")
COUNTER(array_erases, "erase operations")
COUNTER(array_low_erases, "erases with reduced voltage")
COUNTER(erase_residues, "erases with reduced voltage that a full one had to follow")
COUNTER(array_suspends, "operations suspended for a read")
COUNTER(array_read_ns, "array time of reads")
COUNTER(array_program_ns, "array time of programs")
COUNTER(array_erase_ns, "array time of erases")
COUNTER(bus_ns, "channel time of transfers")
COUNTER(host_program_ns, "array time of programs with host data")
COUNTER(host_program_pages, "pages programmed for host data, padding and company included")
COUNTER(repeated_programs, "programs that the policy wanted once more in another place")
COUNTER(reprogrammed_pages, "pages programmed once more between two erases")
COUNTER(read_energy_pj, "energy of reads in picojoule")
COUNTER(program_energy_pj, "energy of programs in picojoule")
COUNTER(erase_energy_pj, "energy of erases in picojoule")

/* Write amplification by cause: the sum of these is all programmed units */
COUNTER(programmed_host_units, "units programmed for the host")
COUNTER(programmed_gc_units, "units moved by garbage collection")
COUNTER(programmed_wear_units, "units moved to level wear")
COUNTER(programmed_refresh_units, "units rewritten because of their age, or of reads beside them")
COUNTER(programmed_promotion_units, "units moved and made precise")
COUNTER(programmed_rewrite_units, "units that a policy moved: rewritten in another mode, displaced")
COUNTER(programmed_retire_units, "units moved out of bad blocks")
COUNTER(programmed_fold_units, "units moved out of the cache of one bit in a cell")
COUNTER(programmed_map_units, "sheets of the map written because they have changed")
COUNTER(padded_units, "units left empty in programmed pages")

/* Space and wear */
COUNTER(gc_blocks, "blocks collected")
COUNTER(gc_valid_units, "valid units found in collected blocks")
COUNTER(gc_empty_blocks, "those of them in which nothing was valid")
COUNTER(gc_urgent_steps, "garbage collection steps that host writes had to wait for")
COUNTER(cached_host_units, "units programmed for the host into cells with one bit of several")
COUNTER(fold_blocks, "blocks of the cache emptied into others, or erased where nothing was valid")
COUNTER(fold_idle_blocks, "those of them that a die without work began with")
COUNTER(unknown_placement_requests,
	"write requests with a placement id that has no blocks: placed as those with none")
COUNTER(zone_append_requests, "writes that were appended to a zone")
COUNTER(zone_opens, "zones opened, by a write or because the host said so")
COUNTER(zone_closes, "zones closed by the host")
COUNTER(zone_implicit_closes, "zones closed for others to be opened")
COUNTER(zone_finishes, "zones finished before they were written to the end")
COUNTER(zone_resets, "zones reset that were not empty")
COUNTER(map_lookups, "pages that reads of the host looked up in a map on flash")
COUNTER(map_misses, "reads that had to wait for a sheet of the map")
COUNTER(map_loads, "sheets of the map read for them")
COUNTER(map_changes, "entries of a map on flash that changed")
COUNTER(map_change_misses, "those of them whose sheet was not in memory")
COUNTER(map_merges, "sheets of the map read to be written again: only changes were in memory")
COUNTER(map_moved_units, "sheets of the map moved, for whatever cause")
COUNTER(wear_blocks, "blocks emptied to level wear")
COUNTER(refresh_blocks, "blocks searched for old data")
COUNTER(disturbed_blocks, "blocks emptied because they were read too often")
COUNTER(retired_blocks, "blocks that went bad in use")
COUNTER(wear_sum, "wear of all erases in 1/10000 of a full erase")

/* Errors */
COUNTER(read_approx_units, "approximate units read from flash or from the cache of reads")
COUNTER(read_flipped_bits, "flipped bits returned to the host")
COUNTER(read_precise_flipped_bits,
	"those of them in precise pages: flipped while the data was approximate")
COUNTER(read_level_1_flipped_bits, "those of them in data of quality level 1")
COUNTER(read_level_2_flipped_bits, "those in data of level 2")
COUNTER(read_level_3_flipped_bits, "those in data of level 3")
COUNTER(read_raw_error_bits, "raw bit errors met by host reads")
COUNTER(read_corrected_bits, "raw bit errors that ECC corrected")
COUNTER(read_retry_levels, "further sensing levels of host reads")
COUNTER(read_lost_units, "units that could not be read")
COUNTER(moved_lost_units, "units that could not be read while they were moved")
COUNTER(baked_bits, "errors that copying made permanent")

/* What should not happen */
COUNTER(policy_bugs, "proposals of the policy that the core refused")
COUNTER(read_restarts, "queued reads whose data moved to another die")
