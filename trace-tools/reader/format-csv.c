// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV with any columns. A file that this program wrote names its columns and units in its first
 * line, by which it is detected; for other files the user names columns and units:
 *
 *	--columns time=1,op=2,offset=3,bytes=4[,latency=N][,pid=N][,stream=N][,class=N][,sep=;]
 *
 * Columns count from 1. Operations are words (read, write, flush, discard, write_zeroes, also R
 * and W), or 0 and 1 with op-read=0 or op-read=1, or SCSI operation codes, decimal with op-scsi=10
 * and hexadecimal with op-scsi=16. A class is "precise", "approximate" or blank.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-format.h"

enum column {
	COLUMN_TIME,
	COLUMN_OP,
	COLUMN_OFFSET,
	COLUMN_BYTES,
	COLUMN_LATENCY,
	COLUMN_PID,
	COLUMN_STREAM,
	COLUMN_CLASS,
	COLUMNS,
};

/* Highest column number that the option --columns accepts. */
#define WIDTH 64

#define NO_COLUMN 0xff

static const char *const names[COLUMNS] = {
	"time", "op", "offset", "bytes", "latency", "pid", "stream", "class",
};

static const char header[] = "t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class";

/**
 * struct csv - state of the reader
 * @meaning: field that each column holds; NO_COLUMN if the column is ignored
 * @separator: character between columns
 * @reads: number that means a read; -1 if operations are words or SCSI codes
 * @scsi: number base of SCSI operation codes; 0 if operations are no SCSI codes
 */
struct csv {
	u8 meaning[WIDTH];
	char separator;
	int reads;
	int scsi;
};

static bool is_csv_format(const u8 *head, size_t size)
{
	return size >= sizeof(header) && !memcmp(head, header, sizeof(header) - 1);
}

/* Parse one item of --columns, such as "time=1". */
static bool parse_item_of_columns_option(struct csv *csv, struct text_cursor word, u32 *found)
{
	struct text_cursor key = text_get_until(&word, '=');
	u64 number;
	u32 i;

	if (!text_skip_if_equal(&word, '='))
		return false;
	if (is_text_equal(key, "sep")) {
		csv->separator = is_text_equal(word, "tab") ? '\t' : *word.at;
		return is_text_equal(word, "tab") || word.end == word.at + 1;
	}
	if (is_text_equal(key, "op-read")) {
		csv->reads = *word.at - '0';
		return is_text_equal(word, "0") || is_text_equal(word, "1");
	}
	if (is_text_equal(key, "op-scsi")) {
		csv->scsi = is_text_equal(word, "16") ? 16 : 10;
		return csv->scsi == 16 || is_text_equal(word, "10");
	}
	if (!text_get_bounded_u64(&word, WIDTH, &number) || !number || !is_text_at_end(&word))
		return false;
	for (i = 0; i < COLUMNS; i++)
		if (is_text_equal(key, names[i]))
			break;
	if (i == COLUMNS || csv->meaning[number - 1] != NO_COLUMN || *found & BIT(i))
		return false;
	csv->meaning[number - 1] = (u8)i;
	*found |= BIT(i);
	return true;
}

static int set_csv_columns(struct csv *csv, const char *map, struct aftl_error *error)
{
	u32 needed = BIT(COLUMN_TIME) | BIT(COLUMN_OP) | BIT(COLUMN_OFFSET) | BIT(COLUMN_BYTES);
	struct text_cursor text = { map, map + strlen(map) };
	u32 found = 0;

	do {
		struct text_cursor word = text_get_until(&text, ',');

		if (!parse_item_of_columns_option(csv, word, &found))
			return aftl_fail(error, -EINVAL,
					 "--columns: \"%.*s\" is not understood; approxftl-trace(1) explains it",
					 (int)min_t(size_t, word.end - word.at, 40), word.at);
	} while (text_skip_if_equal(&text, ','));
	if ((found & needed) != needed)
		return aftl_fail(error, -EINVAL,
				 "--columns must name columns of time, op, offset and bytes");
	return 0;
}

static int check_csv_units(const struct trace_file *file, struct aftl_error *error)
{
	if (!file->hints->time_unit_ns)
		return aftl_fail(error, -EINVAL,
				 "%.80s: the unit of times is not known; say --time-unit s, ms, us or ns",
				 file->input.name);
	if (!file->hints->offset_unit)
		return aftl_fail(error, -EINVAL,
				 "%.80s: the unit of offsets is not known; say --offset-unit bytes or sectors",
				 file->input.name);
	return 0;
}

static int open_csv_with_header(struct trace_file *file, struct csv *csv, struct aftl_error *error)
{
	struct trace_line title;

	if (!is_csv_format(trace_input_next_bytes(&file->input), trace_input_left(&file->input)))
		return aftl_fail(error, -EINVAL,
				 "%.80s: the columns are not known; say them with --columns",
				 file->input.name);
	for (u32 i = 0; i < COLUMNS; i++)
		csv->meaning[i] = (u8)i;
	file->time_unit_ns = 1;
	file->offset_unit = 1;
	return trace_input_next_line(&file->input, &title, error) < 0 ? -EIO : 0;
}

static int open_csv_file(struct trace_file *file, struct aftl_error *error)
{
	struct csv *csv = memory_alloc_zeroed(1, sizeof(*csv));
	int ret;

	file->state = csv;
	csv->separator = ',';
	csv->reads = -1;
	memset(csv->meaning, NO_COLUMN, sizeof(csv->meaning));
	if (!file->hints->columns)
		return open_csv_with_header(file, csv, error);
	ret = set_csv_columns(csv, file->hints->columns, error);
	return ret ? ret : check_csv_units(file, error);
}

