// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-pairing.h"

/* struct class_mark - a part of a write that has a class of its own */
struct class_mark {
	u64 begin;
	u64 end;
	u8 class;
	u8 by;
	struct class_mark *next;
};

/**
 * struct pending - a request that has begun and was not delivered yet
 * @request: the request as far as it is known; offset and length in bytes
 * @marks: parts with a class of their own, ordered by offset
 * @piece_begin: first sector of the request's piece that was inserted last
 * @left: sectors not completed yet
 * @emitted: bytes already delivered as parts, if the class changes within the request
 * @pieces: number of pieces of the request in the table
 * @cpu: CPU of the first event
 * @done: the completion was found, or is not waited for any longer
 * @zeroes: a note says that the request writes zeroes, although the trace calls it a write
 */
struct pending {
	struct trace_request request;
	struct class_mark *marks;
	u64 piece_begin;
	u32 left;
	u32 emitted;
	u32 pieces;
	u16 cpu;
	bool done;
	bool zeroes;
};

/**
 * struct piece - sectors of a request that have not been split so far
 * @begin: first sector
 * @end: sector behind the last one; equal to @begin for a flush
 * @number: number of the request that the piece belongs to, counted over the trace
 * @key: device and operation; 0 for a free entry
 */
struct piece {
	u64 begin;
	u64 end;
	u64 number;
	u32 key;
};

/* Initial numbers of entries in @pieces and @pending: both arrays fit in the L1 cache. */
#define FIRST_PIECES 1024U
#define FIRST_PENDING 128U

/* Wait for this many completions before requests are delivered, so that they come in batches. */
#define RIPE 32

/**
 * struct trace_pairing - matches completions with pending requests
 * @begin_act: kind of event that begins a request, enum trace_act
 * @pending: ring of all requests not delivered yet, by number
 * @ring: number of entries in @pending, a power of two
 * @first: number of the oldest request in @pending
 * @next: number of the next request
 * @pieces: hash table with open addressing
 * @room: number of entries in @pieces, a power of two
 * @used: number of entries of @pieces in use
 * @open: number of requests that have not ended
 * @ripe: completions since requests were last delivered; RIPE to deliver at once
 * @counts: anomalies
 */
struct trace_pairing {
	u8 begin_act;
	struct pending *pending;
	u32 ring;
	u64 first;
	u64 next;
	struct piece *pieces;
	u32 room;
	u32 used;
	u32 open;
	u32 ripe;
	struct trace_pairing_counts counts;
};

struct trace_pairing *trace_pairing_create(bool issue)
{
	struct trace_pairing *pairing = memory_alloc_zeroed(1, sizeof(*pairing));

	pairing->begin_act = issue ? TRACE_ACT_ISSUE : TRACE_ACT_QUEUE;
	pairing->ring = FIRST_PENDING;
	pairing->pending = memory_alloc_zeroed(FIRST_PENDING, sizeof(*pairing->pending));
	pairing->room = FIRST_PIECES;
	pairing->pieces = memory_alloc_zeroed(FIRST_PIECES, sizeof(*pairing->pieces));
	return pairing;
}

static struct pending *pending_request_at(const struct trace_pairing *pairing, u64 number)
{
	return &pairing->pending[number & (pairing->ring - 1)];
}

static void free_class_marks_of_request(struct pending *pending)
{
	struct class_mark *next;

	for (; pending->marks; pending->marks = next) {
		next = pending->marks->next;
		free(pending->marks);
	}
}

void trace_pairing_free(struct trace_pairing *pairing)
{
	if (!pairing)
		return;
	for (u64 number = pairing->first; number < pairing->next; number++)
		free_class_marks_of_request(pending_request_at(pairing, number));
	free(pairing->pending);
	free(pairing->pieces);
	free(pairing);
}

const struct trace_pairing_counts *trace_pairing_counts(const struct trace_pairing *pairing)
{
	return &pairing->counts;
}

static u32 sectors_of_request(const struct trace_event *event)
{
	return (u32)DIV_ROUND_UP((u64)event->bytes, TRACE_PAIRING_SECTOR);
}

/* Return the first sector of a request; 0 for a flush, which has no sectors. */
static u64 first_sector_of_event(const struct trace_event *event)
{
	return event->bytes ? event->sector : 0;
}

/* ---- hash table of pieces */

static u32 key_of_request_piece(u16 stream, u8 op)
{
	return ((u32)stream << 8 | op) + 1;
}

