// SPDX-License-Identifier: GPL-2.0-only
/* Parses faults, arms them, and makes them happen. */
#include "core/ftl/controller.h"
#include "core/hif/hif.h"

const char *const aftl_fault_actions[] = {
	"unit", "block", "die", "age", "wear", "life", "power", NULL
};

const char *const aftl_fault_triggers[] = { "write", "read", "time", "program", NULL };
const char *const aftl_fault_states[] = { "pending", "due", "happened", "void", NULL };

static int parse_fault_keyword(const char *const *words, const char *text, const char *what,
			       u8 *value, struct aftl_error *error)
{
	struct aftl_error cause;
	u64 found;

	if (aftl_parse_value(AFTL_PARAM_CHOICE, words, text, &found, &cause))
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not a %s: %.150s", text, what,
				 cause.text);
	*value = (u8)found;
	return 0;
}

static int parse_fault_number(bool time, const char *text, u64 *value, struct aftl_error *error)
{
	return aftl_parse_value(time ? AFTL_PARAM_TIME : AFTL_PARAM_COUNT, NULL, text, value,
				error);
}

const char *aftl_get_name_of_fault_action(u8 action)
{
	return action == AFTL_FAULT_LIFE ? "end" : action == AFTL_FAULT_POWER ? "cut" : NULL;
}

static int parse_fault_operand(struct aftl_fault *fault, const char *text, struct aftl_error *error)
{
	const char *word = aftl_get_name_of_fault_action(fault->action);

	if (!word)
		return parse_fault_number(fault->action == AFTL_FAULT_AGE, text, &fault->number,
					  error);
	if (!strcmp(text, word))
		return 0;
	return aftl_fail(error, -EINVAL, "the fault %s takes the word %s, not \"%.40s\"",
			 aftl_fault_actions[fault->action], word, text);
}

int aftl_fault_parse(struct aftl_fault *fault, char *const *words, u32 count,
		     struct aftl_error *error)
{
	int ret;

	*fault = (struct aftl_fault){ .trigger = AFTL_FAULT_NOW };
	if (count != 2 && !(count == 5 && !strcmp(words[2], "after")))
		return aftl_fail(error, -EINVAL,
				 "a fault is \"ACTION NUMBER\" or \"ACTION NUMBER after TRIGGER NUMBER\", such as \"unit 5 after write 1000\"");
	ret = parse_fault_keyword(aftl_fault_actions, words[0], "fault", &fault->action, error);
	if (!ret)
		ret = parse_fault_operand(fault, words[1], error);
	if (ret || count == 2)
		return ret;
	ret = parse_fault_keyword(aftl_fault_triggers, words[3], "trigger", &fault->trigger, error);
	if (!ret)
		ret = parse_fault_number(fault->trigger == AFTL_FAULT_TIME, words[4],
					 &fault->after, error);
	return ret;
}

/* Carry out a fault, or one step of a long one. Return: -EAGAIN if further steps are left. */
static int execute_armed_fault(struct aftl *ftl, struct aftl_fault *fault)
{
	switch (fault->action) {
	case AFTL_FAULT_UNIT:
		return aftl_fail_unit(ftl, to_lpn((u32)fault->number));
	case AFTL_FAULT_BLOCK:
		return aftl_fail_block(ftl, (u32)fault->number);
	case AFTL_FAULT_DIE:
		return aftl_fail_lun(ftl, (u32)fault->number);
	case AFTL_FAULT_AGE:
		aftl_advance_age(ftl, fault->number);
		return 0;
	case AFTL_FAULT_WEAR:
		fault->worn_blocks =
			aftl_wear_out_blocks(ftl, (u32)fault->number, fault->worn_blocks);
		return fault->worn_blocks < ftl->geo.blocks ? -EAGAIN : 0;
	case AFTL_FAULT_LIFE:
		return aftl_fail_next_block(ftl) ? -EAGAIN : 0;
	default:
		ftl->ops->cut_power(ftl->host);
		return 0;
	}
}

static int check_fault_number(u64 number, const char *what, u64 end, struct aftl_error *error)
{
	if (number < end)
		return 0;
	return aftl_fail(error, -EINVAL, "\"%llu\" is not a %s; there are 0 to %llu",
			 (unsigned long long)number, what, (unsigned long long)end - 1);
}

static int check_fault_action(const struct aftl *ftl, const struct aftl_fault *fault,
			      struct aftl_error *error)
{
	const u64 ends[] = {
		ftl->geo.units, ftl->geo.blocks, ftl->geo.luns, U64_MAX, AFTL_WEAR_CYCLES, 1, 1
	};

	if (fault->action == AFTL_FAULT_LIFE && ftl->geo.zones)
		return aftl_fail(error, -EINVAL,
				 "a zoned device has no end of life: its zones become read-only one by one; let blocks or dies fail");
	if (fault->action == AFTL_FAULT_POWER && !ftl->ops->cut_power)
		return aftl_fail(error, -EINVAL,
				 "power is cut from durable devices of the kernel only: nothing of a simulated device, or of one in memory, is there after it to be opened again; create one with a block device as its store");
	return check_fault_number(fault->number, aftl_fault_actions[fault->action],
				  ends[fault->action], error);
}

