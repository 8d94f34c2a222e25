// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of a mapped device's data, in every order of operations on three tables.
 *
 * A search visits each state that loads, resumes, failures, suspends and removals can reach. The
 * model mimics dm-approxftl/target/target.c between two calls, with devices that are entries of a
 * list. In each state the data exist once, at most one table can reach them, and each device has an
 * owner.
 */
#include <stdlib.h>

#include "disk/ownership.h"
#include "tap.h"

#define TABLES 3
#define DEVICES (2 * TABLES + 2)

/* Kinds of table lines. */
enum kind {
	KIND_RAM,
	KIND_RAM_OTHER,	/* a device in memory with another geometry that can hold KIND_RAM's data */
	KIND_RAM_SMALL,	/* a device in memory, smaller than KIND_RAM and KIND_RAM_OTHER */
	KIND_VOLUME,
	KIND_VOLUME_OTHER, /* a volume on another backing device than KIND_VOLUME */
	KINDS,
};

/* The state of a table in device-mapper. */
enum phase {
	PHASE_NONE,
	PHASE_LOADING,
	PHASE_IDLE,
	PHASE_RESUMING,
	PHASE_RESUMED,
	PHASE_FAILING,
	PHASE_CLOSING,
};

/**
 * struct model - one state of the search, compared with other states byte by byte
 * @own: ownership of the mapped device
 * @tables: tables of the mapped device
 * @phase: phase of each table, such as loaded or active
 * @resume: action of the resume in progress
 * @kind: kind of each FTL device, plus one; 0 if there is none
 * @data: by FTL device, whether it holds the data
 * @born: kind of the data, plus one; 0 while no table has been resumed
 */
struct model {
	struct aftl_ownership own;
	struct aftl_table tables[TABLES];
	u8 phase[TABLES];
	u8 resume[TABLES];
	u8 kind[DEVICES];
	u8 data[DEVICES];
	u8 born;
};

static struct model model;
static enum kind kinds[TABLES];
static u32 resumes[3];
static u32 refusals;

static bool does_store_kind_use_volume(enum kind kind)
{
	return kind >= KIND_VOLUME;
}

/* The model's pointers to devices are numbers from one on. */
static struct aftl_device *index_to_device(u32 index)
{
	return (struct aftl_device *)(uintptr_t)(index + 1);
}

static u32 get_index_of_model_device(const struct aftl_device *device)
{
	return (u32)(uintptr_t)device - 1;
}

static struct aftl_device *make_device(enum kind kind)
{
	u32 i = 0;

	while (i < DEVICES && model.kind[i])
		i++;
	if (i == DEVICES)
		tap_bail_out("more than %u devices at once", DEVICES);
	model.kind[i] = kind + 1;
	return index_to_device(i);
}

static void destroy_device(const struct aftl_device *device)
{
	if (!device)
		return;
	CHECK(model.kind[get_index_of_model_device(device)]);
	CHECK(does_store_kind_use_volume(model.kind[get_index_of_model_device(device)] - 1) ||
	      !model.data[get_index_of_model_device(device)] || !model.own.tables);
	model.kind[get_index_of_model_device(device)] = 0;
	model.data[get_index_of_model_device(device)] = 0;
}

/* Return true if a table of @kind can take over data of kind @data. */
static bool can_store_kind_take_over_data(enum kind data, enum kind kind)
{
	if (does_store_kind_use_volume(data) || does_store_kind_use_volume(kind))
		return data == kind;
	return kind != KIND_RAM_SMALL || data == KIND_RAM_SMALL;
}

static bool can_model_table_take_over_data(u32 i)
{
	struct aftl_table *predecessor;

	if (!aftl_table_find_old_owner(&model.tables[i], &predecessor))
		return true;
	CHECK(model.born);
	return can_store_kind_take_over_data(model.born - 1, kinds[i]);
}

/* Each step function changes table @i of the model, or returns false if the state forbids it. */

