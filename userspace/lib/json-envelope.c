// SPDX-License-Identifier: GPL-2.0-only
#include "json-envelope.h"
#include "version.h"

void json_document_begin(struct json_writer *json, FILE *out)
{
	json_begin(json, out);
	json_object(json, NULL);
	json_list(json, "approxftl_json_format");
	json_u64(json, NULL, JSON_FORMAT_MAJOR);
	json_u64(json, NULL, JSON_FORMAT_MINOR);
	json_end_array(json);
}

void json_envelope_begin(struct json_writer *json, FILE *out, int argc, char **argv)
{
	int i;

	json_document_begin(json, out);
	json_object(json, "tool");
	json_string(json, "version", approxftl_version());
	json_list(json, "argv");
	json_string(json, NULL, "approxftl");
	for (i = 1; i < argc; i++)
		json_string(json, NULL, argv[i]);
	json_end_array(json);
	json_end_object(json);
}

void json_envelope_end(struct json_writer *json)
{
	json_end_object(json);
	json_end(json);
}
