// SPDX-License-Identifier: GPL-2.0-only
#include "core/ftl/ftl.h"
#include "option-rows.h"
#include "sim-options.h"

static const char *const workload_words[] = { "uniform", "zipf", "sequential",
					       "bursts",  "drift", "active", "zones", NULL };
static const char *const zipf_order_words[] = { "scattered", "sorted", "hashed", NULL };
static const char *const arrival_words[] = { "closed", "open", "trace", "device", NULL };
static const char *const queue_by_words[] = { "stream", "pid", "recorded", NULL };
static const char *const die_dies_words[] = { "never", "late", "early", NULL };
static const char *const yardstick_words[] = { "none", "optimum", NULL };
static const char *const arrival_shape_words[] = { "poisson", "fixed", NULL };

const struct option_row option_rows[] = {
#define SIM_OPT_GROUP(title) { .help = (title) },
#define SIM_OPT(_name, _kind, least, most, usual, _value, phrase) {	\
	.name = #_name,							\
	.kind = KIND_##_kind,						\
	.field = offsetof(struct sim_options, _name),			\
	.smallest = least,						\
	.largest = most,						\
	.standard = usual,						\
	.value = _value,						\
	.help = phrase,							\
},
#include "option-table.h"
#undef SIM_OPT
#undef SIM_OPT_GROUP
};

const unsigned int option_row_count = ARRAY_SIZE(option_rows);

static_assert(ARRAY_SIZE(option_rows) <= SIM_OPTIONS, "room for each option");

const char *const *option_get_choices(const struct option_row *row)
{
	if (!strcmp(row->name, "workload"))
		return workload_words;
	if (!strcmp(row->name, "zipf_order"))
		return zipf_order_words;
	if (!strcmp(row->name, "arrival"))
		return arrival_words;
	if (!strcmp(row->name, "queue_by"))
		return queue_by_words;
	if (!strcmp(row->name, "die_dies"))
		return die_dies_words;
	if (!strcmp(row->name, "yardstick"))
		return yardstick_words;
	return arrival_shape_words;
}

static char convert_dash_to_underscore(char letter)
{
	return letter == '-' ? '_' : letter;
}

bool option_has_name(const char *name, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (convert_dash_to_underscore(name[i]) != convert_dash_to_underscore(text[i]))
			return false;
	return !name[length];
}

const struct option_row *option_find_by_name(const char *text, size_t length)
{
	for (unsigned int i = 0; i < option_row_count; i++)
		if (option_rows[i].name && option_has_name(option_rows[i].name, text, length))
			return &option_rows[i];
	return NULL;
}

static const struct {
	char letter;
	const char *name;
} letters[] = {
	{ 'F', "from" }, { 'h', "help" }, { 'j', "json" }, { 'n', "dry_run" }, { 'q', "quiet" },
};

char option_get_short_letter(const struct option_row *row)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(letters); i++)
		if (!strcmp(letters[i].name, row->name))
			return letters[i].letter;
	return '\0';
}

const struct option_row *option_find_by_letter(char letter)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].letter == letter)
			return option_find_by_name(letters[i].name, strlen(letters[i].name));
	return NULL;
}

bool sim_did_user_set_option(const struct sim_options *options, const char *name)
{
	return options->given[option_find_by_name(name, strlen(name)) - option_rows];
}

const char *option_get_dashed_name(const char *name, char text[OPTION_NAME])
{
	unsigned int i;

	for (i = 0; i < OPTION_NAME - 1 && name[i]; i++)
		text[i] = name[i] == '_' ? '-' : name[i];
	text[i] = '\0';
	return text;
}

int report_option_error(const struct option_row *row, struct aftl_error *error, const char *format,
			...)
{
	char name[OPTION_NAME], text[190];
	va_list args;

	va_start(args, format);
	vscnprintf(text, sizeof(text), format, args);
	va_end(args);
	return aftl_fail(error, -EINVAL, "--%s: %.190s", option_get_dashed_name(row->name, name),
			 text);
}

const char *sim_get_workload_name(const struct sim_options *options)
{
	return workload_words[options->workload];
}

const char *sim_get_zipf_order_name(const struct sim_options *options)
{
	return zipf_order_words[options->zipf_order];
}

const char *sim_get_arrival_name(const struct sim_options *options)
{
	return arrival_words[options->arrival];
}

const char *sim_get_arrival_shape_name(const struct sim_options *options)
{
	return arrival_shape_words[options->arrival_shape];
}