static bool begin_table_load_in_model(u32 i, u32 choice)
{
	if (model.phase[i] != PHASE_NONE || choice)
		return false;
	if (!model.own.tables) {
		memset(&model.own, 0, sizeof(model.own));
		model.born = 0;
	}
	model.tables[i].durable = does_store_kind_use_volume(kinds[i]);
	aftl_table_register(&model.tables[i], &model.own);
	model.phase[i] = PHASE_LOADING;
	return true;
}

/* Refuse a table whose backing device another mapped device uses, even if the table owns data. */
static bool refuse_table_resume_in_model(u32 i, u32 choice)
{
	if (model.phase[i] != PHASE_IDLE || choice)
		return false;
	aftl_table_record_refused_resume(&model.tables[i]);
	return true;
}

/* End a table's load: it makes an FTL device of its own (@choice 0), or uses the existing one. */
static bool end_table_load_in_model(u32 i, u32 choice)
{
	if (model.phase[i] != PHASE_LOADING || (choice && !model.own.device))
		return false;
	model.phase[i] = PHASE_IDLE;
	if (!can_model_table_take_over_data(i))
		model.phase[i] = PHASE_CLOSING;
	else if (!choice)
		model.tables[i].spare = make_device(kinds[i]);
	return true;
}

static bool begin_table_resume_in_model(u32 i, u32 choice)
{
	int ret;

	if (model.phase[i] != PHASE_IDLE || choice)
		return false;
	if (model.own.state == AFTL_DATA_RESERVED) {
		CHECK_EQ(aftl_table_begin_data_takeover(&model.tables[i]), -EAGAIN);
		return false;
	}
	if (!can_model_table_take_over_data(i)) {
		aftl_table_record_refused_resume(&model.tables[i]);
		refusals++;
		return true;
	}
	ret = aftl_table_begin_data_takeover(&model.tables[i]);
	CHECK(ret >= 0);
	CHECK((ret == AFTL_RESUME_NEW) == !model.born);
	model.resume[i] = (u8)ret;
	model.phase[i] = PHASE_RESUMING;
	resumes[ret]++;
	return true;
}

static void make_unowned_device(u32 i)
{
	if (!model.tables[i].spare)
		model.tables[i].spare = make_device(kinds[i]);
}

static void resume_table_with_memory_store(u32 i, bool fails)
{
	struct aftl_table *table = &model.tables[i];

	if (model.resume[i] == AFTL_RESUME_NEW) {
		make_unowned_device(i);
		aftl_table_put_new_device_in_use(table);
	} else if (model.resume[i] == AFTL_RESUME_TAKE_OVER &&
		   model.kind[get_index_of_model_device(model.own.device)] != kinds[i] + 1) {
		make_unowned_device(i);
		if (fails) {
			destroy_device(table->spare);
			table->spare = NULL;
			return;
		}
		model.data[get_index_of_model_device(table->spare)] =
			model.data[get_index_of_model_device(model.own.device)];
		model.data[get_index_of_model_device(model.own.device)] = 0;
		destroy_device(aftl_table_replace_device(table));
	}
}

static void resume_table_with_volume(u32 i, bool fails)
{
	struct aftl_table *table = &model.tables[i];

	if (model.resume[i] != AFTL_RESUME_AGAIN) {
		destroy_device(aftl_table_close_device(table));
		make_unowned_device(i);
		aftl_table_put_new_device_in_use(table);
	}
	if (fails)
		destroy_device(aftl_table_close_device(table));
}

/* Do the slow part of a resume. @choice 1: this part fails; 2: the end of the resume will fail. */
static bool execute_table_resume_in_model(u32 i, u32 choice)
{
	if (model.phase[i] != PHASE_RESUMING)
		return false;
	if (does_store_kind_use_volume(kinds[i]))
		resume_table_with_volume(i, choice);
	else
		resume_table_with_memory_store(i, choice == 1);
	model.resume[i] = 0;
	model.phase[i] = choice ? PHASE_FAILING : PHASE_RESUMED;
	return true;
}

