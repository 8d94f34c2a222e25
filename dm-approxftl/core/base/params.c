// SPDX-License-Identifier: GPL-2.0-only
/* Parses, prints and checks the parameters of a device. */
#include "core/base/param-group.h"
#include "core/base/params.h"

const char *const aftl_switch_words[] = { "off", "on", NULL };
static const char *const plane_mode_words[] = { "shared", "independent", "wide", NULL };
static const char *const multi_plane_read_words[] = { "off", "same_block", "any_block", "any_page",
						       NULL };
static const char *const order_words[] = { "read_first", "fcfs", NULL };
static const char *const cache_commands_words[] = { "off", "read", "program", "both", NULL };
static const char *const suspend_words[] = { "off", "program", "erase", "both", NULL };
static const char *const gc_mode_words[] = { "block", "paced", NULL };
static const char *const gc_idle_limit_words[] = { "fixed", "adaptive", NULL };
static const char *const placement_isolation_words[] = { "initial", "persistent", NULL };
static const char *const fill_words[] = { "none", "sequential", "random", NULL };
static const char *const cell_model_words[] = { "constant", "voltage", NULL };

static const char *const stripe_words[] = {
	"cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd", "wdcp", "wdpc",
	"wpcd", "wpdc", "dcwp", "dcpw", "dwcp", "dwpc", "dpcw", "dpwc", "pcwd", "pcdw",
	"pwcd", "pwdc", "pdcw", "pdwc", NULL
};

