/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every parameter of the emulated device, defined once. The file of a policy or rule defines the
 * parameters that only it has, by the same macro.
 *
 * PARAM(name, type, smallest, largest, default, help)
 *
 * The name is the key on the simulator's command line and on the table line. Types and their stored
 * unit: COUNT (a number), BYTES, TIME (nanoseconds), PERCENT (hundredths of a percent), RATE
 * (events per 10^12), CHOICE (index into the list of words of the same name in params.c), and
 * WEIGHTS (up to AFTL_QUEUES_MAX weights, one byte each, the first one in the lowest byte).
 *
 * The defaults are those of the profile "demo"; profiles.c lists how the other
 * profiles differ. Define PARAM before each include; there is no include guard.
 */

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)
#define DAY (86400 * SEC)
#define KIB 1024ULL

/* Geometry */
PARAM(channels, COUNT, 1, 64, 2, "channel buses")
PARAM(shards, COUNT, 1, 64, 1,
	"independent FTLs (shards) among which channels and addresses are divided")
PARAM(chips, COUNT, 1, 64, 2, "chips on each channel")
PARAM(dies, COUNT, 1, 16, 1, "dies in each chip")
PARAM(planes, COUNT, 1, 16, 1, "planes in each die")
PARAM(plane_mode, CHOICE, 0, 2, AFTL_PLANES_SHARED,
	"planes of a die work one at a time, independently, or (as in real dies) as one wide block")
PARAM(multi_plane_read, CHOICE, 0, 3, AFTL_PLANE_READ_SAME_BLOCK,
	"pages in different planes of wide blocks that a die senses together if reads of them wait")
PARAM(blocks, COUNT, 1, 1 << 20, 128, "blocks in each plane")
PARAM(layers, COUNT, 1, 512, 8, "layers of word lines in a block")
PARAM(word_lines, COUNT, 1, 1024, 16, "word lines in each layer")
PARAM(super_layers, COUNT, 2, 64, 2,
	"layers whose word lines can be reprogrammed in any order; chips of 2022 allow two (ressd)")
PARAM(bits, COUNT, 1, 4, 1, "pages in each word line")
PARAM(page, BYTES, 512, 64 * KIB, 8 * KIB, "flash page")
PARAM(unit, BYTES, 0, 64 * KIB, 4 * KIB, "mapping unit; 0 maps whole flash pages")
PARAM(one_shot, CHOICE, 0, 1, AFTL_OFF, "program all pages of a word line at once")
PARAM(passes, COUNT, 1, 2, 1,
	"program passes of a word line of four bits; 2: a coarse (foggy) and a fine pass")
PARAM(op, PERCENT, 0, 9000, 1500, "over-provisioning: physical capacity kept from the host")
PARAM(bad, RATE, 0, 200000000000ULL, 0, "share of blocks that are bad from the factory")

/* Times of the flash array and the buses */
PARAM(read, TIME, 0, SEC, 45 * US, "sense one page")
PARAM(read_first, TIME, 0, SEC, 0, "sense the first page of a word line; 0: as read")
PARAM(read_last, TIME, 0, SEC, 0, "sense the last page of a word line; 0: as read")
PARAM(read_move, TIME, 0, SEC, 0,
	"sense a page that is relocated, its share if planes read together; 0: as any page")
PARAM(read_mlc, TIME, 0, SEC, 0, "sense one page of a block in MLC mode; 0: as read")
PARAM(read_slc, TIME, 0, SEC, 25 * US,
	"sense one page of a block in SLC mode; 0: as read")
PARAM(read_tlc, TIME, 0, SEC, 0, "sense one page of a block in TLC mode; 0: as read")
PARAM(read_coarse, TIME, 0, SEC, 0,
	"sense a page with errors as of coarse steps, in three levels; 0: as read")
PARAM(read_fine, TIME, 0, SEC, 0,
	"sense a page with errors as of fine steps, in one level; 0: as read")
PARAM(program, TIME, 1, 10 * SEC, 700 * US, "program, standard mode")
PARAM(program_fast, TIME, 0, 10 * SEC, 0,
	"program the first page of a word line in page-wise programming; 0: as program")
