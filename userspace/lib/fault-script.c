// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "fault-script.h"
#include "parameter-file.h"

#define FAULT_WORD 40

/**
 * struct reader - a fault script that is being read
 * @path: path of the script
 * @script: the faults read so far
 * @open: a table [[fault]] has begun
 * @words: words of the table's fault, for aftl_fault_parse(); a word whose key is not in the table
 *	is empty
 */
struct reader {
	const char *path;
	struct fault_script *script;
	bool open;
	char words[5][FAULT_WORD];
};

static int add_fault_from_script_entry(struct reader *reader, struct aftl_error *error)
{
	struct fault_script *script = reader->script;
	char *words[5];
	struct aftl_error cause;

	if (!reader->open)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = reader->words[i];
	if (!*words[0])
		return aftl_fail(error, -EINVAL,
				 "fault %u has none of unit, block, die, age, wear, life and power",
				 script->count + 1);
	if (!*words[3])
		return aftl_fail(error, -EINVAL,
				 "fault %u has none of after_write, after_read, after_time and after_program",
				 script->count + 1);
	if (script->count == AFTL_FAULTS_MAX)
		return aftl_fail(error, -EINVAL, "there are more than %u faults", AFTL_FAULTS_MAX);
	if (aftl_fault_parse(&script->all[script->count], words, ARRAY_SIZE(words), &cause))
		return aftl_fail(error, -EINVAL, "fault %u: %.200s", script->count + 1, cause.text);
	script->count++;
	return 0;
}

/* Copy the value of a TOML line without its quotes; return false if @text is no valid value. */
static bool copy_toml_value(char value[FAULT_WORD], const char *text)
{
	bool quoted = *text == '"';
	size_t length;

	text += quoted;
	length = strspn(text, quoted ? "0123456789abcdefghijklmnopqrstuvwxyz." : "0123456789");
	if (!length || length >= FAULT_WORD || (!quoted && *text == '0' && length > 1) ||
	    (quoted && text[length] != '"'))
		return false;
	memcpy(value, text, length);
	value[length] = '\0';
	text += length + quoted;
	text += strspn(text, " \t");
	return !*text || *text == '#';
}

/* Split the line KEY = VALUE of a fault script. */
static bool split_toml_line(const char *line, char key[FAULT_WORD], char value[FAULT_WORD])
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
	const char *rest = line + length + strspn(line + length, " \t");

	if (!length || length >= FAULT_WORD || *rest != '=')
		return false;
	memcpy(key, line, length);
	key[length] = '\0';
	rest++;
	return copy_toml_value(value, rest + strspn(rest, " \t"));
}

static int parse_fault_toml_line(struct reader *reader, const char *line, struct aftl_error *error)
{
	char key[FAULT_WORD], value[FAULT_WORD];
	static const char table[] = "[[fault]]";
	const char *word = key;
	unsigned int at = 0;

	if (!strncmp(line, table, sizeof(table) - 1)) {
		int ret = add_fault_from_script_entry(reader, error);

		line += sizeof(table) - 1;
		line += strspn(line, " \t");
		memset(reader->words, 0, sizeof(reader->words));
		scnprintf(reader->words[2], FAULT_WORD, "after");
		reader->open = true;
		if (ret || !*line || *line == '#')
			return ret;
		line = "";
	}
	if (!reader->open)
		return aftl_fail(error, -EINVAL,
				 "the first line that is no comment is not [[fault]]");
	if (!split_toml_line(line, key, value))
		return aftl_fail(error, -EINVAL,
				 "fault %u has a line that is not NAME = NUMBER, NAME = \"TEXT\" or a comment",
				 reader->script->count + 1);
	if (!strncmp(key, "after_", 6)) {
		word += 6;
		at = 3;
	}
	if (*reader->words[at])
		return aftl_fail(error, -EINVAL, "fault %u has both %s%s and %s",
				 reader->script->count + 1, at ? "after_" : "", reader->words[at],
				 key);
	scnprintf(reader->words[at], FAULT_WORD, "%s", word);
	scnprintf(reader->words[at + 1], FAULT_WORD, "%s", value);
	return 0;
}

static int parse_fault_script_line(void *context, const char *line, struct aftl_error *error)
{
	struct reader *reader = context;
	struct aftl_error cause;
	int ret = parse_fault_toml_line(reader, line, &cause);

	return ret ? aftl_fail(error, ret, "%.80s: %.150s", reader->path, cause.text) : 0;
}

int fault_script_read(struct fault_script *script, const char *path, struct aftl_error *error)
{
	struct reader reader = { .path = path, .script = script };
	struct aftl_error cause;
	int ret;

	script->count = 0;
	ret = parameter_file_call_per_pair(path, parse_fault_script_line, &reader, error);
	if (ret || !add_fault_from_script_entry(&reader, &cause))
		return ret;
	return aftl_fail(error, -EINVAL, "%.80s: %.150s", path, cause.text);
}
