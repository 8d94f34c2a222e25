// SPDX-License-Identifier: GPL-2.0-only
/* Exchanges texts with the web page. */
#include <stdlib.h>

#include "checked-memory.h"
#include "play.h"

/* The text that the library returned last, or a buffer for a text from the page. */
static char *text;
static size_t text_bytes;

char *playground_get_text_buffer(void)
{
	if (!text)
		text = memory_alloc_zeroed(1, PLAY_TEXT_BYTES);
	return text;
}

int playground_report_error(int ret, const struct aftl_error *error)
{
	scnprintf(playground_get_text_buffer(), sizeof(error->text), "%s", error->text);
	return ret;
}

static FILE *answer;
static char *answer_text;

void playground_json_begin(struct json_writer *json)
{
	answer = open_memstream(&answer_text, &text_bytes);
	json_begin_document(json, answer);
	json_begin_object(json, NULL);
}

/* Enlarge the text buffer, which is never smaller than the longest text from the page. */
int playground_json_end(struct json_writer *json)
{
	json_end_object(json);
	json_end_document(json);
	fclose(answer);
	text = memory_resize(playground_get_text_buffer(),
			     max(text_bytes + 1, (size_t)PLAY_TEXT_BYTES), 1);
	memcpy(text, answer_text, text_bytes + 1);
	free(answer_text);
	return 0;
}
