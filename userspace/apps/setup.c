// SPDX-License-Identifier: GPL-2.0-only
#include "setup.h"

const struct app_parameter app_parameters[APP_PARAMETERS] = {
#define PARAMETER(name, least, most, value, help) \
	{ #name, least, most, value, help, offsetof(struct app_setup, name) },
#include "parameter-table.h"
#undef PARAMETER
};

int app_setup_check(const struct app_setup *setup, struct aftl_error *error)
{
	struct app_setup copy = *setup;

	for (unsigned int i = 0; i < APP_PARAMETERS; i++) {
		const struct app_parameter *parameter = &app_parameters[i];
		u64 value = *get_setup_parameter(&copy, i);

		if (value && (value < parameter->least || value > parameter->most))
			return aftl_fail(error, -EINVAL,
					 "%s %llu is not between %llu and %llu", parameter->name,
					 (unsigned long long)value,
					 (unsigned long long)parameter->least,
					 (unsigned long long)parameter->most);
	}
	return 0;
}

#define COMMENT_BYTES 72

/* Pad a file's header with comment lines up to the last part of the header. */
static void pad_header_with_comments(char *at, const char *end)
{
	while (at < end) {
		ptrdiff_t line = min_t(ptrdiff_t, COMMENT_BYTES, end - at);

		/* Leave no single byte for the last comment line, which needs two. */
		if (end - at == line + 1)
			line--;
		memset(at, ' ', line);
		at[0] = '#';
		at[line - 1] = '\n';
		at += line;
	}
}

void app_header_make(char *header, const char *magic, const struct app_setup *setup,
		     const char *tail)
{
	char text[HEADER_BYTES + 1], *end = text + HEADER_BYTES - strlen(tail);
	struct app_setup copy = *setup;
	size_t used = scnprintf(text, HEADER_BYTES, "%s\n", magic);

	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (*get_setup_parameter(&copy, i) || app_parameters[i].field <= LAST_USUAL_FIELD)
			used += scnprintf(text + used, HEADER_BYTES - used, "# %s %llu\n",
					  app_parameters[i].name,
					  (unsigned long long)*get_setup_parameter(&copy, i));
	pad_header_with_comments(text + used, end);
	scnprintf(end, strlen(tail) + 1, "%s", tail);
	memcpy(header, text, HEADER_BYTES);
}

static void parse_header_line(struct app_setup *setup, const char *name, u64 value)
{
	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (!strcmp(app_parameters[i].name, name))
			*get_setup_parameter(setup, i) = value;
}

static bool has_picture_magic(const char *text)
{
	static const char *const known[] = { MAGIC_ARRAY, MAGIC_SERIES, MAGIC_SCAN, MAGIC_PIXELS,
					     MAGIC_DIFFERENCES };

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(text, known[i], strlen(known[i])) && text[strlen(known[i])] == '\n')
			return true;
	return false;
}

int app_header_parse(const char *header, struct app_setup *setup, struct aftl_error *error)
{
	char text[HEADER_BYTES + 1], name[16], *line = text;
	unsigned long long value;

	*setup = (struct app_setup){ 0 };
	memcpy(text, header, HEADER_BYTES);
	text[HEADER_BYTES] = '\0';
	if (!has_picture_magic(text))
		return aftl_fail(error, -EINVAL, "the file has no header of approxftl app");
	while ((line = strchr(line, '\n')) && *++line == '#')
		if (sscanf(line, "# %15[a-z] %llu", name, &value) == 2)
			parse_header_line(setup, name, value);
	return app_setup_check(setup, error);
}
