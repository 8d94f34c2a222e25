/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of approxftl-app.
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
 * struct app_options - what was asked for
 * @app: which program
 * @folder: where its files are
 * @phase: what of it is to be done
 * @io: how files are read and written
 * @memory_bytes: of the buffer of each array; 0 for a quarter of its data
 * @reference: where the precise run has its files for a while
 * @precise: whether nothing is declared approximate
 * @require: whether no device is an error
 * @force: whether files that are not of this program are replaced
 * @json: where the report goes as JSON, - for standard output; NULL for nowhere
 * @help: whether to print what there is, and do nothing
 * @setup: parameters that were given, 0 for others
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

/* Words of --phase and --io, by their enums. */
extern const char *const app_phases[];
extern const char *const app_ios[];

int __must_check app_options_parse(struct app_options *options, int argc, char **argv,
				   struct aftl_error *error);
void app_options_help(void);

#endif
