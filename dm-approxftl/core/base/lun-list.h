/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LUN allocation rules, one for each line: LUN_RULE(name) is implemented by aftl_lun_name in
 * policy/, and selected by its name. Define LUN_RULE before an include: there is no guard.
 */
LUN_RULE(rotate)
LUN_RULE(static)
LUN_RULE(least_busy)
