/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points of the verbs; "sim" is in a directory of its own.
 *
 * Each receives the arguments of the whole command.
 */
#ifndef AFTL_VERBS_H
#define AFTL_VERBS_H

#include "exit-codes.h"

enum exit_code params_main(int argc, char **argv);
enum exit_code profiles_main(int argc, char **argv);
enum exit_code policies_main(int argc, char **argv);
enum exit_code create_main(int argc, char **argv);
enum exit_code list_main(int argc, char **argv);
enum exit_code status_main(int argc, char **argv);
enum exit_code stat_main(int argc, char **argv);
enum exit_code top_main(int argc, char **argv);
enum exit_code health_main(int argc, char **argv);
enum exit_code message_main(int argc, char **argv);
enum exit_code remove_main(int argc, char **argv);
enum exit_code doctor_main(int argc, char **argv);
enum exit_code tag_main(int argc, char **argv);
enum exit_code format_main(int argc, char **argv);
enum exit_code check_main(int argc, char **argv);
enum exit_code dump_main(int argc, char **argv);

#endif
