/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line of approxftl-app.
 */
#ifndef AFTL_APPS_APP_OPTIONS_H
#define AFTL_APPS_APP_OPTIONS_H

#include "app.h"

enum app_phase {
	PHASE_ALL,
	PHASE_WRITE,
	PHASE_COMPUTE,
};

/**
 * struct app_options - values of the options; those not listed are explained by their help
 * @app: the program to run
 * @folder: directory of its files
 * @memory_bytes: buffer size of each array; 0 for a quarter of its data
 * @setup: parameters given by the user; 0 for others
 */
struct app_options {
	const struct app *app;
	const char *folder;
	enum app_phase phase;
	enum app_io io;
	u64 memory_bytes;
	const char *reference;
	bool precise;
	bool require;
	bool force;
	const char *json;
	bool help;
	struct app_setup setup;
};

/* Words for --phase and --io, in the order of their enums. */
extern const char *const app_phases[];
extern const char *const app_ios[];

int __must_check app_options_parse(struct app_options *options, int argc, char **argv,
				   struct aftl_error *error);
void app_options_print_help(void);

#endif
