/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Victim selectors, one for each line: VICTIM(name) is implemented by aftl_victim_name in policy/,
 * and selected by its name. The core implements the first one. Include with VICTIM defined; no
 * include guard on purpose.
 */
VICTIM(greedy)
VICTIM(cost_benefit)
VICTIM(d_choices)
VICTIM(fifo)
VICTIM(windowed)