static u32 request_piece_hash_slot(const struct trace_pairing *pairing, u32 key, u64 begin)
{
	u64 hash = (begin ^ (u64)key << 48) * 0x9e3779b97f4a7c15ULL;

	return (u32)(hash >> 32) & (pairing->room - 1);
}

static inline void insert_request_piece(struct trace_pairing *pairing, u32 key, u64 number,
					u64 begin, u64 end)
{
	u32 place = request_piece_hash_slot(pairing, key, begin);
	struct piece *piece;

	while (pairing->pieces[place].key)
		place = (place + 1) & (pairing->room - 1);
	piece = &pairing->pieces[place];
	piece->begin = begin;
	piece->end = end;
	piece->number = number;
	piece->key = key;
	pairing->used++;
}

static void grow_request_piece_table(struct trace_pairing *pairing)
{
	struct piece *old = pairing->pieces, *piece;
	u32 room = pairing->room;

	pairing->room = 2 * room;
	pairing->pieces = memory_alloc_zeroed(pairing->room, sizeof(*old));
	pairing->used = 0;
	for (piece = old; piece < old + room; piece++)
		if (piece->key)
			insert_request_piece(pairing, piece->key, piece->number, piece->begin,
					     piece->end);
	free(old);
}

static void add_request_piece(struct trace_pairing *pairing, u32 key, u64 number, u64 begin,
			      u64 end)
{
	if (pairing->used * 4 >= pairing->room)
		grow_request_piece_table(pairing);
	insert_request_piece(pairing, key, number, begin, end);
}

/* Remove a hash table entry and move later entries up, so that there are no tombstones. */
static inline void remove_request_piece(struct trace_pairing *pairing, u32 gap)
{
	u32 mask = pairing->room - 1, at = gap;

	pairing->used--;
	for (;;) {
		struct piece *piece;
		u32 home;

		at = (at + 1) & mask;
		piece = &pairing->pieces[at];
		if (!piece->key)
			break;
		home = request_piece_hash_slot(pairing, piece->key, piece->begin);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		pairing->pieces[gap] = *piece;
		gap = at;
	}
	pairing->pieces[gap].key = 0;
}

#define NOWHERE U32_MAX

/* True if @piece matches a completion up to @end better than @best: by its end, or by its age. */
static bool does_piece_match_completion_better(const struct piece *piece, const struct piece *best,
					       u64 end)
{
	bool exact = piece->end == end;
	bool best_exact = best->end == end;

	return exact != best_exact ? exact : piece->number < best->number;
}

/* Find the piece of a pending request that begins at sector @begin. */
static inline u32 find_request_piece(const struct trace_pairing *pairing, u32 key, u64 begin,
				     u64 end)
{
	u32 place = request_piece_hash_slot(pairing, key, begin), best = NOWHERE;

	for (; pairing->pieces[place].key; place = (place + 1) & (pairing->room - 1)) {
		const struct piece *piece = &pairing->pieces[place];

		if (piece->key == key && piece->begin == begin &&
		    (best == NOWHERE ||
		     does_piece_match_completion_better(piece, &pairing->pieces[best], end)))
			best = place;
	}
	return best;
}

/* ---- requests */

/* Find any piece of a request: the piece that was inserted last or, if removed, by a scan. */
static u32 find_any_piece_of_request(const struct trace_pairing *pairing, u64 number)
{
	const struct pending *pending = pending_request_at(pairing, number);
	u32 key = key_of_request_piece(pending->request.stream, pending->request.op);
	u32 place = request_piece_hash_slot(pairing, key, pending->piece_begin);

	for (; pairing->pieces[place].key; place = (place + 1) & (pairing->room - 1))
		if (pairing->pieces[place].number == number)
			return place;
	for (place = 0; place < pairing->room; place++)
		if (pairing->pieces[place].key && pairing->pieces[place].number == number)
			return place;
	return NOWHERE;
}

static void stop_waiting_for_oldest_completion(struct trace_pairing *pairing)
{
	struct pending *oldest = pending_request_at(pairing, pairing->first);

	if (oldest->done)
		return;
	oldest->done = true;
	pairing->open--;
	pairing->counts.unfinished++;
	while (oldest->pieces--)
		remove_request_piece(pairing, find_any_piece_of_request(pairing, pairing->first));
}

