/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subcommands of approxftl-trace.
 */
#ifndef AFTL_TRACE_VERBS_H
#define AFTL_TRACE_VERBS_H

#include "exit-codes.h"
#include "trace-options.h"

enum exit_code trace_info_main(int argc, char **argv);
enum exit_code trace_convert_main(int argc, char **argv);
enum exit_code trace_pair_main(int argc, char **argv);
enum exit_code trace_tag_main(int argc, char **argv);
enum exit_code trace_fix_main(int argc, char **argv);
enum exit_code trace_formats_main(int argc, char **argv);

/* Helpers for the subcommands: */

/* Print an error to stderr. Return: the exit code for it. */
enum exit_code trace_complain(int ret, const struct aftl_error *error);

/* Like trace_complain(), for a wrong command line. */
enum exit_code trace_complain_usage(const struct aftl_error *error);

#endif
