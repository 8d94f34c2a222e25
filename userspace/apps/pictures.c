// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images and videos of 8-bit grey pixels.
 *
 * A file is a sequence of frames: a precise header of 4096 bytes, and pixels. With segment 1 the
 * pixels are raw, and the file is a PGM of one or more images, which any viewer shows. Otherwise a
 * pixel is stored as the difference, modulo 256, from its predecessor in the row or, in a video,
 * from the same pixel of the previous frame. The first pixel of each segment is stored raw, so
 * that errors end there.
 *
 * A video in groups has differences, too; the first frame of each group is raw and precise. An
 * error propagates to the end of its group, but never reaches a raw frame.
 */
#include <math.h>
#include <stdlib.h>

#include "groups.h"
#include "picture.h"
#include "progressive.h"

/**
 * struct video - a file of frames that is being written or read
 * @setup: parameters
 * @file: the file
 * @frame: number of the current frame
 * @before: decoded pixels of the previous frame; all 0 for the first one
 * @stored: a piece (PIECE_ROWS rows) as it is in the file
 * @pixels: the decoded piece
 */
struct video {
	struct app_setup setup;
	struct app_file file;
	u64 frame;
	u8 *before;
	u8 *stored;
	u8 *pixels;
};

static bool is_picture_size_invalid(const struct app_setup *setup)
{
	bool other = setup->scans || setup->group;

	return setup->width % PIECE_ROWS || setup->height % PIECE_ROWS ||
	       (other && setup->segment > 1) || (setup->scans && setup->scans % 2 == 0);
}

static bool is_video_setup(const struct app_setup *setup)
{
	return setup->frames > 0;
}

static u64 video_frame_count(const struct app_setup *setup)
{
	return max(setup->frames, 1ULL);
}

static u64 video_frame_bytes(const struct app_setup *setup)
{
	return HEADER_BYTES + picture_pixel_count(setup);
}

/* Return: the distance between frames, or between pixels of a row, that are stored raw. */
static u64 get_raw_frame_interval(const struct app_setup *setup)
{
	return setup->group ? setup->group : setup->segment;
}

/* Return true for the precise first frame of a group of frames. */
static bool is_intra_frame(const struct app_setup *setup, u64 frame)
{
	return setup->group && frame % setup->group == 0;
}

static bool is_picture_byte_precise(const struct app_setup *setup, u64 offset)
{
	if (setup->scans)
		return is_progressive_byte_precise(setup, offset);
	return offset % video_frame_bytes(setup) < HEADER_BYTES ||
	       is_intra_frame(setup, offset / video_frame_bytes(setup));
}

/* Return: the predicted value of pixel @x, to which the stored difference is added. */
static u8 predict_pixel(const struct video *video, u64 x, u64 index, const u8 *before)
{
	if ((is_video_setup(&video->setup) ? video->frame : x) %
		    get_raw_frame_interval(&video->setup) ==
	    0)
		return 0;
	return is_video_setup(&video->setup) ? before[index] : video->pixels[index - 1];
}

static void alloc_video_buffers(struct video *video, const struct app_setup *setup)
{
	size_t piece = setup->width * PIECE_ROWS;

	video->setup = *setup;
	video->stored = alloc_file_buffer(piece);
	video->pixels = alloc_file_buffer(piece);
	video->before = alloc_file_buffer(picture_pixel_count(setup));
}

static void free_video_buffers(struct video *video)
{
	free(video->stored);
	free(video->pixels);
	free(video->before);
	app_file_close(&video->file);
}

static u64 get_file_offset_of_video_rows(const struct video *video, u64 row)
{
	return video->frame * video_frame_bytes(&video->setup) + HEADER_BYTES +
	       row * video->setup.width;
}

static int write_video_rows(struct video *video, u64 row, struct aftl_error *error)
{
	u64 width = video->setup.width;
	u8 *before = video->before + row * width;

	picture_generate_rows(&video->setup, video->frame, row, video->pixels);
	for (u64 i = 0; i < width * PIECE_ROWS; i++)
		video->stored[i] = video->pixels[i] - predict_pixel(video, i % width, i, before);
	memcpy(before, video->pixels, width * PIECE_ROWS);
	return (is_intra_frame(&video->setup, video->frame) ?
			app_file_write_precise_data :
			app_file_write)(&video->file, video->stored,
					get_file_offset_of_video_rows(video, row),
					width * PIECE_ROWS, error);
}

static int write_video_frame(struct video *video, const char *header, struct aftl_error *error)
{
	int ret;

	ret = app_file_write_precise_data(&video->file, header,
					  video->frame * video_frame_bytes(&video->setup),
					  HEADER_BYTES, error);
	for (u64 row = 0; !ret && row < video->setup.height; row += PIECE_ROWS)
		ret = write_video_rows(video, row, error);
	return ret;
}

static const char *picture_file_name(const struct app_setup *setup)
{
	return is_video_setup(setup) ? "video" : "image";
}

static void make_picture_header(const struct app_setup *setup, char *header)
{
	char tail[64];

	scnprintf(tail, sizeof(tail), "%u %u\n255\n", (u32)setup->width, (u32)setup->height);
	app_header_make(header,
			get_raw_frame_interval(setup) > 1 ? MAGIC_DIFFERENCES : MAGIC_PIXELS,
			setup, tail);
}

static int create_pictures(const struct app_place *place, const struct app_setup *setup,
			   struct aftl_error *error)
{
	char *header;
	struct video video = { .frame = 0 };
	int ret;