static bool parse_scsi_operation(const struct csv *csv, struct text_cursor word, u8 *op)
{
	char text[8], *end;
	unsigned long code;

	if (word.end - word.at >= (int)sizeof(text))
		return false;
	scnprintf(text, sizeof(text), "%.*s", (int)(word.end - word.at), word.at);
	code = strtoul(text, &end, csv->scsi);
	return end > text && !*end && trace_operation_of_scsi_code(code, op);
}

static bool parse_csv_operation(const struct csv *csv, struct text_cursor word, u8 *op)
{
	if (csv->reads >= 0) {
		u64 number;

		*op = AFTL_OP_READ;
		if (!text_get_bounded_u64(&word, 1, &number) || !is_text_at_end(&word))
			return false;
		if ((int)number != csv->reads)
			*op = AFTL_OP_WRITE;
		return true;
	}
	if (csv->scsi)
		return parse_scsi_operation(csv, word, op);
	if (trace_parse_operation(word, op))
		return true;
	for (*op = AFTL_OP_FLUSH; *op < AFTL_OPS; (*op)++)
		if (is_text_equal_nocase(word, trace_op_names[*op]))
			return true;
	return false;
}

static bool parse_csv_number(struct text_cursor *word, u64 most, u64 *number)
{
	return text_get_bounded_u64(word, most, number) && is_text_at_end(word);
}

static bool parse_csv_scaled_number(struct text_cursor *word, u64 unit, u64 *number)
{
	return text_get_scaled_decimal(word, unit, number) && is_text_at_end(word);
}

static bool parse_csv_field(const struct trace_file *file, u8 column, struct text_cursor word,
			    struct trace_request *request)
{
	char name[AFTL_RECORD_NAME_SIZE];
	u64 number = 0;
	bool right = true;

	switch (column) {
	case COLUMN_TIME:
		return parse_csv_scaled_number(&word, file->time_unit_ns, &request->t_ns);
	case COLUMN_OP:
		return parse_csv_operation(file->state, word, &request->op);
	case COLUMN_OFFSET:
		return parse_csv_scaled_number(&word, file->offset_unit, &request->offset);
	case COLUMN_BYTES:
		return parse_csv_scaled_number(&word, file->offset_unit, &request->bytes);
	case COLUMN_LATENCY:
		return is_text_at_end(&word) ||
		       parse_csv_scaled_number(&word, file->time_unit_ns, &request->latency_ns);
	case COLUMN_PID:
		right = is_text_at_end(&word) || parse_csv_number(&word, U32_MAX, &number);
		request->pid = (u32)number;
		return right;
	case COLUMN_STREAM:
		right = parse_csv_number(&word, TRACE_STREAMS - 1, &number);
		request->stream = (u16)number;
		return right;
	case COLUMN_CLASS:
		scnprintf(name, sizeof(name), "%.*s", (int)(word.end - word.at), word.at);
		return aftl_find_quality_level_by_name(name, &request->class) ||
		       is_text_at_end(&word);
	default:
		return true;
	}
}

/* Return true for a title line: the first line, if its time column is not a number. */
static bool is_column_title(const struct trace_file *file, u8 column, struct text_cursor word)
{
	return file->input.line <= 1 && column == COLUMN_TIME && word.at < word.end &&
	       !is_text_digit(word.at);
}

static enum trace_line_verdict read_csv_line(struct trace_file *file, struct text_cursor text,
					     void *out, const char **cause)
{
	struct trace_request *request = out;
	const struct csv *csv = file->state;
	u32 i, seen = 0;

	*request = (struct trace_request){ 0 };
	for (i = 0; i < WIDTH; i++) {
		struct text_cursor word = text_get_until(&text, csv->separator);

		while (word.at < word.end && *word.at == ' ')
			word.at++;
		while (word.at < word.end && word.end[-1] == ' ')
			word.end--;
		if (csv->meaning[i] != NO_COLUMN) {
			if (!parse_csv_field(file, csv->meaning[i], word, request)) {
				*cause = names[csv->meaning[i]];
				return is_column_title(file, csv->meaning[i], word) ?
					       TRACE_LINE_EMPTY :
					       TRACE_LINE_WRONG;
			}
			seen |= BIT(csv->meaning[i]);
		}
		if (!text_skip_if_equal(&text, csv->separator))
			break;
	}
	if (~seen & (BIT(COLUMN_BYTES + 1) - 1)) {
		*cause = "columns are missing";
		return TRACE_LINE_WRONG;
	}
	return trace_check_request(request, cause);
}

static int begin_csv_file(struct trace_output *output, struct aftl_error *error __maybe_unused)
{
	fprintf(output->file, "%s\n", header);
	return 0;
}

static int write_csv_request(struct trace_output *output, const struct trace_request *request,
			     struct aftl_error *error __maybe_unused)
{
	const char *class = request->class < output->classes ?
		output->class_names[request->class] : "";
	u8 level;

	fprintf(output->file, "%llu,%s,%llu,%llu,%llu,%u,%u,%s\n",
		(unsigned long long)request->t_ns, trace_op_names[request->op],
		(unsigned long long)request->offset, (unsigned long long)request->bytes,
		(unsigned long long)request->latency_ns, request->pid, request->stream,
		aftl_find_quality_level_by_name(class, &level) ? class : "precise");
	return 0;
}

const struct trace_format trace_format_csv = {
	.name = "csv",
	.title = "CSV with --columns, or as written by this program",
	.units = "as told; written: times in ns, offsets in bytes",
	.time_unit_ns = 1,
	.known = is_csv_format,
	.open = open_csv_file,
	.line = read_csv_line,
	.begin = begin_csv_file,
	.put = write_csv_request,
};
