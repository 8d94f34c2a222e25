// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "app-run.h"

static u64 app_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool did_app_run_pass_checks(const struct app_run *run)
{
	return !has_app_run_compute_phase(run) || (run->precise.error <= run->precise.tolerance &&
						   !run->precise.repaired && !run->flips.damaged);
}

static int open_app_directory(struct app_place *place, const char *path, struct aftl_error *error)
{
	place->path = path;
	place->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->folder >= 0)
		return 0;
	return aftl_fail(error, -errno, "%.150s: cannot open the directory: %s", path,
			 strerror(errno));
}

static int open_tag_library(struct app_place *place, const struct app_options *options,
			    struct aftl_error *error)
{
	int ret;

	if (options->precise)
		return 0;
	ret = approxftl_open(options->folder, options->require ? APPROXFTL_REQUIRE : 0,
			     &place->tags);
	if (ret)
		return aftl_fail(error, ret, "%.60s: %.160s", options->folder,
				 approxftl_reason(NULL));
	return 0;
}

/* Create the directory of the precise run, on any file system, as its files are not tagged. */
static int make_reference_dir(struct app_place *place, const char *parent, char *path, size_t size,
			      struct aftl_error *error)
{
	scnprintf(path, size, "%s/approxftl-app.XXXXXX", parent);
	*place = (struct app_place){ .folder = -1, .path = path };
	if (!mkdtemp(path))
		return aftl_fail(error, -errno,
				 "%.120s: cannot make a directory: %s; --reference names another place",
				 parent, strerror(errno));
	return open_app_directory(place, path, error);
}

static void remove_reference_dir(struct app_place *place)
{
	DIR *folder = place->folder < 0 ? NULL : fdopendir(place->folder);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	rmdir(place->path);
}

static void set_default_parameters(struct app_setup *setup, const struct app_setup *given,
				   const struct app_setup *usual)
{
	struct app_setup from = *usual, wanted = *given;

	for (unsigned int i = 0; i < APP_PARAMETERS; i++) {
		u64 value = *get_setup_parameter(&wanted, i);

		*get_setup_parameter(setup, i) = value ? value : *get_setup_parameter(&from, i);
	}
}

static int read_app_setup(struct app_run *run, const struct app_place *place,
			  struct aftl_error *error)
{
	const struct app *app = run->options->app;
	const char *name = app->inputs[0].name;
	struct app_setup wanted;
	struct app_file file;
	int ret = app_file_open(&file, place, name, APPROXFTL_PRECISE, error);

	if (!ret)
		ret = app_file_parse_header(&file, &run->setup, error);
	app_file_close(&file);
	if (ret)
		return ret;
	if (is_setup_unsuitable_for_app(app, &run->setup))
		return aftl_fail(error, -EINVAL,
				 "%.80s/%s: of another program than %s; --phase write makes it anew",
				 place->path, name, app->name);
	set_default_parameters(&wanted, &run->options->setup, &run->setup);
	if (memcmp(&wanted, &run->setup, sizeof(wanted)) != 0)
		return aftl_fail(error, -EINVAL,
				 "%.80s/%s: made with other parameters; leave them out or write it anew",
				 place->path, name);
	return 0;
}

static int choose_app_setup(struct app_run *run, const struct app_place *place,
			    struct aftl_error *error)
{
	const struct app *app = run->options->app;

	if (!has_app_run_write_phase(run))
		return read_app_setup(run, place, error);
	set_default_parameters(&run->setup, &run->options->setup, &app->usual);
	if (app->refuses(&run->setup))
		return aftl_fail(error, -EINVAL, "%s: %s", app->name, app->sizes);
	return 0;
}

static int run_write_phase(struct app_run *run, const struct app_place *place,
			   struct aftl_error *error)
{
	u64 begin = app_monotonic_ns();
	int ret = run->options->app->create(place, &run->setup, error);

	run->write_ns = app_monotonic_ns() - begin;
	return ret;
}

static int run_compute_phase(struct app_run *run, const struct app_place *place,
			     struct aftl_error *error)
{
	u64 begin = app_monotonic_ns();
	int ret = run->options->app->compute(place, &run->setup, &run->result, error);

	run->compute_ns = app_monotonic_ns() - begin;
	return ret;
}

static int compute_error_of_approx_result(struct app_run *run, const struct app_place *place,
					  const struct app_place *reference,
					  struct aftl_error *error)
{
	const struct app *app = run->options->app;
	struct array_shape shape;

	if (!app->output)
		return 0;
	shape = app->output_shape(&run->setup);
	return compute_distance_of_arrays(place, reference, &shape, &run->setup,
					  &run->result.distance, error);
}

/* Run both phases (writing, computing) again with precise data, and compare the results. */
static int run_app_phases_with_precise_data(struct app_run *run, const struct app_place *place,
					    const struct app_place *reference,
					    struct aftl_error *error)
{
	const struct app *app = run->options->app;
	int ret = app->create(reference, &run->setup, error);

	if (!ret)
		ret = count_flips_in_files(app, &run->setup, place, reference, &run->flips, error);
	if (!ret)
		ret = count_reported_flips(app, place, &run->reported, error);
	if (!ret)
		ret = app->compute(reference, &run->setup, &run->precise, error);
	if (!ret)
		ret = compute_error_of_approx_result(run, place, reference, error);
	return ret ? ret : app->check_result(reference, &run->setup, &run->precise, error);
}

/* Predict the quality from the number of flipped bits, regardless of their positions. */
static void predict_result_quality(struct app_run *run)
{
	const struct app *app = run->options->app;
	struct app_forecast forecast;
	double rate;

	if (!app->forecast || !run->flips.flipped || !app->forecast(&run->setup, &forecast))
		return;
	rate = (double)run->flips.flipped / (8.0 * (double)run->flips.approximate_bytes);
	run->expected = rate * forecast.mean;
	run->deviation = sqrt(rate * forecast.variance);
}

static int run_app_precisely_in_reference_dir(struct app_run *run, const struct app_place *place,
					      struct aftl_error *error)
{
	struct app_place reference;
	char path[4096];
	int ret =
		make_reference_dir(&reference, run->options->reference, path, sizeof(path), error);

	if (!ret)
		ret = run_app_phases_with_precise_data(run, place, &reference, error);
	remove_reference_dir(&reference);
	if (!ret)
		predict_result_quality(run);
	return ret;
}

int run_app(struct app_run *run, const struct app_options *options, struct aftl_error *error)
{
	struct app_place place = { .io = options->io, .memory_bytes = options->memory_bytes,
				   .force = options->force };
	int ret;

	*run = (struct app_run){ .options = options };
	ret = open_app_directory(&place, options->folder, error);
	if (ret)
		return ret;
	ret = open_tag_library(&place, options, error);
	run->active = !ret && place.tags && approxftl_active(place.tags);
	if (!ret)
		ret = choose_app_setup(run, &place, error);
	if (!ret && has_app_run_write_phase(run))
		ret = run_write_phase(run, &place, error);
	if (!ret && has_app_run_compute_phase(run))
		ret = run_compute_phase(run, &place, error);
	if (!ret && has_app_run_compute_phase(run))
		ret = run_app_precisely_in_reference_dir(run, &place, error);
	if (place.tags)
		approxftl_close(place.tags);
	close(place.folder);
	return ret;
}
