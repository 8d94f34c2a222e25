// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "json-envelope.h"
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace formats [OPTION ...]\n"
	"\n"
	"Lists the formats that are read (r) and written (w).\n";

static bool is_format_readable(const struct trace_format *format)
{
	return format->line || format->fill;
}

static const struct list_column columns[] = {
	{ "name", "NAME", "as --from and --to take it", false, false },
	{ "access", "ACCESS", "r, read; w, written", false, false },
	{ "title", "TITLE", "what it is", false, false },
	{ "units", "UNITS", "of times, offsets and sizes", false, false },
	{ "found_by_looking", "FOUND", "yes, or no: only with --from", false, true },
};

static void add_format_row(struct text_list *list, const struct trace_format *format)
{
	list_add_row(list);
	list_add_text(list, "%s", format->name);
	list_add_text(list, "%s%s", is_format_readable(format) ? "r" : "", format->put ? "w" : "");
	list_add_text(list, "%s", format->title);
	list_add_text(list, "%s", format->units);
	list_add_text(list, "%s", format->told_only ? "no" : "yes");
}

static int print_format_list(struct trace_run *run, struct aftl_error *error)
{
	const struct trace_format *const *format;
	struct text_list list;
	struct json_writer json;
	int ret = 0;

	list_begin(&list, &run->options.list);
	for (format = trace_formats; *format; format++)
		add_format_row(&list, *format);
	if (!run->options.json) {
		list_print(&list, stdout);
		return 0;
	}
	ret = trace_run_begin_json(run, &json, error);
	if (ret)
		return ret;
	json_begin_array(&json, "rows");
	list_write_json(&list, &json);
	json_end_array(&json);
	return trace_run_end_json(run, &json, error);
}

static void print_format_descriptions(void)
{
	const struct trace_format *const *format;

	for (format = trace_formats; *format; format++)
		printf("%-10s %c%c  %s\n%15s%s%s\n", (*format)->name,
		       is_format_readable(*format) ? 'r' : '-', (*format)->put ? 'w' : '-',
		       (*format)->title, "", (*format)->units,
		       (*format)->told_only ? "; only with --from" : "");
}

static int write_formats_json(struct trace_run *run, struct aftl_error *error)
{
	const struct trace_format *const *format;
	struct json_writer json;
	int ret = trace_run_begin_json(run, &json, error);

	if (ret)
		return ret;
	json_begin_array(&json, "formats");
	for (format = trace_formats; *format; format++) {
		json_begin_object(&json, NULL);
		json_string(&json, "name", (*format)->name);
		json_string(&json, "title", (*format)->title);
		json_string(&json, "units", (*format)->units);
		json_bool(&json, "read", is_format_readable(*format));
		json_bool(&json, "written", (*format)->put);
		json_bool(&json, "found_by_looking", !(*format)->told_only);
		json_end_object(&json);
	}
	json_end_array(&json);
	return trace_run_end_json(run, &json, error);
}

static int check_format_options(struct trace_options *options, struct aftl_error *error)
{
	int ret = list_choose_columns(&options->list, columns, ARRAY_SIZE(columns), options->show,
				      options->sort, error);

	if (!ret && options->word_count)
		ret = aftl_fail(error, -EINVAL, "approxftl trace formats takes no file name");
	return ret;
}

static enum exit_code run_formats(struct trace_run *run)
{
	const struct trace_options *options = &run->options;
	struct aftl_error error;
	int ret = 0;

	if (check_format_options(&run->options, &error))
		return trace_complain_usage(&error);
	if (options->list.explain)
		list_print_column_help(&options->list, stdout);
	else if (options->list.chosen)
		ret = print_format_list(run, &error);
	else if (options->json)
		ret = write_formats_json(run, &error);
	else
		print_format_descriptions();
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

const struct trace_verb trace_formats_list = {
	.name = "formats",
	.help = "the formats that are read and written",
	.bit = VERB_FORMATS,
	.usage = usage,
	.sourceless = true,
	.run = run_formats,
};
