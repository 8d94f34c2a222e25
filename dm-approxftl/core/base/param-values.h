/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of parameters of type AFTL_PARAM_CHOICE, in the order of the words in param-table.h. */
#ifndef AFTL_PARAM_VALUES_H
#define AFTL_PARAM_VALUES_H

#include "aftl-host.h"

enum aftl_switch {
	AFTL_OFF,
	AFTL_ON,
};

enum aftl_plane_mode {
	AFTL_PLANES_SHARED,
	AFTL_PLANES_INDEPENDENT,
	AFTL_PLANES_WIDE,
};

/*
 * Pages that a multi-plane read may combine: none; pages of equal block and page number; pages of
 * equal page number; any pages.
 */
enum aftl_multi_plane_read {
	AFTL_PLANE_READ_OFF,
	AFTL_PLANE_READ_SAME_BLOCK,
	AFTL_PLANE_READ_ANY_BLOCK,
	AFTL_PLANE_READ_ANY_PAGE,
};

enum aftl_sched {
	AFTL_SCHED_READ_FIRST,
	AFTL_SCHED_FCFS,
};

enum aftl_allocate {
#define LUN_RULE(name) AFTL_ALLOCATE_##name,
#include "core/base/lun-list.h"
#undef LUN_RULE
	AFTL_ALLOCATES,
};

enum aftl_victim {
#define VICTIM(name) AFTL_VICTIM_##name,
#include "core/base/victim-list.h"
#undef VICTIM
	AFTL_VICTIMS,
};

/* Values of the parameter "gc_mode": how garbage collection shares a die with host writes */
enum aftl_gc_mode {
	AFTL_GC_BLOCK,
	AFTL_GC_PACED,
};

/* Values of the parameter "gc_idle_limit": free blocks up to which idle dies collect */
enum aftl_gc_idle_limit {
	AFTL_GC_IDLE_FIXED,
	AFTL_GC_IDLE_ADAPTIVE,
};

enum aftl_cache_commands {
	AFTL_CACHE_COMMANDS_OFF,
	AFTL_CACHE_COMMANDS_READ,
	AFTL_CACHE_COMMANDS_PROGRAM,
	AFTL_CACHE_COMMANDS_BOTH,
};

enum aftl_suspend {
	AFTL_SUSPEND_OFF,
	AFTL_SUSPEND_PROGRAM,
	AFTL_SUSPEND_ERASE,
	AFTL_SUSPEND_BOTH,
};

enum aftl_isolation {
	AFTL_ISOLATION_INITIAL,
	AFTL_ISOLATION_PERSISTENT,
};

enum aftl_fill {
	AFTL_FILL_NONE,
	AFTL_FILL_SEQUENTIAL,
	AFTL_FILL_RANDOM,
};

enum aftl_cell_model {
	AFTL_CELL_CONSTANT,
	AFTL_CELL_VOLTAGE,
};

#endif
