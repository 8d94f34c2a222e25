// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the geometry that the core derives from a configuration.
 */
#include "core/nand/oob.h"
#include "core/policy/param-registry.h"
#include "core/base/random.h"
#include "tap.h"

static struct aftl_config demo_config(void)
{
	struct aftl_config config;
	struct aftl_error error;

	if (aftl_profile_load(&config, "demo", &error))
		tap_bail_out("%s", error.text);
	return config;
}

TAP_TEST(the_plane_mode_determines_luns_blocks_and_word_lines)
{
	struct aftl_config config = demo_config();
	struct aftl_geometry geo;
	struct aftl_error error;

	config.planes = 4;
	config.bits = 3;
	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
	CHECK_EQ(geo.luns, 4);
	CHECK_EQ(geo.blocks_per_lun, 512);
	config.plane_mode = AFTL_PLANES_INDEPENDENT;
	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
	CHECK_EQ(geo.luns, 16);
	CHECK_EQ(geo.blocks_per_lun, 128);
	config.plane_mode = AFTL_PLANES_WIDE;
	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
	CHECK_EQ(geo.luns, 4);
	CHECK_EQ(geo.blocks_per_lun, 128);
	CHECK_EQ(geo.pages, 8 * 16 * 3 * 4);
	CHECK_EQ(geo.program_pages, 4);
	config.one_shot = AFTL_ON;
	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
	CHECK_EQ(geo.program_pages, 12);
	CHECK_EQ(geo.word_line_pages, 12);
}

static void check_geometry_refused(const struct aftl_config *config, const char *part)
{
	struct aftl_geometry geo;
	struct aftl_error error = { "" };

	CHECK_EQ(aftl_geometry_init(&geo, config, &error), -EINVAL);
	CHECK_CONTAINS(error.text, part);
}

TAP_TEST(impossible_geometries_are_refused)
{
	struct aftl_config config = demo_config();

	config.page = 3000;
	check_geometry_refused(&config, "page");
	config = demo_config();
	config.unit = 3072;
	check_geometry_refused(&config, "unit");
	config.unit = 256;
	check_geometry_refused(&config, "unit");
	config.unit = 16384;
	check_geometry_refused(&config, "unit");
	config = demo_config();
	config.page = 65536;
	config.unit = 512;
	check_geometry_refused(&config, "unit");
	config = demo_config();
	config.planes = 16;
	config.plane_mode = AFTL_PLANES_WIDE;
	config.one_shot = AFTL_ON;
	config.bits = 4;
	check_geometry_refused(&config, "unit");
	config = demo_config();
	config.op = 9000;
	config.channels = 1;
	config.chips = 1;
	config.blocks = 1;
	config.layers = 1;
	config.word_lines = 1;
	check_geometry_refused(&config, "op");
}

TAP_TEST(geometries_that_overflow_are_refused)
{
	struct aftl_config config = demo_config();

	config.channels = 64;
	config.chips = 64;
	config.dies = 16;
	config.planes = 16;
	config.blocks = 1 << 20;
	config.layers = 512;
	config.word_lines = 1024;
	check_geometry_refused(&config, "mapping units");
	config.plane_mode = AFTL_PLANES_INDEPENDENT;
	check_geometry_refused(&config, "mapping units");
	config.plane_mode = AFTL_PLANES_WIDE;
	check_geometry_refused(&config, "mapping units");
	config = demo_config();
	config.blocks = 1 << 20;
	check_geometry_refused(&config, "mapping units");
}

static struct aftl_geometry draw_any_geometry(struct aftl_random *random)
{
	struct aftl_config config = demo_config();
	struct aftl_geometry geo;
	struct aftl_error error;

