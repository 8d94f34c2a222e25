// SPDX-License-Identifier: GPL-2.0-only
#include "small-volume.h"
#include "tap.h"

#define SMALL "channels", "2", "chips", "1", "blocks", "64", "layers", "4", "word_lines", "2"

const char *const small_volumes[SMALL_VOLUMES][20] = {
	{ SMALL, "op", "60", NULL },
	{ SMALL, "op", "60", "unit", "512", "page", "2KiB", NULL },
	{ SMALL, "op", "60", "errors", "off", NULL },
	{ SMALL, "op", "60", "buffer", "64KiB", NULL },
};

void durable_must(struct durable_device *durable, int ret, const char *what)
{
	if (ret)
		tap_bail_out("%s: %d: %s", what, ret, durable->device.error.text);
}

void small_volume_open(struct durable_device *durable, const char *policy,
		       const char *const *pairs)
{
	struct test_device device;

	test_device_init(&device, "demo");
	test_device_set_all(&device, pairs);
	if (durable_open(durable, &device.config, policy))
		tap_bail_out("no such device");
	durable_must(durable, durable_format(durable), "format");
	durable_must(durable, durable_start(durable, policy, false), "start");
}
