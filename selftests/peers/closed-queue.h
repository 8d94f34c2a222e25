/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface between the closed queue and the translation layer of another emulator. */
#ifndef PEERS_CLOSED_QUEUE_H
#define PEERS_CLOSED_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* Pages that the flash programmed and blocks that it erased since the device was made. */
struct peer_counts {
	uint64_t programs;
	uint64_t erases;
};

/* The virtual time in nanoseconds, which the translation layer reads as its clock. */
extern uint64_t peer_now;

void peer_init(void);
uint64_t peer_pages(void);
/* Execute a request of one page; return the virtual time of its completion. */
uint64_t peer_submit(bool write, uint64_t page);
struct peer_counts peer_counts(void);

#endif
