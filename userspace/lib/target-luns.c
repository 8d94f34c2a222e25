// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "target-luns.h"

/* Upper bound of the length of a line of the answer to "luns". */
#define LINE_SIZE 320

#define FORMAT "%9u good_blocks %20llu free_blocks %20llu valid_units %20llu " \
	"queued %20llu busy_ns %20llu cached_blocks %20llu"

/* Parse "0 good_blocks 128 free_blocks 12 valid_units 7 queued 0 busy_ns 5 cached_blocks 0". */
static bool parse_lun_line(const char *line, unsigned int number, struct target_lun *lun)
{
	unsigned long long n[6];
	unsigned int said;

	if (sscanf(line, FORMAT, &said, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]) != 7 ||
	    said != number)
		return false;
	*lun = (struct target_lun){ n[0], n[1], n[2], n[3], n[4], n[5] };
	return true;
}

int target_luns_parse(struct target_luns *luns, const char *text, struct aftl_error *error)
{
	char line[LINE_SIZE];

	*luns = (struct target_luns){ NULL, 0 };
	while (*text) {
		size_t length = strcspn(text, "\n");

		scnprintf(line, sizeof(line), "%.*s", (int)min(length, sizeof(line) - 1), text);
		luns->list = memory_resize(luns->list, luns->count + 1, sizeof(*luns->list));
		if (!parse_lun_line(line, luns->count, &luns->list[luns->count])) {
			free(luns->list);
			*luns = (struct target_luns){ NULL, 0 };
			return aftl_fail(error, -EINVAL,
					 "\"%.60s\" in the answer to \"luns\" is no LUN; the module is not of this program's version",
					 line);
		}
		luns->count++;
		text += length + (text[length] == '\n');
	}
	return 0;
}

void target_luns_subtract_earlier_counts(struct target_luns *now, const struct target_luns *before)
{
	for (unsigned int i = 0; i < now->count && i < before->count; i++)
		if (now->list[i].busy_ns >= before->list[i].busy_ns)
			now->list[i].busy_ns -= before->list[i].busy_ns;
}
