/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of everything that is built from this tree: programs, libraries, manual pages,
 * packages, module and target. Packaging reads it from here.
 */
#ifndef AFTL_RELEASE_H
#define AFTL_RELEASE_H

#define AFTL_VERSION "1.0.0-rc1"

/*
 * AFTL_VERSION as numbers, for struct target_type, which has no place for the suffix of a release
 * candidate.
 */
#define AFTL_TARGET_VERSION { 1, 0, 0 }

#endif