	if (setup->scans)
		return progressive_create(place, setup, error);
	header = alloc_file_buffer(HEADER_BYTES);
	make_picture_header(setup, header);
	alloc_video_buffers(&video, setup);
	ret = app_file_create(&video.file, place, picture_file_name(setup),
			      video_frame_count(setup) * video_frame_bytes(setup),
			      APPROXFTL_APPROXIMATE, error);
	for (; !ret && video.frame < video_frame_count(setup); video.frame++)
		ret = write_video_frame(&video, header, error);
	if (!ret)
		ret = app_file_sync(&video.file, error);
	free(header);
	free_video_buffers(&video);
	return ret;
}

static int read_video_rows(struct video *video, u64 row, struct aftl_error *error)
{
	u64 i, width = video->setup.width;
	u8 *before = video->before + row * width;
	int ret;

	ret = app_file_read(&video->file, video->stored, get_file_offset_of_video_rows(video, row),
			    width * PIECE_ROWS, error);
	if (ret)
		return ret;
	for (i = 0; i < width * PIECE_ROWS; i++)
		video->pixels[i] = video->stored[i] + predict_pixel(video, i % width, i, before);
	memcpy(before, video->pixels, width * PIECE_ROWS);
	return 0;
}

/* Check that the header of each frame equals the header of the first frame. */
static int check_frame_header(struct video *video, struct aftl_error *error)
{
	char *header = alloc_file_buffer(2UL * HEADER_BYTES), *wanted = header + HEADER_BYTES;
	int ret;

	make_picture_header(&video->setup, wanted);
	ret = app_file_read(&video->file, header, video->frame * video_frame_bytes(&video->setup),
			    HEADER_BYTES, error);
	if (!ret && memcmp(header, wanted, HEADER_BYTES) != 0)
		ret = aftl_fail(error, -EINVAL,
				"%.80s/%s: the header of frame %u is damaged; --phase write --force makes it anew",
				video->file.place->path, video->file.name, (u32)video->frame);
	free(header);
	return ret;
}

static int read_video_frame(struct video *video, struct app_result *result,
			    struct aftl_error *error)
{
	double squared = result->squared;
	int ret = check_frame_header(video, error);

	for (u64 row = 0; !ret && row < video->setup.height; row += PIECE_ROWS) {
		ret = read_video_rows(video, row, error);
		if (!ret) {
			/* Generate the original pixels in @stored; compare @pixels with these. */
			picture_generate_rows(&video->setup, video->frame, row, video->stored);
			picture_add_pixel_errors_to_result(&video->setup, video->pixels,
							   video->stored, result);
		}
	}
	if (video->setup.group)
		result->by_position[video->frame % video->setup.group] +=
			result->squared - squared;
	return ret;
}

static int compute_pictures(const struct app_place *place, const struct app_setup *setup,
			    struct app_result *result, struct aftl_error *error)
{
	struct video video = { .frame = 0 };
	int ret;

	if (setup->scans)
		return measure_progressive_pictures(place, setup, result, error);
	alloc_video_buffers(&video, setup);
	ret = app_file_open(&video.file, place, picture_file_name(setup), APPROXFTL_APPROXIMATE,
			    error);
	for (; !ret && video.frame < video_frame_count(setup); video.frame++)
		ret = read_video_frame(&video, result, error);
	free_video_buffers(&video);
	return ret;
}

static int check_picture_result(const struct app_place *place, const struct app_setup *setup,
				struct app_result *result, struct aftl_error *error)
{
	struct app_result again = { 0 };
	int ret = compute_pictures(place, setup, &again, error);

	result->error = again.squared +
			fmax(0, again.coding - (double)again.pixels * PROGRESSIVE_BOUND);
	return ret;
}

/* Sums of the squares, and of the fourth powers, of the weights (1 to 128) of a pixel's bits. */
#define SQUARES_OF_BITS 21845.0
#define FOURTH_POWERS_OF_BITS 286331153.0

/* The expected mean square error is the sum over bits of flip probability times squared weight. */
static bool forecast_picture_psnr(const struct app_setup *setup, struct app_forecast *forecast)
{
	double pixels = (double)(video_frame_count(setup) * picture_pixel_count(setup));

	if (setup->scans)
		progressive_forecast(setup, forecast);
	else if (setup->group)
		forecast_damage_of_frame_groups(setup, forecast);
	else
		*forecast = (struct app_forecast){ SQUARES_OF_BITS,
						   FOURTH_POWERS_OF_BITS / pixels };
	return setup->segment == 1;
}

const struct app app_img = {
	.name = "img",
	.summary = "an image of grey pixels: raw, differences, or progressive",
	.measure = MEASURE_PICTURES,
	.check = "sum of squared differences from the original",
	.sizes = "width and height are multiples of 64; scans, 3 to 15, is odd, with segment 1",
	.usual = { .width = 1024, .height = 1024, .segment = 1, .seed = 1 },
	.forms = { .scans = 9 },
	.inputs = { { "image", APPROXFTL_APPROXIMATE } },
	.refuses = is_picture_size_invalid,
	.is_precise = is_picture_byte_precise,
	.create = create_pictures,
	.compute = compute_pictures,
	.check_result = check_picture_result,
	.forecast = forecast_picture_psnr,
};

const struct app app_vid = {
	.name = "vid",
	.summary = "a video of grey pixels: raw, differences, or groups of pictures",
	.measure = MEASURE_PICTURES,
	.check = "sum of squared differences from the original",
	.sizes = "width and height are multiples of 64; group, up to 256, is with segment 1",
	.usual = { .width = 320, .height = 192, .frames = 32, .segment = 1, .seed = 1 },
	.forms = { .group = 8 },
	.inputs = { { "video", APPROXFTL_APPROXIMATE } },
	.refuses = is_picture_size_invalid,
	.is_precise = is_picture_byte_precise,
	.create = create_pictures,
	.compute = compute_pictures,
	.check_result = check_picture_result,
	.forecast = forecast_picture_psnr,
};
