/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of each placement handle (FDP): HANDLE_COUNTER(name, help). A reclaim unit is a block.
 * Handle 0 is the default one, for all data placed by the policy. Define HANDLE_COUNTER before each
 * include; there is no include guard.
 */
HANDLE_COUNTER(host_units, "units written by the host")
HANDLE_COUNTER(media_units, "units programmed into its reclaim units, padding included")
HANDLE_COUNTER(erased_units, "units in its reclaim units that were erased")
HANDLE_COUNTER(changed_blocks, "reclaim units that it left for another")
HANDLE_COUNTER(partial_blocks, "reclaim units that it left before they were full")
HANDLE_COUNTER(reallocated_units, "valid units relocated out of its reclaim units")
HANDLE_COUNTER(reallocated_events,
	"runs of consecutive units relocated together, without persistent isolation")