/* Enlarge the ring of pending requests to hold those up to @end, the number after the last one. */
static void grow_request_ring(struct trace_pairing *pairing, u64 end)
{
	struct pending *old = pairing->pending;
	u32 ring = pairing->ring;

	pairing->pending = memory_alloc_zeroed(2 * (size_t)ring, sizeof(*old));
	pairing->ring = 2 * ring;
	for (u64 number = pairing->first; number < end; number++)
		*pending_request_at(pairing, number) = old[number & (ring - 1)];
	free(old);
}

/* Initialise @pending member by member: clearing the whole structure first takes twice as long. */
static inline void init_pending_request(struct pending *pending, const struct trace_event *event,
					u16 stream, u64 begin, u32 depth)
{
	struct trace_request *request = &pending->request;

	request->t_ns = event->t_ns;
	request->offset = begin * TRACE_PAIRING_SECTOR;
	request->bytes = event->bytes;
	request->latency_ns = 0;
	request->pid = event->pid;
	request->depth = depth;
	request->stream = stream;
	request->op = event->op;
	request->class = TRACE_PRECISE;
	request->by = TRACE_BY_NOBODY;
	request->fua = event->fua;
	request->preflush = event->preflush && event->op != AFTL_OP_FLUSH;
	pending->marks = NULL;
	pending->piece_begin = begin;
	pending->left = sectors_of_request(event);
	pending->emitted = 0;
	pending->pieces = 1;
	pending->cpu = event->cpu;
	pending->done = false;
	pending->zeroes = false;
}

static void begin_paired_request(struct trace_pairing *pairing, const struct trace_event *event,
				 u16 stream)
{
	u64 number = pairing->next++, begin = first_sector_of_event(event);

	if (number - pairing->first == pairing->ring)
		grow_request_ring(pairing, number);
	init_pending_request(pending_request_at(pairing, number), event, stream, begin,
			     ++pairing->open);
	add_request_piece(pairing, key_of_request_piece(stream, event->op), number, begin,
			  begin + sectors_of_request(event));
	if (number - pairing->first >= TRACE_PAIRING_WINDOW) {
		stop_waiting_for_oldest_completion(pairing);
		pairing->ripe = RIPE;
	}
}

static void end_paired_request(struct trace_pairing *pairing, struct pending *pending,
			       const struct trace_event *event)
{
	u64 begin_ns = pending->request.t_ns;

	pending->done = true;
	pairing->open--;
	pending->request.latency_ns = event->t_ns > begin_ns ? event->t_ns - begin_ns : 1;
	pairing->counts.failed += !!event->error;
}

/* Insert the remaining sectors of a request's piece that was removed from the table. */
static void insert_remaining_sectors_of_piece(struct trace_pairing *pairing, u32 key, u64 number,
					      u64 begin, u64 end)
{
	pending_request_at(pairing, number)->piece_begin = begin;
	insert_request_piece(pairing, key, number, begin, end);
}

/* Mark the sectors of a request's piece from its beginning up to @end as completed. */
static void complete_sectors_of_piece(struct trace_pairing *pairing, u32 place, u64 end,
				      const struct trace_event *event)
{
	const struct piece *piece = &pairing->pieces[place];
	u64 number = piece->number, piece_end = piece->end;
	struct pending *pending = pending_request_at(pairing, number);
	u32 key = piece->key;

	pending->left -= (u32)(end - piece->begin);
	remove_request_piece(pairing, place);
	if (!pending->left)
		end_paired_request(pairing, pending, event);
	if (end == piece_end)
		pending->pieces--;
	else
		insert_remaining_sectors_of_piece(pairing, key, number, end, piece_end);
}

/* Fast path: complete a request of one piece, if no other piece has its hash slot. */
static inline bool try_to_complete_unsplit_request(struct trace_pairing *pairing,
						   const struct trace_event *event, u32 key,
						   u64 begin, u64 end)
{
	u32 place = request_piece_hash_slot(pairing, key, begin);
	struct piece *piece = &pairing->pieces[place];
	struct pending *pending;

	if (piece->key != key || piece->begin != begin || piece->end != end ||
	    pairing->pieces[(place + 1) & (pairing->room - 1)].key)
		return false;
	pending = pending_request_at(pairing, piece->number);
	if (pending->pieces != 1)
		return false;
	piece->key = 0;
	pairing->used--;
	pending->pieces = 0;
	end_paired_request(pairing, pending, event);
	return true;
}

