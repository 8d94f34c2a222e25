/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of flash arrays, as traces and statistics see them. */
#ifndef AFTL_ARRAY_EVENT_H
#define AFTL_ARRAY_EVENT_H

#include "core/base/types.h"

/* Operations of a flash array that the host can observe. */
enum aftl_array_op {
	AFTL_ARRAY_READ,
	AFTL_ARRAY_PROGRAM,
	AFTL_ARRAY_ERASE,
	AFTL_ARRAY_SUSPEND,
	AFTL_ARRAY_RESUME,
};

/**
 * struct aftl_array_event - an operation of a flash array, for traces and statistics
 * @begin_ns: device time at which the array starts; the data of a program are transferred before.
 *	A cache read is reported late: it began during the transfer that has just ended
 * @array_ns: duration; for SUSPEND and RESUME the remaining time of the operation; 0 for a page of
 *	a multi-plane read whose first page has the next event
 * @lun: number of the LUN
 * @block: number of the block in the device
 * @page: first page in the block
 * @pages: number of pages; all pages of the block for an erase
 * @op: enum aftl_array_op
 * @mode: enum aftl_mode of the page
 * @cause: enum aftl_cause; AFTL_CAUSE_HOST for a host read
 */
struct aftl_array_event {
	u64 begin_ns;
	u64 array_ns;
	u32 lun;
	u32 block;
	u32 page;
	u32 pages;
	u8 op;
	u8 mode;
	u8 cause;
};

#endif
