/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All options of the simulator, defined once.
 *
 * SIM_OPT(name, kind, smallest, largest, default, value, help)
 *
 * The name is the field of struct sim_options; on the command line its underscores are dashes.
 * Kinds are SWITCH, TEXT, FILE (standard output without a name), SHARE (in 1/10000, written 0.5
 * or 50%), and those of param-table.h. The default is a text as the user would type it, or
 * NULL. SIM_OPT_GROUP(title) begins a section of the help. Options for reading traces have a
 * table of their own. There is no include guard on purpose.
 */

SIM_OPT_GROUP("Device")
SIM_OPT(profile, TEXT, 0, 0, "demo", "NAME",
	"device to start from; \"approxftl profiles\" lists them")
SIM_OPT(policy, TEXT, 0, 0, "baseline", "A,B,...",
	"policies to run on the same stream, the first to compare with; all: every other; ./X.so")
SIM_OPT(seed, TEXT, 0, 0, NULL, "N,M..P",
	"the parameter seed; with several, each policy runs with each of them")
SIM_OPT(set, TEXT, 0, 0, NULL, "KEY=VALUE",
	"any parameter of \"approxftl params\", or @FILE with many; --KEY VALUE does the same")
SIM_OPT(config, TEXT, 0, 0, NULL, "FILE",
	"sets the parameters that an ssdconfig.xml of the simulator MQSim describes")
SIM_OPT(load, TEXT, 0, 0, NULL, "FILE", "begin with a device that --dump has saved")
SIM_OPT(dump, TEXT, 0, 0, NULL, "FILE", "save the device as it is at the end")
SIM_OPT(change, TEXT, 0, 0, NULL, "N:KEY=VALUE,...",
	"after N requests, with the data in place: policy=NAME, age=TIME that passes, a parameter")

SIM_OPT_GROUP("An array of such devices")
SIM_OPT(raid, COUNT, 5, 5, NULL, "LEVEL", "run the stream on a RAID of that level; there is 5")
SIM_OPT(members, COUNT, 3, 16, "4", "N", "devices of the array")
SIM_OPT(chunk, COUNT, 1, 1 << 20, "64", "UNITS",
	"mapping units of a device before the next one takes its turn")
SIM_OPT(stripes, COUNT, 1, 1 << 20, "256", "N", "rows of units that the stripe cache holds")
SIM_OPT(stripe_hold, TIME, 0, 3600000000000ULL, "3ms", "TIME",
	"how long a row waits for more writes before its parity is written")

SIM_OPT_GROUP("Requests from a trace")
SIM_OPT(trace, TEXT, 0, 0, NULL, "FILE",
	"record file or any that \"approxftl trace formats\" lists, - for standard input")
SIM_OPT(repeat, COUNT, 1, 1000000000, "1", "N", "play it so many times, one after the other")
SIM_OPT(whole_units, SWITCH, 0, 0, NULL, NULL,
	"widen requests to whole mapping units, also generated ones")
SIM_OPT(fold, SWITCH, 0, 0, NULL, NULL,
	"take addresses beyond the device modulo its capacity, instead of refusing the trace")
SIM_OPT(time_scale, RATE, SIM_RATE_ONE / 1000000, 1000000 * SIM_RATE_ONE, "1", "X",
	"stretch its times: 2 is half as fast, 0.5 twice as fast")
SIM_OPT(queue_by, CHOICE, 0, 2, "stream", "WHAT",
	"which of queue_weights' queues a request has: by its stream, its pid, or as recorded")
#define READING(name, letter, kind, member, value, help) \
	SIM_OPT(member, kind, 0, 0, NULL, value, help)
#include "reading-option-table.h"
#undef READING

SIM_OPT_GROUP("Requests from the generator")
SIM_OPT(workload, CHOICE, 0, 6, "uniform", "KIND",
	"uniform, zipf, sequential, bursts, drift, active or zones")
SIM_OPT(requests, COUNT, 0, U64_MAX, "100000", "N",
	"how many, not counting the warm-up; with --trace at most so many")
SIM_OPT(write_share, SHARE, 0, 10000, "50%", "SHARE", "writes among reads and writes")
SIM_OPT(size, TEXT, 0, 0, "4KiB", "BYTES",
	"length, or lengths with weights such as 4KiB:70,64KiB:30")