PARAM(program_reduced, TIME, 0, 10 * SEC, 0,
	"program with reduced top threshold voltage; 0: 62.5 % of program")
PARAM(program_between, TIME, 0, 10 * SEC, 0,
	"program a precise page whose later neighbours are approximate; 0: 76 % of program")
PARAM(program_after, TIME, 0, 10 * SEC, 0,
	"program a precise page after all its neighbours; 0: 67 % of program")
PARAM(program_coarse, TIME, 0, 10 * SEC, 0,
	"program with a coarse voltage step; 0: two thirds of program")
PARAM(program_fine, TIME, 0, 10 * SEC, 0,
	"program with a fine voltage step; 0: four thirds of program")
PARAM(program_follower, TIME, 0, 10 * SEC, 0,
	"program a word line with parameters learned from its leader; 0: as the loop model says")
PARAM(program_mlc, TIME, 1, 10 * SEC, 624 * US, "program two bits into a TLC word line")
PARAM(program_slc, TIME, 1, 10 * SEC, 200 * US,
	"program in SLC mode: one bit per cell in cells for more")
PARAM(program_tlc, TIME, 1, 10 * SEC, 700 * US,
	"program in TLC mode: three bits per cell in cells for four")
PARAM(program_foggy, TIME, 1, 10 * SEC, 300 * US,
	"coarse (foggy) pass of a word line with two passes")
PARAM(reprogram, TIME, 1, 10 * SEC, 631 * US, "reprogram a page of a word line in MLC mode")
PARAM(erase, TIME, 1, 10 * SEC, 3500 * US, "erase a block")
PARAM(wear_times, CHOICE, 0, 1, AFTL_OFF,
	"program and erase times change with a block's erases as TVR's authors measured")
PARAM(bus, COUNT, 1, 100000, 400, "channel transfer rate in MB/s")
PARAM(command, TIME, 0, MS, 0, "channel time of one command")
PARAM(ecc, TIME, 0, MS, 0, "decode a precise page; approximate pages skip it")
PARAM(ecc_retry, TIME, 0, SEC, 45 * US, "each extra sensing level of a precise page")
PARAM(controller, TIME, 0, MS, 0, "controller and link time of a request")
PARAM(controller_command, TIME, 0, MS, 0,
	"controller time per request, one request at a time, in each direction; 0: none")
PARAM(controller_append, TIME, 0, MS, 0,
	"time that is added to controller_command of a zone append; 0: none")
PARAM(controller_vary, TIME, 0, MS, 0,
	"mean of a random time that is added to controller_command, distributed exponentially")
PARAM(controller_program, TIME, 0, MS, 0,
	"controller time of a program of host data, during which writes of the host wait; 0: none")
PARAM(controller_relocate, TIME, 0, MS, 0,
	"as controller_program, of a program of relocated data")
PARAM(housekeeping, TIME, 0, SEC, 0,
	"time for which no programs of host data start after blocks have been erased; 0: none")
PARAM(housekeeping_every, TIME, 1, 1000 * SEC, 100 * MS,
	"least time from the end of one housekeeping to the next")
PARAM(link, COUNT, 0, 1000000, 0,
	"transfer rate of the host link in MB/s, each way; 0: it takes no time")
PARAM(link_command, TIME, 0, MS, 0, "link time of a request, where the link takes time")
PARAM(energy, COUNT, 0, 10000000, 82500, "power of an active die in microwatts")

/* Scheduling */
PARAM(order, CHOICE, 0, 1, AFTL_SCHED_READ_FIRST, "order of the host commands of a die")
PARAM(allocate, CHOICE, 0, AFTL_ALLOCATES - 1, AFTL_ALLOCATE_rotate,
	"allocation rule for the die of a write, unless the policy chooses it")
PARAM(stripe, CHOICE, 0, 23, 0,
	"allocation order of channel (c), way (w), die (d) and plane (p), the fastest first")
PARAM(queue_weights, WEIGHTS, 0, U64_MAX, 0,
	"weights of the host queues, such as 3:1, when commands are short; 0: one queue")
PARAM(row, COUNT, 1, 1000, 1,
	"programs that a die executes in a row before a waiting read")