static bool end_table_resume_in_model(u32 i, u32 choice)
{
	struct aftl_table *table = &model.tables[i];

	if (choice || (model.phase[i] != PHASE_RESUMED && model.phase[i] != PHASE_FAILING))
		return false;
	if (model.phase[i] == PHASE_FAILING) {
		aftl_table_fail_data_takeover(table);
	} else {
		aftl_table_finish_data_takeover(table);
		destroy_device(table->spare);
		table->spare = NULL;
		model.born = kinds[i] + 1;
		model.data[get_index_of_model_device(table->device)] = 1;
	}
	model.phase[i] = PHASE_IDLE;
	return true;
}

/* A mapped device can be suspended whether or not its table has the data. */
static bool suspend_or_unsuspend_table_in_model(u32 i, u32 choice)
{
	struct aftl_table *table = &model.tables[i];

	if (choice > 1 || model.phase[i] != PHASE_IDLE)
		return false;
	if (choice)
		aftl_table_set_stopped(table);
	else if (table->state == AFTL_TABLE_SUSPENDED)
		aftl_table_set_live(table);
	return true;
}

static bool begin_table_removal_in_model(u32 i, u32 choice)
{
	struct aftl_table *table = &model.tables[i];

	if (choice || model.phase[i] != PHASE_IDLE)
		return false;
	destroy_device(table->spare);
	table->spare = NULL;
	destroy_device(aftl_table_begin_free(table));
	model.phase[i] = PHASE_CLOSING;
	return true;
}

static bool end_table_removal_in_model(u32 i, u32 choice)
{
	if (choice || model.phase[i] != PHASE_CLOSING)
		return false;
	destroy_device(aftl_table_end_free(&model.tables[i]));
	memset(&model.tables[i], 0, sizeof(model.tables[i]));
	model.phase[i] = PHASE_NONE;
	return true;
}

typedef bool (*step_fn)(u32 i, u32 choice);

static const step_fn steps[] = {
	begin_table_load_in_model,
	end_table_load_in_model,
	refuse_table_resume_in_model,
	begin_table_resume_in_model,
	execute_table_resume_in_model,
	end_table_resume_in_model,
	suspend_or_unsuspend_table_in_model,
	begin_table_removal_in_model,
	end_table_removal_in_model,
};

/* Invariants of each state */

static u32 count_device_references(const struct aftl_device *device)
{
	u32 count = model.own.device == device;
	u32 i;

	for (i = 0; i < TABLES; i++)
		count += model.tables[i].spare == device;
	return count;
}

static void check_model_devices(void)
{
	u32 volumes = 0;
	u32 data = 0;
	u32 i;

	for (i = 0; i < DEVICES; i++) {
		CHECK_EQ(count_device_references(index_to_device(i)), model.kind[i] != 0);
		volumes += index_to_device(i) == model.own.device &&
			   does_store_kind_use_volume(model.kind[i] - 1);
		data += model.data[i];
	}
	CHECK(volumes <= 1);
	/* The data of a closed volume are on its backing device. */
	if (model.own.tables && model.born && !does_store_kind_use_volume(model.born - 1))
		CHECK(data == 1 && model.own.device &&
		      model.data[get_index_of_model_device(model.own.device)]);
	if (volumes)
		CHECK(model.own.state != AFTL_DATA_UNOWNED && model.own.state != AFTL_DATA_NONE);
}

static void check_owner_of_model_data(void)
{
	u32 see = 0;
	u32 i;

	for (i = 0; i < TABLES; i++) {
		const struct aftl_table *table = &model.tables[i];

		CHECK((table->state == AFTL_TABLE_SUSPENDED || table->state == AFTL_TABLE_LIVE) ==
		      !!table->device || model.phase[i] == PHASE_CLOSING);
		if (!table->device)
			continue;
		see++;
		CHECK(model.own.state == AFTL_DATA_OWNED && model.own.owner == table);
		CHECK(table->device == model.own.device &&
		      can_store_kind_take_over_data(model.born - 1, kinds[i]));
	}
	CHECK(model.own.state != AFTL_DATA_NONE || !model.own.exists);
	CHECK_EQ(see, model.own.state == AFTL_DATA_OWNED && model.own.tables);
}

/* The search */

#define SLOTS 1048576U

static struct model *states;
static u32 state_count;
static u32 *slots;

