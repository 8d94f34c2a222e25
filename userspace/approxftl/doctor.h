/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What "approxftl doctor" looks at. Nothing is changed, and nothing is asked of
 * device-mapper, for asking loads it.
 */
#ifndef AFTL_DOCTOR_H
#define AFTL_DOCTOR_H

#include "aftl-host.h"

/**
 * struct machine - the one to look at
 * @root: where its files are; "" for this one
 * @release: of its kernel
 */
struct machine {
	const char *root;
	char release[80];
};

enum finding {
	FINDING_OK,
	FINDING_MISSING,
	FINDING_UNKNOWN,
};

/**
 * struct diagnosis - what one look has found
 * @finding: good, bad, or not to be seen
 * @found: for a person
 * @remedy: the command that mends it; empty if there is none or nothing to mend
 */
struct diagnosis {
	enum finding finding;
	char found[160];
	char remedy[240];
};

/* What a device in the running kernel needs, what is good to have, what virtual machines need. */
enum doctor_group {
	DOCTOR_NATIVE,
	DOCTOR_HELPFUL,
	DOCTOR_VIRTUAL,
	DOCTOR_GROUPS,
};

/**
 * struct doctor_check - one look
 * @name: what at, for person and program
 * @group: who needs it
 * @look: does it; NULL for a program
 * @program: that should be in the PATH
 * @package: that brings it
 */
struct doctor_check {
	const char *name;
	enum doctor_group group;
	void (*look)(const struct machine *machine, struct diagnosis *diagnosis);
	const char *program;
	const char *package;
};

extern const struct doctor_check doctor_checks[];
extern const unsigned int doctor_check_count;

void doctor_look(const struct machine *machine, const struct doctor_check *check,
		 struct diagnosis *diagnosis);

#endif
