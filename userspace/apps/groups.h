/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forecasts the error that flipped bits cause in a video with groups of frames (GOPs).
 */
#ifndef AFTL_APPS_GROUPS_H
#define AFTL_APPS_GROUPS_H

#include "app.h"

/* Forecast the mean square error of a video with @setup->group > 0, pixel by pixel. */
void forecast_damage_of_frame_groups(const struct app_setup *setup, struct app_forecast *forecast);

#endif
