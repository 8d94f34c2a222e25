/* SPDX-License-Identifier: GPL-2.0-only */
/* Pauses of long calls. */
#ifndef AFTL_PAUSE_H
#define AFTL_PAUSE_H

#include "core/ftl/controller.h"

/*
 * Give other tasks of the host a chance to run, between two slices of a long call. May sleep.
 * Return: 0, or the host's error code, with which the caller must end.
 */
static inline int aftl_call_pause_callback(const struct aftl *ftl)
{
	return ftl->ops->pause ? ftl->ops->pause(ftl->host) : 0;
}

#endif
