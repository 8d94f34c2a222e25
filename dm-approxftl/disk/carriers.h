/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Carriers: the parts of a write (such as file tags, write hint, I/O priority) that tell the target
 * its class. Parses and prints the table option tag_carrier, for the target and for user space.
 */
#ifndef AFTL_CARRIERS_H
#define AFTL_CARRIERS_H

#include "core/base/params.h"

/* Carrier i is bit i of APPROXFTL_CARRIER_* in uapi/linux/approxftl.h. */
enum aftl_carrier {
	AFTL_CARRIER_INODE,
	AFTL_CARRIER_WRITE_HINT,
	AFTL_CARRIER_IOPRIO,
	AFTL_CARRIER_WRITE_STREAM,
	AFTL_CARRIERS,
};

/* Size of a string that names all carriers. */
#define AFTL_CARRIERS_SIZE 40

/* Hint in the I/O priority that marks approximate writes if the table line has no ioprio_hint. */
#define AFTL_IOPRIO_HINT 341

static const char *const aftl_carrier_names[AFTL_CARRIERS] = {
	[AFTL_CARRIER_INODE] = "inode",
	[AFTL_CARRIER_WRITE_HINT] = "write_hint",
	[AFTL_CARRIER_IOPRIO] = "ioprio",
	[AFTL_CARRIER_WRITE_STREAM] = "write_stream",
};

/**
 * aftl_tag_carriers_parse() - parse a list such as "inode,write_hint"
 * @text: names, separated by commas, each at most once
 * @carriers: takes the set; unchanged on failure
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message.
 */
static inline int aftl_tag_carriers_parse(const char *text, u32 *carriers, struct aftl_error *error)
{
	const char *at = text;
	u32 found = 0;

	for (;;) {
		size_t length = strcspn(at, ",");
		u32 i = 0;

		while (i < AFTL_CARRIERS && (strncmp(aftl_carrier_names[i], at, length) ||
					     aftl_carrier_names[i][length]))
			i++;
		if (i == AFTL_CARRIERS || found & 1U << i)
			return aftl_fail(error, -EINVAL,
					 "tag_carrier: \"%.60s\" is not a list such as inode,ioprio; there are inode, write_hint, ioprio and write_stream, each at most once",
					 text);
		found |= 1U << i;
		if (!at[length])
			break;
		at += length + 1;
	}
	*carriers = found;
	return 0;
}

/* Print the non-empty set @carriers in the format that aftl_tag_carriers_parse() parses. */
static inline void aftl_tag_carriers_print(u32 carriers, char text[AFTL_CARRIERS_SIZE])
{
	size_t used = 0;
	u32 i;

	for (i = 0; i < AFTL_CARRIERS; i++)
		if (carriers & 1U << i)
			used += scnprintf(text + used, AFTL_CARRIERS_SIZE - used, "%s%s",
					  used ? "," : "", aftl_carrier_names[i]);
}

/* Return the default of the option tag_carrier; @hint is the value of ioprio_hint. */
static inline u32 aftl_get_default_tag_carriers(u32 hint)
{
	return 1U << AFTL_CARRIER_INODE | (hint ? 1U << AFTL_CARRIER_IOPRIO : 0);
}

#endif
