/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults that happen after a trigger. */
#ifndef AFTL_FAULT_H
#define AFTL_FAULT_H

#include "core/base/error.h"

struct aftl;

/* Limit of faults in a device's list; if it is full, a new fault replaces one that happened. */
#define AFTL_FAULTS_MAX 64

enum aftl_fault_action {
	AFTL_FAULT_UNIT, /* aftl_fail_unit() */
	AFTL_FAULT_BLOCK, /* aftl_fail_block() */
	AFTL_FAULT_DIE, /* aftl_fail_lun() */
	AFTL_FAULT_AGE, /* aftl_advance_age() */
	AFTL_FAULT_WEAR, /* aftl_wear_out_blocks() */
	AFTL_FAULT_LIFE, /* fault action "end": blocks fail until the device is read-only */
	AFTL_FAULT_POWER, /* fault action "cut": call cut_power() of the host */
};

enum aftl_fault_trigger {
	AFTL_FAULT_WRITE,	/* a host write was admitted */
	AFTL_FAULT_READ,	/* a host read was admitted */
	AFTL_FAULT_TIME,	/* device time has come */
	AFTL_FAULT_PROGRAM,	/* trigger: a host write of a logical page is programmed */
	AFTL_FAULT_NOW,		/* no trigger: arming the fault makes it happen */
};

enum aftl_fault_state {
	AFTL_FAULT_PENDING,
	AFTL_FAULT_DUE,
	AFTL_FAULT_HAPPENED,
	AFTL_FAULT_VOID,	/* no effect: the fault's logical page was not on flash */
};

/* Names by enum aftl_fault_action, aftl_fault_trigger and aftl_fault_state; NULL ends a list. */
extern const char *const aftl_fault_actions[];
extern const char *const aftl_fault_triggers[];
extern const char *const aftl_fault_states[];

/* Word that a fault action takes instead of a number, such as "cut"; NULL if it takes a number. */
const char *aftl_get_name_of_fault_action(u8 action);

/**
 * struct aftl_fault - a fault that happens once
 * @number: logical page, block, LUN or P/E cycles; for AFTL_FAULT_AGE the time that passes, in ns;
 * 0 for an action with a word
 * @after: number of the host write or read, device time in ns, or logical page
 * @action: enum aftl_fault_action
 * @trigger: enum aftl_fault_trigger
 * @state: enum aftl_fault_state
 * @when_ns: device time at which the fault happened or was void
 * @worn_blocks: blocks that the steps of AFTL_FAULT_WEAR have passed
 *
 * Writes, reads and time count from the moment at which a fault was armed while no other one
 * waited. The fault happens directly after its trigger, before the next request and the next event.
 */
struct aftl_fault {
	u64 number;
	u64 after;
	u64 when_ns;
	u32 worn_blocks;
	u8 action;
	u8 trigger;
	u8 state;
};

/**
 * aftl_fault_parse() - parse "ACTION NUMBER [after TRIGGER NUMBER]", or with a word for NUMBER
 * @fault: takes the fault
 * @words: the words of the fault, one string each
 * @count: number of @words
 * @error: takes the message on failure
 */
int __must_check aftl_fault_parse(struct aftl_fault *fault, char *const *words, u32 count,
				  struct aftl_error *error);

/**
 * aftl_arm_fault() - add a fault to the list, or let it happen now
 * @ftl: device
 * @fault: the fault; its state is ignored
 * @error: takes the message on failure
 *
 * The fault "end", and "wear" if there are more than AFTL_WEAR_BLOCKS blocks, take several steps:
 * they go to the list even without a trigger.
 *
 * Return: 0, -EINVAL, -ENODATA as aftl_fail_unit(), or -ENOSPC if all faults of a full list wait.
 */
int __must_check aftl_arm_fault(struct aftl *ftl, const struct aftl_fault *fault,
				struct aftl_error *error);

/*
 * Empty the fault list, except for faults in progress, whose remaining steps must follow. No other
 * fault is armed afterwards.
 */
void aftl_clear_faults(struct aftl *ftl);

/* Get the faults in the order of arming; return their number. A snapshot contains no faults. */
u32 aftl_get_faults(const struct aftl *ftl, const struct aftl_fault **all);

#endif
