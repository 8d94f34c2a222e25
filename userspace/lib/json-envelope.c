// SPDX-License-Identifier: GPL-2.0-only
#include "json-envelope.h"
#include "version.h"

void json_envelope_begin_without_arguments(struct json_writer *json, FILE *out)
{
	json_begin_document(json, out);
	json_begin_object(json, NULL);
	json_begin_inline_array(json, "approxftl_json_format");
	json_u64(json, NULL, JSON_FORMAT_MAJOR);
	json_u64(json, NULL, JSON_FORMAT_MINOR);
	json_end_array(json);
}

/* Write the command line: "approxftl", the words of @verb (not in @argv), then the arguments. */
static void write_arguments_json(struct json_writer *json, const char *verb, int argc, char **argv)
{
	char words[64], *rest = words, *word;

	scnprintf(words, sizeof(words), "approxftl%s%s", *verb ? " " : "", verb);
	json_begin_inline_array(json, "argv");
	while ((word = strsep(&rest, " ")))
		json_string(json, NULL, word);
	for (int i = 1; i < argc; i++)
		json_string(json, NULL, argv[i]);
	json_end_array(json);
}

void json_envelope_begin_for_verb(struct json_writer *json, FILE *out, const char *verb, int argc,
				  char **argv)
{
	json_envelope_begin_without_arguments(json, out);
	json_begin_object(json, "tool");
	json_string(json, "version", approxftl_version());
	write_arguments_json(json, verb, argc, argv);
	json_end_object(json);
}

void json_envelope_begin(struct json_writer *json, FILE *out, int argc, char **argv)
{
	json_envelope_begin_for_verb(json, out, "", argc, argv);
}

void json_envelope_end(struct json_writer *json)
{
	json_end_object(json);
	json_end_document(json);
}
