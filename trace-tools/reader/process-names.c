// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "process-names.h"

#define FIRST_ROOM 64

/**
 * struct process - an entry of the hash table of process names
 * @pid: process id
 * @number: number of the process name, from 1; 0 if the entry is free
 */
struct process {
	u32 pid;
	u32 number;
};

/**
 * struct process_names - process names by process id, a hash table with open addressing; entries
 * are never removed
 * @table: entries
 * @room: number of entries in @table, a power of two
 * @used: number of entries in use
 * @texts: names; name number n is @texts[n - 1]
 * @texts_used: number of names
 */
struct process_names {
	struct process *table;
	u32 room;
	u32 used;
	char (*texts)[PROCESS_NAME_SIZE];
	u32 texts_used;
};

struct process_names *process_names_create(void)
{
	struct process_names *names = memory_alloc_zeroed(1, sizeof(*names));

	names->room = FIRST_ROOM;
	names->table = memory_alloc_zeroed(FIRST_ROOM, sizeof(*names->table));
	return names;
}

void process_names_free(struct process_names *names)
{
	if (!names)
		return;
	free(names->table);
	free(names->texts);
	free(names);
}

static struct process *find_process_by_pid(const struct process_names *names, u32 pid)
{
	u32 place = (u32)(pid * 0x9e3779b9U) & (names->room - 1);

	while (names->table[place].number && names->table[place].pid != pid)
		place = (place + 1) & (names->room - 1);
	return &names->table[place];
}

static void grow_process_names(struct process_names *names)
{
	struct process *old = names->table;
	u32 room = names->room, i;

	names->room = 2 * room;
	names->table = memory_alloc_zeroed(names->room, sizeof(*old));
	for (i = 0; i < room; i++)
		if (old[i].number)
			*find_process_by_pid(names, old[i].pid) = old[i];
	free(old);
}

static u32 find_or_add_process_name(struct process_names *names, const char *name)
{
	u32 i;

	for (i = 0; i < names->texts_used; i++)
		if (!strncmp(names->texts[i], name, PROCESS_NAME_SIZE - 1))
			return i + 1;
	names->texts = memory_resize(names->texts, i + 1, sizeof(*names->texts));
	scnprintf(names->texts[i], PROCESS_NAME_SIZE, "%.16s", name);
	names->texts_used++;
	return i + 1;
}

void process_names_set(struct process_names *names, u32 pid, const char *name)
{
	struct process *process;

	if (!name[0])
		return;
	if (2 * names->used >= names->room)
		grow_process_names(names);
	process = find_process_by_pid(names, pid);
	names->used += !process->number;
	process->pid = pid;
	if (!process->number || strncmp(names->texts[process->number - 1], name,
					PROCESS_NAME_SIZE - 1) != 0)
		process->number = find_or_add_process_name(names, name);
}

u32 process_names_find_number_by_pid(const struct process_names *names, u32 pid)
{
	return find_process_by_pid(names, pid)->number;
}

const char *process_names_get(const struct process_names *names, u32 pid)
{
	u32 number = find_process_by_pid(names, pid)->number;

	return number ? names->texts[number - 1] : NULL;
}
