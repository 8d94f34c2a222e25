// SPDX-License-Identifier: GPL-2.0-only
#include "target-status.h"

/**
 * struct reader - parser of a status line
 * @at: rest of the line
 * @what: name of the current word
 * @good: all words so far were well-formed
 */
struct reader {
	const char *at;
	const char *what;
	bool good;
};

/* Return the next word of the status line and its length, which is 0 at the end of the text. */
static const char *find_next_word_of_status(struct reader *reader, size_t *length)
{
	const char *word = reader->at + strspn(reader->at, " ");

	*length = strcspn(word, "\n ");
	reader->at = word + *length;
	return word;
}

/* Parse decimal digits up to @end; reject any other character and overflow. */
static bool parse_decimal_digits(const char *text, const char *end, u64 *value)
{
	*value = 0;
	if (text == end)
		return false;
	for (; text < end; text++) {
		u64 digit = (u64)(*text - '0');

		if (digit > 9 || *value > (U64_MAX - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return true;
}

static void read_status_text(struct reader *reader, const char *name, char text[TARGET_WORD_SIZE])
{
	size_t length;
	const char *word;

	if (!reader->good)
		return;
	reader->what = name;
	word = find_next_word_of_status(reader, &length);
	reader->good = length && length < TARGET_WORD_SIZE;
	scnprintf(text, TARGET_WORD_SIZE, "%.*s", (int)min(length, (size_t)TARGET_WORD_SIZE - 1),
		  word);
}

static void read_status_number(struct reader *reader, const char *name, u64 *value)
{
	size_t length;
	const char *word;

	if (!reader->good)
		return;
	reader->what = name;
	word = find_next_word_of_status(reader, &length);
	reader->good = parse_decimal_digits(word, word + length, value);
}

static void parse_slash_separated_numbers(struct reader *reader, const char *name, u64 *part,
					  u64 *whole)
{
	const char *word, *slash;
	size_t length;

	if (!reader->good)
		return;
	reader->what = name;
	word = find_next_word_of_status(reader, &length);
	slash = memchr(word, '/', length);
	reader->good = slash && parse_decimal_digits(word, slash, part) &&
		       parse_decimal_digits(slash + 1, word + length, whole);
}

int target_status_parse(struct target_status *status, const char *text, struct aftl_error *error)
{
	struct reader reader = { .at = text, .good = true };

	memset(status, 0, sizeof(*status));
	if (!strncmp(text, "Fail", 4))
		return aftl_fail(error, -EINVAL,
				 "the device could not be resumed, or another table has taken it over");
	if (!strncmp(text, "resuming", 8))
		return aftl_fail(error, -EINVAL, "the device is being resumed");
	if (!strncmp(text, "inactive", 8))
		return aftl_fail(error, -EINVAL, "the device has not been resumed yet");
#define STATUS_TEXT(name, help) read_status_text(&reader, #name, status->name);
#define STATUS_NUMBER(name, help) read_status_number(&reader, #name, &status->name);
#define STATUS_PAIR(part, whole, help) \
	parse_slash_separated_numbers(&reader, #part, &status->part, &status->whole);
#include "target/status-table.h"
#undef STATUS_TEXT
#undef STATUS_NUMBER
#undef STATUS_PAIR
	if (reader.good)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "word %s of the status line is missing or malformed; the module may be older than this program",
			 reader.what);
}

/* Statistics */

/* struct place - name of a statistic that the target always reports, and address of its value */
struct place {
	const char *name;
	u64 *value;
};

#define PLACES (AFTL_COUNTERS + 7)

static void list_required_statistics_fields(struct target_stats *stats,
					    struct place places[PLACES])
{
	u64 *counters = (u64 *)&stats->counters;
	const struct place others[] = {
		{ "device_ns", &stats->device_ns },   { "since_ns", &stats->since_ns },
		{ "late_count", &stats->late.count }, { "late_sum_ns", &stats->late.sum },
		{ "late_max_ns", &stats->late.largest },
		{ "lock_waits", &stats->lock_waits }, { "lock_wait_ns", &stats->lock_wait_ns },
	};

	static_assert(ARRAY_SIZE(others) + AFTL_COUNTERS == PLACES, "a place for each");
	for (unsigned int i = 0; i < AFTL_COUNTERS; i++)
		places[i] = (struct place){ aftl_counter_info[i].name, counters + i };
	memcpy(places + AFTL_COUNTERS, others, sizeof(others));
}

/* Compare @name, which has @length bytes and no terminating zero, with @known. */
static bool is_unterminated_name_equal(const char *name, size_t length, const char *known)
{
	return strlen(known) == length && !memcmp(name, known, length);
}

/* Parse a bin of the lateness histogram: "late_le_<ns> <completions>". */
static bool parse_histogram_bin(struct target_stats *stats, const char *name, size_t length,
				u64 value)
{
	u64 top;

	if (length < 8 || memcmp(name, "late_le_", 8) != 0 ||
	    !parse_decimal_digits(name + 8, name + length, &top))
		return false;
	stats->late.bins[aftl_histogram_find_bin(top)] = value;
	return true;
}

static struct target_stream *find_stream_counters(struct target_stats *stats, const char *name,
						  size_t length)
{
	for (unsigned int i = 0; i < AFTL_STREAMS && length < TARGET_WORD_SIZE; i++) {
		struct target_stream *stream = &stats->streams[i];

		if (!stream->name[0])
			memcpy(stream->name, name, length);
		if (is_unterminated_name_equal(name, length, stream->name))
			return stream;
	}
	return NULL;
}

/* Parse a stream's "stream_<name>_host_units <units>" or "stream_<name>_moved_units <units>". */
static bool parse_stream_statistics(struct target_stats *stats, const char *name, size_t length,
				    u64 value)
{
	static const char *const ends[] = { "_host_units", "_moved_units" };
	struct target_stream *stream;

	if (length < 7 || memcmp(name, "stream_", 7) != 0)
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t rest = strlen(ends[i]);

		if (length <= 7 + rest || memcmp(name + length - rest, ends[i], rest) != 0)
			continue;
		stream = find_stream_counters(stats, name + 7, length - 7 - rest);
		if (stream)
			stream->units[i] = value;
	}
	return true;
}

/* Parse a placement handle's counter: "handle_<number>_<name of a counter> <value>". */
static bool parse_handle_statistics(struct target_stats *stats, const char *name, size_t length,
				    u64 value)
{
	const char *rest = length > 7 ? memchr(name + 7, '_', length - 7) : NULL;
	u64 handle;

	if (!rest || memcmp(name, "handle_", 7) != 0 ||
	    !parse_decimal_digits(name + 7, rest, &handle) || handle > AFTL_HANDLES_MAX)
		return false;
	length -= (size_t)(++rest - name);
	for (unsigned int i = 0; i < AFTL_HANDLE_COUNTERS; i++)
		if (is_unterminated_name_equal(rest, length, aftl_handle_counter_info[i].name))
			((u64 *)&stats->handles[handle])[i] = value;
	return true;
}

static void parse_status_value(struct target_stats *stats, const struct place *places, bool *seen,
			       const char *name, size_t length, u64 value)
{
	if (parse_histogram_bin(stats, name, length, value) ||
	    parse_stream_statistics(stats, name, length, value) ||
	    parse_handle_statistics(stats, name, length, value))
		return;
	for (unsigned int i = 0; i < PLACES; i++) {
		if (is_unterminated_name_equal(name, length, places[i].name)) {
			*places[i].value = value;
			seen[i] = true;
		}
	}
}

static int report_missing_status_value(const struct place *places, const bool *seen,
				       struct aftl_error *error)
{
	for (unsigned int i = 0; i < PLACES; i++)
		if (!seen[i])
			return aftl_fail(error, -EINVAL,
					 "the answer to \"stats\" lacks %s; the module is older than this program",
					 places[i].name);
	return 0;
}

int target_stats_parse(struct target_stats *stats, const char *text, struct aftl_error *error)
{
	struct place places[PLACES];
	bool seen[PLACES] = { false };

	memset(stats, 0, sizeof(*stats));
	list_required_statistics_fields(stats, places);
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *blank = memchr(text, ' ', length);
		u64 value;

		if (!blank || !parse_decimal_digits(blank + 1, text + length, &value))
			return aftl_fail(error, -EINVAL,
					 "\"%.*s\" in the answer to \"stats\" is not a name and a number",
					 (int)min(length, (size_t)40), text);
		parse_status_value(stats, places, seen, text, (size_t)(blank - text), value);
		text += length + (text[length] == '\n');
	}
	return report_missing_status_value(places, seen, error);
}

void target_stats_subtract_earlier_counts(struct target_stats *now,
					  const struct target_stats *before)
{
	u64 *counters = (u64 *)&now->counters;

	if (now->since_ns != before->since_ns || now->late.count < before->late.count)
		return;
	for (unsigned int i = 0; i < AFTL_COUNTERS; i++)
		counters[i] -= aftl_counter_get(&before->counters, i);
	for (unsigned int i = 0; i < 2 * AFTL_STREAMS; i++)
		now->streams[i / 2].units[i % 2] -= before->streams[i / 2].units[i % 2];
	for (unsigned int i = 0; i < (1 + AFTL_HANDLES_MAX) * AFTL_HANDLE_COUNTERS; i++)
		((u64 *)now->handles)[i] -= ((const u64 *)before->handles)[i];
	now->lock_waits -= before->lock_waits;
	now->lock_wait_ns -= before->lock_wait_ns;
	now->late.count -= before->late.count;
	now->late.sum -= before->late.sum;
	now->late.largest = 0;
	for (unsigned int i = 0; i < AFTL_HISTOGRAM_BINS; i++) {
		now->late.bins[i] -= before->late.bins[i];
		if (now->late.bins[i])
			now->late.largest = aftl_histogram_max_of_bin(i);
	}
}
