// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input bytes are the answers of a policy, and the requests in between. The policy may waste space
 * and be refused, but no program may be faster, no erase wear less, and no page have fewer errors
 * than an independent account allows. Reads of precise data are correct or fail.
 */
#include "account.h"
#include "lib/fuzz.h"

#define REQUESTS 16
#define UNITS_EACH 12
#define UNITS_MAX 2000
#define EVENTS_MAX 300000

/* Content of a slot or tag. */
struct content {
	u32 unit;
	u32 stamp;
	u32 class;
	bool programmed;
};

static struct {
	struct fuzz_bytes input;
	struct aftl *ftl;
	struct aftl_policy_type type;
	const struct aftl_policy_type *honest;
	struct aftl_request requests[REQUESTS];
	bool busy[REQUESTS];
	u32 pending;
	/* By request and unit: stamp of a write, or the oldest stamp that a read may return. */
	u32 stamps[REQUESTS][UNITS_EACH];
	u32 newest;
	u32 *done;
	/* By unit: newest stamp that was lost without a program; flushes report the loss. */
	u32 *given_up;
	struct content *tags;
	struct content *slots;
	struct account account;
	struct aftl_piggyback carry[2];
} run;

static u32 next(void)
{
	return fuzz_next(&run.input);
}

static u32 next16(void)
{
	return fuzz_next16(&run.input);
}

/* Return false if the input has ended: the policy then behaves. */
static bool lies(void)
{
	return next() >= 160;
}

/* Answers of the policy */

static struct aftl_block *any_block(void)
{
	return &run.ftl->media.blocks[next16() % run.ftl->geo.blocks];
}

static void bend(struct aftl_placement *placement)
{
	u32 what = next();

	if (what & 1)
		placement->mode = next() % (AFTL_MODES + 2);
	if (what & 2)
		placement->ispp = (struct aftl_ispp){ next16(), next16(), next() };
	if (what & 4)
		placement->ispp = (struct aftl_ispp){ next() * 2, next() * 2, next() % 6 };
	if (what & 8)
		placement->page = next16();
	if (what & 16)
		placement->pages = next() % 8;
	if (what & 32)
		placement->block = any_block();
	if (what & 64) {
		run.carry[0].from = any_block();
		run.carry[0].page = next16();
		run.carry[1] = run.carry[next() % 2];
		placement->piggyback = run.carry;
		placement->piggybacked = next() % (ARRAY_SIZE(run.carry) + 1);
	}
	placement->monitor = what >> 7;
}

/* Request an invalid kind or order. */
static void open_wildly(struct aftl_policy *policy, struct aftl_lun *lun,
			const struct aftl_program_request *need)
{
	u64 bugs = run.ftl->stats.counters.policy_bugs;
	u32 free = lun->free_blocks;
	u32 wild = next16() << (next() % 17);

	if (next() & 1 || run.ftl->geo.passes > 1)
		demand(!aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SEQUENTIAL,
					       AFTL_KINDS_MAX + wild));
	else
		demand(!aftl_policy_open_block(policy, lun, need, AFTL_ORDERS + wild, 0));
	demand(lun->free_blocks == free);
	demand(run.ftl->stats.counters.policy_bugs > bugs || need->cause == AFTL_CAUSE_HOST);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun,
		 const struct aftl_program_request *need, struct aftl_placement *placement)
{
	int ret;

	if (lies())
		open_wildly(policy, lun, need);
	ret = run.honest->place(policy, lun, need, placement);
	if (lies())
		bend(placement);
	if (placement->block && lies())
		placement->block->flip = next() & 1;
	return ret || next() > 250 ? -ENOSPC : 0;
}

static bool programmed(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_placement *placement,
		       const struct aftl_program_result *outcome)
{
	bool again = run.honest->programmed &&
		     run.honest->programmed(policy, lun, placement, outcome);

	return lies() ? next() & 1 : again;
}

static u32 stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u32 honest = run.honest->stream ? run.honest->stream(policy, write) : 0;

	return lies() ? next() : honest;
}

static bool gentle(struct aftl_policy *policy, const struct aftl_block *block)
{
	bool answer = next() & 1;

	account_gentle(&run.account, block, answer);
	return answer;
}

static u32 reference(struct aftl_policy *policy, const struct aftl_block *block, u32 page)
{
	return next16() * next();
}

static u32 victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_block *block)
{
	return next();
}

static u32 lun(struct aftl_policy *policy, const struct aftl_lun_request *binding)
{
	if (lies())
		return next();
	return run.honest->lun ? run.honest->lun(policy, binding) :
				 aftl_lun_request_at(binding, binding->turn);
}

static void chore(struct aftl_policy *policy, struct aftl_lun *mine, struct aftl_idle_task *answer)
{
	if (run.honest->idle_task)
		run.honest->idle_task(policy, mine, answer);
	if (!lies())
		return;
	*answer = (struct aftl_idle_task){
		.kind = next() % 6,
		.lpn = to_lpn(next16()),
		.block = next() & 7 ? any_block() : NULL,
		.page = next(),
		.pages = next(),
	};
}