static u32 compute_hash_slot_of_state(void)
{
	const u8 *bytes = (const u8 *)&model;
	u64 hash = 14695981039346656037ULL;
	size_t i;

	for (i = 0; i < sizeof(model); i++)
		hash = (hash ^ bytes[i]) * 1099511628211ULL;
	return (u32)(hash >> 32) % SLOTS;
}

static void move_model_device_to_index(struct model *from, struct aftl_device **device, u32 index)
{
	if (!*device)
		return;
	model.kind[index] = from->kind[get_index_of_model_device(*device)];
	model.data[index] = from->data[get_index_of_model_device(*device)];
	*device = index_to_device(index);
}

/* States that differ only in device numbers are equal. */
static void renumber_all_model_devices(void)
{
	struct model from = model;
	u32 i;

	memset(model.kind, 0, sizeof(model.kind));
	memset(model.data, 0, sizeof(model.data));
	move_model_device_to_index(&from, &model.own.device, 0);
	for (i = 0; i < TABLES; i++) {
		if (model.tables[i].device)
			model.tables[i].device = model.own.device;
		move_model_device_to_index(&from, &model.tables[i].spare, 1 + i);
	}
}

/* Add the state to the queue, unless it is known. */
static void queue_new_state(void)
{
	u32 slot;

	check_model_devices();
	check_owner_of_model_data();
	renumber_all_model_devices();
	slot = compute_hash_slot_of_state();
	for (; slots[slot]; slot = (slot + 1) % SLOTS)
		if (!memcmp(&states[slots[slot] - 1], &model, sizeof(model)))
			return;
	if (state_count == SLOTS / 2)
		tap_bail_out("more than %u states", SLOTS / 2);
	states[state_count++] = model;
	slots[slot] = state_count;
}

static void queue_all_successors_of_state(const struct model *from)
{
	u32 i, j, choice;

	for (i = 0; i < TABLES; i++)
		for (j = 0; j < ARRAY_SIZE(steps); j++)
			for (choice = 0; choice < 3; choice++) {
				model = *from;
				if (steps[j](i, choice))
					queue_new_state();
			}
}

static void print_path_to_state(u32 at)
{
	tap_printf("kinds %u %u %u, from state %u: own %u of %d, phases %u %u %u", kinds[0],
		   kinds[1], kinds[2], at, states[at].own.state,
		   states[at].own.owner ? (int)(states[at].own.owner - model.tables) : -1,
		   states[at].phase[0], states[at].phase[1], states[at].phase[2]);
}

static u32 search_all_states(void)
{
	u32 at;

	memset(slots, 0, SLOTS * sizeof(*slots));
	memset(&model, 0, sizeof(model));
	state_count = 0;
	queue_new_state();
	for (at = 0; at < state_count && !tap_failure_count(); at++) {
		queue_all_successors_of_state(&states[at]);
		if (tap_failure_count())
			print_path_to_state(at);
	}
	return state_count;
}

static void check_all_operations_on_three_tables(void)
{
	u32 all = 0;
	u32 i, j, k;

	for (i = 0; i < KINDS; i++)
		for (j = i; j < KINDS; j++)
			for (k = j; k < KINDS && !tap_failure_count(); k++) {
				kinds[0] = i;
				kinds[1] = j;
				kinds[2] = k;
				all += search_all_states();
			}
	tap_printf("%u states; resumes: %u new, %u again, %u take over, %u refused", all,
		   resumes[0], resumes[1], resumes[2], refusals);
	CHECK(resumes[AFTL_RESUME_NEW] && resumes[AFTL_RESUME_AGAIN] &&
	      resumes[AFTL_RESUME_TAKE_OVER] && refusals);
}

int main(void)
{
	states = calloc(SLOTS / 2, sizeof(*states));
	slots = calloc(SLOTS, sizeof(*slots));
	if (!states || !slots)
		tap_bail_out("not enough memory for the states");
	tap_run("one of three tables owns the data in any call order; no data are lost or leaked",
		check_all_operations_on_three_tables);
	free(slots);
	free(states);
	return tap_finish();
}
