/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of everything that is built from this tree: programs, libraries, manual pages,
 * packages, module and target. Packaging reads it from here.
 */
#ifndef AFTL_RELEASE_H
#define AFTL_RELEASE_H

#define AFTL_VERSION "1.0.0-rc1"

/* AFTL_VERSION without a suffix, which struct target_type has no place for. */
#define AFTL_TARGET_VERSION { 1, 0, 0 }

#endif
