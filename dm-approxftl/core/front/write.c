// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host writes: which LUN they wait at, when they are programmed, what becomes of
 * several writes of the same unit.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

static bool has_room(const struct aftl_lun *lun)
{
	return lun->valid + lun->bound < lun->room;
}

/* All streams share one rotation: two of their own would meet at the same LUN. */
static struct aftl_lun *next_lun(struct aftl *ftl, struct aftl_bind *bind)
{
	u32 tries;

	for (tries = 0; tries < ftl->geo.luns; tries++) {
		ftl->rotation = ftl->rotation + 1 < ftl->geo.luns ? ftl->rotation + 1 : 0;
		bind->lun = ftl->rotation;
		if (has_room(&ftl->luns[bind->lun])) {
			bind->left = ftl->program_units;
			return &ftl->luns[bind->lun];
		}
	}
	return NULL;
}

/* The LUN that the address names; what a dead one had is spread over the others. */
static u32 home_of(const struct aftl *ftl, aftl_unit_t unit)
{
	u32 row = from_unit(unit) / ftl->program_units / ftl->geo.luns;
	u32 home = from_unit(unit) / ftl->program_units % ftl->geo.luns;
	u32 tries;

	if (likely(!aftl_lun_dead(&ftl->luns[home])))
		return home;
	home += 1 + row % max(ftl->geo.luns - 1, 1U);
	for (tries = 0; tries < ftl->geo.luns && aftl_lun_dead(&ftl->luns[home % ftl->geo.luns]);
	     tries++)
		home++;
	return home % ftl->geo.luns;
}

/* NULL if no LUN has room for another unit now. */
static struct aftl_lun *choose_lun(struct aftl *ftl, u32 stream, aftl_unit_t unit)
{
	struct aftl_bind *bind = &ftl->bind[stream];

	if (ftl->config.allocate == AFTL_ALLOCATE_STATIC) {
		bind->lun = home_of(ftl, unit);
		return has_room(&ftl->luns[bind->lun]) ? &ftl->luns[bind->lun] : NULL;
	}
	if (bind->left && has_room(&ftl->luns[bind->lun]))
		return &ftl->luns[bind->lun];
	return next_lun(ftl, bind);
}

/*
 * The buffered version of this unit has become pointless. A flush that waits for it
 * has to wait for its successor: the unit would be on flash in neither version.
 *
 * Return: the epoch of the successor.
 */
static u32 coalesce(struct aftl *ftl, aftl_unit_t unit)
{
	u32 older = aftl_pending_find(ftl, unit);

	if (older == AFTL_NIL || ftl->commands[older].request ||
	    ftl->commands[older].flags & (AFTL_COMMAND_PROGRAMMING | AFTL_COMMAND_DROPPED))
		return ftl->epoch;
	ftl->commands[older].flags |= AFTL_COMMAND_DROPPED;
	ftl->stats.counters.buffer_coalesced_units++;
	return ftl->commands[older].epoch;
}

static bool needs_flash(const struct aftl *ftl, const struct aftl_request *request)
{
	if (!aftl_buffered(ftl))
		return true;
	return request->flags & AFTL_REQUEST_FUA && !ftl->config.buffer_safe;
}

static void enqueue(struct aftl *ftl, struct aftl_lun *lun, u32 stream, u32 index)
{
	aftl_queue_add(ftl, &lun->writes[stream], index);
	lun->write_streams |= 1U << stream;
	lun->bound++;
	if (ftl->bind[stream].left)
		ftl->bind[stream].left--;
}

static void bind_unit(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit,
		      struct aftl_lun *lun, u32 stream)
{
	u32 index = aftl_command_get(ftl, true);
	struct aftl_command *command = &ftl->commands[index];

	prefetch(aftl_map_at(ftl, from_unit(unit)));
	command->epoch = coalesce(ftl, unit);
	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = needs_flash(ftl, request) ? request : NULL;
	command->unit = unit;
	command->class = aftl_stored_class(ftl, request->class);
	command->heat = request->heat;
	command->flags = 0;
	ftl->outstanding[command->epoch]++;
	aftl_pending_add(ftl, index);
	enqueue(ftl, lun, stream, index);
	if (ftl->ops->accept)
		ftl->ops->accept(ftl->host, request, unit, index);
	if (!command->request)
		aftl_request_part_done(ftl, request, 0);
}

/* Nothing is under way that could make room. */
static bool hopeless(const struct aftl *ftl)
{
	return ftl->free_write_count == ftl->write_commands;
}

static void fail_rest(struct aftl *ftl, struct aftl_request *request)
{
	u32 left = request->units - request->admitted;

	request->status = -ENOSPC;
	request->admitted = request->units;
	while (left--)
		aftl_request_part_done(ftl, request, 0);
}