	do {
		config.channels = 1 + aftl_random_below(random, 5);
		config.chips = 1 + aftl_random_below(random, 3);
		config.dies = 1 + aftl_random_below(random, 2);
		config.planes = 1 + aftl_random_below(random, 4);
		config.plane_mode = aftl_random_below(random, 3);
		config.blocks = 1 + aftl_random_below(random, 9);
		config.layers = 1 + aftl_random_below(random, 9);
		config.word_lines = 1 + aftl_random_below(random, 9);
		config.bits = 1 + aftl_random_below(random, 4);
		config.page = 512ULL << aftl_random_below(random, 6);
		config.unit = 512ULL << aftl_random_below(random, 6);
		config.unit *= aftl_random_below(random, 3) != 0;
		config.one_shot = aftl_random_below(random, 2);
	} while (aftl_geometry_init(&geo, &config, &error));
	return geo;
}

static void check_page_position(const struct aftl_media *media, const struct aftl_block *block,
				u32 page, u32 layer, u32 line)
{
	const struct aftl_geometry *geo = media->geo;
	u32 device_page = (block - media->blocks) * geo->pages + page;
	aftl_ppn_t ppn = aftl_page_ppn(media, block, page);

	CHECK_EQ(aftl_layer_of_page(geo, page), layer);
	CHECK_EQ(aftl_word_line_of_page(geo, page), layer * geo->word_lines + line);
	CHECK_EQ(from_ppn(ppn), device_page * geo->page_units);
	CHECK_EQ(aftl_page_of_ppn(media, ppn), device_page);
	CHECK(aftl_block_of_ppn(media, ppn) == block);
}

/* Check that layer, word line and bit of successive pages count up like the digits of a number. */
static void check_block_addresses(const struct aftl_media *media, const struct aftl_block *block)
{
	const struct aftl_geometry *geo = media->geo;
	u32 page = 0;
	u32 layer;
	u32 line;
	u32 bit;

	for (layer = 0; layer < geo->layers; layer++)
		for (line = 0; line < geo->word_lines; line++) {
			CHECK_EQ(aftl_first_page_of_word_line(geo, layer, line), page);
			for (bit = 0; bit < geo->word_line_pages; bit++)
				check_page_position(media, block, page++, layer, line);
		}
	CHECK_EQ(page, geo->pages);
}

static void check_all_addresses(const struct aftl_geometry *geo)
{
	static struct aftl_block blocks[256];
	struct aftl_media media = { .geo = geo, .blocks = blocks };
	u32 i;

	for (i = 0; i < min(geo->blocks, 256U); i++)
		check_block_addresses(&media, &blocks[i]);
}

/*
 * Compare aftl_divide() with a division, for random numbers, for multiples of the divisor and for
 * the numbers before these.
 */
static void check_quotients_of_divisor(u32 divisor, struct aftl_random *random)
{
	u64 inverse = aftl_inverse(divisor);
	u32 i;

	CHECK_EQ(aftl_divide(U32_MAX, inverse), U32_MAX / divisor);
	for (i = 0; i < 1000; i++) {
		u32 n = (u32)aftl_random_below(random, U32_MAX);
		u32 multiple = n - n % divisor;

		CHECK_EQ(aftl_divide(n, inverse), n / divisor);
		CHECK_EQ(aftl_divide(multiple, inverse), multiple / divisor);
		CHECK_EQ(aftl_divide(multiple - 1, inverse), (multiple - 1) / divisor);
	}
}

TAP_TEST(quotients_by_an_inverse_are_exact)
{
	struct aftl_random random = { 7 };
	u32 i;

	for (i = 1; i <= 1024; i++)
		check_quotients_of_divisor(i, &random);
	for (i = 0; i < 1000; i++)
		check_quotients_of_divisor(1 + (u32)aftl_random_below(&random, 1U << 30), &random);
	for (i = 0; i <= 30; i++)
		check_quotients_of_divisor(1U << i, &random);
}

TAP_TEST(physical_addresses_count_up_without_gaps)
{
	struct aftl_random random = { 5 };
	int round;

	for (round = 0; round < 100 && !tap_failure_count(); round++) {
		struct aftl_geometry geo = draw_any_geometry(&random);

		check_all_addresses(&geo);
	}
}
