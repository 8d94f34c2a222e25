// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "human-units.h"
#include "slowest.h"
#include "text-table.h"
#include "core/persist/record.h"

void slowest_add_request(struct sim_slowest *slowest, struct observed_request *observed,
			 u32 unit_bytes, u64 base_ns)
{
	const struct aftl_request *request = &observed->request;
	u64 response_ns = request->complete_ns - request->arrival_ns;
	u32 i = slowest->count;

	if (i == slowest->room && slowest->requests[i - 1].response_ns >= response_ns)
		return;
	if (i == slowest->room)
		i--;
	else
		slowest->count++;
	for (; i && slowest->requests[i - 1].response_ns < response_ns; i--)
		slowest->requests[i] = slowest->requests[i - 1];
	slowest->requests[i] = (struct sim_slow){
		.arrival_ns = request->arrival_ns - base_ns,
		.response_ns = response_ns,
		.service_ns = response_ns - get_waiting_ns_of_request(request),
		.lpn = request->unit,
		.bytes = get_bytes_of_request(request, unit_bytes),
		.op = request->op,
	};
	memcpy(slowest->requests[i].waits_ns, observed->waits.ns, sizeof(observed->waits.ns));
}

/* Return the reason with the longest time in @left, and clear the time; AFTL_WAITS: all are 0. */
static u32 find_and_clear_largest_wait_reason(u64 left[AFTL_WAITS])
{
	u32 most = 0;

	for (u32 i = 1; i < AFTL_WAITS; i++)
		if (left[i] > left[most])
			most = i;
	if (!left[most])
		return AFTL_WAITS;
	left[most] = 0;
	return most;
}

static void format_wait_as_percentage(char text[HUMAN_SIZE], u64 part, u64 whole)
{
	format_fixed_point(text, scaled_ratio(part, whole, 1000), 1, " %");
}

/* Print the reasons of the waiting time as shares of the response time, the largest first. */
static void format_wait_reasons(const struct sim_slow *slow, char text[TEXT_TABLE_CELL])
{
	u64 left[AFTL_WAITS];
	char share[HUMAN_SIZE];
	size_t used = 0;
	u32 reason;

	memcpy(left, slow->waits_ns, sizeof(left));
	text[0] = '\0';
	while ((reason = find_and_clear_largest_wait_reason(left)) < AFTL_WAITS) {
		format_wait_as_percentage(share, slow->waits_ns[reason], slow->response_ns);
		used += scnprintf(text + used, TEXT_TABLE_CELL - used, "%s%s %s",
				  used ? ", " : "", aftl_wait_names[reason], share);
	}
}

void slowest_print(const struct sim_slowest *slowest, const char *title, FILE *out)
{
	struct text_table table;

	fprintf(out, "\nslowest requests of %s, and shares of their response times\n", title);
	text_table_begin(&table, 6, 0);
	table.right[1] = false;
	table.right[5] = false;
	text_table_add_row(&table);
	text_table_add_cell(&table, "arrival");
	text_table_add_cell(&table, "op");
	text_table_add_cell(&table, "page");
	text_table_add_cell(&table, "response");
	text_table_add_cell(&table, "own work");
	text_table_add_cell(&table, "waited for");
	for (u32 i = 0; i < slowest->count; i++) {
		const struct sim_slow *slow = &slowest->requests[i];
		char reasons[TEXT_TABLE_CELL], arrival[HUMAN_SIZE], response[HUMAN_SIZE];
		char own[HUMAN_SIZE];

		format_wait_reasons(slow, reasons);
		human_format_time(arrival, slow->arrival_ns);
		human_format_time(response, slow->response_ns);
		format_wait_as_percentage(own, slow->service_ns, slow->response_ns);
		text_table_add_row(&table);
		text_table_add_cell(&table, "%s", arrival);
		text_table_add_cell(&table, "%s", aftl_op_names[slow->op]);
		text_table_add_cell(&table, "%llu", (unsigned long long)slow->lpn);
		text_table_add_cell(&table, "%s", response);
		text_table_add_cell(&table, "%s", own);
		text_table_add_cell(&table, "%s", reasons);
	}
	text_table_print_and_free(&table, out);
}

static void write_slowest_request_json(struct json_writer *json, const struct sim_slow *slow)
{
	json_begin_inline_object(json, NULL);
	json_u64(json, "arrival_ns", slow->arrival_ns);
	json_string(json, "op", aftl_op_names[slow->op]);
	json_u64(json, "lpn", slow->lpn);
	json_u64(json, "bytes", slow->bytes);
	json_u64(json, "response_ns", slow->response_ns);
	json_u64(json, "waiting_ns", slow->response_ns - slow->service_ns);
	json_begin_inline_object(json, "waits_ns");
	for (u32 i = 0; i < AFTL_WAITS; i++)
		if (slow->waits_ns[i])
			json_u64(json, aftl_wait_names[i], slow->waits_ns[i]);
	json_end_object(json);
	json_end_object(json);
}

void slowest_write_json(const struct sim_slowest *slowest, struct json_writer *json)
{
	json_begin_array(json, "slowest");
	for (u32 i = 0; i < slowest->count; i++)
		write_slowest_request_json(json, &slowest->requests[i]);
	json_end_array(json);
}
