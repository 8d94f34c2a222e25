/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program modes, one for each entry:
 *
 * MODE(NAME, word, bits, program, share, read, curve, rate)
 *
 * @word: name in output. @bits: bits per cell, 0 for all that the cell can hold. @program and
 * @read: parameters with the times. If @program is 0, the program takes @share ns where a standard
 * program takes 700 us (as on the device of ApproxFTL and AGCR), else in proportion; if @read is 0,
 * the parameter is "read". @curve: error curve of the voltage model (AFTL_RBER_*, STANDARD for the
 * curve of the device). @rate: error rate of the constant model (AFTL_RATE_*).
 *
 * The position in the list is stored on media: append only. Define MODE before each include;
 * there is no include guard.
 */
/* Standard program */
MODE(NORMAL, "normal", 0, program, 0, read, STANDARD, PRECISE)
/* Program with a lower top threshold voltage (ApproxFTL, Vth_b, TVR) */
MODE(REDUCED, "reduced", 0, program_reduced, 437500, read, MLC_APPROX, PRECISE)
/* Precise page whose neighbours are approximate and are programmed later (ApproxFTL) */
MODE(BETWEEN, "between", 0, program_between, 532000, read, STANDARD, PRECISE)
/* A precise page programmed after all its neighbours */
MODE(AFTER, "after", 0, program_after, 469000, read, STANDARD, PRECISE)
/* Larger ISPP step (Delta_b, AGCR's low-cost write) */
MODE(COARSE, "coarse", 0, program_coarse, 466667, read, MLC_DELTA_B, COARSE)
/* Smaller ISPP step (AGCR's high-cost write) */
MODE(FINE, "fine", 0, program_fine, 933000, read, MLC_FINE, FINE)
/* A word line with parameters learned from the leader word line of its layer (cubeFTL) */
MODE(FOLLOWER, "follower", 0, program, 0, read, STANDARD, PRECISE)
/* MLC mode: two bits per cell in cells that can store more; ReSSD may reprogram the word line */
MODE(MLC, "mlc", 2, program_mlc, 0, read_mlc, TLC_MLC_MODE, PRECISE)
/* SLC mode: one bit per cell in cells that can store more */
MODE(SLC, "slc", 1, program_slc, 0, read_slc, SLC_MODE, PRECISE)
/* TLC mode: three bits per cell in cells that can store four */
MODE(TLC, "tlc", 3, program_tlc, 0, read_tlc, TLC, PRECISE)
/* Coarse (foggy) pass of two; the data is readable only after the fine pass */
MODE(FOGGY, "foggy", 0, program_foggy, 0, read, STANDARD, PRECISE)
/* Approximate page whose ECC bytes store parity of a precise page (parity lending) */
MODE(LENDING, "lending", 0, program, 0, read, STANDARD, PRECISE)
/* Program of the other bits of a word line that holds one bit a cell; that bit stays valid (IPS) */
MODE(SWITCHED, "switched", 0, program, 0, read, TLC_REPROGRAM, PRECISE)
/* Approximate page with larger ISPP steps and a lower top voltage; savings and errors add up */
MODE(ROUGH, "rough", 0, program_reduced, 291667, read, MLC_APPROX, PRECISE)
