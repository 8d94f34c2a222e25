/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every parameter of the emulated device, defined once. Those of single policies and rules
 * are in the files of these, in the same words.
 *
 * PARAM(name, type, smallest, largest, default, help)
 *
 * The name is the key on the simulator's command line and on the table line.
 * Types and their stored unit: COUNT (a number), BYTES, TIME (nanoseconds),
 * PERCENT (hundredths of a percent), RATE (events per 10^12), CHOICE (index
 * into the list of words of the same name in params.c), and WEIGHTS (up to
 * AFTL_QUEUES_MAX of them, a byte each, the first the lowest).
 *
 * The defaults are those of the profile "demo"; profiles.c lists how the other
 * profiles differ. Include with PARAM defined; no include guard on purpose.
 */

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)
#define DAY (86400 * SEC)
#define KIB 1024ULL

/* Geometry */
PARAM(channels, COUNT, 1, 64, 2, "channel buses")
PARAM(shards, COUNT, 1, 64, 1,
	"FTLs that share channels and addresses out, and know nothing of each other")
PARAM(chips, COUNT, 1, 64, 2, "chips on each channel")
PARAM(dies, COUNT, 1, 16, 1, "dies in each chip")
PARAM(planes, COUNT, 1, 16, 1, "planes in each die")
PARAM(plane_mode, CHOICE, 0, 2, AFTL_PLANES_SHARED,
	"planes of a die work one at a time, independently, or as one wide block")
PARAM(blocks, COUNT, 1, 1 << 20, 128, "blocks in each plane")
PARAM(layers, COUNT, 1, 512, 8, "layers of word lines in a block")
PARAM(word_lines, COUNT, 1, 1024, 16, "word lines in each layer")
PARAM(bits, COUNT, 1, 4, 1, "pages in each word line")
PARAM(page, BYTES, 512, 64 * KIB, 8 * KIB, "flash page")
PARAM(unit, BYTES, 0, 64 * KIB, 4 * KIB, "mapping unit; 0 maps whole flash pages")
PARAM(one_shot, CHOICE, 0, 1, AFTL_OFF, "program all pages of a word line at once")
PARAM(passes, COUNT, 1, 2, 1,
	"programs of a word line of four bits; 2: a coarse one, after its neighbour's a fine one")
PARAM(op, PERCENT, 0, 9000, 1500, "over-provisioning: physical capacity kept from the host")
PARAM(bad, RATE, 0, 200000000000ULL, 0, "share of blocks that are bad from the factory")

/* Times of the flash array and the buses */
PARAM(read, TIME, 0, SEC, 45 * US, "sense one page")
PARAM(read_first, TIME, 0, SEC, 0, "sense the first page of a word line; 0: as read")
PARAM(read_last, TIME, 0, SEC, 0, "sense the last page of a word line; 0: as read")
PARAM(read_move, TIME, 0, SEC, 0,
	"sense a page that is moved, its share where planes do it together; 0: as any page")
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
PARAM(program_slc, TIME, 1, 10 * SEC, 200 * US, "program one bit into cells for more")
PARAM(program_tlc, TIME, 1, 10 * SEC, 700 * US, "program three bits into cells for four")
PARAM(program_foggy, TIME, 1, 10 * SEC, 300 * US, "first of two passes of a word line")
PARAM(reprogram, TIME, 1, 10 * SEC, 631 * US, "program a word line in MLC mode once more")
PARAM(erase, TIME, 1, 10 * SEC, 3500 * US, "erase a block")
PARAM(wear_times, CHOICE, 0, 1, AFTL_OFF,
	"program and erase times change with a block's erases as TVR's authors measured")
PARAM(bus, COUNT, 1, 100000, 400, "channel transfer rate in MB/s")
PARAM(command, TIME, 0, MS, 0, "channel time of one command")
PARAM(ecc, TIME, 0, MS, 0, "decode a precise page; approximate pages skip it")
PARAM(ecc_retry, TIME, 0, SEC, 45 * US, "each further sensing level of a precise page")
PARAM(controller, TIME, 0, MS, 0, "controller and link time of a request")
PARAM(controller_command, TIME, 0, MS, 0,
	"time in which the controller deals with one request before the next, each way; 0: none")
