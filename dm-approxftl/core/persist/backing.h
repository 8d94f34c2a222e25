/* SPDX-License-Identifier: GPL-2.0-only */
/* The backing device of a volume. */
#ifndef AFTL_BACKING_H
#define AFTL_BACKING_H

#include "aftl-host.h"

/**
 * struct aftl_backing - a backing device, and memory
 * @host: first argument of the calls
 * @bytes: size of the device
 *
 * Offsets and sizes are multiples of 4096 bytes. The calls return 0 or a negative error code.
 */
struct aftl_backing {
	void *host;
	u64 bytes;

	int (*read)(void *host, u64 offset, void *bytes, u32 size);

	/*
	 * read() in two steps, so that several reads can be in progress; NULL if the host does not
	 * support this. begin_read() returns a handle, or NULL if it has not started the read.
	 * end_read() is called once with the handle; until then @bytes must not be touched. Only
	 * used while a volume is opened.
	 */
	void *(*begin_read)(void *host, u64 offset, void *bytes, u32 size);
	int (*end_read)(void *host, void *begun);

	/* write() may return before the data are written; the caller may reuse @bytes at once. */
	int (*write)(void *host, u64 offset, const void *bytes, u32 size);

	/* Make everything durable that write() or the host itself has written. */
	int (*flush)(void *host);

	/* Zeroed memory or NULL. Called only while a volume is opened or formatted. */
	void *(*alloc)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);
};

#endif
