/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reasons for which a request waits (enum aftl_wait in core/ftl/ftl.h). Define
 * WAIT(NAME, name, text) before each include; there is no include guard.
 */

/* Wait reasons of a request that has no command at a die yet; the first reason is BUFFER. */
WAIT(BUFFER, buffer, "the write buffer, or the controller's list of commands, was full")
WAIT(QUEUE, queue, "other host queues had their turn")
WAIT(MAP_MISS, map_miss, "the translation page of the request was not in memory")
WAIT(REST, rest, "a write of a part of a page read the rest of it")
WAIT(FLUSH, flush, "a flush waited for earlier writes")
/* The die is busy. */
WAIT(READ, read, "the die served reads of other requests")
WAIT(PROGRAM, program, "the die programmed data of other writes")
WAIT(RELOCATION, relocation, "the die relocated data in the background")
WAIT(URGENT_GC, urgent_gc, "the die relocated data because it was out of free blocks")
WAIT(ERASE, erase, "the die erased a block")
WAIT(MAP, map, "the die read or programmed translation pages")
WAIT(PARITY, parity, "the die read or programmed for RAIN")
WAIT(SUSPEND, suspend, "the die suspended a program or an erase")
WAIT(BUS, bus, "the channel transferred data of other dies")
WAIT(HELD, held, "the die was idle: buffer or housekeeping held data back, or a fine pass was due")
/* Wait reasons after the flash operation has ended, while the data are on their way to the host. */
WAIT(LINK, link, "the controller's processor and the host's link")
WAIT(CONTROLLER, controller, "the fixed time of controller and ECC")
WAIT(OTHER, other, "anything else, such as a zone reset")
