/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A streaming JSON writer: no tree, no floating point, no locale.
 *
 * The functions that write a value take its key, which is NULL inside an array. The same calls
 * always give the same bytes.
 */
#ifndef AFTL_JSON_WRITER_H
#define AFTL_JSON_WRITER_H

#include <stdio.h>

#include "aftl-host.h"

#define JSON_DEPTH 16

/**
 * struct json_writer - a JSON document that is being written
 * @out: output stream
 * @depth: number of open objects and arrays
 * @filled: whether the open object or array at each depth has a member
 * @inline_items: whether the open object or array at each depth keeps its members on one line
 */
struct json_writer {
	FILE *out;
	unsigned int depth;
	bool filled[JSON_DEPTH];
	bool inline_items[JSON_DEPTH];
};

void json_begin_document(struct json_writer *writer, FILE *out);

/* End the document with a newline. All objects and arrays must have been closed. */
void json_end_document(struct json_writer *writer);

void json_begin_object(struct json_writer *writer, const char *key);

/* Begin an object with all its members on one line. */
void json_begin_inline_object(struct json_writer *writer, const char *key);

/* Close an object that json_begin_object() or json_begin_inline_object() began. */
void json_end_object(struct json_writer *writer);

/* Begin an array with each item on its own line. */
void json_begin_array(struct json_writer *writer, const char *key);

/* Begin an array of numbers or short strings, on one line. */
void json_begin_inline_array(struct json_writer *writer, const char *key);

/* Close an array of json_begin_array() or json_begin_inline_array(). */
void json_end_array(struct json_writer *writer);

void json_u64(struct json_writer *writer, const char *key, u64 value);
void json_bool(struct json_writer *writer, const char *key, bool value);
void json_null(struct json_writer *writer, const char *key);

/* Print @value / 10^@decimals, with exactly @decimals digits after the point. */
void json_decimal(struct json_writer *writer, const char *key, u64 value, unsigned int decimals);

/* Bytes that are not valid UTF-8 are printed as U+FFFD, the replacement character. */
void json_string(struct json_writer *writer, const char *key, const char *text);

#endif