PARAM(link, COUNT, 0, 1000000, 0,
	"transfer rate of the host link in MB/s, each way; 0: it takes no time")
PARAM(link_command, TIME, 0, MS, 0, "link time of a request, where the link takes time")
PARAM(energy, COUNT, 0, 10000000, 82500, "power of an active die in microwatt")

/* Scheduling */
PARAM(order, CHOICE, 0, 1, AFTL_SCHED_READ_FIRST, "which host command a free die takes")
PARAM(allocate, CHOICE, 0, AFTL_ALLOCATES - 1, AFTL_ALLOCATE_rotate,
	"which die a write goes to, where the policy does not say")
PARAM(stripe, CHOICE, 0, 23, 0,
	"order of dies: of channel, way (chip), die and plane the first changes fastest")
PARAM(queue_weights, WEIGHTS, 0, U64_MAX, 0,
	"host queues by weight, such as 3:1: who may go on next where commands are short; 0: one")
PARAM(row, COUNT, 1, 1000, 1,
	"programs of a die in a row, as far as there are some, before a read has its turn")
PARAM(suspend, CHOICE, 0, 3, AFTL_SUSPEND_OFF, "what a read may interrupt")
PARAM(suspend_cost, TIME, 0, MS, 20 * US, "extra array time of each suspend and resume")
PARAM(suspend_step, TIME, 0, SEC, 0,
	"array time after which an operation can be suspended, and so on; 0: whenever")
PARAM(suspend_limit, COUNT, 1, 1000, 8, "how often one operation may be suspended")
PARAM(suspend_for_write, CHOICE, 0, 1, AFTL_OFF,
	"programs that the host waits for interrupt an erase; suspend_limit of them at most")
PARAM(idle, TIME, 1, 1000 * SEC, MS, "a die without work for this long is idle")
PARAM(buffer, BYTES, 0, 1ULL << 32, 0, "write buffer; 0: a write waits for its program")
PARAM(buffer_safe, CHOICE, 0, 1, AFTL_OFF, "the write buffer survives power loss")
PARAM(buffer_hold, TIME, 0, SEC, 5 * MS, "how long buffered data waits for a full page")
PARAM(read_cache, BYTES, 0, 1ULL << 32, 0,
	"memory for what reads have brought into the controller; 0: each read is the flash's")
PARAM(read_ahead, BYTES, 0, 64 * KIB * KIB, 0,
	"how far reads that follow each other are read ahead into read_cache; 0: not at all")
PARAM(read_hit, TIME, 0, MS, 0,
	"controller and link time of a read out of read_cache; 0: as controller")
PARAM(depth, COUNT, 16, 1 << 20, 2048, "page commands the controller can hold, per direction")

/* Space and wear */
PARAM(gc, PERCENT, 0, 9000, 1000, "free blocks below which garbage is collected")
PARAM(gc_mode, CHOICE, 0, 1, AFTL_GC_BLOCK,
	"paced: each host write waits for its share of collection; block: for whole blocks")
PARAM(gc_pace, COUNT, 0, 1 << 20, 1,
	"free blocks of a die above the policy's reserve below which collection is paced")
PARAM(gc_idle_valid, PERCENT, 0, 10000, 9000,
	"most valid data a victim may hold while there is no pressure")
PARAM(map_cache, BYTES, 0, 1ULL << 36, 0,
	"memory for the map, of which the whole is on flash then; 0: all of it is in memory")
PARAM(slc_static, PERCENT, 0, 9000, 0,
	"blocks of each die kept for a write cache of one bit in a cell; 0: none")
PARAM(slc_dynamic, PERCENT, 0, 10000, 0,
	"most blocks of each die lent to that cache besides, while more are free than gc says")
