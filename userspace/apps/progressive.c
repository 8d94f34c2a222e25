// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "block-code.h"
#include "picture.h"
#include "progressive.h"

#define NAME "image"

/* Bits of a coefficient. */
#define PLANES 8

/* Coefficients from this index on, beyond the first four diagonals, are the high frequencies. */
#define HIGH_CELL 10

/**
 * struct progressive - a progressive image that is being written or read
 * @setup: parameters
 * @file: the file
 * @cells: coefficient 0 of all blocks, then coefficient 1 of all blocks, and so on
 * @scan: buffer for one scan
 */
struct progressive {
	struct app_setup setup;
	struct app_file file;
	u8 *cells;
	u8 *scan;
};

/* Return: number of bit planes that are not in scan 0. */
static u32 count_bit_planes_after_first_scan(const struct app_setup *setup)
{
	return ((u32)setup->scans - 1) / 2;
}

/* Return: the scan that contains a bit plane of a coefficient. */
static u32 get_scan_of_bit_plane(const struct app_setup *setup, u32 cell, u32 plane)
{
	if (!cell || plane >= count_bit_planes_after_first_scan(setup))
		return 0;
	return 2 * (count_bit_planes_after_first_scan(setup) - plane) - (cell < HIGH_CELL);
}

static u64 picture_block_count(const struct app_setup *setup)
{
	return picture_pixel_count(setup) / BLOCK_CELLS;
}

/* Return the size in bytes of a bit plane: one bit of one coefficient of each block. */
static u64 bit_plane_bytes(const struct app_setup *setup)
{
	return picture_block_count(setup) / 8;
}

static u32 count_bit_planes_in_scan(const struct app_setup *setup, u32 scan)
{
	if (!scan)
		return PLANES +
		       (BLOCK_CELLS - 1) * (PLANES - count_bit_planes_after_first_scan(setup));
	return scan % 2 ? HIGH_CELL - 1 : BLOCK_CELLS - HIGH_CELL;
}

/* Return the size (bytes) of a scan of a progressive image without its header. */
static u64 get_image_scan_bytes(const struct app_setup *setup, u32 scan)
{
	return DIV_ROUND_UP(count_bit_planes_in_scan(setup, scan) * bit_plane_bytes(setup),
			    FILE_UNIT) *
	       FILE_UNIT;
}

/* Return the byte offset of a scan's header in the progressive image. */
static u64 get_image_scan_offset(const struct app_setup *setup, u32 scan)
{
	u64 offset = 0;

	while (scan-- > 0)
		offset += HEADER_BYTES + get_image_scan_bytes(setup, scan);
	return offset;
}

bool is_progressive_byte_precise(const struct app_setup *setup, u64 offset)
{
	u32 scan = 1;

	if (offset < get_image_scan_offset(setup, 1))
		return true;
	while (offset >= get_image_scan_offset(setup, scan + 1))
		scan++;
	return offset - get_image_scan_offset(setup, scan) < HEADER_BYTES;
}

static void alloc_image_buffers(struct progressive *image, const struct app_setup *setup)
{
	image->setup = *setup;
	image->cells = alloc_file_buffer(picture_pixel_count(setup));
	/* Scan 0 is the largest scan, so the buffer has its size. */
	image->scan = alloc_file_buffer(get_image_scan_bytes(setup, 0));
}

static void free_image_buffers(struct progressive *image)
{
	free(image->cells);
	free(image->scan);
	app_file_close(&image->file);
}

/* Encode (if @store) or decode the blocks in PIECE_ROWS rows of the picture, from @row on. */
static void transform_picture_rows(struct progressive *image, u64 row, u8 *pixels, bool store)
{
	u64 i, width = image->setup.width, count = picture_block_count(&image->setup);
	u8 cells[BLOCK_CELLS];

	for (i = 0; i < width * PIECE_ROWS / BLOCK_CELLS; i++) {
		u8 *first = pixels + i * BLOCK_SIDE / width * BLOCK_SIDE * width +
			    i * BLOCK_SIDE % width;
		u8 *to = image->cells + row * width / BLOCK_CELLS + i;

		if (store)
			block_encode_pixels(first, width, PROGRESSIVE_STEP, cells);
		for (u32 cell = 0; cell < BLOCK_CELLS; cell++)
			*(store ? &to[cell * count] : &cells[cell]) =
				store ? cells[cell] : to[cell * count];
		if (!store)
			block_decode_pixels(cells, PROGRESSIVE_STEP, first, width);
	}
}

/* Copy a bit plane of a coefficient to the buffer of a scan, or add it to the coefficient. */
static void store_or_load_bit_plane(struct progressive *image, u32 cell, u32 plane, u8 *run,
				    bool store)
{
	u64 i, count = picture_block_count(&image->setup);
	u8 *cells = image->cells + cell * count;

	for (i = 0; i < count; i++) {
		if (store)
			run[i / 8] |= (cells[i] >> plane & 1) << i % 8;
		else
			cells[i] |= (run[i / 8] >> i % 8 & 1) << plane;
	}
}

static void store_or_load_planes_of_scan(struct progressive *image, u32 scan, bool store)
{
	u8 *run = image->scan;

	if (store)
		memset(run, 0, get_image_scan_bytes(&image->setup, scan));
	for (u32 cell = 0; cell < BLOCK_CELLS; cell++) {
		for (u32 plane = PLANES; plane-- > 0;) {
			if (get_scan_of_bit_plane(&image->setup, cell, plane) != scan)
				continue;
			store_or_load_bit_plane(image, cell, plane, run, store);
			run += bit_plane_bytes(&image->setup);
		}
	}
}

