// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "process-names.h"

#define FIRST_ROOM 64

/* Process 0 is the idle task; so a place is free if it has no name. */
struct process_name {
	u32 pid;
	char name[PROCESS_NAME_SIZE];
};

/* A hash table with open addresses; nothing is ever taken out. */
struct process_names {
	struct process_name *table;
	u32 room;
	u32 used;
};

struct process_names *process_names_create(void)
{
	struct process_names *names = memory_zeroed(1, sizeof(*names));

	names->room = FIRST_ROOM;
	names->table = memory_zeroed(FIRST_ROOM, sizeof(*names->table));
	return names;
}

void process_names_free(struct process_names *names)
{
	if (names)
		free(names->table);
	free(names);
}

static struct process_name *find(const struct process_names *names, u32 pid)
{
	u32 place = (u32)(pid * 0x9e3779b9U) & (names->room - 1);

	while (names->table[place].name[0] && names->table[place].pid != pid)
		place = (place + 1) & (names->room - 1);
	return &names->table[place];
}

static void grow(struct process_names *names)
{
	struct process_name *old = names->table;
	u32 room = names->room, i;

	names->room = 2 * room;
	names->table = memory_zeroed(names->room, sizeof(*old));
	for (i = 0; i < room; i++)
		if (old[i].name[0])
			*find(names, old[i].pid) = old[i];
	free(old);
}

void process_names_set(struct process_names *names, u32 pid, const char *name)
{
	struct process_name *process;

	if (!name[0])
		return;
	if (2 * names->used >= names->room)
		grow(names);
	process = find(names, pid);
	names->used += !process->name[0];
	process->pid = pid;
	scnprintf(process->name, sizeof(process->name), "%.16s", name);
}

const char *process_names_get(const struct process_names *names, u32 pid)
{
	const struct process_name *process = find(names, pid);

	return process->name[0] ? process->name : NULL;
}

void process_names_each(const struct process_names *names,
			void (*each)(void *context, u32 pid, const char *name), void *context)
{
	u32 i;

	for (i = 0; i < names->room; i++)
		if (names->table[i].name[0])
			each(context, names->table[i].pid, names->table[i].name);
}
