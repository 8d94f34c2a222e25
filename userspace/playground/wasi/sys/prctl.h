/* SPDX-License-Identifier: GPL-2.0-only */
/* WASI has no processes to wait for, so that this function does nothing. */
#ifndef WASI_SYS_PRCTL_H
#define WASI_SYS_PRCTL_H

#define PR_SET_PDEATHSIG 1

static inline void prctl(int option, int value)
{
	(void)option;
	(void)value;
}

#endif
