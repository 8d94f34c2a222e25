// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "provenance.h"

/* Maximum number of command-line words and file names that the provenance stores. */
#define WORDS 24
#define FILES 8
#define WORD_BYTES 64

static void write_words_to_provenance_json(struct json_writer *json, const char *key, char **words,
					   u32 count, u32 most)
{
	char word[WORD_BYTES];

	json_begin_inline_array(json, key);
	for (u32 i = 0; i < min(count, most); i++) {
		scnprintf(word, sizeof(word), "%s", words[i]);
		json_string(json, NULL, word);
	}
	json_end_array(json);
}

/* Write the provenance as JSON with at most @words arguments; the caller checks its length. */
static char *render_provenance(const struct trace_run *run, u32 words)
{
	struct json_writer json;
	bool interrupted = false;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return memory_copy_text("");
	json_begin_document(&json, file);
	json_begin_inline_object(&json, NULL);
	json_string(&json, "source_format", trace_reader_format(&run->reader)->name);
	json_u64(&json, "source_files_count", run->reader.paths.count);
	write_words_to_provenance_json(&json, "source_files", run->reader.paths.list,
				       run->reader.paths.count, min(words, (u32)FILES));
	write_words_to_provenance_json(&json, "arguments", run->options.argv,
				       (u32)run->options.argc, words);
	if (run->options.fact_count) {
		json_begin_inline_object(&json, "about");
		for (u32 i = 0; i < run->options.fact_count; i++) {
			char *key = memory_copy_text(run->options.facts[i]);
			char *value = strchr(key, '=');

			*value++ = '\0';
			json_string(&json, key, value);
			free(key);
		}
		json_end_object(&json);
	}
	for (u32 i = 0; i < run->reader.merge.count; i++)
		interrupted |= run->reader.merge.sources[i].file.interrupted;
	if (interrupted)
		json_bool(&json, "interrupted", true);
	json_end_object(&json);
	json_end_document(&json);
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

char *provenance_text(const struct trace_run *run, struct aftl_error *error)
{
	u32 words = WORDS;
	char *text = render_provenance(run, words);

	while (words && strlen(text) >= AFTL_RECORD_PROVENANCE_SIZE) {
		free(text);
		words /= 2;
		text = render_provenance(run, words);
	}
	if (strlen(text) < AFTL_RECORD_PROVENANCE_SIZE)
		return text;
	free(text);
	aftl_fail(error, -EINVAL,
		  "--about: a record file keeps %u bytes of facts; give fewer or shorter ones",
		  AFTL_RECORD_PROVENANCE_SIZE - 1);
	return NULL;
}
