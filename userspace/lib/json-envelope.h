/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every JSON document of this program begins with: format, tool, arguments.
 */
#ifndef AFTL_JSON_ENVELOPE_H
#define AFTL_JSON_ENVELOPE_H

#include "json-writer.h"

/* The documents' format: a new minor version adds keys, a new major one changes them. */
#define JSON_FORMAT_MAJOR 1
#define JSON_FORMAT_MINOR 0

/* The format alone. */
void json_document_begin(struct json_writer *json, FILE *out);

/* The program's name is in the document without the path that it was called by. */
void json_envelope_begin(struct json_writer *json, FILE *out, int argc, char **argv);
void json_envelope_end(struct json_writer *json);

#endif