static void make_scan_header(const struct app_setup *setup, u32 scan, char *header)
{
	char tail[40];

	scnprintf(tail, sizeof(tail), "scan %u of %u\n", scan, (u32)setup->scans);
	app_header_make(header, MAGIC_SCAN, setup, tail);
}

static int write_image_scan(struct progressive *image, u32 scan, struct aftl_error *error)
{
	u64 offset = get_image_scan_offset(&image->setup, scan);
	char *header = alloc_file_buffer(HEADER_BYTES);
	int ret;

	make_scan_header(&image->setup, scan, header);
	ret = app_file_write_precise_data(&image->file, header, offset, HEADER_BYTES, error);
	free(header);
	if (ret)
		return ret;
	store_or_load_planes_of_scan(image, scan, true);
	return (scan ? app_file_write :
		       app_file_write_precise_data)(&image->file, image->scan,
						    offset + HEADER_BYTES,
						    get_image_scan_bytes(&image->setup, scan),
						    error);
}

int progressive_create(const struct app_place *place, const struct app_setup *setup,
		       struct aftl_error *error)
{
	struct progressive image = { .scan = NULL };
	int ret;
	u8 *pixels;

	alloc_image_buffers(&image, setup);
	pixels = alloc_file_buffer(image.setup.width * PIECE_ROWS);
	for (u64 row = 0; row < image.setup.height; row += PIECE_ROWS) {
		picture_generate_rows(&image.setup, 0, row, pixels);
		transform_picture_rows(&image, row, pixels, true);
	}
	free(pixels);
	ret = app_file_create(&image.file, place, NAME,
			      get_image_scan_offset(setup, (u32)setup->scans),
			      APPROXFTL_APPROXIMATE, error);
	for (u32 scan = 0; !ret && scan < setup->scans; scan++)
		ret = write_image_scan(&image, scan, error);
	if (!ret)
		ret = app_file_sync(&image.file, error);
	free_image_buffers(&image);
	return ret;
}

static int check_scan_header(struct progressive *image, u32 scan, struct aftl_error *error)
{
	char *header = alloc_file_buffer(2UL * HEADER_BYTES), *wanted = header + HEADER_BYTES;
	int ret;

	make_scan_header(&image->setup, scan, wanted);
	ret = app_file_read(&image->file, header, get_image_scan_offset(&image->setup, scan),
			    HEADER_BYTES, error);
	if (!ret && memcmp(header, wanted, HEADER_BYTES) != 0)
		ret = aftl_fail(error, -EINVAL,
				"%.80s/%s: the header of scan %u is damaged; --phase write --force makes it anew",
				image->file.place->path, NAME, scan);
	free(header);
	return ret;
}

static int read_image_scan(struct progressive *image, u32 scan, struct aftl_error *error)
{
	int ret = check_scan_header(image, scan, error);

	if (!ret)
		ret = app_file_read(&image->file, image->scan,
				    get_image_scan_offset(&image->setup, scan) + HEADER_BYTES,
				    get_image_scan_bytes(&image->setup, scan), error);
	if (!ret)
		store_or_load_planes_of_scan(image, scan, false);
	return ret;
}

/* Compare the decoded picture with the original coded without flips; sum up the coding errors. */
static void compare_picture_with_original(struct progressive *image, struct app_result *result)
{
	size_t bytes = image->setup.width * PIECE_ROWS;
	u8 *seen = alloc_file_buffer(3 * bytes), *wanted = seen + bytes, *original = wanted + bytes;

	for (u64 row = 0; row < image->setup.height; row += PIECE_ROWS) {
		transform_picture_rows(image, row, seen, false);
		picture_generate_rows(&image->setup, 0, row, original);
		transform_picture_rows(image, row, original, true);
		transform_picture_rows(image, row, wanted, false);
		picture_add_pixel_errors_to_result(&image->setup, seen, wanted, result);
		result->coding +=
			(double)picture_sum_squared_errors(&image->setup, wanted, original);
	}
	free(seen);
}

int measure_progressive_pictures(const struct app_place *place, const struct app_setup *setup,
				 struct app_result *result, struct aftl_error *error)
{
	struct progressive image = { .scan = NULL };
	int ret = app_file_open(&image.file, place, NAME, APPROXFTL_APPROXIMATE, error);

	if (!ret)
		ret = app_file_has_length(&image.file,
					  get_image_scan_offset(setup, (u32)setup->scans), error);
	if (!ret)
		alloc_image_buffers(&image, setup);
	for (u32 scan = 0; !ret && scan < setup->scans; scan++)
		ret = read_image_scan(&image, scan, error);
	if (!ret)
		compare_picture_with_original(&image, result);
	free_image_buffers(&image);
	return ret;
}

/* In an orthonormal transform the squared errors of coefficients and pixels have equal sums. */
void progressive_forecast(const struct app_setup *setup, struct app_forecast *forecast)
{
	const double share = (BLOCK_CELLS - 1.0) / BLOCK_CELLS;

	/* With a flip all pixels of its block are rounded anew: each squared error grows by 1/6. */
	*forecast = (struct app_forecast){ .mean = (BLOCK_CELLS - 1) *
						   count_bit_planes_after_first_scan(setup) / 6.0 };
	for (u32 plane = 0; plane < count_bit_planes_after_first_scan(setup); plane++) {
		double worth = (double)(PROGRESSIVE_STEP << plane);
		double square = worth * worth;

		forecast->mean += share * square;
		forecast->variance += share * square * square / (double)picture_pixel_count(setup);
	}
}
