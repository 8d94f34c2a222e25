// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays behind a small buffer hold the same data as arrays in memory. Corrupt headers are
 * rejected. Programs survive corrupt approximate data.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "app-run.h"
#include "tap.h"

#define WORDS (20 * ARRAY_PAGE_WORDS + 17)

static char folder[64] = "/tmp/aftl-apps.XXXXXX";
static struct app_place place;
static struct aftl_error error;
static const struct app_setup setup = { .size = 64, .seed = 7 };

static void check_random_accesses_to_array(enum app_io io)
{
	static const struct array_shape shape = { "random", WORDS, 1e9, 0, NULL };
	static double shadow[WORDS];
	struct aftl_random random = { .state = io };
	struct array array;
	u64 repaired = 0;
	unsigned int i;

	place.io = io;
	memset(shadow, 0, sizeof(shadow));
	CHECK_EQ(array_create(&array, &place, &shape, &setup, &error), 0);
	for (i = 0; i < 20000; i++) {
		u64 at = aftl_random_below(&random, WORDS);

		if (i % 3)
			array_write_word(&array, at, shadow[at] = i);
		else
			CHECK(array_value(&array, at) == shadow[at]);
		if (i % 5000 == 4999)
			CHECK_EQ(array_write_back_all_pages(&array, &error), 0);
	}
	CHECK_EQ(array_close(&array, &repaired, &error), 0);
	CHECK_EQ(array_open(&array, &place, &shape, &setup, &error), 0);
	CHECK_EQ(array.slot_count, ARRAY_HELD);
	for (i = 0; i < WORDS; i++)
		CHECK(array_value(&array, i) == shadow[i]);
	CHECK_EQ(array_close(&array, &repaired, &error), 0);
	CHECK_EQ(repaired, 0);
}

TAP_TEST(an_array_works_with_a_smaller_buffer)
{
	check_random_accesses_to_array(APP_IO_BUFFERED);
}

TAP_TEST(an_array_works_with_a_smaller_file_in_memory)
{
	check_random_accesses_to_array(APP_IO_MMAP);
}

/* Pointers into the last ARRAY_HELD pages that a program accessed in an array remain valid. */
TAP_TEST(pages_stay_valid_while_in_use)
{
	static const struct array_shape shape = { "stay", 32 * ARRAY_PAGE_WORDS, 100, 0, NULL };
	const double *held[ARRAY_HELD];
	struct array array;
	u64 page, repaired = 0;
	unsigned int i;

	place.io = APP_IO_BUFFERED;
	CHECK_EQ(array_create(&array, &place, &shape, &setup, &error), 0);
	for (page = 0; page < 32; page++)
		array_write_word(&array, page * ARRAY_PAGE_WORDS, (double)page);
	for (page = 0; page < 32; page++) {
		held[page % ARRAY_HELD] = array_page_values(&array, page, false);
		for (i = 0; i < ARRAY_HELD && i <= page; i++)
			CHECK(*held[(page - i) % ARRAY_HELD] == (double)(page - i));
	}
	CHECK_EQ(array_close(&array, &repaired, &error), 0);
}

TAP_TEST(values_out_of_range_become_0)
{
	static const struct array_shape wide = { "values", 8, 1e300, 0, NULL };
	static const struct array_shape narrow = { "values", 8, 2, 0, NULL };
	static const double bad[] = { 1, -2, 2.0001, -3, 1e200, -0.0, 0.5, 2 };
	static const double good[] = { 1, -2, 0, 0, 0, 0, 0.5, 2 };
	struct array array;
	u64 repaired = 0;
	unsigned int i;

	CHECK_EQ(array_create(&array, &place, &wide, &setup, &error), 0);
	for (i = 0; i < 8; i++)
		array_write_word(&array, i, bad[i]);
	array_write_word(&array, 8, NAN);
	array_write_word(&array, 9, INFINITY);
	CHECK_EQ(array_close(&array, &repaired, &error), 0);
	CHECK_EQ(array_open(&array, &place, &narrow, &setup, &error), 0);
	for (i = 0; i < 8; i++)
		CHECK(array_value(&array, i) == good[i]);
	CHECK(array_value(&array, 8) == 0 && array_value(&array, 9) == 0);
	CHECK_EQ(array_close(&array, &repaired, &error), 0);
	CHECK_EQ(repaired, 5);
}

TAP_TEST(an_index_beyond_the_end_is_an_error)
{
	static const struct array_shape shape = { "beyond", 8, 1, 0, NULL };
	struct array array;
	u64 repaired = 0;

	CHECK_EQ(array_create(&array, &place, &shape, &setup, &error), 0);
	array_write_word(&array, 1ULL << 60, 1);
	CHECK(array_value(&array, U64_MAX) == 1 || array_value(&array, U64_MAX) == 0);
	CHECK(array_close(&array, &repaired, &error) == -EINVAL);
	CHECK_CONTAINS(error.text, "is beyond the end");
}

TAP_TEST(headers_are_read_as_written)
{
	struct app_setup all = { 64, 64, 128, 3, 5, 6, 7, U64_MAX, 15, 256 }, found;
	char header[HEADER_BYTES], tail[100] = "";
	unsigned int i;

	for (i = 0; i < sizeof(tail) - 1; i++) {
		app_header_make(header, MAGIC_PIXELS, &all, tail);
		CHECK_EQ(app_header_parse(header, &found, &error), 0);
		CHECK(!memcmp(&found, &all, sizeof(all)));
		CHECK(!memcmp(header + HEADER_BYTES - i, tail, i));
		tail[i] = 'x';
	}
}

