/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Victim selectors, one for each line: VICTIM(name) is implemented by aftl_victim_name in policy/,
 * and selected by its name. The core implements the first one. Define VICTIM before each
 * include; there is no include guard.
 */
VICTIM(greedy)
VICTIM(cost_benefit)
VICTIM(d_choices)
VICTIM(fifo)
VICTIM(windowed)