PARAM(placement_handles, COUNT, 0, AFTL_HANDLES_MAX, 0,
	"placement ids with blocks of their own; the policy places what names none, or another")
PARAM(placement_isolation, CHOICE, 0, 1, AFTL_ISOLATION_INITIAL,
	"what is moved out of such blocks: initial, mixed with all else; persistent, kept apart")
PARAM(zoned, BYTES, 0, 1ULL << 40, 0,
	"zones that are written one unit after the other, and reset as a whole; 0: no zones")
PARAM(zone_capacity, BYTES, 0, 1ULL << 40, 0, "of each zone, what can be written; 0: all of it")
PARAM(max_active_zones, COUNT, 1, AFTL_HANDLES_MAX, 14, "zones that may be neither empty nor full")
PARAM(max_open_zones, COUNT, 0, AFTL_HANDLES_MAX, 0,
	"of these, how many may be open; 0: all of them")
PARAM(superblock, COUNT, 0, 64, 0,
	"dies whose blocks of one number are collected and erased together; 0: each by itself")
PARAM(rain, CHOICE, 0, 1, AFTL_OFF,
	"one block of each superblock has the parity of the others, which outlives a dead die")
PARAM(victim, CHOICE, 0, AFTL_VICTIMS - 1, AFTL_VICTIM_greedy,
	"how the block to collect is chosen, where the policy does not say")
PARAM(wear_gap, COUNT, 0, 1 << 20, 0, "erase-count gap that moves cold data; 0: never")
PARAM(wear_low, PERCENT, 0, 10000, 6200, "wear of an erase with reduced voltage")
PARAM(endurance, COUNT, 0, 1 << 24, 0, "erases after which a block goes bad; 0: never")
PARAM(refresh, TIME, 0, 36500 * DAY, 182 * DAY + 43200 * SEC,
	"age at which approximate data is rewritten as precise; 0: never")
PARAM(read_limit, COUNT, 0, 1 << 20, 1000,
	"reads of a block for each of its pages after which its data is moved; 0: never")

/* Errors */
PARAM(errors, CHOICE, 0, 1, AFTL_ON, "model bit errors")
PARAM(cell_model, CHOICE, 0, 1, AFTL_CELL_CONSTANT, "constant error rates or the voltage model")
PARAM(rber, RATE, 0, 100000000000ULL, 10000, "raw bit error rate of precise pages")
PARAM(rber_approx, RATE, 0, 100000000000ULL, 720000000, "raw bit error rate of approximate pages")
PARAM(misprograms, RATE, 0, 200000000000ULL, 0,
	"share of word lines unlike their layer, where followers come out bad")
PARAM(tvr_margin, PERCENT, 0, 10000, 0,
	"share of the retention margins that a program without them keeps (tvr)")
PARAM(ecc_bits, COUNT, 0, 10000, 40, "bits that ECC corrects in each KiB")
PARAM(ecc_levels, COUNT, 0, 16, 6, "further sensing levels before a read fails")
PARAM(ecc_lent, PERCENT, 0, 20000, 5000,
	"bits that lent parity corrects beyond ecc_bits, as a share of these (lending)")
PARAM(seed, COUNT, 0, U64_MAX, 1, "seed of errors, bad blocks and every other draw")

/* Starting state */
PARAM(fill, CHOICE, 0, 2, AFTL_FILL_NONE, "write the device before it starts")
PARAM(fill_valid, PERCENT, 0, 10000, 10000, "how much of the logical capacity is written")
PARAM(fill_overwrite, PERCENT, 0, 1000000, 0, "random rewrites after that, of the filled range")
PARAM(fill_approx, PERCENT, 0, 10000, 0, "share of the starting data that is approximate")
PARAM(cycles, COUNT, 0, 400000, 0, "erases that each block has behind it when the device starts")
PARAM(age, TIME, 0, 36500 * DAY, 0, "age of the device and its data when it starts")

#undef US
#undef MS
#undef SEC
#undef DAY
#undef KIB
