/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The binary format of blktrace, versions 7 and 8, as the kernel writes it: events follow each
 * other, in the byte order of the recording machine.
 *
 *	version 7, 48 bytes		version 8, 64 bytes
 *	 0  4  magic			 0  4  magic
 *	 4  4  sequence			 4  4  sequence
 *	 8  8  time in ns		 8  8  time in ns
 *	16  8  sector			16  8  sector
 *	24  4  bytes			24  4  bytes
 *	28  4  action			28  4  process
 *	32  4  process			32  8  action
 *	36  4  device			40  4  device
 *	40  4  cpu			44  4  cpu
 *	44  2  error			48  2  error
 *	46  2  bytes that follow	50  2  bytes that follow
 *					52 12  unused
 *
 * If the action has BLKTRACE_CGROUP, the bytes that follow begin with an 8-byte cgroup id.
 */
#ifndef AFTL_BLKTRACE_LAYOUT_H
#define AFTL_BLKTRACE_LAYOUT_H

#include "aftl-host.h"

#define BLKTRACE_MAGIC 0x65617400
#define BLKTRACE_V7 7
#define BLKTRACE_V8 8
#define BLKTRACE_V7_BYTES 48
#define BLKTRACE_V8_BYTES 64
#define BLKTRACE_CGROUP_BYTES 8

/* Low byte of a blktrace action: the kind of event (queued, issued, completed ...). */
#define BLKTRACE_ACT_MASK 0xff
#define BLKTRACE_CGROUP 0x100

enum blktrace_action {
	BLKTRACE_QUEUE = 1,
	BLKTRACE_BACK_MERGE,
	BLKTRACE_FRONT_MERGE,
	BLKTRACE_GET_REQUEST,
	BLKTRACE_SLEEP,
	BLKTRACE_REQUEUE,
	BLKTRACE_ISSUE,
	BLKTRACE_COMPLETE,
	BLKTRACE_PLUG,
	BLKTRACE_UNPLUG_IO,
	BLKTRACE_UNPLUG_TIMER,
	BLKTRACE_INSERT,
	BLKTRACE_SPLIT,
	BLKTRACE_BOUNCE,
	BLKTRACE_REMAP,
	BLKTRACE_ABORT,
	BLKTRACE_DRIVER_DATA,
	BLKTRACE_ACTIONS,
};

enum blktrace_note {
	BLKTRACE_NOTE_PROCESS,
	BLKTRACE_NOTE_CLOCK,
	BLKTRACE_NOTE_MESSAGE,
};

/* Higher bits of a blktrace action: flags of the request (read, write, flush ...). */
#define BLKTRACE_IS(bit) (1ULL << (16 + (bit)))
#define BLKTRACE_IS_WRITE BLKTRACE_IS(1)
#define BLKTRACE_IS_FLUSH BLKTRACE_IS(2)
#define BLKTRACE_IS_QUEUE BLKTRACE_IS(4)
#define BLKTRACE_IS_COMPLETE BLKTRACE_IS(7)
#define BLKTRACE_IS_FS BLKTRACE_IS(8)
#define BLKTRACE_IS_PASSTHROUGH BLKTRACE_IS(9)
#define BLKTRACE_IS_NOTE BLKTRACE_IS(10)
#define BLKTRACE_IS_DISCARD BLKTRACE_IS(13)
#define BLKTRACE_IS_FUA BLKTRACE_IS(15)
/* Version 8 only. */
#define BLKTRACE_IS_ZONE_MANAGEMENT                                                    \
	(BLKTRACE_IS(17) | BLKTRACE_IS(18) | BLKTRACE_IS(19) | BLKTRACE_IS(20) |       \
	 BLKTRACE_IS(21))
#define BLKTRACE_IS_WRITE_ZEROES BLKTRACE_IS(22)

#endif
