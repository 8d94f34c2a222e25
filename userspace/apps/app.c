// SPDX-License-Identifier: GPL-2.0-only
#include "app.h"

const struct app *const apps[] = {
	&app_fft, &app_smm, &app_lu, &app_sor, &app_mc, &app_img, &app_vid, &app_log,
	NULL,
};

bool is_setup_unsuitable_for_app(const struct app *app, const struct app_setup *found)
{
	struct app_setup usual = app->usual, forms = app->forms, setup = *found;

	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (!*get_setup_parameter(&forms, i) &&
		    !*get_setup_parameter(&setup, i) != !*get_setup_parameter(&usual, i))
			return true;
	return app->refuses(&setup);
}

int app_close_arrays(struct array *const *arrays, unsigned int count, int ret, u64 *repaired,
		     struct aftl_error *error)
{
	struct aftl_error cause;

	for (unsigned int i = 0; i < count; i++) {
		int closed = array_close(arrays[i], repaired, &cause);

		if (closed && !ret) {
			ret = closed;
			*error = cause;
		}
	}
	return ret;
}

int app_create_value_array(const struct app_place *place, const struct array_shape *shape,
			   const struct app_setup *setup,
			   double (*value)(const struct app_setup *setup, u64 index),
			   struct aftl_error *error)
{
	struct array array, *const all[] = { &array };
	u64 index, repaired = 0;
	int ret = array_create(&array, place, shape, setup, error);

	for (index = 0; !ret && index < shape->words; index++)
		array_write_word(&array, index, value(setup, index));
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &repaired, error);
}