/*
 * aftl_write_admit() - bind the units of @request as far as commands and room go
 *
 * A LUN is started when it has got its share of the request, not before: it could
 * not fill its pages otherwise.
 *
 * Return: whether the whole request is in.
 */
bool aftl_write_admit(struct aftl *ftl, struct aftl_request *request)
{
	u32 stream = aftl_stream(aftl_stored_class(ftl, request->class), request->heat);
	struct aftl_lun *filling = NULL;

	while (request->admitted < request->units) {
		aftl_unit_t unit = to_unit(request->unit + request->admitted);
		struct aftl_lun *lun = NULL;

		if (ftl->free_write_count && !ftl->read_only)
			lun = choose_lun(ftl, stream, unit);
		if (filling && filling != lun)
			aftl_lun_kick(ftl, filling, false);
		filling = lun;
		if (!lun && (ftl->read_only || hopeless(ftl)))
			fail_rest(ftl, request);
		if (!lun)
			break;
		request->admitted++;
		bind_unit(ftl, request, unit, lun, stream);
	}
	if (filling)
		aftl_lun_kick(ftl, filling, false);
	return request->admitted == request->units;
}

static void leave_controller(struct aftl *ftl, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];

	aftl_pending_remove(ftl, index);
	if (ftl->ops->release)
		ftl->ops->release(ftl->host, index);
	aftl_command_put(ftl, index, true);
	aftl_epoch_leave(ftl, command->epoch);
	if (ftl->wait_head[1])
		ftl->retry_writes = true;
}

static u32 pop_write(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	u32 index = aftl_queue_pop(ftl, &lun->writes[stream]);

	if (lun->writes[stream].head == AFTL_NIL)
		lun->write_streams &= ~(1U << stream);
	lun->bound--;
	return index;
}

/* Forget dropped writes at the head of a queue. */
static void purge(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	struct aftl_queue *queue = &lun->writes[stream];

	while (queue->head != AFTL_NIL &&
	       ftl->commands[queue->head].flags & AFTL_COMMAND_DROPPED)
		leave_controller(ftl, pop_write(ftl, lun, stream));
}

/* A write buffer waits for a full page unless somebody waits for the data. */
static bool must_go(const struct aftl *ftl, const struct aftl_queue *queue, u64 *due_ns)
{
	const struct aftl_command *head = &ftl->commands[queue->head];

	*due_ns = head->queued_ns + ftl->config.buffer_hold;
	return queue->count >= ftl->program_units || !aftl_buffered(ftl) || queue->waited ||
	       ftl->flushes || ftl->wait_head[1] || ftl->hurry || ftl->now_ns >= *due_ns;
}

/*
 * aftl_write_ready() - stream with the oldest write that may be programmed
 * @retry_ns: if there is none, when to ask again
 *
 * Return: the stream, or AFTL_STREAMS.
 */
u32 aftl_write_ready(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns)
{
	u32 best = AFTL_STREAMS;
	u32 streams = lun->write_streams;
	u64 due_ns;

	*retry_ns = AFTL_NEVER;
	for (; streams; streams &= streams - 1) {
		u32 stream = __ffs(streams);

		purge(ftl, lun, stream);
		if (lun->writes[stream].head == AFTL_NIL)
			continue;
		if (!must_go(ftl, &lun->writes[stream], &due_ns))
			*retry_ns = min(*retry_ns, due_ns);
		else if (best == AFTL_STREAMS ||
			 ftl->commands[lun->writes[stream].head].seq <
				 ftl->commands[lun->writes[best].head].seq)
			best = stream;
	}
	return best;
}

/* Older writes of the same unit must not be mapped when they are programmed. */
static void supersede_older(struct aftl *ftl, u32 index)
{
	while ((index = aftl_pending_older(ftl, index)) != AFTL_NIL)
		ftl->commands[index].flags |= AFTL_COMMAND_SUPERSEDED;
}

static void add_to_payload(struct aftl *ftl, struct aftl_payload *payload, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	u32 i = payload->count++;

	payload->unit[i] = command->unit;
	payload->from[i] = AFTL_NO_SLOT;
	payload->origin[i] = (struct aftl_origin){ .lineage = (u16)aftl_mix(command->seq) };
	payload->tag[i] = index;
	payload->stale[i] = command->flags & AFTL_COMMAND_SUPERSEDED;
	command->flags |= AFTL_COMMAND_PROGRAMMING;
	supersede_older(ftl, index);
}

/* Fill the payload up. Returns the commands in it, linked in order. */
static u32 take_payload(struct aftl *ftl, struct aftl_lun *lun, u32 stream, u32 units,
			struct aftl_payload *payload)
{
	struct aftl_queue group = { .head = AFTL_NIL };

