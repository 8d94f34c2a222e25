// SPDX-License-Identifier: GPL-2.0-only
#include "key-value.h"
#include "request-sizes.h"
#include "sim-options.h"

static int report_invalid_size(const char *name, const char *item, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "--%s: \"%.40s\" is not a size such as 4096 or 16KiB, or one with a weight such as 4KiB:70",
			 name, item);
}

static int add_request_size(struct sim_size_list *sizes, const char *name, char *item,
			    struct aftl_error *error)
{
	size_t length = strcspn(item, ":");
	struct aftl_error unused;
	u64 bytes, weight = 1;

	if (item[length] && aftl_parse_value(AFTL_PARAM_COUNT, NULL, item + length + 1, &weight,
					     &unused))
		return report_invalid_size(name, item, error);
	if (!weight || weight > 1000000)
		return aftl_fail(error, -EINVAL,
				 "--%s: the weight in \"%.40s\" must be 1 to 1000000", name,
				 item);
	item[length] = '\0';
	if (aftl_parse_value(AFTL_PARAM_BYTES, NULL, item, &bytes, &unused))
		return report_invalid_size(name, item, error);
	if (!bytes || bytes > 1ULL << 30)
		return aftl_fail(error, -EINVAL,
				 "--%s: %.40s is out of range; it must be 1 to 1GiB", name, item);
	if (sizes->count == SIM_SIZES)
		return aftl_fail(error, -EINVAL, "--%s: at most %u sizes", name, SIM_SIZES);
	sizes->sizes[sizes->count++] = (struct sim_size){ .bytes = bytes, .weight = (u32)weight };
	return 0;
}

/* Parse @list, the value of option @name, which error messages mention. */
static int parse_size_list(struct sim_size_list *sizes, const char *name, const char *list,
			   struct aftl_error *error)
{
	char item[LIST_ITEM];
	int ret = 0;

	if (!*list)
		return report_invalid_size(name, "", error);
	while (!ret && copy_next_list_item(&list, item))
		ret = add_request_size(sizes, name, item, error);
	return ret;
}

int request_sizes_parse(struct sim_options *options, struct aftl_error *error)
{
	int ret = parse_size_list(&options->size_list, "size", options->size, error);

	if (ret || !options->hot_size)
		return ret;
	return parse_size_list(&options->hot_size_list, "hot-size", options->hot_size, error);
}