static void complete_paired_request(struct trace_pairing *pairing, const struct trace_event *event,
				    u16 stream)
{
	u32 key = key_of_request_piece(stream, event->op);
	u64 begin = first_sector_of_event(event), end = begin + sectors_of_request(event);
	bool any = false;

	if (likely(try_to_complete_unsplit_request(pairing, event, key, begin, end)))
		return;
	do {
		u32 place = find_request_piece(pairing, key, begin, end);
		u64 stop;

		if (place == NOWHERE) {
			pairing->counts.unbegun += !any;
			return;
		}
		any = true;
		stop = min(end, pairing->pieces[place].end);
		complete_sectors_of_piece(pairing, place, stop, event);
		begin = stop;
	} while (begin < end);
}

/* Number of latest requests among which the request of a note or split event is searched. */
#define RECENT 4096

static bool does_pending_request_contain_sectors(const struct pending *pending, u16 stream, u8 op,
						 u64 begin, u64 end)
{
	const struct trace_request *request = &pending->request;

	return !pending->done && request->op == op && request->stream == stream &&
	       request->offset <= begin * TRACE_PAIRING_SECTOR &&
	       request->offset + request->bytes >= end * TRACE_PAIRING_SECTOR;
}

/* Find the latest request that contains an event's sectors, preferably one of the same CPU. */
static struct pending *find_newest(const struct trace_pairing *pairing, u16 stream, u8 op,
				   u64 begin, u64 end, u16 cpu, u64 *number)
{
	u64 stop = pairing->next - min(pairing->next - pairing->first, (u64)RECENT), i;
	struct pending *found = NULL;

	for (i = pairing->next; i > stop; i--) {
		struct pending *pending = pending_request_at(pairing, i - 1);

		if (!does_pending_request_contain_sectors(pending, stream, op, begin, end) ||
		    (found && pending->cpu != cpu))
			continue;
		found = pending;
		*number = i - 1;
		if (pending->cpu == cpu)
			break;
	}
	return found;
}

/* Split a piece of a request at sector @cut; both parts complete independently. */
static void split_request_piece(struct trace_pairing *pairing, u32 place, u64 cut)
{
	struct piece *piece = &pairing->pieces[place];
	u64 end = piece->end;

	if (cut <= piece->begin || cut >= end)
		return;
	piece->end = cut;
	pending_request_at(pairing, piece->number)->pieces++;
	pending_request_at(pairing, piece->number)->piece_begin = cut;
	add_request_piece(pairing, piece->key, piece->number, cut, end);
}

/* A bio-based device resubmits the rest of a split bio, whose completion covers all the rest. */
static void begin_piece_for_resubmitted_split_bio(struct trace_pairing *pairing,
						  const struct trace_event *event, u16 stream)
{
	struct pending *pending;
	struct piece piece;
	u64 number;
	u32 place;

	pending = find_newest(pairing, stream, event->op, event->sector, event->sector + 1,
			      event->cpu, &number);
	place = pending ? find_any_piece_of_request(pairing, number) : NOWHERE;
	if (place == NOWHERE)
		return;
	piece = pairing->pieces[place];
	if (event->sector <= piece.begin || event->sector >= piece.end)
		return;
	remove_request_piece(pairing, place);
	pending->left = (u32)(piece.end - event->sector);
	insert_remaining_sectors_of_piece(pairing, piece.key, number, event->sector, piece.end);
}

static void split_pending_request(struct trace_pairing *pairing, const struct trace_event *event,
				  u16 stream)
{
	u32 place;

	if (event->detail == event->sector) {
		begin_piece_for_resubmitted_split_bio(pairing, event, stream);
		return;
	}
	place = find_request_piece(pairing, key_of_request_piece(stream, event->op), event->sector,
				   event->detail);
	if (place != NOWHERE)
		split_request_piece(pairing, place, event->detail);
}

/* ---- classes */

/* Give a part of a write the class of a note. Later notes override earlier notes. */
static void set_class_of_request_byte_range(struct pending *pending, u64 begin, u64 end,
					    const struct trace_event *event)
{
	struct class_mark **at = &pending->marks, *mark;

	while (*at && (*at)->begin < begin)
		at = &(*at)->next;
	if (*at && (*at)->begin == begin) {
		mark = *at;
	} else {
		mark = memory_alloc_zeroed(1, sizeof(*mark));
		mark->next = *at;
		*at = mark;
	}
	mark->begin = begin;
	mark->end = end;
	mark->class = event->class;
	mark->by = event->by;
}

