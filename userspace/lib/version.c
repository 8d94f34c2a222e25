// SPDX-License-Identifier: GPL-2.0-only
#include "version.h"

#ifndef AFTL_VERSION
#define AFTL_VERSION "0.1.0"
#endif

const char *approxftl_version(void)
{
	return AFTL_VERSION;
}
