// SPDX-License-Identifier: GPL-2.0-only
#include "version.h"

#include "release.h"

const char *approxftl_version(void)
{
	return AFTL_VERSION;
}
