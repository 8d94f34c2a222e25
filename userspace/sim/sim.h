/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verb "sim" of the command approxftl.
 */
#ifndef AFTL_SIM_H
#define AFTL_SIM_H

#include "exit-codes.h"

/**
 * sim_main() - run the simulator
 * @argc: number of arguments, the verb included
 * @argv: ends with NULL
 */
enum exit_code sim_main(int argc, char **argv);

#endif