static void apply_class_note_to_request(struct trace_pairing *pairing,
					const struct trace_event *event, u16 stream)
{
	u64 begin = event->sector, end = event->sector + event->bytes / TRACE_PAIRING_SECTOR;
	struct pending *pending;
	u64 number;

	pending = find_newest(pairing, stream, AFTL_OP_WRITE, begin, end, event->cpu, &number);
	if (!pending) {
		/* Newer kernels do not trace write-zeroes as writes: search those, too. */
		pairing->counts.untagged += event->op != AFTL_OP_WRITE_ZEROES ||
					    !find_newest(pairing, stream, event->op, begin, end,
							 event->cpu, &number);
		return;
	}
	if (event->op == AFTL_OP_WRITE_ZEROES) {
		pending->zeroes = true;
		return;
	}
	if (pending->request.bytes == event->bytes) {
		pending->request.class = event->class;
		pending->request.by = event->by;
		return;
	}
	set_class_of_request_byte_range(pending, begin * TRACE_PAIRING_SECTOR,
					end * TRACE_PAIRING_SECTOR, event);
}

static inline void pair_trace_event(struct trace_pairing *pairing, const struct trace_event *event,
				    u16 stream)
{
	switch (event->act) {
	case TRACE_ACT_QUEUE:
	case TRACE_ACT_ISSUE:
		if (event->act == pairing->begin_act)
			begin_paired_request(pairing, event, stream);
		break;
	case TRACE_ACT_COMPLETE:
		complete_paired_request(pairing, event, stream);
		pairing->ripe++;
		break;
	case TRACE_ACT_SPLIT:
		split_pending_request(pairing, event, stream);
		break;
	case TRACE_ACT_TAG:
		apply_class_note_to_request(pairing, event, stream);
		break;
	}
}

void trace_pairing_add_event(struct trace_pairing *pairing, const struct trace_event *event,
			     u16 stream)
{
	pair_trace_event(pairing, event, stream);
}

u32 trace_pairing_add_events(struct trace_pairing *pairing, const void *const *events, u32 count,
			     u32 device, u16 stream)
{
	u32 done;

	for (done = 0; done < count && pairing->ripe < RIPE; done++) {
		const struct trace_event *event = events[done];

		if (event->device != device || event->act > TRACE_ACT_SPLIT)
			break;
		pair_trace_event(pairing, event, stream);
	}
	return done;
}

void trace_pairing_end_all_requests(struct trace_pairing *pairing)
{
	for (u64 number = pairing->first; number < pairing->next; number++) {
		struct pending *pending = pending_request_at(pairing, number);

		pairing->counts.unfinished += !pending->done;
		pending->done = true;
	}
	pairing->ripe = RIPE;
}

/* Get a write's next part whose bytes have one class; return false if all parts were delivered. */
static bool take_next_byte_range_of_one_class(struct pending *pending, struct trace_request *part)
{
	u64 begin = pending->request.offset + pending->emitted;
	u64 end = pending->request.offset + pending->request.bytes;
	struct class_mark *mark = pending->marks;

	if (begin >= end)
		return false;
	*part = pending->request;
	while (mark && mark->end <= begin)
		mark = mark->next;
	if (mark && mark->begin > begin) {
		end = min(end, mark->begin);
	} else if (mark) {
		part->class = mark->class;
		part->by = mark->by;
		end = min(end, mark->end);
		while (mark->next && mark->next->begin == end &&
		       mark->next->class == part->class && mark->next->by == part->by) {
			mark = mark->next;
			end = mark->end;
		}
	}
	part->offset = begin;
	part->bytes = end - begin;
	part->preflush = part->preflush && !pending->emitted;
	pending->emitted += (u32)part->bytes;
	return true;
}

/* Deliver the oldest request or its next part; return false if its completion is unknown. */
static bool take_oldest_request(struct trace_pairing *pairing, struct trace_request *request)
{
	struct pending *oldest = pending_request_at(pairing, pairing->first);

	if (!oldest->done)
		return false;
	if (unlikely(oldest->marks)) {
		if (take_next_byte_range_of_one_class(oldest, request))
			return true;
		free_class_marks_of_request(oldest);
		pairing->first++;
		return trace_pairing_take_request(pairing, request);
	}
	*request = oldest->request;
	if (unlikely(oldest->zeroes))
		request->op = AFTL_OP_WRITE_ZEROES;
	pairing->first++;
	return true;
}

bool trace_pairing_take_request(struct trace_pairing *pairing, struct trace_request *request)
{
	if (pairing->ripe < RIPE)
		return false;
	if (pairing->first < pairing->next && take_oldest_request(pairing, request))
		return true;
	pairing->ripe = 0;
	return false;
}