static const char *const victim_words[] = {
#define VICTIM(name) \
	[AFTL_VICTIM_##name] = #name,
#include "core/base/victim-list.h"
#undef VICTIM
	[AFTL_VICTIMS] = NULL
};

static const char *const allocate_words[] = {
#define LUN_RULE(name) \
	[AFTL_ALLOCATE_##name] = #name,
#include "core/base/lun-list.h"
#undef LUN_RULE
	[AFTL_ALLOCATES] = NULL
};

#define one_shot_words aftl_switch_words
#define buffer_safe_words aftl_switch_words
#define rain_words aftl_switch_words
#define suspend_for_write_words aftl_switch_words
#define errors_words aftl_switch_words
#define wear_times_words aftl_switch_words

const struct aftl_param aftl_core_params[] = {
#define PARAM AFTL_PARAM
#include "core/base/param-table.h"
#undef PARAM
};

static_assert(ARRAY_SIZE(aftl_core_params) == AFTL_CORE_PARAMS, "one entry per field");

#define AT(name) AFTL_PARAM_AT(name)

/*
 * Parameters in never[] cannot change, those in live[] can change at any time. All others change
 * only at a reload: they size memory, affect the order of completions, or are read by a policy when
 * it is created.
 */
static const u8 never[] = {
	AT(channels), AT(chips), AT(dies), AT(planes), AT(plane_mode), AT(blocks), AT(layers),
	AT(word_lines), AT(bits), AT(page), AT(unit), AT(one_shot), AT(op), AT(bad), AT(errors),
	AT(cell_model), AT(seed), AT(allocate), AT(stripe), AT(fill), AT(fill_valid),
	AT(fill_overwrite), AT(fill_approx), AT(cycles), AT(age), AT(passes), AT(zoned),
	AT(zone_capacity), AT(max_active_zones), AT(max_open_zones), AT(map_cache), AT(zrwa),
	AT(zrwa_granularity),
	AT(superblock), AT(rain), AT(shards),
};

static const u8 live[] = {
	AT(read_first), AT(read_last), AT(read_move), AT(suspend_step), AT(row),
	AT(read), AT(read_mlc), AT(read_coarse), AT(read_fine), AT(program), AT(program_fast),
	AT(program_reduced), AT(program_between), AT(program_after), AT(program_coarse),
	AT(program_fine), AT(program_follower), AT(program_mlc), AT(reprogram), AT(erase), AT(bus),
	AT(command), AT(ecc_retry), AT(energy), AT(order), AT(suspend), AT(suspend_cost),
	AT(suspend_limit), AT(idle), AT(buffer_hold), AT(buffer_high), AT(gc), AT(gc_idle_valid),
	AT(victim), AT(wear_gap), AT(wear_low), AT(endurance), AT(refresh), AT(read_limit),
	AT(rber), AT(rber_approx), AT(misprograms), AT(ecc_bits), AT(ecc_levels), AT(program_foggy),
	AT(queue_weights), AT(suspend_for_write), AT(gc_mode), AT(gc_pace),
	AT(multi_plane_read), AT(write_expire), AT(cache_commands), AT(cache_busy),
	AT(suspend_reads), AT(housekeeping), AT(housekeeping_every), AT(gc_idle_limit),
};

/* A unit such as "ms", and its value in stored units; tables of units start with the largest. */
struct suffix {
	const char *text;
	u64 scale;
};

static const struct suffix time_suffixes[] = {
	{ "d", 86400000000000ULL }, { "h", 3600000000000ULL }, { "min", 60000000000ULL },
	{ "s", 1000000000ULL },	    { "ms", 1000000ULL },      { "us", 1000ULL },
	{ "ns", 1ULL },		    { NULL, 0 },
};

static const struct suffix byte_suffixes[] = {
	{ "TiB", 1ULL << 40 }, { "GiB", 1ULL << 30 }, { "MiB", 1ULL << 20 },
	{ "KiB", 1ULL << 10 }, { "B", 1ULL },	      { NULL, 0 },
};

static const struct suffix percent_suffixes[] = {
	{ "%", 100ULL },
	{ NULL, 0 },
};

int aftl_fail(struct aftl_error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

int aftl_core_param_find(const char *key)
{
	unsigned int i;

	for (i = 0; i < AFTL_CORE_PARAMS; i++)
		if (*aftl_core_params[i].key == *key && !strcmp(aftl_core_params[i].key, key))
			return i;
	return -ENOENT;
}

const char *aftl_describe_param_type_by_example(enum aftl_param_type type)
{
	static const char *const examples[] = {
		[AFTL_PARAM_COUNT] = "a whole number such as 4096, 250k or 1e5",
		[AFTL_PARAM_BYTES] = "a size such as 4096, 4k, 16KiB or 1G",
		[AFTL_PARAM_TIME] = "a duration such as 700us, 3.5ms or 7d",
		[AFTL_PARAM_PERCENT] = "a percentage such as 7 or 12.5",
		[AFTL_PARAM_RATE] = "a rate such as 0, 7.2e-4 or 1e-8",
		[AFTL_PARAM_CHOICE] = "a word",
		[AFTL_PARAM_WEIGHTS] = "up to eight weights from 1 to 255 such as 3:1",
	};

	return examples[type];
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal number without its point: all digits as an integer, and how many follow the point. */
struct decimal {
	u64 digits;
	unsigned int decimals;
};

static int append_decimal_digit(struct decimal *number, char c)
{
	u64 digit = c - '0';

	if (number->digits > (U64_MAX - digit) / 10)
		return -ERANGE;
	number->digits = number->digits * 10 + digit;
	return 0;
}

/* Parse digits[.digits] and move @text past it. */
static int parse_decimal(const char **text, struct decimal *number)
{
	const char *at = *text;
	bool point = false;

	*number = (struct decimal){ 0 };
	if (!is_digit(*at))
		return -EINVAL;
	for (; is_digit(*at) || (*at == '.' && !point && is_digit(at[1])); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		if (append_decimal_digit(number, *at))
			return -ERANGE;
		number->decimals += point;
	}
	*text = at;
	return 0;
}

/* Compute number * scale; -EINVAL if the result is not an integer. */
static int multiply_decimal(struct decimal number, u64 scale, u64 *value)
{
	for (; number.decimals; number.decimals--) {
		if (number.digits % 10 == 0)
			number.digits = div64_u64(number.digits, 10);
		else if (scale % 10 == 0)
			scale = div64_u64(scale, 10);
		else
			break;
	}
	if (scale && number.digits > div64_u64(U64_MAX, scale))
		return -ERANGE;
	*value = number.digits * scale;
	for (; number.decimals && *value % 10 == 0; number.decimals--)
		*value = div64_u64(*value, 10);
	return number.decimals ? -EINVAL : 0;
}

static int parse_number_without_suffix(const char *text, u64 scale, u64 *value)
{
	struct decimal number;
	int ret = parse_decimal(&text, &number);

	if (!ret && *text)
		ret = -EINVAL;
	return ret ? ret : multiply_decimal(number, scale, value);
}

/*
 * Parse a number with a suffix. A number without a suffix is scaled by @bare_scale; if @bare_scale
 * is 0, only the number 0 may lack a suffix.
 */
static int parse_number_with_suffix(const char *text, const struct suffix *suffix, u64 bare_scale,
				    u64 *value)
{
	struct decimal number;
	int ret = parse_decimal(&text, &number);

	if (ret)
		return ret;
	if (!*text)
		return !bare_scale && number.digits ? -EINVAL :
						      multiply_decimal(number, bare_scale, value);
	for (; suffix->text; suffix++)
		if (!strcmp(text, suffix->text))
			return multiply_decimal(number, suffix->scale, value);
	return -EINVAL;
}

static char char_to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/*
 * Scale of a size suffix as fio interprets it by default, with kb_base=1024, in upper or lower
 * case: 4k, 4KB and 4KiB are the same size. Returns 0 for any other text.
 */
static u64 get_scale_of_size_suffix(const char *text)
{
	static const char letters[] = "bkmgt";
	const char *letter = strchr(letters, char_to_lower(text[0]));
	const char *rest = text + 1;

	if (!letter || !*letter)
		return 0;
	if (letter > letters && char_to_lower(rest[0]) == 'i' && char_to_lower(rest[1]) == 'b')
		rest++;
	if (letter > letters && char_to_lower(rest[0]) == 'b')
		rest++;
	return *rest ? 0 : 1ULL << 10 * (letter - letters);
}

static u64 compute_power_of_ten(u64 exponent)
{
	u64 scale = 1;

	while (exponent--)
		scale *= 10;
	return scale;
}

/* Scale of a count suffix: 1k is 1000, 1e5 is 100000. Returns 0 for any other text. */
static u64 get_scale_of_count_suffix(const char *text)
{
	static const char letters[] = "kmgt";
	const char *letter = strchr(letters, char_to_lower(text[0]));

	if (char_to_lower(text[0]) == 'e' && is_digit(text[1]) && !text[2])
		return compute_power_of_ten(text[1] - '0');
	if (char_to_lower(text[0]) == 'e' && text[1] == '1' && is_digit(text[2]) && !text[3])
		return compute_power_of_ten(10 + text[2] - '0');
	return letter && *letter && !text[1] ? compute_power_of_ten(3 * (letter - letters + 1)) : 0;
}

/* Parse a number with a suffix that @scale_of knows. */
static int parse_scaled_number(const char *text, u64 (*scale_of)(const char *text), u64 *value)
{
	struct decimal number;
	int ret = parse_decimal(&text, &number);
	u64 scale = *text && !ret ? scale_of(text) : 1;

	if (!scale)
		return -EINVAL;
	return ret ? ret : multiply_decimal(number, scale, value);
}

/* Parse the exponent of a rate, "e-N", and add N to the number of decimals. */
static int parse_rate_exponent(const char *text, unsigned int *decimals)
{
	u64 exponent = 0;
	int ret = -EINVAL;

	if (text[0] == 'e' && text[1] == '-')
		ret = parse_number_without_suffix(text + 2, 1, &exponent);
	if (ret || exponent > 12)
		return -EINVAL;
	*decimals += exponent;
	return 0;
}

/* Parse mantissa[e-exponent] into units of 10^-12. */
static int parse_error_rate(const char *text, u64 *value)
{
	struct decimal number;
	int ret = parse_decimal(&text, &number);

	if (!ret && *text)
		ret = parse_rate_exponent(text, &number.decimals);
	return ret ? ret : multiply_decimal(number, 1000000000000ULL, value);
}

static int parse_choice_word(const char *const *words, const char *text, u64 *value)
{
	unsigned int i;

	for (i = 0; words && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

static bool queue_weight_is_valid(const struct decimal *number)
{
	return number->digits && number->digits <= 255 && !number->decimals;
}

/* Parse weights of host queues such as "3:1"; "0" means none. */
static int parse_weight_list(const char *text, u64 *value)
{
	struct decimal number;
	unsigned int i;

	*value = 0;
	if (!strcmp(text, "0"))
		return 0;
	for (i = 0; i < AFTL_QUEUES_MAX; i++) {
		if (parse_decimal(&text, &number) || !queue_weight_is_valid(&number))
			return -EINVAL;
		*value |= number.digits << 8 * i;
		if (!*text)
			return 0;
		if (*text++ != ':')
			return -EINVAL;
	}
	return -EINVAL;
}

/* Print the words of a choice as a list such as "shared, independent or wide". */
static void format_choice_list(const char *const *words, char *text, size_t size)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; words[i]; i++) {
		const char *separator = !i ? "" : words[i + 1] ? ", " : " or ";

		used += scnprintf(text + used, size - used, "%s%s", separator, words[i]);
	}
}

static int report_invalid_param_text(const char *const *words, enum aftl_param_type type,
				     const char *text, struct aftl_error *error)
{
	char list[160];

	if (!words)
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not %s", text,
				 aftl_describe_param_type_by_example(type));
	format_choice_list(words, list, sizeof(list));
	return aftl_fail(error, -EINVAL, "\"%.40s\" is not one of %s", text, list);
}

int aftl_parse_value(enum aftl_param_type type, const char *const *words, const char *text,
		     u64 *value, struct aftl_error *error)
{
	int ret = -EINVAL;

	switch (type) {
	case AFTL_PARAM_COUNT:
		ret = parse_scaled_number(text, get_scale_of_count_suffix, value);
		break;
	case AFTL_PARAM_BYTES:
		ret = parse_scaled_number(text, get_scale_of_size_suffix, value);
		break;
	case AFTL_PARAM_TIME:
		ret = parse_number_with_suffix(text, time_suffixes, 0, value);
		break;
	case AFTL_PARAM_PERCENT:
		ret = parse_number_with_suffix(text, percent_suffixes, 100, value);
		break;
	case AFTL_PARAM_RATE:
		ret = parse_error_rate(text, value);
		break;
	case AFTL_PARAM_CHOICE:
		ret = parse_choice_word(words, text, value);
		break;
	case AFTL_PARAM_WEIGHTS:
		ret = parse_weight_list(text, value);
		break;
	}
	if (ret == -ERANGE)
		return aftl_fail(error, -ERANGE, "%.40s is out of range", text);
	return ret ? report_invalid_param_text(words, type, text, error) : 0;
}

static size_t format_decimal(char *text, u64 value, u64 scale)
{
	u64 whole = div64_u64(value, scale);
	u64 part = value - whole * scale;
	size_t used = scnprintf(text, AFTL_VALUE_SIZE, "%llu", (unsigned long long)whole);

	if (!part)
		return used;
	text[used++] = '.';
	for (; part; used++) {
		scale = div64_u64(scale, 10);
		text[used] = '0' + (char)div64_u64(part, scale);
		part -= div64_u64(part, scale) * scale;
	}
	text[used] = '\0';
	return used;
}

/* Print a value with the largest suffix for which the number is an integer. */
static void format_suffixed_number(char *text, u64 value, const struct suffix *suffix)
{
	while (suffix[1].text && (!value || value % suffix->scale))
		suffix++;
	scnprintf(text, AFTL_VALUE_SIZE, "%llu%s",
		  (unsigned long long)div64_u64(value, suffix->scale), value ? suffix->text : "");
}

/* Print an error rate with one digit before the point: 720000000 is 7.2e-4. */
static void format_error_rate(char *text, u64 value)
{
	unsigned int exponent = 12;
	u64 scale = 1;
	size_t used;

	for (; value >= scale * 10; scale *= 10)
		exponent--;
	used = format_decimal(text, value, scale);
	if (value && exponent)
		scnprintf(text + used, AFTL_VALUE_SIZE - used, "e-%u", exponent);
}

static void format_weight_list(char *text, u64 value)
{
	size_t used = scnprintf(text, AFTL_VALUE_SIZE, "%u", (u32)(value & 0xff));
	u32 i;

	for (i = 1; i < aftl_queue_weight_count(value); i++)
		used += scnprintf(text + used, AFTL_VALUE_SIZE - used, ":%u",
				  aftl_queue_weight_at(value, i));
}

void aftl_param_format(const struct aftl_param *param, u64 value, char text[AFTL_VALUE_SIZE])
{
	switch (param->type) {
	case AFTL_PARAM_COUNT:
		scnprintf(text, AFTL_VALUE_SIZE, "%llu", (unsigned long long)value);
		break;
	case AFTL_PARAM_BYTES:
		format_suffixed_number(text, value, byte_suffixes);
		break;
	case AFTL_PARAM_TIME:
		format_suffixed_number(text, value, time_suffixes);
		break;
	case AFTL_PARAM_PERCENT:
		format_decimal(text, value, 100);
		break;
	case AFTL_PARAM_RATE:
		format_error_rate(text, value);
		break;
	case AFTL_PARAM_CHOICE:
		scnprintf(text, AFTL_VALUE_SIZE, "%s", param->words[value]);
		break;
	case AFTL_PARAM_WEIGHTS:
		format_weight_list(text, value);
		break;
	}
}

static int report_value_out_of_range(const struct aftl_param *param, const char *text,
				     struct aftl_error *error)
{
	char smallest[AFTL_VALUE_SIZE];
	char largest[AFTL_VALUE_SIZE];

	aftl_param_format(param, param->smallest, smallest);
	aftl_param_format(param, param->largest, largest);
	return aftl_fail(error, -EINVAL, "%s: %.40s is out of range; it must be %s to %s",
			 param->key, text, smallest, largest);
}

int aftl_param_parse(const struct aftl_param *param, const char *text, u64 *value,
		     struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = aftl_parse_value(param->type, param->words, text, value, &cause);

	if (ret == -EINVAL)
		return aftl_fail(error, ret, "%s: %.190s", param->key, cause.text);
	if (ret || *value < param->smallest || *value > param->largest)
		return report_value_out_of_range(param, text, error);
	return 0;
}

static bool is_param_index_in_list(unsigned int index, const u8 *list, size_t count)
{
	while (count--)
		if (list[count] == index)
			return true;
	return false;
}

enum aftl_change aftl_core_param_change(unsigned int index)
{
	if (is_param_index_in_list(index, never, ARRAY_SIZE(never)))
		return AFTL_CHANGE_NEVER;
	return is_param_index_in_list(index, live, ARRAY_SIZE(live)) ? AFTL_CHANGE_LIVE :
								       AFTL_CHANGE_RELOAD;
}

static int report_param_that_cannot_change(unsigned int index, u64 made, u64 wanted,
					   struct aftl_error *error)
{
	const struct aftl_param *param = &aftl_core_params[index];
	char before[AFTL_VALUE_SIZE];
	char after[AFTL_VALUE_SIZE];

	aftl_param_format(param, made, before);
	aftl_param_format(param, wanted, after);
	return aftl_fail(error, -EINVAL, "the device was made with %s %s, which cannot become %s",
			 param->key, before, after);
}

int aftl_config_check(const struct aftl_config *made, const struct aftl_config *wanted,
		      struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (aftl_param_get(made, never[i]) != aftl_param_get(wanted, never[i]))
			return report_param_that_cannot_change(never[i],
							       aftl_param_get(made, never[i]),
							       aftl_param_get(wanted, never[i]),
							       error);
	return 0;
}
