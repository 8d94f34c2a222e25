// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts in and out.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "play.h"

/* The answer, or else the room for what is handed in. */
static char *text;
static size_t text_bytes;

char *play_text(void)
{
	if (!text)
		text = memory_zeroed(1, PLAY_TEXT_BYTES);
	return text;
}

int play_fail(int ret, const struct aftl_error *error)
{
	scnprintf(play_text(), sizeof(error->text), "%s", error->text);
	return ret;
}

static char *answer_text;

FILE *play_begin_answer(void)
{
	return open_memstream(&answer_text, &text_bytes);
}

/* As large as what is handed in may be, at least. */
int play_answer(FILE *answer)
{
	fclose(answer);
	text = memory_grown(play_text(), max(text_bytes + 1, (size_t)PLAY_TEXT_BYTES), 1);
	memcpy(text, answer_text, text_bytes + 1);
	free(answer_text);
	return 0;
}
