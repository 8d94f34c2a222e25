/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules by which a LUN is chosen, one line each: LUN_RULE(name) stands for
 * aftl_lun_name in policy/. Include with LUN_RULE defined; no include guard on purpose. Its
 * word is its name.
 */
LUN_RULE(rotate)
LUN_RULE(static)
LUN_RULE(least_busy)
