/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second account of a chip: the least time of each program, the least wear of each erase, the
 * least errors of each page that is read.
 *
 * All of it follows from the configuration and from what was programmed before, which is kept
 * here. With the chip it shares tables of measurements and what word lines are like, nothing
 * that says what a command costs.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include "core/ftl/device.h"

struct account_block;
struct account_page;

/* Of one kind of operation: how many, and the least that all of them take. */
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
 * @turns: programs so far
 * @programs: of the array
 * @erases: that are over
 * @reads: of the array
 * @relaxed: those of them whose errors were compared with the usual ones
 * @wear: least wear of these erases
 * @wrong: the first thing that no chip does; empty: nothing
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
 * account_open() - begin with a device that has done nothing yet
 * @account: takes the account
 * @ftl: device
 *
 * Return: false without memory.
 */
bool account_open(struct account *account, struct aftl *ftl);

void account_close(struct account *account);

/* For the array() of a host: it begins with an operation. */
void account_event(struct account *account, const struct aftl_array_event *event);

/* The policy has answered whether the next erase of @block is to be gentle. */
void account_gentle(struct account *account, const struct aftl_block *block, bool gentle);

/* For the erase() of a host: the erase of the block of slot @first is over. */
void account_erased(struct account *account, aftl_ppn_t first);

/* Nothing is under way: are the device's sums what they must be at least? */
void account_sums(struct account *account);

#endif
