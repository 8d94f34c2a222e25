// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures: images and videos of grey pixels, a byte each.
 *
 * A file is a sequence of frames: a header of 4096 bytes, which is precise, and pixels. With
 * segment 1 these are raw, and the file is a PGM of one or more images, which any viewer shows.
 * Otherwise a pixel is stored as its difference, modulo 256, from the one before in the row, or,
 * in a video, from the same one of the frame before; where a segment begins it is stored raw, so
 * that an error does not reach farther.
 */
#include <stdlib.h>

#include "app.h"

/* Side of the windows whose structure is compared; see app_result.similarity. */
#define WINDOW 8

/* Rows that are read at a time, a multiple of WINDOW; the size of a piece is one of FILE_UNIT. */
#define PIECE_ROWS 64

/**
 * struct video - a file under way
 * @setup: its parameters
 * @file: where it is
 * @frame: number of the frame
 * @before: pixels of the frame before, as they came out; all 0 if there is none
 * @stored: a piece as it is in the file
 * @pixels: the same as pixels
 */
struct video {
	struct app_setup setup;
	struct app_file file;
	u64 frame;
	u8 *before;
	u8 *stored;
	u8 *pixels;
};

static bool refuses(const struct app_setup *setup)
{
	return setup->width % PIECE_ROWS || setup->height % PIECE_ROWS;
}

static bool moves(const struct app_setup *setup)
{
	return setup->frames > 0;
}

static u64 frames(const struct app_setup *setup)
{
	return max(setup->frames, 1ULL);
}

static u64 stride(const struct app_setup *setup)
{
	return HEADER_BYTES + setup->width * setup->height;
}

static const char *magic(const struct app_setup *setup)
{
	return setup->segment > 1 ? MAGIC_DIFFERENCES : MAGIC_PIXELS;
}

/* A wave of straight lines between 0 and @period / 2. */
static u32 wave(u64 x, u32 period)
{
	u32 at = x % period;

	return min(at, period - at);
}

/* Slopes, squares with sharp edges that move, and a fine texture. */
static u8 original(const struct app_setup *setup, u64 frame, u64 x, u64 y)
{
	u64 index = (frame * setup->height + y) * setup->width + x;
	u32 value = 24 + wave(x + 2 * frame, 160) + wave(y + frame, 120);

	if (((x + 4 * frame) / 48 + y / 40) % 3 == 0)
		value += 48;
	return (u8)(value + app_draw(setup, PURPOSE_TEXTURE, index) % 12);
}

static bool begins_anew(const struct video *video, u64 x)
{
	return (moves(&video->setup) ? video->frame : x) % video->setup.segment == 0;
}

/* What pixel @x of a piece is a difference from. */
static u8 predicted(const struct video *video, u64 x, u64 index, const u8 *before)
{
	if (begins_anew(video, x))
		return 0;
	return moves(&video->setup) ? before[index] : video->pixels[index - 1];
}

static void begin(struct video *video, const struct app_setup *setup)
{
	size_t piece = setup->width * PIECE_ROWS;

	video->setup = *setup;
	video->stored = file_buffer(piece);
	video->pixels = file_buffer(piece);
	video->before = file_buffer(setup->width * setup->height);
}

static void end(struct video *video)
{
	free(video->stored);
	free(video->pixels);
	free(video->before);
	app_file_close(&video->file);
}

static u64 piece_offset(const struct video *video, u64 row)
{
	return video->frame * stride(&video->setup) + HEADER_BYTES + row * video->setup.width;
}

static int write_piece(struct video *video, u64 row, struct aftl_error *error)
{
	u64 width = video->setup.width;
	u8 *before = video->before + row * width;
	u64 i;

	for (i = 0; i < width * PIECE_ROWS; i++) {
		video->pixels[i] = original(&video->setup, video->frame, i % width,
					    row + i / width);
		video->stored[i] = video->pixels[i] - predicted(video, i % width, i, before);
	}
	memcpy(before, video->pixels, width * PIECE_ROWS);
	return app_file_write(&video->file, video->stored, piece_offset(video, row),
			      width * PIECE_ROWS, error);
}

static int write_frame(struct video *video, const char *header, struct aftl_error *error)
{
	u64 row;
	int ret;

	ret = app_file_protect(&video->file, header, video->frame * stride(&video->setup),
			       HEADER_BYTES, error);
	for (row = 0; !ret && row < video->setup.height; row += PIECE_ROWS)
		ret = write_piece(video, row, error);
	return ret;
}

static const char *file_name(const struct app_setup *setup)
{
	return moves(setup) ? "video" : "image";
}

static void make_header(const struct app_setup *setup, char *header)
{
	char tail[64];

	scnprintf(tail, sizeof(tail), "%u %u\n255\n", (u32)setup->width, (u32)setup->height);
	header_make(header, magic(setup), setup, tail);
}

static int create(const struct app_place *place, const struct app_setup *setup,
		  struct aftl_error *error)
{
	char *header = file_buffer(HEADER_BYTES);
	struct video video = { .frame = 0 };
	int ret;

	make_header(setup, header);
	begin(&video, setup);
	ret = app_file_create(&video.file, place, file_name(setup), frames(setup) * stride(setup),
			      APPROXFTL_APPROXIMATE, error);
	for (; !ret && video.frame < frames(setup); video.frame++)
		ret = write_frame(&video, header, error);
	if (!ret)
		ret = app_file_settle(&video.file, error);
	free(header);
	end(&video);
	return ret;
}

