/* SPDX-License-Identifier: GPL-2.0-only */
/* Callbacks of the core into its host. */
#ifndef AFTL_HOST_OPS_H
#define AFTL_HOST_OPS_H

#include "core/ftl/array-event.h"
#include "core/ftl/request.h"

/* Zone states, named as in NVMe and the kernel. */
enum aftl_zone_state {
	AFTL_ZONE_EMPTY,
	AFTL_ZONE_IMPLICIT,
	AFTL_ZONE_EXPLICIT,
	AFTL_ZONE_CLOSED,
	AFTL_ZONE_FULL,
	AFTL_ZONE_READ_ONLY,
	AFTL_ZONE_OFFLINE,
	AFTL_ZONE_STATES,
};

/**
 * struct aftl_host_ops - callbacks of the core into its host
 *
 * Only alloc, free and complete are required. With the others a host keeps real data beside the
 * core. They are called in the order in which the emulated controller moves data, during
 * aftl_submit() or aftl_process_events_until().
 *
 * program() and copy() are called when a program begins, erase() when an erase ends. The old
 * physical page of a logical page may be erased on one LUN while the new one is still being
 * programmed on another: a host whose data must survive a crash makes its changes durable in the
 * order of these calls. A host that records programmed(), unmap(), erase() and retire() can rebuild
 * the mapping, see volume.h.
 */
struct aftl_host_ops {
	/* Return zeroed memory, or NULL. Called in aftl_create() and aftl_precondition() only. */
	void *(*alloc)(void *host, size_t bytes);
	/*
	 * Like alloc(), but may be called at any time and must not return NULL. Without
	 * alloc_later() the core allocates at creation even metadata that few blocks ever need.
	 */
	void *(*alloc_later)(void *host, size_t bytes);
	void (*free)(void *host, void *memory, size_t bytes);

	/*
	 * Called between two slices of aftl_precondition(), aftl_audit(),
	 * aftl_compute_device_digest(), aftl_save() and aftl_load(), with the device in a
	 * consistent state. May sleep; must not call the device.
	 * Return: 0, or an error code with which the call ends.
	 */
	int (*pause)(void *host);

	/*
	 * The request is complete and belongs to the host again. The callback may submit another
	 * one.
	 */
	void (*complete)(void *host, struct aftl_request *request);

	/*
	 * A write was accepted: keep the data of @lpn under @tag. If @request covers only a part of
	 * @lpn, take the other bytes from the last read() for @request and @lpn.
	 */
	void (*accept)(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag);

	/*
	 * The data under @tag are being programmed to @ppn. Called again with another @ppn if the
	 * LUN dies before the program has ended.
	 */
	void (*program)(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn);

	/* The program of @tag failed, as its LUN dies; retire() of the LUN's blocks follows. */
	void (*unstored)(void *host, u32 tag);

	/* The data under @tag are not needed any more. */
	void (*release)(void *host, u32 tag);

	/* The data of physical page @from are being relocated to @to. */
	void (*copy)(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to);

	/*
	 * The page that starts at @first has been programmed, with the data of the program() and
	 * copy() calls before. The valid bits and the L2P table show which of its ppns still hold
	 * the newest data of a logical page. Called again if data of the page are lost later.
	 */
	void (*programmed)(void *host, aftl_ppn_t first);

	/* The @units logical pages from @first on lost their data by a discard or a zone reset. */
	void (*unmap)(void *host, aftl_lpn_t first, u32 units);

	/*
	 * Optional: free the data of a part of a zone that is being reset; unmap() reports the
	 * whole zone later. It spares the host a long unmap().
	 */
	void (*unmapping)(void *host, aftl_lpn_t first, u32 units);

	/*
	 * The state of @zone has changed, but not by a write: it was reset (EMPTY) or finished
	 * (FULL), or is READ_ONLY or OFFLINE.
	 */
	void (*zone)(void *host, u32 zone, enum aftl_zone_state state);

	/*
	 * Optional: power is lost; nothing that later callbacks report may become durable. Without
	 * this callback a host cannot arm the fault "cut".
	 */
	void (*cut_power)(void *host);

	/* The block of the @slots physical pages from @first on has been erased. */
	void (*erase)(void *host, aftl_ppn_t first, u32 slots);

	/* Blocks @first to @first + @blocks - 1 are retired; some may have been reported before. */
	void (*retire)(void *host, u32 first, u32 blocks);

	/*
	 * Return the structure to which the core adds the waiting times of @request; NULL: none.
	 * Without this callback accounting costs nothing.
	 */
	struct aftl_waits *(*waits)(void *host, struct aftl_request *request);

	/* An array starts, suspends or resumes an operation. */
	void (*array)(void *host, const struct aftl_array_event *event);

	/*
	 * Fetch the data that @request returns for one logical page. A write that covers a part of
	 * a page fetches the page before accept(), possibly again if it is discarded meanwhile.
	 */
	void (*read)(void *host, struct aftl_request *request, const struct aftl_read *read);
};

#endif
