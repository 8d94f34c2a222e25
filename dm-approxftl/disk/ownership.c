// SPDX-License-Identifier: GPL-2.0-only
/* State machine of ownership.h. No other code changes the states. */
#include "disk/ownership.h"

void aftl_table_register(struct aftl_table *table, struct aftl_ownership *ownership)
{
	table->state = AFTL_TABLE_LOADED;
	table->ownership = ownership;
	ownership->tables++;
}

bool aftl_table_find_old_owner(const struct aftl_table *table, struct aftl_table **predecessor)
{
	const struct aftl_ownership *own = table->ownership;

	*predecessor = own->state == AFTL_DATA_OWNED ? own->owner : NULL;
	return own->exists && own->owner != table;
}

int aftl_table_begin_data_takeover(struct aftl_table *table)
{
	struct aftl_ownership *own = table->ownership;
	struct aftl_table *before = own->owner;

	if (own->state == AFTL_DATA_RESERVED)
		return -EAGAIN;
	own->state = AFTL_DATA_RESERVED;
	own->owner = table;
	table->state = AFTL_TABLE_RESUMING;
	table->device = NULL;
	if (before == table)
		return AFTL_RESUME_AGAIN;
	if (before) {
		before->state = AFTL_TABLE_SUPERSEDED;
		before->device = NULL;
	}
	return own->exists ? AFTL_RESUME_TAKE_OVER : AFTL_RESUME_NEW;
}

void aftl_table_finish_data_takeover(struct aftl_table *table)
{
	struct aftl_ownership *own = table->ownership;

	own->state = AFTL_DATA_OWNED;
	own->exists = true;
	table->state = AFTL_TABLE_SUSPENDED;
	table->device = own->device;
}

void aftl_table_fail_data_takeover(struct aftl_table *table)
{
	struct aftl_ownership *own = table->ownership;

	if (!own->exists && own->device) {
		table->spare = own->device;
		own->device = NULL;
	}
	own->state = own->exists ? AFTL_DATA_UNOWNED : AFTL_DATA_NONE;
	own->owner = NULL;
	table->state = AFTL_TABLE_FAILED;
}

void aftl_table_record_refused_resume(struct aftl_table *table)
{
	if (table->ownership->owner != table)
		table->state = AFTL_TABLE_FAILED;
}

void aftl_table_set_live(struct aftl_table *table)
{
	table->state = AFTL_TABLE_LIVE;
}

void aftl_table_set_stopped(struct aftl_table *table)
{
	if (table->state == AFTL_TABLE_LIVE)
		table->state = AFTL_TABLE_SUSPENDED;
}

struct aftl_device *aftl_table_begin_free(struct aftl_table *table)
{
	struct aftl_ownership *own = table->ownership;

	if (own->owner != table || !table->durable)
		return NULL;
	own->state = AFTL_DATA_RESERVED;
	table->device = NULL;
	return aftl_table_close_device(table);
}

/*
 * Return the data in memory if @table was the last table of the mapped device. Data on a backing
 * device exist without a table, but nothing uses them before another load.
 */
struct aftl_device *aftl_table_end_free(struct aftl_table *table)
{
	struct aftl_ownership *own = table->ownership;
	struct aftl_device *last;

	if (own->owner == table) {
		own->state = AFTL_DATA_UNOWNED;
		own->owner = NULL;
	}
	table->device = NULL;
	if (--own->tables)
		return NULL;
	last = own->device;
	own->device = NULL;
	return last;
}

void aftl_table_put_new_device_in_use(struct aftl_table *table)
{
	table->ownership->device = table->spare;
	table->spare = NULL;
}

struct aftl_device *aftl_table_replace_device(struct aftl_table *table)
{
	struct aftl_device *before = table->ownership->device;

	aftl_table_put_new_device_in_use(table);
	return before;
}

struct aftl_device *aftl_table_close_device(struct aftl_table *table)
{
	struct aftl_device *volume = table->ownership->device;

	table->ownership->device = NULL;
	return volume;
}