static bool accept_free(struct aftl_policy *policy, const struct aftl_block *block)
{
	bool honest = !run.honest->accept_free || run.honest->accept_free(policy, block);

	return lies() ? next() & 1 : honest;
}

static void no_room(struct aftl_policy *policy, struct aftl_lun *mine)
{
	if (run.honest->out_of_blocks)
		run.honest->out_of_blocks(policy, mine);
	if (lies())
		aftl_policy_close_block(policy, any_block());
}

static struct aftl_block *victim(struct aftl_policy *policy,
				 const struct aftl_victim_candidates *closed)
{
	return lies() ? any_block() : NULL;
}

static bool copy(struct aftl_policy *policy, const struct aftl_relocation *move, u32 *class,
		 u32 *warm)
{
	bool wanted = run.honest->relocate ? run.honest->relocate(policy, move, class, warm) :
					 move->class == move->pass;

	if (lies())
		*class = next();
	if (lies())
		*warm = next();
	return lies() ? next() & 1 : wanted;
}

static u32 retention_hours(struct aftl_policy *policy, u32 class, u32 mode)
{
	return next();
}

static void make_adversary(void)
{
	run.type = *run.honest;
	run.type.place = place;
	run.type.programmed = programmed;
	run.type.stream = stream;
	run.type.shallow_erase = gentle;
	run.type.reference = reference;
	run.type.victim_rank = victim_rank;
	run.type.select_victim = victim;
	run.type.relocate = copy;
	if (!run.honest->relocate)
		run.type.copy_passes = AFTL_CLASSES;
	run.type.retention_hours = retention_hours;
	run.type.lun = lun;
	run.type.idle_task = chore;
	run.type.accept_free = accept_free;
	run.type.out_of_blocks = no_room;
}

/* Host callbacks */

static u32 *stamp_of(const struct aftl_request *request, u32 unit)
{
	demand(unit - request->unit < request->units);
	return &run.stamps[request - run.requests][unit - request->unit];
}

static void accept_write(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	u32 *stamp = stamp_of(request, from_lpn(lpn));

	*stamp = ++run.newest;
	run.tags[tag] = (struct content){ from_lpn(lpn), *stamp, request->class, false };
}

static void program(void *host, u32 tag, aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	demand(run.tags[tag].unit == from_lpn(lpn));
	run.slots[from_ppn(ppn)] = run.tags[tag];
	run.tags[tag].programmed = true;
}

static void release(void *host, u32 tag)
{
	const struct content *content = &run.tags[tag];

	if (!content->programmed)
		run.given_up[content->unit] = max(run.given_up[content->unit], content->stamp);
}

static void copy_slot(void *host, aftl_lpn_t lpn, aftl_ppn_t from, aftl_ppn_t to)
{
	demand(run.slots[from_ppn(from)].unit == from_lpn(lpn));
	run.slots[from_ppn(to)] = run.slots[from_ppn(from)];
}

static void erase(void *host, aftl_ppn_t first, u32 slots)
{
	memset(&run.slots[from_ppn(first)], 0xff, slots * sizeof(*run.slots));
	account_erased(&run.account, first);
}

static void check_account(void)
{
	if (!run.account.wrong[0])
		return;
	fprintf(stderr, "%s: %s\n", run.honest->name, run.account.wrong);
	abort();
}

static void watch(void *host, const struct aftl_array_event *event)
{
	account_event(&run.account, event);
	check_account();
}

static void read_one(void *host, struct aftl_request *request, const struct aftl_read *read)
{
	u32 unit = from_lpn(read->lpn);
	u32 least = *stamp_of(request, unit);
	struct content content;

	if (read->lost)
		return;
	if (read->source == AFTL_SOURCE_ZERO) {
		demand(run.given_up[unit] >= least);
		return;
	}
	content = read->source == AFTL_SOURCE_BUFFER ? run.tags[read->tag] :
						       run.slots[from_ppn(read->ppn)];
	demand(content.unit == unit && max(content.stamp, run.given_up[unit]) >= least);
	demand(content.class == AFTL_APPROX || !read->flips);
}

static void complete(void *host, struct aftl_request *request)
{
	u32 index = request - run.requests;
	u32 i;

	demand(index < REQUESTS && run.busy[index]);
	run.busy[index] = false;
	run.pending--;
	if (request->op != AFTL_OP_WRITE || request->status)
		return;
	for (i = 0; i < request->units; i++)
		run.done[request->unit + i] = max(run.done[request->unit + i],
						  run.stamps[index][i]);
}

static const struct aftl_host_ops ops = {
	.alloc = fuzz_alloc,
	.free = fuzz_free,
	.complete = complete,
	.accept = accept_write,
	.program = program,
	.release = release,
	.copy = copy_slot,
	.erase = erase,
	.array = watch,
	.read = read_one,
};

/* The device */

