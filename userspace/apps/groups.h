/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far flipped bits of differences spoil a video whose groups begin with a precise frame.
 */
#ifndef AFTL_APPS_GROUPS_H
#define AFTL_APPS_GROUPS_H

#include "app.h"

/* For @setup->group > 0. Looks at all pixels of all frames. */
void groups_forecast(const struct app_setup *setup, struct app_forecast *forecast);

#endif