static u64 get_event_count_of_fault_trigger(const struct aftl *ftl, u8 trigger)
{
	const struct aftl_fault_list *list = &ftl->faults;

	if (!list->armed)
		return 0;
	if (trigger == AFTL_FAULT_TIME)
		return ftl->now_ns - list->since_ns;
	return trigger == AFTL_FAULT_WRITE ? list->writes : list->reads;
}

static int check_fault_trigger(const struct aftl *ftl, const struct aftl_fault *fault,
			       struct aftl_error *error)
{
	u64 passed;

	if (fault->trigger == AFTL_FAULT_PROGRAM)
		return check_fault_number(fault->after, "unit", ftl->geo.units, error);
	passed = get_event_count_of_fault_trigger(ftl, fault->trigger);
	if (fault->after > passed && fault->after <= AFTL_TIME_MAX - ftl->now_ns)
		return 0;
	return aftl_fail(error, -EINVAL,
			 "%s %llu does not come any more: the counts began with the first fault that waits, and it is at %llu; take a later one, or clear the list",
			 aftl_fault_triggers[fault->trigger], (unsigned long long)fault->after,
			 (unsigned long long)passed);
}

void aftl_handle_fault_event(struct aftl *ftl)
{
	struct aftl_fault_list *list = &ftl->faults;
	struct aftl_fault *fault = list->all;
	int ret;

	if (!list->due)
		aftl_mark_triggered_faults_due(ftl, AFTL_FAULT_TIME, ftl->now_ns - list->since_ns);
	while (fault->state != AFTL_FAULT_DUE)
		fault++;
	list->due--;
	list->armed--;
	fault->state = AFTL_FAULT_HAPPENED;
	fault->when_ns = ftl->now_ns;
	aftl_faults_schedule_next_event(ftl);
	ret = execute_armed_fault(ftl, fault);
	if (ret == -EAGAIN) {
		list->due++;
		list->armed++;
		fault->state = AFTL_FAULT_DUE;
		aftl_faults_schedule_next_event(ftl);
	} else if (ret) {
		fault->state = AFTL_FAULT_VOID;
	}
}

/* Make room in a full list: drop the fault that was armed first and does not wait any more. */
static void drop_oldest_triggered_fault(struct aftl_fault_list *list)
{
	u32 i = 0;

	while (list->all[i].state < AFTL_FAULT_HAPPENED)
		i++;
	list->count--;
	memmove(&list->all[i], &list->all[i + 1], (list->count - i) * sizeof(list->all[i]));
}

static int add_fault_to_list(struct aftl *ftl, const struct aftl_fault *fault,
			     struct aftl_error *error)
{
	struct aftl_fault_list *list = &ftl->faults;

	if (list->armed == AFTL_FAULTS_MAX)
		return aftl_fail(error, -ENOSPC,
				 "%u faults wait, and the list has room for no more; clear it first",
				 list->armed);
	if (list->count == AFTL_FAULTS_MAX)
		drop_oldest_triggered_fault(list);
	if (!list->armed++) {
		list->since_ns = ftl->now_ns;
		list->writes = 0;
		list->reads = 0;
	}
	list->all[list->count++] = *fault;
	list->programs += fault->trigger == AFTL_FAULT_PROGRAM;
	list->due += fault->state == AFTL_FAULT_DUE;
	aftl_faults_schedule_next_event(ftl);
	return 0;
}

int aftl_arm_fault(struct aftl *ftl, const struct aftl_fault *fault, struct aftl_error *error)
{
	struct aftl_fault listed = *fault;
	int ret = check_fault_action(ftl, fault, error);

	listed.state = AFTL_FAULT_PENDING;
	listed.worn_blocks = 0;
	if (ret)
		return ret;
	if (fault->trigger == AFTL_FAULT_NOW &&
	    (fault->action == AFTL_FAULT_LIFE ||
	     (fault->action == AFTL_FAULT_WEAR && ftl->geo.blocks > AFTL_WEAR_BLOCKS))) {
		listed.trigger = AFTL_FAULT_TIME;
		listed.after = get_event_count_of_fault_trigger(ftl, AFTL_FAULT_TIME);
		listed.state = AFTL_FAULT_DUE;
		return add_fault_to_list(ftl, &listed, error);
	}
	if (fault->trigger == AFTL_FAULT_NOW) {
		ret = execute_armed_fault(ftl, &listed);
		return ret ? aftl_fail(error, ret,
				       "unit %llu is not on flash: it has no data, or they are in the write buffer; write it, flush, and wait for buffer_hold",
				       (unsigned long long)fault->number) : 0;
	}
	ret = check_fault_trigger(ftl, fault, error);
	return ret ? ret : add_fault_to_list(ftl, &listed, error);
}

void aftl_clear_faults(struct aftl *ftl)
{
	struct aftl_fault_list *list = &ftl->faults;
	u32 kept = 0;
	u32 i;

	for (i = 0; i < list->count; i++)
		if (list->all[i].state == AFTL_FAULT_DUE)
			list->all[kept++] = list->all[i];
	list->count = kept;
	list->armed = kept;
	list->programs = 0;
	aftl_faults_schedule_next_event(ftl);
}

u32 aftl_get_faults(const struct aftl *ftl, const struct aftl_fault **all)
{
	*all = ftl->faults.all;
	return ftl->faults.count;
}