SIM_OPT(approx_share, SHARE, 0, 10000, "0%", "SHARE", "writes that are tagged approximate")
SIM_OPT(approx_run, COUNT, 0, 1 << 30, "0", "N",
	"mean number of approximate writes in a row; 0: independent tags")
SIM_OPT(level_2_share, SHARE, 0, 10000, "0%", "SHARE",
	"approximate writes of quality level 2; those of neither are of level 1")
SIM_OPT(level_3_share, SHARE, 0, 10000, "0%", "SHARE", "approximate writes of quality level 3")
SIM_OPT(footprint, SHARE, 1, 10000, "100%", "SHARE", "part of the capacity that is used")
SIM_OPT(zipf_skew, RATE, SIM_RATE_ONE / 100, 8 * SIM_RATE_ONE, "0.9", "X",
	"exponent of workload zipf")
SIM_OPT(zipf_order, CHOICE, 0, 2, "scattered", "ORDER",
	"places of its ranks: scattered, sorted, or hashed with collisions as fio does")
SIM_OPT(hot_share, SHARE, 0, 10000, "0%", "SHARE", "requests that go to the hot range")
SIM_OPT(hot_range, SHARE, 0, 10000, "0%", "SHARE", "size of the hot range in the footprint")
SIM_OPT(hot_size, TEXT, 0, 0, NULL, "BYTES",
	"length, or lengths with weights, of requests to the hot range (default as --size)")
SIM_OPT(hot_stream, COUNT, 0, 255, "0", "ID",
	"placement id that writes to the hot range carry as the host's hint; 0: none")
SIM_OPT(scatter, SWITCH, 0, 0, NULL, NULL,
	"the hot range, or the order of workload sequential, is scattered over the footprint")
SIM_OPT(stride, BYTES, 512, 1ULL << 50, NULL, "BYTES",
	"of workload sequential: from one request's begin to the next one's (default its length)")
SIM_OPT(drift_set, SHARE, 1, 10000, "10%", "SHARE",
	"working set of workload drift, of the footprint")
SIM_OPT(drift_requests, COUNT, 1, U64_MAX, "100000", "N",
	"requests in which that set moves by its own size")
SIM_OPT(active_set, SHARE, 1, 10000, "1%", "SHARE",
	"places of workload active that are in use at a time, of the footprint")
SIM_OPT(active_requests, COUNT, 1, U64_MAX, "20", "N",
	"mean number of requests to such a place before another takes its turn")
SIM_OPT(active_extent, COUNT, 1, 1 << 20, "1", "N",
	"neighbouring places that enter and leave that set together")
SIM_OPT(active_others, SHARE, 0, 10000, "0%", "SHARE", "requests to any place of the footprint")
SIM_OPT(zone_size, BYTES, 4096, 1ULL << 50, "64MiB", "BYTES",
	"zones of workload zones, each written from begin to end, then another one at random")
SIM_OPT(open_zones, COUNT, 1, 1 << 16, "1", "N", "such zones at a time")
SIM_OPT(zone_append, SWITCH, 0, 0, NULL, NULL, "writes to a zoned device are zone appends")
SIM_OPT(zone_rewrites, SHARE, 0, 10000, "0%", "SHARE",
	"writes of workload zones that rewrite data in the zone random write area (zrwa)")
SIM_OPT(discard_share, SHARE, 0, 10000, "0%", "SHARE", "discards among all requests")
SIM_OPT(flush_every, COUNT, 0, U64_MAX, "0", "N", "a flush after each N requests; 0: never")

SIM_OPT_GROUP("Several tenants, each with a queue of its own")
SIM_OPT(tenants, TEXT, 0, 0, NULL, "N,M,...",
	"closed queues of so many requests instead of one, each with a generator; 8 at most")
SIM_OPT(tenant_size, TEXT, 0, 0, NULL, "BYTES,...", "length of the requests of each tenant")
SIM_OPT(tenant_write_share, TEXT, 0, 0, NULL, "SHARE,...", "writes among those of each")

SIM_OPT_GROUP("A fill by the host before the stream")
SIM_OPT(host_fill, COUNT, 1, 1 << 16, NULL, "N",
	"write the footprint in order, N requests at a time, then wait 10 s; needs --fill none")
SIM_OPT(host_fill_size, BYTES, 512, 1 << 30, "128KiB", "BYTES", "length of each of these writes")

