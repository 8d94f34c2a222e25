/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Independent account of a chip: least time of each program, least wear of each erase, least errors
 * of each page read. The account follows from the configuration and from earlier programs, which it
 * records. It shares tables of measurements and word-line properties with the chip, but no code
 * that computes the cost of a command.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

struct account_block;
struct account_page;

/* Number of operations of one kind, and the sums of their least times and energies. */
struct account_sum {
	u64 count;
	u64 ns;
	u64 pj;
};

/**
 * struct account - the account of one device
 * @ftl: the device
 * @blocks: by block
 * @pages: by page of the device
 * @turns: number of page programs so far
 * @programs: number and least cost of programs
 * @erases: number and least cost of completed erases
 * @reads: number and least cost of page reads
 * @relaxed: reads of pages in faster modes, whose errors were compared with normal pages
 * @wear: least wear of all completed erases
 * @wrong: message about the first violation; empty: none
 */
struct account {
	struct aftl *ftl;
	struct account_block *blocks;
	struct account_page *pages;
	u32 turns;
	struct account_sum programs;
	struct account_sum erases;
	struct account_sum reads;
	u64 relaxed;
	u64 wear;
	char wrong[200];
};

/**
 * account_open_device() - initialise the account of an unused device
 * @account: the account to initialise
 * @ftl: device
 *
 * Return: false if memory runs out.
 */
bool account_open_device(struct account *account, struct aftl *ftl);

void account_close_device(struct account *account);

/* Record an array operation when it begins; call from the host's array(). */
void account_array_event(struct account *account, const struct aftl_array_event *event);

/* Record the policy's answer whether the next erase of @block is shallow. */
void account_shallow_erase(struct account *account, const struct aftl_block *block, bool gentle);

/* Record the erase of the block that begins at ppn @first; call from the host's erase(). */
void account_block_erased(struct account *account, aftl_ppn_t first);

/* Check that the counters of an idle device are at least the sums of the account. */
void account_check_counters(struct account *account);

#endif