PARAM(write_expire, TIME, 0, 1000 * SEC, 10 * MS,
	"time that a die's reads overtake a write that a request waits for; 0: without limit")
PARAM(suspend, CHOICE, 0, 3, AFTL_SUSPEND_OFF, "operations that a read may suspend")
PARAM(suspend_cost, TIME, 0, MS, 20 * US,
	"time from a suspend until the die accepts a read; the resume takes as long again")
PARAM(suspend_step, TIME, 0, SEC, 0,
	"array time between the points at which an operation can be suspended; 0: any time")
PARAM(suspend_limit, COUNT, 1, 1000, 8, "how often one operation may be suspended")
PARAM(suspend_reads, COUNT, 0, 1000, 0,
	"reads that a die starts before it resumes a suspended operation; 0: all that wait")
PARAM(suspend_for_write, CHOICE, 0, 1, AFTL_OFF,
	"programs of waiting host writes suspend an erase, at most suspend_limit times")
PARAM(cache_commands, CHOICE, 0, 3, AFTL_CACHE_COMMANDS_OFF,
	"read: sense the next page during a transfer; program: take its data during a program")
PARAM(cache_busy, TIME, 0, MS, 3 * US,
	"with cache_commands, time to move a page between the cache and the data register")
PARAM(idle, TIME, 1, 1000 * SEC, MS, "a die without work for this long is idle")
PARAM(buffer, BYTES, 0, 1ULL << 32, 0, "write buffer; 0: a write waits for its program")
PARAM(buffer_safe, CHOICE, 0, 1, AFTL_OFF,
	"the write buffer survives power loss; without a buffer it changes nothing")
PARAM(buffer_hold, TIME, 0, SEC, 5 * MS, "how long data stays in the write buffer at most")
PARAM(buffer_high, PERCENT, 0, 10000, 5000,
	"use of the write buffer from which on full pages are programmed; 0: always")
PARAM(read_cache, BYTES, 0, 1ULL << 32, 0,
	"read cache of the controller; 0: none")
PARAM(read_ahead, BYTES, 0, 64 * KIB * KIB, 0,
	"distance of the read-ahead of sequential reads into read_cache; 0: none")
PARAM(read_hit, TIME, 0, MS, 0,
	"controller and link time of a hit in read_cache; 0: as controller")
PARAM(depth, COUNT, 16, 1 << 20, 2048, "page commands the controller can hold, per direction")

/* Space and wear */
PARAM(gc, PERCENT, 0, 9000, 1000,
	"free blocks below which idle dies collect; they are taken from the spare space")
PARAM(gc_mode, CHOICE, 0, 1, AFTL_GC_BLOCK,
	"paced: each host write waits for its share of garbage collection; block: for whole blocks")
PARAM(gc_pace, COUNT, 0, 1 << 20, 3,
	"free blocks of a die above the policy's reserve at or below which collection is paced")
PARAM(gc_idle_valid, PERCENT, 0, 10000, 9000,
	"most valid data a victim may hold while there is no pressure")
PARAM(gc_idle_limit, CHOICE, 0, 1, AFTL_GC_IDLE_ADAPTIVE,
	"free blocks up to which idle dies collect: fixed: gc; adaptive: as writes need, up to gc")
PARAM(map_cache, BYTES, 0, 1ULL << 36, 0,
	"cached mapping table (CMT), with the L2P table on flash; 0: the whole table is in memory")
PARAM(slc_static, PERCENT, 0, 9000, 0,
	"static SLC cache: blocks of each die reserved for it; 0: none")
PARAM(slc_dynamic, PERCENT, 0, 10000, 0,
	"dynamic SLC cache: most additional blocks of each die, while more are free than gc")
PARAM(placement_handles, COUNT, 0, AFTL_HANDLES_MAX, 0,
	"placement handles (FDP) with blocks of their own; the policy places all other data")
PARAM(placement_groups, COUNT, 1, AFTL_RECLAIM_GROUPS_MAX, 1,
	"reclaim groups (FDP): equal sets of dies that placement ids address with the handle")
