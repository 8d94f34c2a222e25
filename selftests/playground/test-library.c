// SPDX-License-Identifier: GPL-2.0-only
/*
 * The playground's library, compiled natively: its calls access valid memory only, and a run in
 * steps ends in the state in which the simulator ends.
 */
#include <stdlib.h>

#include "play.h"
#include "run.h"
#include "tap.h"

#define REQUESTS 3000

static const char *const arguments[] = {
	"--policy", "approxftl", "--fill", "random", "--write-share", "0.8",
	"--approx-share", "0.5", "--blocks", "96", "--op", "40", "--cell_model", "voltage",
	"--cycles", "3000", "--bits", "2", "--requests", "3000",
};

static void open_playground_drive(void)
{
	char *text = playground_get_text_buffer();
	size_t used = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arguments); i++)
		used += (size_t)scnprintf(text + used, PLAY_TEXT_BYTES - used, "%s",
					  arguments[i]) + 1;
	CHECK_EQ(playground_open(ARRAY_SIZE(arguments)), 0);
}

static u64 run_simulator_and_return_digest(void)
{
	char *list[ARRAY_SIZE(arguments)];
	struct sim_options options;
	struct sim_result result;
	struct aftl_error error;
	u64 digest = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arguments); i++)
		list[i] = (char *)arguments[i];
	if (!sim_options_parse(&options, ARRAY_SIZE(list), list, &error) &&
	    !sim_run(&options, options.policies[0], NULL, &result, &error)) {
		digest = result.digest;
		sim_result_release(&result);
	}
	return digest;
}

/* Call every query of the library; queries do not change the device. */
static bool call_all_query_functions(void)
{
	int failed = playground_describe_device() | playground_describe_state() |
		     playground_list_events(0);
	u32 i;

	for (i = 0; i < PLAY_COLOURS; i++)
		playground_palette()[i] = i;
	for (i = 0; i < PLAY_VIEWS; i++)
		failed |= !playground_paint_pages(i, 2, 7, 16) |
			  !playground_paint_pages(i, 4, 96, 5);
	for (i = 0; i < 400; i += 7)
		failed |= playground_describe_block(i) | playground_describe_page(i, i % 300) |
			  playground_describe_cells(i, i % 300, i % 9);
	return !failed;
}

/* The playground marks as many cells as misread as the device counts bit errors. */
static void check_cell_errors(void)
{
	const struct aftl_geometry *geo = play.drive.geo;
	u32 found = 0;
	u32 i;

	for (i = 0; i < geo->blocks * geo->pages; i += 37) {
		const char *raw;
		u32 crossed = 0;
		u32 cell;

		CHECK_EQ(playground_describe_cells(i / geo->pages, i % geo->pages,
						   i % geo->page_units), 0);
		raw = strstr(playground_get_text_buffer(), "\"raw\": ");
		for (cell = 0; cell < geo->unit_bits; cell++)
			crossed += playground_get_cell_voltages()[cell] >> 24;
		CHECK(raw && crossed == (u32)atoi(raw + 7));
		found += crossed;
	}
	CHECK(found > 300);
}

static void check_stepwise_simulation(void)
{
	u32 at;

	for (at = 1; at < REQUESTS; at += at % 64 + 1)
		CHECK_EQ(playground_run_to_request_or_time(at, 1e18), 0);
	CHECK(call_all_query_functions());
	CHECK_EQ(playground_run_to_request_or_time(REQUESTS, 1e18), 0);
	CHECK_EQ(playground_complete_all_requests(), 0);
	CHECK_EQ(playground_digest(), run_simulator_and_return_digest());
}

static u32 count_different_bits(const u8 *content, u8 byte, u32 bytes)
{
	u32 bits = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		bits += (u32)__builtin_popcount(content[i] ^ byte);
	return bits;
}

static u64 count_flipped_bits_of_reads(void)
{
	return aftl_get_stats(play.drive.ftl)->counters.read_flipped_bits;
}

static void check_page_content(void)
{
	u8 *content = playground_get_data_buffer(16 * 4096);
	u64 before = count_flipped_bits_of_reads();

	memset(content, 0x5a, 16 * 4096);
	CHECK_EQ(playground_write(40, 16, AFTL_APPROX), 0);
	CHECK_EQ(playground_age(8760), 0);
	CHECK_EQ(playground_read(40, 16), 0);
	CHECK(count_flipped_bits_of_reads() > before + 10);
	CHECK_EQ(count_different_bits(content, 0x5a, 16 * 4096),
		 count_flipped_bits_of_reads() - before);
	CHECK(playground_read(U32_MAX - 8, 16));
	CHECK_CONTAINS(playground_get_text_buffer(),
		       "units; 16 units from unit 4294967287 on exceed them");
}

static void check_parameter_change(void)
{
	scnprintf(playground_get_text_buffer(), PLAY_TEXT_BYTES, "policy=vth_b");
	CHECK_EQ(playground_change_parameters(), 0);
	scnprintf(playground_get_text_buffer(), PLAY_TEXT_BYTES, "age=730h");
	CHECK_EQ(playground_change_parameters(), 0);
	CHECK_EQ(playground_audit(), 0);
	CHECK_EQ(playground_run_to_request_or_time(REQUESTS + 2000, 1e18), 0);
	CHECK_EQ(playground_audit(), 0);
	CHECK(call_all_query_functions());
	scnprintf(playground_get_text_buffer(), PLAY_TEXT_BYTES, "policy=none");
	CHECK(playground_change_parameters());
	CHECK_TEXT(playground_get_text_buffer(), "there is no policy \"none\"");
}

int main(void)
{
	if (!tap_run("the playground creates a device", open_playground_drive))
		tap_bail_out("%s", playground_get_text_buffer());
	tap_run("a run in steps ends as in the simulator", check_stepwise_simulation);
	tap_run("as many cells cross a reference voltage as bits flip", check_cell_errors);
	tap_run("bytes are read with the device's flipped bits", check_page_content);
	tap_run("a change of policy keeps the data", check_parameter_change);
	return tap_finish();
}