	while (payload->count < units && lun->writes[stream].head != AFTL_NIL) {
		u32 index = pop_write(ftl, lun, stream);

		if (ftl->commands[index].flags & AFTL_COMMAND_DROPPED) {
			leave_controller(ftl, index);
			continue;
		}
		aftl_queue_add(ftl, &group, index);
		add_to_payload(ftl, payload, index);
	}
	return group.head;
}

/*
 * aftl_write_start() - program the head of @stream and what fits beside it
 *
 * Return: 0, or -ENOSPC if the policy has no place before garbage is collected.
 */
int aftl_write_start(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	const struct aftl_command *head = &ftl->commands[lun->writes[stream].head];
	struct aftl_need need = {
		.unit = head->unit,
		.units = min(lun->writes[stream].count, ftl->program_units),
		.class = head->class,
		.heat = head->heat,
		.cause = AFTL_CAUSE_HOST,
		.buffer_use = aftl_buffer_use(ftl),
	};
	struct aftl_placement placement;
	struct aftl_payload payload;
	int ret = aftl_program_place(ftl, lun, &need, &placement);

	if (ret)
		return ret;
	aftl_program_carry(ftl, &placement, &payload);
	lun->work.commands = take_payload(ftl, lun, stream,
					  aftl_placement_units(ftl, &placement), &payload);
	aftl_program_commit(ftl, lun, &need, &placement, &payload);
	aftl_lun_program(ftl, lun, AFTL_WORK_PROGRAM, &placement);
	return 0;
}

void aftl_write_done(struct aftl *ftl, u32 commands, u64 service_ns)
{
	while (commands != AFTL_NIL) {
		struct aftl_request *request = ftl->commands[commands].request;
		u32 next = ftl->commands[commands].next;

		leave_controller(ftl, commands);
		if (request)
			aftl_request_part_done(ftl, request, service_ns);
		commands = next;
	}
	aftl_request_admit_waiting(ftl, true);
}

static void fail_command(struct aftl *ftl, u32 index)
{
	struct aftl_request *request = ftl->commands[index].request;

	if (!request && !(ftl->commands[index].flags & AFTL_COMMAND_DROPPED))
		ftl->buffer_lost = true;
	leave_controller(ftl, index);
	if (!request)
		return;
	request->status = -ENOSPC;
	aftl_request_part_done(ftl, request, 0);
}

/*
 * aftl_write_fail() - no block will ever come free here: tell everybody who waits
 */
void aftl_write_fail(struct aftl *ftl, struct aftl_lun *lun)
{
	ftl->read_only = true;
	ftl->retry_writes = true;
	while (lun->write_streams)
		fail_command(ftl, pop_write(ftl, lun, __ffs(lun->write_streams)));
}

/* What has been accepted must be tried, even where there may be no room. */
static struct aftl_lun *any_lun(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (!aftl_lun_dead(&ftl->luns[i]))
			return &ftl->luns[i];
	return NULL;
}

static void rebind(struct aftl *ftl, u32 index)
{
	struct aftl_command *command = &ftl->commands[index];
	u32 stream = aftl_stream(command->class, command->heat);
	struct aftl_lun *lun = choose_lun(ftl, stream, command->unit);

	if (!lun)
		lun = any_lun(ftl);
	command->flags &= ~AFTL_COMMAND_PROGRAMMING;
	if (command->flags & AFTL_COMMAND_DROPPED)
		leave_controller(ftl, index);
	else if (lun)
		enqueue(ftl, lun, stream, index);
	else
		fail_command(ftl, index);
}

/*
 * aftl_write_rebind() - @lun is dead: others program @commands and what waits for it
 */
void aftl_write_rebind(struct aftl *ftl, struct aftl_lun *lun, u32 commands)
{
	u32 i;

	while (commands != AFTL_NIL) {
		u32 next = ftl->commands[commands].next;

		rebind(ftl, commands);
		commands = next;
	}
	while (lun->write_streams)
		rebind(ftl, pop_write(ftl, lun, __ffs(lun->write_streams)));
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_lun_kick(ftl, &ftl->luns[i], false);
	aftl_request_admit_waiting(ftl, true);
}

/*
 * aftl_write_forget() - a discard of @unit reached the controller
 */
void aftl_write_forget(struct aftl *ftl, aftl_unit_t unit)
{
	u32 index;

	for (index = aftl_pending_find(ftl, unit); index != AFTL_NIL;
	     index = aftl_pending_older(ftl, index)) {
		struct aftl_command *command = &ftl->commands[index];

		command->flags |= command->request ||
						  command->flags & AFTL_COMMAND_PROGRAMMING ?
					  AFTL_COMMAND_SUPERSEDED :
					  AFTL_COMMAND_DROPPED;
	}
}
