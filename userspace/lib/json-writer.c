// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>

#include "json-writer.h"

void json_begin_document(struct json_writer *writer, FILE *out)
{
	*writer = (struct json_writer){ .out = out };
}

void json_end_document(struct json_writer *writer)
{
	assert(!writer->depth);
	fputc('\n', writer->out);
}

static void begin_json_line(const struct json_writer *writer)
{
	fputc('\n', writer->out);
	for (unsigned int i = 0; i < writer->depth; i++)
		fputs("  ", writer->out);
}

/* Return the length of the UTF-8 character at @text, or 0 if it is invalid. */
static unsigned int get_utf8_character_length(const unsigned char *text)
{
	unsigned int length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;

	if (text[0] >= 0x80 && (text[0] < 0xc2 || text[0] > 0xf4))
		return 0;
	/* Reject overlong UTF-8 forms, surrogates and code points beyond U+10FFFF. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] >= 0xa0) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] >= 0x90))
		return 0;
	for (unsigned int i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static void write_escaped_character(FILE *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (c == '\n')
		fputs("\\n", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c < 0x20 || c == 0x7f)
		fprintf(out, "\\u%04x", c);
	else
		fputc(c, out);
}

static void write_quoted_string(FILE *out, const char *string)
{
	const unsigned char *text = (const unsigned char *)string;

	fputc('"', out);
	while (*text) {
		unsigned int length = get_utf8_character_length(text);

		if (!length)
			fputs("\\ufffd", out);
		else if (length == 1)
			write_escaped_character(out, *text);
		else
			fwrite(text, 1, length, out);
		text += length ? length : 1;
	}
	fputc('"', out);
}

/* Print the separator, the line break and the key that precede a value. */
static void begin_json_value(struct json_writer *writer, const char *key)
{
	unsigned int depth = writer->depth;

	if (depth && writer->filled[depth - 1])
		fputs(writer->inline_items[depth - 1] ? ", " : ",", writer->out);
	if (depth && !writer->inline_items[depth - 1])
		begin_json_line(writer);
	if (depth)
		writer->filled[depth - 1] = true;
	if (key) {
		write_quoted_string(writer->out, key);
		fputs(": ", writer->out);
	}
}

static void open_json_bracket(struct json_writer *writer, const char *key, char bracket,
			      bool inline_items)
{
	begin_json_value(writer, key);
	assert(writer->depth < JSON_DEPTH);
	fputc(bracket, writer->out);
	writer->filled[writer->depth] = false;
	writer->inline_items[writer->depth] = inline_items;
	writer->depth++;
}

static void close_json_bracket(struct json_writer *writer, char bracket)
{
	assert(writer->depth);
	writer->depth--;
	if (writer->filled[writer->depth] && !writer->inline_items[writer->depth])
		begin_json_line(writer);
	fputc(bracket, writer->out);
}

void json_begin_object(struct json_writer *writer, const char *key)
{
	open_json_bracket(writer, key, '{', false);
}

void json_begin_inline_object(struct json_writer *writer, const char *key)
{
	open_json_bracket(writer, key, '{', true);
}

void json_end_object(struct json_writer *writer)
{
	close_json_bracket(writer, '}');
}

void json_begin_array(struct json_writer *writer, const char *key)
{
	open_json_bracket(writer, key, '[', false);
}

void json_begin_inline_array(struct json_writer *writer, const char *key)
{
	open_json_bracket(writer, key, '[', true);
}

void json_end_array(struct json_writer *writer)
{
	close_json_bracket(writer, ']');
}

void json_u64(struct json_writer *writer, const char *key, u64 value)
{
	begin_json_value(writer, key);
	fprintf(writer->out, "%llu", (unsigned long long)value);
}

void json_bool(struct json_writer *writer, const char *key, bool value)
{
	begin_json_value(writer, key);
	fputs(value ? "true" : "false", writer->out);
}

void json_null(struct json_writer *writer, const char *key)
{
	begin_json_value(writer, key);
	fputs("null", writer->out);
}

void json_decimal(struct json_writer *writer, const char *key, u64 value, unsigned int decimals)
{
	unsigned long long scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	begin_json_value(writer, key);
	fprintf(writer->out, "%llu", value / scale);
	if (decimals)
		fprintf(writer->out, ".%0*llu", (int)decimals, value % scale);
}

void json_string(struct json_writer *writer, const char *key, const char *text)
{
	begin_json_value(writer, key);
	write_quoted_string(writer->out, text);
}
