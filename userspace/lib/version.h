/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AFTL_VERSION_H
#define AFTL_VERSION_H

/* Return the output of git-describe for the sources, or the release. */
const char *approxftl_version(void);

#endif
