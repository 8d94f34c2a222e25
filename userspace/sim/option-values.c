// SPDX-License-Identifier: GPL-2.0-only
#include "option-rows.h"
#include "option-values.h"
#include "shares.h"
#include "sim-options.h"

/* Numbers */

static int report_invalid_number(const struct option_row *row, const char *text, const char *cause,
				 struct aftl_error *error)
{
	if (row->kind == KIND_RATE)
		return report_option_error(row, error, "\"%.40s\" is not a number such as 2 or 0.5",
					   text);
	return report_option_error(row, error, "%.190s", cause);
}

static void format_option_number(const struct option_row *row, bool percent, u64 value,
				 char text[AFTL_VALUE_SIZE])
{
	struct aftl_param like = { .type = (enum aftl_param_type)row->kind };

	if (row->kind == KIND_RATE)
		format_decimal_number(value, SIM_RATE_DECIMALS, text);
	else if (row->kind == KIND_SHARE)
		format_fraction_or_percentage(value, percent, text);
	else
		aftl_param_format(&like, value, text);
}

/* Check that @value is within the limits of @row. @percent: the message has percentages. */
static int check_range_of_option_value(const struct option_row *row, const char *text, bool percent,
				       u64 value, struct aftl_error *error)
{
	char smallest[AFTL_VALUE_SIZE], largest[AFTL_VALUE_SIZE];

	if (value >= row->smallest && value <= row->largest)
		return 0;
	format_option_number(row, percent, row->smallest, smallest);
	format_option_number(row, percent, row->largest, largest);
	return report_option_error(row, error, "%.40s is out of range; it must be %s to %s", text,
				   smallest, largest);
}

static int set_number_of_option(u64 *value, const struct option_row *row,
				const char *text, struct aftl_error *error)
{
	const char *const *words = row->kind == KIND_CHOICE ? option_get_choices(row) : NULL;
	struct aftl_error cause;

	if (aftl_parse_value((enum aftl_param_type)row->kind, words, text, value, &cause))
		return report_invalid_number(row, text, cause.text, error);
	return row->kind == KIND_CHOICE ?
		       0 :
		       check_range_of_option_value(row, text, false, *value, error);
}

/* Shares */

/* Refuse a 1 without percent sign and decimal point, which may mean 100 % or 1 %. */
static int refuse_ambiguous_value_of_one(const struct option_row *row, const struct share *share,
					 const char *text, struct aftl_error *error)
{
	char whole[AFTL_VALUE_SIZE];

	if (share->percent || !share->value || strchr(text, '.'))
		return 0;
	format_fraction_or_percentage(share->value, true, whole);
	return report_option_error(row, error, "%.20s may mean %.20s%% or %s; write one of these",
				   text, text, whole);
}

static int set_percentage_option(u64 *value, const struct option_row *row, const char *text,
				 struct aftl_error *error)
{
	struct share share;
	int ret;

	if (!parse_fraction_or_percentage(text, &share))
		return report_option_error(row, error,
					   "\"%.40s\" is not a share such as 0.5 or 50%%", text);
	*value = share.value;
	/* A share such as 50 was probably meant as 50%. */
	if (!share.percent && share.value > row->largest && !share.finer &&
	    share.value % 100 == 0 && share.value / 100 <= row->largest) {
		u64 meant = share.value / 100;
		char percentage[AFTL_VALUE_SIZE], fraction[AFTL_VALUE_SIZE];

		format_fraction_or_percentage(meant, true, percentage);
		format_fraction_or_percentage(meant, false, fraction);
		return report_option_error(row, error,
					   "%.40s is more than the whole; write %s or %s", text,
					   percentage, fraction);
	}
	ret = check_range_of_option_value(row, text, share.percent, share.value, error);
	if (!ret)
		ret = refuse_ambiguous_value_of_one(row, &share, text, error);
	if (ret || !share.finer)
		return ret;
	return report_option_error(row, error,
				   "%.40s is finer than shares can be; the smallest step is %s",
				   text, share.percent ? "0.01%" : "0.0001");
}

int option_set_value(struct sim_options *options, const struct option_row *row, const char *text,
		     struct aftl_error *error)
{
	void *field = (char *)options + row->field;

	if (row->kind == KIND_SWITCH)
		*(bool *)field = true;
	else if (row->kind == KIND_TEXT || row->kind == KIND_FILE)
		*(const char **)field = text;
	else if (row->kind == KIND_SHARE)
		return set_percentage_option(field, row, text, error);
	else
		return set_number_of_option(field, row, text, error);
	return 0;
}