/* An application with a single file format writes an empty format name into file headers. */
TAP_TEST(common_headers_are_read_as_written)
{
	char header[HEADER_BYTES];

	app_header_make(header, MAGIC_ARRAY, &setup, "");
	header[HEADER_BYTES - 1] = '\0';
	CHECK(strstr(header, "# degree 0\n# rounds 0\n# seed 7\n#     "));
	CHECK(!strstr(header, "scans") && !strstr(header, "group"));
}

TAP_TEST(damaged_headers_are_refused_or_harmless)
{
	struct aftl_random random = { .state = 1 };
	char header[HEADER_BYTES];
	struct app_setup found;
	unsigned int i, j, refused = 0;

	for (i = 0; i < 4000; i++) {
		app_header_make(header, MAGIC_ARRAY, &setup, "");
		for (j = 0; j <= i % 64; j++)
			header[aftl_random_below(&random, i % 2 ? 200 : HEADER_BYTES)] =
				(char)aftl_random_next(&random);
		if (app_header_parse(header, &found, &error))
			refused++;
		else
			CHECK_EQ(app_setup_check(&found, &error), 0);
	}
	CHECK_RANGE(refused, 500, 3500);
}

static const struct {
	const struct app *app;
	struct app_setup setup;
} small[] = {
	{ &app_fft, { .size = 4096, .seed = 1 } },
	{ &app_smm, { .size = 1000, .degree = 6, .rounds = 2, .seed = 1 } },
	{ &app_lu, { .size = 128, .seed = 1 } },
	{ &app_sor, { .size = 64, .rounds = 40, .seed = 1 } },
	{ &app_mc, { .size = 8192, .seed = 1 } },
	{ &app_img, { .width = 128, .height = 64, .segment = 16, .seed = 1 } },
	{ &app_img, { .width = 64, .height = 192, .segment = 1, .seed = 1, .scans = 15 } },
	{ &app_vid, { .width = 64, .height = 64, .frames = 5, .segment = 3, .seed = 1 } },
	{ &app_vid,
	  { .width = 64, .height = 64, .frames = 5, .segment = 1, .seed = 1, .group = 3 } },
	{ &app_log, { .size = 5000, .seed = 1 } },
};

/* Replace bytes of the input data of class @kind by random ones, each with a chance 1 / @rarity. */
static void damage_approximate_bytes(const struct app *app, const struct app_setup *with,
				     enum approxftl_class kind, u32 rarity,
				     struct aftl_random *random)
{
	const struct app_input *input;

	for (input = app->inputs; input->name; input++) {
		int fd = openat(place.folder, input->name, O_RDWR | O_CLOEXEC);
		off_t at, end = lseek(fd, 0, SEEK_END);

		CHECK(fd >= 0);
		for (at = 0; at < end; at++) {
			char byte = (char)aftl_random_next(random);
			enum approxftl_class is = input->kind;

			if (is_app_unit_precise(app, with, at / FILE_UNIT * FILE_UNIT))
				is = APPROXFTL_PRECISE;
			if (is == kind && !aftl_random_below(random, rarity))
				CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
	}
}

/* Write a program's input, damage the approximate data in it, and run the computation on it. */
static int run_app_with_damaged_input(struct app_run *run, struct app_options *options,
				      enum approxftl_class kind, u32 rarity)
{
	struct aftl_random random = { .state = rarity };

	options->phase = PHASE_WRITE;
	CHECK_MSG(!run_app(run, options, &error), "%s", error.text);
	damage_approximate_bytes(options->app, &options->setup, kind, rarity, &random);
	options->phase = PHASE_COMPUTE;
	return run_app(run, options, &error);
}

static void check_result_despite_damage(const struct app *app, const struct app_setup *with,
					u32 rarity)
{
	struct app_options options = {
		.app = app, .folder = folder, .reference = "/tmp", .setup = *with,
		.memory_bytes = 1, .force = true,
	};
	struct app_run run;

	/* Programs refuse corrupt headers; corrupt indices must cause no invalid memory access. */
	if (run_app_with_damaged_input(&run, &options, APPROXFTL_PRECISE, 2000 * rarity))
		CHECK_CONTAINS(error.text, folder);
	else
		CHECK(!did_app_run_pass_checks(&run) || !run.flips.damaged);
	CHECK_MSG(!run_app_with_damaged_input(&run, &options, APPROXFTL_APPROXIMATE, rarity), "%s",
		  error.text);
	CHECK(did_app_run_pass_checks(&run));
	CHECK(run.flips.flipped > 0);
	CHECK(isfinite(run.result.distance) && isfinite(run.result.squared));
	CHECK(isfinite(run.result.absolute));
	CHECK(run.result.distance > 0 || run.result.squared > 0 || run.result.absolute > 0);
}

TAP_TEST(programs_survive_damaged_data)
{
	unsigned int i;

	place.io = APP_IO_BUFFERED;
	for (i = 0; i < ARRAY_SIZE(small); i++) {
		check_result_despite_damage(small[i].app, &small[i].setup, 1);
		check_result_despite_damage(small[i].app, &small[i].setup, 50);
	}
}

TAP_TEST(a_closed_array_leaves_no_file_or_mapping)
{
	static const char *const names[] = {
		"random", "stay", "values", "beyond", "signal", "half-way", "spectrum", "vector",
		"columns", "rows", "before", "product", "matrix", "factors", "grid", "relaxed",
		"samples", "estimates", "image", "video", "series", "index", "outliers",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(place.folder, names[i], 0);
	CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
	if (!mkdtemp(folder))
		tap_bail_out("no temporary directory");
	place = (struct app_place){ .path = folder, .memory_bytes = 1 };
	place.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return tap_run_all();
}
