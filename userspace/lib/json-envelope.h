/* SPDX-License-Identifier: GPL-2.0-only */
/* The common head of all JSON documents: format, tool and arguments. */
#ifndef AFTL_JSON_ENVELOPE_H
#define AFTL_JSON_ENVELOPE_H

#include "json-writer.h"

/* Version of the documents' format: a new minor version adds keys, a new major one changes them. */
#define JSON_FORMAT_MAJOR 1
#define JSON_FORMAT_MINOR 0

/* Begin a document with its format version, but without tool and arguments. */
void json_envelope_begin_without_arguments(struct json_writer *json, FILE *out);

/* Begin a document with format, tool and arguments. argv[0] is recorded as "approxftl". */
void json_envelope_begin(struct json_writer *json, FILE *out, int argc, char **argv);

/*
 * Begin a document as json_envelope_begin() does, for a program that is a verb of approxftl: the
 * recorded command is "approxftl", @verb and the arguments after @argv[0].
 */
void json_envelope_begin_for_verb(struct json_writer *json, FILE *out, const char *verb, int argc,
				  char **argv);
void json_envelope_end(struct json_writer *json);

#endif
