// SPDX-License-Identifier: GPL-2.0-only
#include "reading-options.h"
#include "text-scan.h"

struct unit {
	const char *name;
	u64 value;
};

static const struct unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "100ns", 100 }, { "ns", 1 },
};

static const struct unit offset_units[] = { { "bytes", 1 }, { "sectors", TRACE_SECTOR } };

static u64 look_up_time_or_offset_unit(const struct unit *units, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(units[i].name, name))
			return units[i].value;
	return 0;
}

static int set_offset_unit_option(const char *name, u64 *unit, struct aftl_error *error)
{
	struct text_cursor text = { name, name + strlen(name) };

	*unit = look_up_time_or_offset_unit(offset_units, ARRAY_SIZE(offset_units), name);
	if (*unit || (text_get_bounded_u64(&text, 1 << 20, unit) && *unit && is_text_at_end(&text)))
		return 0;
	return aftl_fail(error, -EINVAL,
			 "--offset-unit: \"%.40s\" is not bytes, sectors or a number", name);
}

static int set_device_option(const char *name, u32 *device, struct aftl_error *error)
{
	struct text_cursor text = { name, name + strlen(name) };
	u64 major, minor;

	*device = TRACE_ALL_DEVICES;
	if (!strcmp(name, "all"))
		return 0;
	if (!text_get_bounded_u64(&text, 4095, &major) || !text_skip_if_equal(&text, ':') ||
	    !text_get_bounded_u64(&text, (1U << TRACE_DEVICE_MINOR_BITS) - 1, &minor) ||
	    !is_text_at_end(&text))
		return aftl_fail(error, -EINVAL, "--device: \"%.40s\" is not MAJOR:MINOR, nor all",
				 name);
	*device = (u32)(major << TRACE_DEVICE_MINOR_BITS | minor);
	return 0;
}

int reading_options_check_format(const char *option, const char *name, struct aftl_error *error)
{
	const struct trace_format *format = trace_format_find(name);

	if (format && !strcmp(option, "from") && !format->line && !format->fill)
		return aftl_fail(error, -EINVAL, "--from: format %s is only written, not read",
				 name);
	if (format && !strcmp(option, "to") && !format->put)
		return aftl_fail(error, -EINVAL, "--to: format %s is only read, not written", name);
	if (format)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "--%s: there is no format \"%.40s\"; \"approxftl trace formats\" lists them",
			 option, name);
}

int reading_options_make_open_options(const struct reading_options *options,
				      struct trace_open_options *open_options,
				      struct aftl_error *error)
{
	u64 *time_unit = &open_options->hints.time_unit_ns;
	int ret = 0;

	*open_options = (struct trace_open_options){
		.hints = { .format = options->from, .columns = options->columns },
		.issue = options->from_issue,
	};
	if (options->from)
		ret = reading_options_check_format("from", options->from, error);
	if (!ret && options->time_unit) {
		*time_unit = look_up_time_or_offset_unit(time_units, ARRAY_SIZE(time_units),
							 options->time_unit);
		if (!*time_unit)
			ret = aftl_fail(error, -EINVAL,
					"--time-unit: \"%.40s\" is not s, ms, us, ns or 100ns",
					options->time_unit);
	}
	if (!ret && options->offset_unit)
		ret = set_offset_unit_option(options->offset_unit, &open_options->hints.offset_unit,
					     error);
	if (!ret && options->device)
		ret = set_device_option(options->device, &open_options->device, error);
	return ret;
}
