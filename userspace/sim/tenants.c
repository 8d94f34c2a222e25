// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/random.h"
#include "key-value.h"
#include "option-rows.h"
#include "option-values.h"
#include "shares.h"
#include "sim-options.h"
#include "tenants.h"

#define PURPOSE_TENANT 101

/* List @text of an option with a value for each tenant; @value: the option with one value. */
struct tenant_list {
	const char *text;
	struct option_row value;
};

/* Parse a list with a value for each tenant; return the number of values, or -EINVAL. */
static int parse_tenant_list(struct sim_options *options, const struct tenant_list *list,
			     struct aftl_error *error)
{
	const char *text = list->text;
	char item[LIST_ITEM];
	int count;

	for (count = 0; copy_next_list_item(&text, item); count++) {
		struct option_row row = list->value;

		if (count == AFTL_QUEUES_MAX)
			return report_option_error(&row, error, "at most %u tenants",
						   AFTL_QUEUES_MAX);
		row.field += count * sizeof(struct sim_tenant_choice);
		if (option_set_value(options, &row, item, error))
			return -EINVAL;
	}
	return count;
}

#define CHOICE_AT(member) offsetof(struct sim_options, tenant_choices[0].member)

int sim_tenants_parse(struct sim_options *options, struct aftl_error *error)
{
	const struct tenant_list lists[] = {
		{ options->tenants, { .name = "tenants", .kind = KIND_COUNT, .smallest = 1,
				      .largest = 1 << 20, .field = CHOICE_AT(depth) } },
		{ options->tenant_size, { .name = "tenant_size", .kind = KIND_BYTES, .smallest = 1,
					  .largest = 1 << 30, .field = CHOICE_AT(bytes) } },
		{ options->tenant_write_share, { .name = "tenant_write_share", .kind = KIND_SHARE,
						 .largest = SHARE_WHOLE,
						 .field = CHOICE_AT(write_share) } },
	};

	if (!options->tenants)
		return 0;
	for (u32 i = 0; i < ARRAY_SIZE(lists); i++) {
		int count = lists[i].text ? parse_tenant_list(options, &lists[i], error) :
					    (int)options->tenant_count;

		if (count < 0)
			return count;
		if (i && count != (int)options->tenant_count)
			return report_option_error(&lists[i].value, error,
						   "%d values for %u tenants", count,
						   options->tenant_count);
		options->tenant_count = (u32)count;
	}
	return 0;
}

/* Return the options for the stream of tenant @index: its value instead of each list of values. */
static struct sim_options get_options_of_tenant(const struct sim_options *options, u32 index)
{
	const struct sim_tenant_choice *choice = &options->tenant_choices[index];
	struct sim_options own = *options;

	if (options->tenant_write_share)
		own.write_share = choice->write_share;
	if (options->tenant_size) {
		own.size_list.count = 1;
		own.size_list.sizes[0] = (struct sim_size){ .bytes = choice->bytes, .weight = 1 };
	}
	return own;
}

int sim_tenants_open(struct sim_tenants *tenants, const struct sim_options *options,
		     const struct aftl_config *config, const struct aftl_geometry *geo,
		     u64 units, struct aftl_error *error)
{
	struct aftl_config own_config = *config;
	int ret = 0;

	for (; tenants->count < options->tenant_count && !ret; tenants->count += !ret) {
		struct sim_tenant *tenant = &tenants->each[tenants->count];
		struct sim_options own = get_options_of_tenant(options, tenants->count);

		tenant->depth = (u32)options->tenant_choices[tenants->count].depth;
		own_config.seed = aftl_hash64_pair(config->seed ^ PURPOSE_TENANT, tenants->count);
		ret = sim_generator_open(&tenant->stream, &own, &own_config, geo, units,
					 error);
	}
	return ret;
}

u32 sim_tenants_sum_queue_depths(const struct sim_tenants *tenants)
{
	u32 depth = 0;

	for (u32 i = 0; i < tenants->count; i++)
		depth += tenants->each[i].depth;
	return depth;
}

int sim_tenants_next_request(struct sim_tenants *tenants, struct sim_request *request,
			     struct aftl_error *error)
{
	struct sim_tenant *tenant = tenants->each;
	int ret;

	while (tenant->pending == tenant->depth)
		tenant++;
	ret = tenant->stream->next(tenant->stream, request, error);
	request->queue = (u8)(tenant - tenants->each);
	tenant->pending += ret > 0;
	return ret;
}

void sim_tenants_close(struct sim_tenants *tenants)
{
	while (tenants->count) {
		struct sim_stream *stream = tenants->each[--tenants->count].stream;

		stream->close(stream);
	}
}
