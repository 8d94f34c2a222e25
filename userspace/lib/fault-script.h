/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault scripts: TOML files with an array of tables [[fault]], each of which has a fault (unit,
 * block, die, wear = N, age = "TIME", life = "end" or power = "cut") and a trigger (after_write,
 * after_read, after_program = N, or after_time = "TIME"). Of TOML, values are integers and basic
 * strings without escapes.
 */
#ifndef AFTL_FAULT_SCRIPT_H
#define AFTL_FAULT_SCRIPT_H

#include "core/ftl/ftl.h"

/**
 * struct fault_script - the faults of a script
 * @all: in the order of the file
 * @count: number of faults
 */
struct fault_script {
	struct aftl_fault all[AFTL_FAULTS_MAX];
	u32 count;
};

/* Read the script in file @path. Return: 0, or an error code with a message. */
int __must_check fault_script_read(struct fault_script *script, const char *path,
				   struct aftl_error *error);

#endif
