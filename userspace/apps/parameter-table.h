/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters that determine the data and the result of a program. The header of each file contains
 * them.
 *
 * PARAMETER(name, minimum, maximum, word for the value in the help text, help text)
 */
PARAMETER(size, 4, 1ULL << 32, "N", "of the problem; see the list of programs")
PARAMETER(width, 64, 16384, "N", "of a picture, in pixels")
PARAMETER(height, 64, 16384, "N", "the same")
PARAMETER(frames, 1, 100000, "N", "pictures in a video")
PARAMETER(segment, 1, 16384, "N", "pixels or frames, of which the first is raw, others differences")
PARAMETER(degree, 1, 4096, "N", "nonzeros in a row of smm, on average")
PARAMETER(rounds, 1, 1000000, "N", "iterations of smm and sor")
PARAMETER(seed, 1, U64_MAX, "N", "of all data")
/* The parameters scans and group are optional; a file header omits them if they are 0. */
PARAMETER(scans, 3, 15, "N", "of a progressive image, of which the first is precise; odd")
PARAMETER(group, 2, LONGEST_GROUP, "N", "frames, of which the first is precise, others differences")
