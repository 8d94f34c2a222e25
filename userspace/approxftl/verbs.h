/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs of the command; "sim" has a folder of its own.
 *
 * Each gets the arguments of the whole command.
 */
#ifndef AFTL_VERBS_H
#define AFTL_VERBS_H

#include "exit-codes.h"

enum exit_code params_main(int argc, char **argv);
enum exit_code profiles_main(int argc, char **argv);
enum exit_code policies_main(int argc, char **argv);

#endif
