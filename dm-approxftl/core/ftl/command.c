// SPDX-License-Identifier: GPL-2.0-only
#include "core/ftl/command.h"
#include "core/ftl/controller.h"

/* Write commands get the lowest indexes (buffer tags), so that hosts' arrays by tag are small. */
void aftl_commands_init(struct aftl *ftl)
{
	u32 i;

	ftl->free_reads = AFTL_NIL;
	ftl->free_writes = AFTL_NIL;
	for (i = ftl->command_count; i--;)
		aftl_command_free(ftl, i, i < ftl->write_commands);
	for (i = 0; i <= ftl->pending_mask; i++)
		ftl->pending[i] = AFTL_NIL;
}