PARAM(placement_isolation, CHOICE, 0, 1, AFTL_ISOLATION_INITIAL,
	"relocated data of placement handles: initial: mixed with other data; persistent: separate")
PARAM(zoned, BYTES, 0, 1ULL << 40, 0,
	"zone size of a zoned device; 0: not zoned")
PARAM(zone_capacity, BYTES, 0, 1ULL << 40, 0, "writable capacity of a zone; 0: all of it")
PARAM(max_active_zones, COUNT, 1, AFTL_ACTIVE_ZONES_MAX, 14, "largest number of active zones")
PARAM(max_open_zones, COUNT, 0, AFTL_ACTIVE_ZONES_MAX, 0,
	"largest number of open zones; 0: as max_active_zones")
PARAM(zrwa, COUNT, 0, 4096, 0,
	"zone random write area: programs of a zone that the buffer holds for rewrites; 0: none")
PARAM(zrwa_granularity, COUNT, 1, 4096, 1,
	"programs of a zone random write area that are committed together; divides zrwa")
PARAM(superblock, COUNT, 0, 64, 0,
	"dies whose blocks of one number form a superblock; 0: no superblocks")
PARAM(rain, CHOICE, 0, 1, AFTL_OFF,
	"RAIN: one block of each superblock has the parity of the others; survives a dead die")
PARAM(victim, CHOICE, 0, AFTL_VICTIMS - 1, AFTL_VICTIM_greedy,
	"victim selector of garbage collection, unless the policy chooses")
PARAM(wear_gap, COUNT, 0, 1 << 20, 0,
	"wear levelling: aimed difference of the erase counts of a die's blocks; 0: none")
PARAM(wear_low, PERCENT, 0, 10000, 6200, "wear of an erase with reduced voltage")
PARAM(endurance, COUNT, 0, 1 << 24, 0, "erases after which a block goes bad; 0: never")
PARAM(refresh, TIME, 0, 36500 * DAY, 182 * DAY + 43200 * SEC,
	"age at which approximate data is rewritten as precise; 0: never")
PARAM(read_limit, COUNT, 0, 1 << 20, 1000,
	"mean reads per page of a block after which its data is relocated; 0: never")

/* Errors */
PARAM(errors, CHOICE, 0, 1, AFTL_ON, "model bit errors")
PARAM(cell_model, CHOICE, 0, 1, AFTL_CELL_CONSTANT, "constant error rates or the voltage model")
PARAM(rber, RATE, 0, 100000000000ULL, 10000, "raw bit error rate of precise pages")
PARAM(rber_approx, RATE, 0, 100000000000ULL, 720000000, "raw bit error rate of approximate pages")
PARAM(misprograms, RATE, 0, 200000000000ULL, 0,
	"share of word lines that differ from their layer, whose followers are misprogrammed")
PARAM(tvr_margin, PERCENT, 0, 10000, 0,
	"share of the retention margins that programs of short-lived data keep (tvr)")
PARAM(ecc_bits, COUNT, 0, 10000, 40, "bits that ECC corrects in each KiB")
PARAM(ecc_levels, COUNT, 0, 16, 6, "extra sensing levels before a read fails")
PARAM(ecc_lent, PERCENT, 0, 20000, 5000,
	"bits that lent parity corrects beyond ecc_bits, as a share of these (lending)")
PARAM(seed, COUNT, 0, U64_MAX, 1, "seed of errors, bad blocks and every other draw")

/* Starting state */
PARAM(fill, CHOICE, 0, 2, AFTL_FILL_NONE,
	"preconditioning: write the device before it starts (default of the simulator: random)")
PARAM(fill_valid, PERCENT, 0, 10000, 10000, "how much of the logical capacity is written")
PARAM(fill_overwrite, PERCENT, 0, 1000000, 0,
	"random rewrites after that, of the filled range; 100 % for a steady state")
PARAM(fill_approx, PERCENT, 0, 10000, 0, "share of the starting data that is approximate")
PARAM(cycles, COUNT, 0, 400000, 0, "erase count of each block when the device starts")
PARAM(age, TIME, 0, 36500 * DAY, 0, "age of the device and its data when it starts")

#undef US
#undef MS
#undef SEC
#undef DAY
#undef KIB
