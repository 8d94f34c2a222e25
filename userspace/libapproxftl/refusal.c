// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages about refusals, with their remedies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "approxftl.h"
#include "refusal.h"

#define SENTENCE_SIZE 320

static __thread char last[SENTENCE_SIZE];

/* struct message - cause and remedy of a refusal */
#define SENTENCE(cause, remedy) cause "; " remedy

static const char *const sentences[] = {
	[APPROXFTL_REASON_NONE] = "nothing was refused",
	[APPROXFTL_REASON_KIND] =
		SENTENCE("only regular files, memfds and devices can be tagged",
			 "name the file in a directory, not the directory"),
	[APPROXFTL_REASON_READ_ONLY] =
		SENTENCE("the descriptor cannot write", "open the file for writing"),
	[APPROXFTL_REASON_OWNER] =
		SENTENCE("the file is somebody else's", "let its owner tag it, or take CAP_FOWNER"),
	[APPROXFTL_REASON_SWAP] =
		SENTENCE("the file is swap space, whose every bit counts", "swapoff it first"),
	[APPROXFTL_REASON_ENCRYPTED] =
		SENTENCE("the file is encrypted, and one flipped bit spoils a whole cipher block",
			 "keep it where nothing is encrypted"),
	[APPROXFTL_REASON_VERITY] =
		SENTENCE("the file has verity, and one flipped bit makes reads fail",
			 "use a copy of it, which has none"),
	[APPROXFTL_REASON_CHECKSUM] =
		SENTENCE("btrfs checksums the file, and one flipped bit makes reads fail",
			 "chattr +C it while it is empty, or mount with nodatacow"),
	[APPROXFTL_REASON_FILES] =
		SENTENCE("too many files of this user are tagged",
			 "untag some, or raise the module's parameter max_files"),
	[APPROXFTL_REASON_RANGES] =
		SENTENCE("there are too many ranges",
			 "tag fewer and longer ones, or raise the module's parameter max_ranges"),
	[APPROXFTL_REASON_DEVICE] =
		SENTENCE("it is not on a device of dm-approxftl, or not right on it",
			 "use ext4, xfs or f2fs right on the device, or ask the device itself"),
	[APPROXFTL_REASON_IN_USE] =
		SENTENCE("the device is mounted or opened exclusively",
			 "unmount it, or tag the files on it"),
};

static const char *get_message_of_refusal_reason(unsigned int reason)
{
	if (reason > APPROXFTL_REASON_IN_USE)
		return "the kernel says why in words that this library is too old for; update it";
	return sentences[reason];
}

const char *approxftl_explain(enum approxftl_reason reason)
{
	return get_message_of_refusal_reason(reason);
}

const char *approxftl_reason(const struct approxftl *a)
{
	(void)a;
	return *last ? last : sentences[APPROXFTL_REASON_NONE];
}

const char *approxftl_class_name(enum approxftl_class kind)
{
	static const char *const names[] = {
		"precise", "approximate", "none", "approximate_2", "approximate_3",
	};

	return kind <= APPROXFTL_LEVEL_3 ? names[kind] : "unknown";
}

int aftl_lib_set_refusal(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last, sizeof(last), format, arguments);
	va_end(arguments);
	return error;
}

/* Return the message for an error number that came without an enum approxftl_reason. */
static const char *get_message_of_error_number(int error, char *text, size_t size)
{
	switch (-error) {
	case EPERM:
		return "that takes CAP_SYS_ADMIN; do it as root";
	case EINVAL:
		return "an argument makes no sense: class, length or kind of file";
	case EOVERFLOW:
		return "the range ends beyond what there can be; give a smaller one";
	default:
		return strerror_r(-error, text, size);
	}
}

int aftl_lib_set_operation_refusal(int error, unsigned int reason, const char *what)
{
	char text[128];

	if (reason)
		return aftl_lib_set_refusal(error, "%s: %s", what,
					    get_message_of_refusal_reason(reason));
	return aftl_lib_set_refusal(error, "%s: %s", what,
				    get_message_of_error_number(error, text, sizeof(text)));
}
