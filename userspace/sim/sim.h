/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verb "sim" of the command approxftl.
 */
#ifndef AFTL_SIM_H
#define AFTL_SIM_H

#include <stdio.h>

#include "exit-codes.h"

struct sim_options;

/**
 * sim_main() - run the simulator
 * @argc: number of arguments, the verb included
 * @argv: ends with NULL
 */
enum exit_code sim_main(int argc, char **argv);

/**
 * sim_perform() - perform the runs of a parsed command line and print the reports
 * @options: parsed options
 * @argc: number of arguments, for the JSON output
 * @argv: arguments, for the JSON output
 * @json: takes the JSON output instead of the file of --json, and is closed; or NULL
 */
enum exit_code sim_perform(struct sim_options *options, int argc, char **argv, FILE *json);

#endif
