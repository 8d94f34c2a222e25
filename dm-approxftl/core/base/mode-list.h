/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program modes, one entry each:
 *
 * MODE(NAME, word, bits, program, read, curve, rate)
 *
 * The word is for people. @bits: what a cell holds after it, 0 for all that the device has.
 * @program and @read: parameters with its times. Where the former is 0 it is @share of "program",
 * in ns of 700 us (ApproxFTL's and AGCR's device); where the latter is 0 it is "read". @curve: of
 * errors with the voltage model (AFTL_RBER_*, STANDARD for that of the device), @rate: of errors
 * with the constant one (AFTL_RATE_*).
 *
 * The position is stored on media: append only. Include with MODE defined; no include guard on
 * purpose.
 */
/* The profile's standard program */
MODE(NORMAL, "normal", 0, program, 0, read, STANDARD, PRECISE)
/* Lower top threshold voltage (ApproxFTL, Vth_b, TVR) */
MODE(REDUCED, "reduced", 0, program_reduced, 437500, read, MLC_APPROX, PRECISE)
/* A precise page whose later neighbours are approximate */
MODE(BETWEEN, "between", 0, program_between, 532000, read, STANDARD, PRECISE)
/* A precise page programmed after all its neighbours */
MODE(AFTER, "after", 0, program_after, 469000, read, STANDARD, PRECISE)
/* Larger ISPP step (Delta_b, AGCR's low-cost write) */
MODE(COARSE, "coarse", 0, program_coarse, 466667, read, MLC_DELTA_B, COARSE)
/* Smaller ISPP step (AGCR's high-cost write) */
MODE(FINE, "fine", 0, program_fine, 933000, read, MLC_FINE, FINE)
/* A word line with parameters learned from its layer's leader */
MODE(FOLLOWER, "follower", 0, program, 0, read, STANDARD, PRECISE)
/* Two bits in a cell for more, which a super layer may program again later */
MODE(MLC, "mlc", 2, program_mlc, 0, read_mlc, TLC_MLC_MODE, PRECISE)
/* One bit in a cell for more */
MODE(SLC, "slc", 1, program_slc, 0, read_slc, SLC_MODE, PRECISE)
/* Three bits in a cell for four */
MODE(TLC, "tlc", 3, program_tlc, 0, read_tlc, TLC, PRECISE)
/* The coarse one of two passes: nothing can be read before the fine one has followed */
MODE(FOGGY, "foggy", 0, program_foggy, 0, read, STANDARD, PRECISE)
/* An approximate page whose spare bytes hold parity of a precise one, which it lends to */
MODE(LENDING, "lending", 0, program, 0, read, STANDARD, PRECISE)
/* The rest of the bits beside one that its cells hold, which stays where it is (IPS) */
MODE(SWITCHED, "switched", 0, program, 0, read, TLC_REPROGRAM, PRECISE)
/* Larger ISPP steps to a lower top, of approximate data: what both save, and the errors of both */
MODE(ROUGH, "rough", 0, program_reduced, 291667, read, MLC_APPROX, PRECISE)
