/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules by which a victim is chosen, one line each: VICTIM(name) stands for
 * aftl_victim_name in policy/. Include with VICTIM defined; no include guard on
 * purpose. The first is what the core does by itself. Its word is its name.
 */
VICTIM(greedy)
VICTIM(cost_benefit)
VICTIM(d_choices)
VICTIM(fifo)
VICTIM(windowed)
