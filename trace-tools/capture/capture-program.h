/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the program whose I/O is captured.
 */
#ifndef AFTL_CAPTURE_PROGRAM_H
#define AFTL_CAPTURE_PROGRAM_H

#include "json-writer.h"
#include "core/base/params.h"

/**
 * struct capture_program - a run of the traced program
 * @argv: command line, terminated with NULL
 * @begin_ns: start time since 1970
 * @elapsed_ns: duration
 * @status: status as from waitpid()
 * @pid: process id
 */
struct capture_program {
	char **argv;
	u64 begin_ns;
	u64 elapsed_ns;
	int status;
	int pid;
};

/**
 * capture_program_run() - run the program until it ends
 *
 * SIGINT from the terminal reaches the program directly and is ignored here; SIGTERM is forwarded.
 * The function fails only if the program cannot be started.
 */
int __must_check capture_program_run(struct capture_program *program, struct aftl_error *error);

/* Return: exit status as in a shell: the program's own, or 128 plus the signal that killed it. */
int capture_program_exit_status(const struct capture_program *program);

/* Write the traced program's run as members of the JSON object that is open. */
void capture_program_write_json(const struct capture_program *program, struct json_writer *json);

#endif