static void give_cache_and_handles(struct aftl_config *config, u32 shares)
{
	config->placement_handles = shares >> 4 & 3;
	config->placement_isolation = shares >> 6 & 1;
	if (config->bits == 1)
		return;
	config->slc_static = (shares & 3) * 600;
	config->slc_dynamic = (shares >> 2 & 3) * 3000;
}

/* Small translation pages, few of which are cached. */
static void give_map(struct aftl_config *config, u32 flags)
{
	if (!(flags & 1))
		return;
	config->placement_handles = 0;
	config->page = 512;
	config->unit = 512;
	config->map_cache = 1024 * config->channels * (config->one_shot ? config->bits : 1);
}

static void shape(struct aftl_config *config)
{
	u32 flags = next();
	u32 shares;

	config->channels = 1 + next() % 2;
	config->chips = 1;
	config->dies = 1;
	config->planes = 1;
	config->blocks = 12 + next() % 36;
	config->layers = 1 + next() % 6;
	config->word_lines = 1 + next() % 6;
	config->op = 3000 + next() * 25;
	config->one_shot = flags & 1;
	config->cell_model = flags >> 1 & 1;
	config->buffer = flags & 4 ? 65536 : 0;
	config->wear_times = flags >> 3 & 1;
	config->cycles = flags & 16 ? 2000 : 0;
	config->misprograms = flags & 32 ? 100000000000ULL : 0;
	config->errors = !(flags & 64);
	config->program_follower = flags & 128 ? config->program * (1 + next()) / 256 : 0;
	config->tvr_margin = next() * 10000 / 255;
	config->age = next() * AFTL_DAY_NS;
	config->idle = 1 + next() * 5000;
	config->fill = 0;
	shares = next();
	give_cache_and_handles(config, shares);
	give_map(config, shares >> 7);
}

static bool create(void)
{
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_error error = { "" };
	u32 profiles = 0;
	u32 policies = 0;

	while (aftl_policy_at(policies))
		policies++;
	while (aftl_profile_name(profiles))
		profiles++;
	if (aftl_profile_load(&config, aftl_profile_name(next() % profiles), &error))
		abort();
	run.honest = aftl_policy_at(next() % policies);
	make_adversary();
	shape(&config);
	return !aftl_geometry_init(&geo, &config, &error) && geo.ppns <= UNITS_MAX &&
	       !aftl_create(&run.ftl, &config, &run.type, &ops, NULL, &error);
}

static void wait_for(u32 pending)
{
	u32 events = 0;

	while (run.pending > pending) {
		u64 when = aftl_next_event(run.ftl);

		demand(when != U64_MAX && events++ < EVENTS_MAX);
		aftl_advance(run.ftl, when);
	}
}

static void submit(u32 op)
{
	struct aftl_request *request;
	u32 index = 0;
	u32 said;

	wait_for(REQUESTS - 1);
	while (run.busy[index])
		index++;
	request = &run.requests[index];
	said = next();
	*request = (struct aftl_request){
		.op = op,
		.unit = next16() % (run.ftl->geo.units - UNITS_EACH),
		.units = 1 + next() % UNITS_EACH,
		.class = said & 1,
		.level = said & 1 ? said >> 4 & 3 : 0,
		.hint = { .stream = said >> 1 & 7 },
		.arrival_ns = aftl_now(run.ftl) + next16() * 100ULL,
	};
	memcpy(run.stamps[index], &run.done[request->unit], sizeof(run.stamps[index]));
	run.busy[index] = true;
	run.pending++;
	demand(!aftl_submit(run.ftl, request));
}

static void act(void)
{
	u32 what = next() % 32;

	if (what < 30)
		submit(what < 20 ? AFTL_OP_WRITE : AFTL_OP_READ);
	else if (what == 30)
		aftl_age(run.ftl, next() * 86400000000000ULL);
	else
		aftl_advance(run.ftl, aftl_now(run.ftl) + next16() * 10000ULL);
}

static void attack(void)
{
	struct aftl_error error = { "" };

	run.done = calloc(run.ftl->geo.units, sizeof(*run.done));
	run.given_up = calloc(run.ftl->geo.units, sizeof(*run.given_up));
	run.tags = calloc(aftl_tag_count(run.ftl), sizeof(*run.tags));
	run.slots = calloc(run.ftl->geo.ppns, sizeof(*run.slots));
	demand(account_open(&run.account, run.ftl));
	while (run.input.left && run.ftl->geo.units > UNITS_EACH)
		act();
	wait_for(0);
	account_sums(&run.account);
	check_account();
	if (aftl_audit(run.ftl, &error)) {
		fprintf(stderr, "audit: %s\n", error.text);
		abort();
	}
	free(run.done);
	free(run.given_up);
	free(run.tags);
	free(run.slots);
	account_close(&run.account);
}

int fuzz_input(const u8 *data, size_t size)
{
	memset(&run, 0, sizeof(run));
	run.input.data = data;
	run.input.left = size;
	if (create())
		attack();
	aftl_destroy(run.ftl);
	return 0;
}
