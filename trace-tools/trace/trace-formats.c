// SPDX-License-Identifier: GPL-2.0-only
#include "complain.h"
#include "json-envelope.h"
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace formats [OPTION ...]\n"
	"\n"
	"Lists the formats that are read (r) and written (w).\n";

static bool is_read(const struct trace_format *format)
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

static void list_format(struct text_list *list, const struct trace_format *format)
{
	list_row(list);
	list_text(list, "%s", format->name);
	list_text(list, "%s%s", is_read(format) ? "r" : "", format->put ? "w" : "");
	list_text(list, "%s", format->title);
	list_text(list, "%s", format->units);
	list_text(list, "%s", format->told_only ? "no" : "yes");
}

static int put_list(struct trace_run *run, struct aftl_error *error)
{
	const struct trace_format *const *format;
	struct text_list list;
	struct json_writer json;
	int ret = 0;

	list_begin(&list, &run->options.list);
	for (format = trace_formats; *format; format++)
		list_format(&list, *format);
	if (!run->options.json) {
		list_print(&list, stdout);
		return 0;
	}
	ret = trace_run_json_begin(run, &json, error);
	if (ret)
		return ret;
	json_array(&json, "rows");
	list_json(&list, &json);
	json_end_array(&json);
	return trace_run_json_end(run, &json, error);
}

static void put_text(void)
{
	const struct trace_format *const *format;

	for (format = trace_formats; *format; format++)
		printf("%-10s %c%c  %s\n%15s%s%s\n", (*format)->name, is_read(*format) ? 'r' : '-',
		       (*format)->put ? 'w' : '-', (*format)->title, "", (*format)->units,
		       (*format)->told_only ? "; only with --from" : "");
}

static int put_json(struct trace_run *run, struct aftl_error *error)
{
	const struct trace_format *const *format;
	struct json_writer json;
	int ret = trace_run_json_begin(run, &json, error);

	if (ret)
		return ret;
	json_array(&json, "formats");
	for (format = trace_formats; *format; format++) {
		json_object(&json, NULL);
		json_string(&json, "name", (*format)->name);
		json_string(&json, "title", (*format)->title);
		json_string(&json, "units", (*format)->units);
		json_bool(&json, "read", is_read(*format));
		json_bool(&json, "written", (*format)->put);
		json_bool(&json, "found_by_looking", !(*format)->told_only);
		json_end_object(&json);
	}
	json_end_array(&json);
	return trace_run_json_end(run, &json, error);
}

enum exit_code trace_formats_main(int argc, char **argv)
{
	struct trace_run run = { .taken = 0 };
	struct aftl_error error;
	int ret = trace_options_parse(&run.options, VERB_FORMATS, argc, argv, &error);

	if (!ret)
		ret = list_choose(&run.options.list, columns, ARRAY_SIZE(columns), run.options.show,
				  run.options.sort, &error);
	if (!ret && run.options.word_count)
		ret = aftl_fail(&error, -EINVAL, "formats takes no file");
	if (ret) {
		trace_options_free(&run.options);
		return trace_complain_usage(&error);
	}
	if (run.options.help)
		fputs(usage, stdout);
	else if (run.options.list.explain)
		list_explain(&run.options.list, stdout);
	else if (run.options.list.chosen)
		ret = put_list(&run, &error);
	else if (run.options.json)
		ret = put_json(&run, &error);
	else
		put_text();
	if (run.options.help)
		trace_options_help(VERB_FORMATS);
	trace_options_free(&run.options);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}
