// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of approxftl app img, vid and log with arbitrary bytes are refused with a message, or read
 * with a finite quality. Input byte 0 selects program and format, byte 1 a file and truncation. The
 * rest are changes: three bytes of offset, a length, and the new bytes.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fuzz.h"
#include "app-file.h"
#include "app.h"

/* Limit of an image's size: larger images only slow the fuzzing down. */
#define PIXELS_MAX (256 * 256)

static const struct {
	const struct app *app;
	struct app_setup setup;
} forms[] = {
	{ &app_img, { .width = 64, .height = 64, .segment = 1, .seed = 1, .scans = 9 } },
	{ &app_img, { .width = 64, .height = 64, .segment = 5, .seed = 1 } },
	{ &app_vid, { .width = 64, .height = 64, .frames = 4, .segment = 1, .seed = 1,
		      .group = 3 } },
	{ &app_log, { .size = 3000, .seed = 1 } },
};

static char folder[64];
static struct app_place place;

/* Original images, videos and series, whose files are restored before each fuzzing input. */
static struct {
	u8 *data;
	off_t size;
} kept[ARRAY_SIZE(forms)][APP_INPUTS];

static void remove_media_files(void)
{
	static const char *const names[] = { "image", "video", "series", "index", "outliers" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(place.folder, names[i], 0);
	fuzz_assert(!rmdir(folder));
}

static void save_app_setup(unsigned int form, unsigned int input)
{
	int fd = openat(place.folder, forms[form].app->inputs[input].name, O_RDONLY | O_CLOEXEC);
	struct stat status;

	fuzz_assert(fd >= 0 && !fstat(fd, &status));
	kept[form][input].size = status.st_size;
	kept[form][input].data = malloc(status.st_size);
	fuzz_assert(kept[form][input].data &&
		    pread(fd, kept[form][input].data, status.st_size, 0) == status.st_size);
	close(fd);
}

static void write_media_files(void)
{
	const char *memory = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	struct aftl_error error;
	unsigned int form, i;

	scnprintf(folder, sizeof(folder), "%s/aftl-fuzz-media.XXXXXX", memory);
	fuzz_assert(mkdtemp(folder));
	place = (struct app_place){ .path = folder, .force = true };
	place.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_assert(place.folder >= 0);
	atexit(remove_media_files);
	for (form = 0; form < ARRAY_SIZE(forms); form++) {
		fuzz_assert(!forms[form].app->create(&place, &forms[form].setup, &error));
		for (i = 0; forms[form].app->inputs[i].name; i++)
			save_app_setup(form, i);
	}
}

static void write_media_app_file(unsigned int form, unsigned int input, const u8 *data, off_t size)
{
	int fd = openat(place.folder, forms[form].app->inputs[input].name,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_assert(fd >= 0 && pwrite(fd, data, size, 0) == size);
	close(fd);
}

static void change_file_bytes(u8 *file, off_t size, const u8 *data, size_t left)
{
	while (left > 4) {
		off_t at = (data[0] | data[1] << 8 | data[2] << 16) % size;
		size_t bytes = data[3] % 64;

		data += 4;
		left -= 4;
		bytes = min(bytes, left);
		memcpy(file + at, data, min((off_t)bytes, size - at));
		data += bytes;
		left -= bytes;
	}
}

static void damage_media_file(unsigned int form, const u8 *data, size_t size)
{
	unsigned int input = data[1] % APP_INPUTS;
	off_t bytes = kept[form][input].size;
	u8 *file;

	if (!bytes)
		return;
	file = malloc(bytes);
	fuzz_assert(file);
	memcpy(file, kept[form][input].data, bytes);
	change_file_bytes(file, bytes, data + 2, size - 2);
	write_media_app_file(form, input, file,
			     data[1] & 0x80 ? bytes * (data[1] & 0x7f) / 128 : bytes);
	free(file);
}

/* As in app-run.c. */
static bool load_app_setup(const struct app *app, struct app_setup *setup, struct aftl_error *error)
{
	struct app_file file;
	int ret;

	ret = app_file_open(&file, &place, app->inputs[0].name, APPROXFTL_PRECISE, error);
	if (!ret)
		ret = app_file_parse_header(&file, setup, error);
	app_file_close(&file);
	if (ret)
		check_refusal_has_message(error);
	return !ret && !is_setup_unsuitable_for_app(app, setup) &&
	       setup->width * setup->height <= PIXELS_MAX;
}

static void compute_media_quality(const struct app *app)
{
	struct aftl_error error = { "" };
	struct app_result result = { 0 };
	struct app_setup setup;

	if (!load_app_setup(app, &setup, &error))
		return;
	if (app->compute(&place, &setup, &result, &error))
		check_refusal_has_message(&error);
	fuzz_assert(isfinite(result.squared) && isfinite(result.absolute) &&
		    isfinite(result.similarity) && isfinite(result.coding));
}

int fuzz_input(const u8 *data, size_t size)
{
	unsigned int form, i;

	if (!*folder)
		write_media_files();
	if (size < 2)
		return 0;
	form = data[0] % ARRAY_SIZE(forms);
	for (i = 0; forms[form].app->inputs[i].name; i++)
		write_media_app_file(form, i, kept[form][i].data, kept[form][i].size);
	damage_media_file(form, data, size);
	compute_media_quality(forms[form].app);
	return 0;
}
