/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that a capture is about.
 */
#ifndef AFTL_CAPTURE_PROGRAM_H
#define AFTL_CAPTURE_PROGRAM_H

#include "json-writer.h"
#include "core/base/params.h"

/**
 * struct capture_program - a run of it
 * @argv: what to run, ends with NULL
 * @begin_ns: of the run, since 1970
 * @elapsed_ns: how long it took
 * @status: as waitpid() gives it
 * @pid: of it
 */
struct capture_program {
	char **argv;
	u64 begin_ns;
	u64 elapsed_ns;
	int status;
	int pid;
};

/**
 * capture_program_run() - run it until it ends
 *
 * Interrupts of the terminal go to the program as well, and are left to it; SIGTERM is handed
 * on to it. Only a program that could not be started is a failure.
 */
int __must_check capture_program_run(struct capture_program *program, struct aftl_error *error);

/* As a shell would say it: its exit status, or 128 and the signal that ended it. */
int capture_program_exit(const struct capture_program *program);

/* Members of the object that is open. */
void capture_program_json(const struct capture_program *program, struct json_writer *json);

#endif