SIM_OPT_GROUP("A writer beside the stream")
SIM_OPT(beside_rate, COUNT, 1, 1000000000, NULL, "IOPS",
	"sequential writes beside the stream, one at a time, so many a second")
SIM_OPT(beside_size, BYTES, 512, 1 << 30, "128KiB", "BYTES", "length of each")

SIM_OPT_GROUP("Timing")
SIM_OPT(arrival, CHOICE, 0, 3, NULL, "KIND",
	"closed (a full queue), open (a rate), trace (the file's clock) or device (the device's)")
SIM_OPT(depth, COUNT, 1, 1 << 20, "32", "N", "requests in a closed queue")
SIM_OPT(rate, COUNT, 1, 1000000000, NULL, "IOPS", "mean rate of open arrivals")
SIM_OPT(utilisation, SHARE, 1, 100000, NULL, "SHARE",
	"open arrivals that keep the dies so busy under policy baseline, garbage collection aside")
SIM_OPT(arrival_shape, CHOICE, 0, 1, "poisson", "KIND", "poisson or fixed distances")
SIM_OPT(burst_on, TIME, 1, 3600000000000ULL, "100ms", "TIME",
	"length of a burst, of workload bursts, or of any if it is given")
SIM_OPT(burst_off, TIME, 0, 3600000000000ULL, "900ms", "TIME", "silence after a burst")
SIM_OPT(rate_between, COUNT, 1, 1000000000, NULL, "IOPS",
	"rate of open arrivals from the end of a burst to the next one, instead of silence")
SIM_OPT(until, TIME, 0, AFTL_TIME_MAX, "0", "TIME",
	"device time that passes at least, with work that nobody waits for")
SIM_OPT(warmup, COUNT, 0, U64_MAX, "0", "N", "requests before statistics begin")
SIM_OPT(fault_script, TEXT, 0, 0, NULL, "FILE",
	"faults that happen once, at which request, time or program each; approxftl-sim(1)")
SIM_OPT(die_dies, CHOICE, 0, 2, "never", "WHEN",
	"when the last die does: never, late (statistics begin) or early (with the first request)")

SIM_OPT_GROUP("Output")
SIM_OPT(json, FILE, 0, 0, NULL, "FILE", "everything as JSON, to standard output or a file")
SIM_OPT(histogram, SWITCH, 0, 0, NULL, NULL, "with all bins of the histograms, in JSON")
SIM_OPT(series, SWITCH, 0, 0, NULL, NULL,
	"with response times over the run, and what of it is warm-up, in JSON")
SIM_OPT(block_table, SWITCH, 0, 0, NULL, NULL,
	"with state, kind, erases, wear and valid units of each block, in JSON")
SIM_OPT(page_map, TEXT, 0, 0, NULL, "BLOCKS",
	"with every page of these blocks, such as 0,17, in JSON; auto: the fullest of each kind")
SIM_OPT(timeline, TEXT, 0, 0, NULL, "FILE",
	"what each LUN does after the warm-up, a million operations at most, for Perfetto")
SIM_OPT(cpu, SWITCH, 0, 0, NULL, NULL,
	"with the time that the simulation took; output then differs from run to run")
SIM_OPT(record, TEXT, 0, 0, NULL, "FILE",
	"write the requests with arrival and response times: a record file, or CSV as NAME.csv")
SIM_OPT(slowest, COUNT, 1, 10000, NULL, "N",
	"the N slowest requests after the warm-up, and what each of them waited for")
SIM_OPT(yardstick, CHOICE, 0, 1, "none", "WHAT",
	"optimum: with the least write amplification for this stream if the future were known")
SIM_OPT(verify, SWITCH, 0, 0, NULL, NULL, "check every invariant of the device at the end")
SIM_OPT(jobs, COUNT, 1, 4096, NULL, "N",
	"runs at a time, or threads of one (default one for each processor, as memory allows)")
SIM_OPT(progress, SWITCH, 0, 0, NULL, NULL, "show progress even if stderr is no terminal")
SIM_OPT(quiet, SWITCH, 0, 0, NULL, NULL, "no progress, no warnings and no table")
SIM_OPT(dry_run, SWITCH, 0, 0, NULL, NULL, "check the options, and run nothing")
SIM_OPT(die_with_parent, SWITCH, 0, 0, NULL, NULL,
	"end when the program ends that has started this one, however it ends")
SIM_OPT(help, SWITCH, 0, 0, NULL, NULL, "print this")
