// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl remove" and "approxftl message": remove a device, or send it a message. */
#include <stdlib.h>

#include "device-holders.h"
#include "verbs.h"

/* remove */

static int report_device_in_use(const struct dm_device *device, struct aftl_error *error)
{
	char holder[160];

	if (!is_dm_device_in_use(device, holder, sizeof(holder)))
		scnprintf(holder, sizeof(holder), "held open %u times, by whom is not to be seen",
			  device->open_count);
	return aftl_fail(error, -EBUSY, "%.60s is in use: %s", device->name, holder);
}

/*
 * Refuse the removal at once only if a holder is found. udev opens a new device for a moment, so
 * libdevmapper retries the removal of a device without a known holder.
 */
static int remove_dm_device(const struct device_options *options, const struct dm_device *device,
			    bool *waits, struct aftl_error *error)
{
	bool may_wait = options->deferred || options->force;
	char holder[160];
	int ret = 0;

	if (!may_wait && device->open_count && is_dm_device_in_use(device, holder, sizeof(holder)))
		return report_device_in_use(device, error);
	if (options->force && device->open_count)
		ret = dm_device_switch_to_error_target(device, error);
	*waits = may_wait && device->open_count;
	if (!ret)
		ret = dm_device_remove(device->name, may_wait ? DM_DEVICE_REMOVE_DEFERRED :
								DM_DEVICE_REMOVE_NOW, error);
	return ret == -EBUSY ? report_device_in_use(device, error) : ret;
}

static enum exit_code run_device_remove(const struct device_options *options)
{
	struct dm_device device;
	struct aftl_error error;
	bool waits = false;
	int ret = check_device_mapper_ready(&error);
	struct json_writer json;

	if (!ret)
		ret = dm_device_find_by_name(&device, options->words[0], &error);
	if (!ret)
		ret = remove_dm_device(options, &device, &waits, &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	if (options->json) {
		device_begin_json_of_verb(options, &json);
		json_string(&json, "name", device.name);
		json_bool(&json, "removed", !waits);
		json_bool(&json, "deferred", waits);
		json_envelope_end(&json);
	} else if (waits) {
		printf("%s is in use and goes as soon as nobody uses it\n", device.name);
	}
	return EXIT_DONE;
}

const struct device_verb verb_remove = {
	.name = "remove",
	.words = "NAME",
	.least_words = 1,
	.most_words = 1,
	.options = "fd",
	.about = "Removes a device. The data of a device with store ram or none are lost.",
	.run = run_device_remove,
};

/* message */

#define MESSAGE_SIZE 1024

static int join_message_operands(const struct device_options *options, char text[MESSAGE_SIZE],
				 struct aftl_error *error)
{
	size_t used = 0;

	for (unsigned int i = 1; i < options->word_count; i++) {
		size_t length = strlen(options->words[i]);

		if (used + length + 2 > MESSAGE_SIZE)
			return aftl_fail(error, -E2BIG,
					 "the message for the device is longer than %u bytes",
					 MESSAGE_SIZE);
		used += scnprintf(text + used, MESSAGE_SIZE - used, "%s%s", i > 1 ? " " : "",
				  options->words[i]);
	}
	return 0;
}

/* Splits @answer in place. */
static void print_device_reply_to_message(const struct device_options *options,
					  const struct dm_device *device, char *answer)
{
	struct json_writer json;
	char *rest = answer;
	const char *line;

	if (!options->json) {
		fputs(answer, stdout);
		return;
	}
	device_begin_json_of_verb(options, &json);
	json_string(&json, "name", device->name);
	json_begin_inline_array(&json, "message");
	for (unsigned int i = 1; i < options->word_count; i++)
		json_string(&json, NULL, options->words[i]);
	json_end_array(&json);
	json_begin_array(&json, "answer");
	while ((line = strsep(&rest, "\n")) && (rest || *line))
		json_string(&json, NULL, line);
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_device_message(const struct device_options *options)
{
	char message[MESSAGE_SIZE];
	struct dm_device device;
	struct aftl_error error;
	char *answer;
	int ret = check_device_mapper_ready(&error);

	if (!ret)
		ret = join_message_operands(options, message, &error);
	if (!ret)
		ret = dm_device_find_by_name(&device, options->words[0], &error);
	if (!ret)
		ret = dm_device_message(&device, message, &answer, &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	print_device_reply_to_message(options, &device, answer);
	free(answer);
	return EXIT_DONE;
}

const struct device_verb verb_message = {
	.name = "message",
	.words = "NAME WORD...",
	.least_words = 2,
	.most_words = 256,
	.options = "",
	.about = "Sends a message to a device and prints its answer. approxftl-device(8) lists\n"
		 "the messages; so does the answer to an unknown one.",
	.run = run_device_message,
};
