/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of "approxftl doctor". They change nothing and do not call device-mapper, because a call
 * would load the driver.
 */
#ifndef AFTL_DOCTOR_H
#define AFTL_DOCTOR_H

#include "aftl-host.h"

/**
 * struct machine - the examined machine
 * @root: root directory of its files; "" for this machine
 * @release: release of its kernel
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
 * struct diagnosis - result of a check
 * @finding: ok, missing or unknown
 * @found: description for the user
 * @remedy: command that solves the problem; empty without a problem or a known command
 */
struct diagnosis {
	enum finding finding;
	char found[160];
	char remedy[240];
};

/* Groups of checks: for devices in this kernel, for optional features, for virtual machines. */
enum doctor_group {
	DOCTOR_NATIVE,
	DOCTOR_HELPFUL,
	DOCTOR_VIRTUAL,
	DOCTOR_GROUPS,
};

/**
 * struct doctor_check - a check
 * @name: name in all formats of output
 * @group: purpose
 * @look: the check; NULL if it looks for a program
 * @program: program that should be in PATH
 * @package: package that contains it
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

void doctor_run_check(const struct machine *machine, const struct doctor_check *check,
		      struct diagnosis *diagnosis);

#endif