static int read_piece(struct video *video, u64 row, struct aftl_error *error)
{
	u64 i, width = video->setup.width;
	u8 *before = video->before + row * width;
	int ret;

	ret = app_file_read(&video->file, video->stored, piece_offset(video, row),
			    width * PIECE_ROWS, error);
	if (ret)
		return ret;
	for (i = 0; i < width * PIECE_ROWS; i++)
		video->pixels[i] = video->stored[i] + predicted(video, i % width, i, before);
	memcpy(before, video->pixels, width * PIECE_ROWS);
	return 0;
}

/* The structural similarity of a window, with the usual constants for pixels of 8 bits. */
static double similarity(const u8 *a, const u8 *b, u64 width)
{
	const double c1 = 6.5025, c2 = 58.5225, count = WINDOW * WINDOW;
	double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
	unsigned int x, y;

	for (y = 0; y < WINDOW; y++) {
		for (x = 0; x < WINDOW; x++) {
			double p = a[y * width + x], q = b[y * width + x];

			sum_a += p;
			sum_b += q;
			aa += p * p;
			bb += q * q;
			ab += p * q;
		}
	}
	sum_a /= count;
	sum_b /= count;
	aa = aa / count - sum_a * sum_a;
	bb = bb / count - sum_b * sum_b;
	ab = ab / count - sum_a * sum_b;
	return (2 * sum_a * sum_b + c1) * (2 * ab + c2) /
	       ((sum_a * sum_a + sum_b * sum_b + c1) * (aa + bb + c2));
}

static void compare_windows(const struct video *video, const u8 *wanted, struct app_result *result)
{
	u64 x, y, width = video->setup.width;

	for (y = 0; y < PIECE_ROWS; y += WINDOW) {
		for (x = 0; x < width; x += WINDOW) {
			result->similarity += similarity(video->pixels + y * width + x,
							 wanted + y * width + x, width);
			result->windows++;
		}
	}
}

/* The stored piece is not needed any more. */
static void compare_piece(struct video *video, u64 row, struct app_result *result)
{
	u64 i, width = video->setup.width;
	u8 *wanted = video->stored;

	for (i = 0; i < width * PIECE_ROWS; i++) {
		int difference;

		wanted[i] = original(&video->setup, video->frame, i % width, row + i / width);
		difference = video->pixels[i] - wanted[i];
		result->squared += difference * difference;
	}
	result->pixels += width * PIECE_ROWS;
	compare_windows(video, wanted, result);
}

/* Every frame says the same of itself. */
static int check_header(struct video *video, struct aftl_error *error)
{
	char *header = file_buffer(2UL * HEADER_BYTES), *wanted = header + HEADER_BYTES;
	int ret;

	make_header(&video->setup, wanted);
	ret = app_file_read(&video->file, header, video->frame * stride(&video->setup),
			    HEADER_BYTES, error);
	if (!ret && memcmp(header, wanted, HEADER_BYTES) != 0)
		ret = aftl_fail(error, -EINVAL,
				"%.80s/%s: the header of frame %u is damaged; --phase write --force makes it anew",
				video->file.place->path, video->file.name, (u32)video->frame);
	free(header);
	return ret;
}

static int read_frame(struct video *video, struct app_result *result, struct aftl_error *error)
{
	u64 row;
	int ret;

	ret = check_header(video, error);
	for (row = 0; !ret && row < video->setup.height; row += PIECE_ROWS) {
		ret = read_piece(video, row, error);
		if (!ret)
			compare_piece(video, row, result);
	}
	return ret;
}

static int compute(const struct app_place *place, const struct app_setup *setup,
		   struct app_result *result, struct aftl_error *error)
{
	struct video video = { .frame = 0 };
	int ret;

	begin(&video, setup);
	ret = app_file_open(&video.file, place, file_name(setup), APPROXFTL_APPROXIMATE, error);
	for (; !ret && video.frame < frames(setup); video.frame++)
		ret = read_frame(&video, result, error);
	end(&video);
	return ret;
}

static int check_result(const struct app_place *place, const struct app_setup *setup,
			struct app_result *result, struct aftl_error *error)
{
	struct app_result again = { 0 };
	int ret = compute(place, setup, &again, error);

	result->error = again.squared;
	return ret;
}

const struct app app_img = {
	.name = "img",
	.summary = "an image of grey pixels, raw or as differences",
	.check = "sum of squared differences from the original",
	.sizes = "width and height are multiples of 64",
	.usual = { .width = 1024, .height = 1024, .segment = 1, .seed = 1 },
	.inputs = { { "image", APPROXFTL_APPROXIMATE } },
	.refuses = refuses,
	.stride = stride,
	.create = create,
	.compute = compute,
	.check_result = check_result,
};

const struct app app_vid = {
	.name = "vid",
	.summary = "a video of grey pixels, raw or as differences",
	.check = "sum of squared differences from the original",
	.sizes = "width and height are multiples of 64",
	.usual = { .width = 320, .height = 192, .frames = 32, .segment = 1, .seed = 1 },
	.inputs = { { "video", APPROXFTL_APPROXIMATE } },
	.refuses = refuses,
	.stride = stride,
	.create = create,
	.compute = compute,
	.check_result = check_result,
};
