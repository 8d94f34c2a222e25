// SPDX-License-Identifier: GPL-2.0-only
/* Options that require or exclude each other. */
#include "option-rules.h"
#include "sim-options.h"

/* A rule that @option requires option @other (in needs[]), or excludes it (in excludes[]). */
struct relation {
	const char *option;
	const char *other;
};

static const struct relation needs[] = {
	{ "from", "trace" },	      { "time-unit", "trace" },	   { "offset-unit", "trace" },
	{ "columns", "trace" },	      { "device", "trace" },	   { "from-issue", "trace" },
	{ "strict", "trace" },
	{ "fold", "trace" },
	{ "repeat", "trace" },	      { "time-scale", "trace" },   { "approx-run", "approx-share" },
	{ "level-2-share", "approx-share" }, { "level-3-share", "approx-share" },
	{ "hot-share", "hot-range" }, { "hot-range", "hot-share" }, { "histogram", "json" },
	{ "series", "json" },	      { "block-table", "json" },    { "page-map", "json" },
	{ "hot-size", "hot-share" }, { "members", "raid" },	      { "chunk", "raid" },
	{ "stripes", "raid" },	      { "stripe-hold", "raid" },
	{ "queue-by", "trace" },      { "tenant-size", "tenants" },
	{ "tenant-write-share", "tenants" },
	{ "beside-size", "beside-rate" }, { "host-fill-size", "host-fill" },
	{ "rate-between", "burst-off" },
};

static const struct relation excludes[] = {
	{ "trace", "workload" },      { "trace", "write-share" },    { "trace", "size" },
	{ "trace", "approx-share" },  { "trace", "footprint" },	     { "trace", "zipf-skew" },
	{ "trace", "zipf-order" },
	{ "trace", "hot-share" },     { "trace", "drift-set" },	     { "trace", "drift-requests" },
	{ "trace", "active-set" },    { "trace", "active-requests" }, { "trace", "active-others" },
	{ "trace", "active-extent" }, { "trace", "scatter" },	     { "trace", "stride" },
	{ "trace", "zone-size" },     { "trace", "open-zones" },     { "raid", "beside-rate" },
	{ "trace", "zone-append" },
	{ "trace", "discard-share" }, { "trace", "flush-every" },    { "trace", "utilisation" },
	{ "trace", "burst-on" },      { "trace", "burst-off" },	     { "rate", "utilisation" },
	{ "trace", "zone-rewrites" },
	{ "trace", "tenants" },	      { "raid", "tenants" },	     { "tenants", "depth" },
	{ "tenants", "beside-rate" }, { "raid", "queue-by" },
	{ "raid", "level-2-share" },  { "raid", "level-3-share" },
	{ "raid", "load" },	      { "raid", "dump" },	     { "raid", "record" },
	{ "raid", "discard-share" },  { "raid", "flush-every" },	     { "raid", "timeline" },
	{ "raid", "slowest" },	      { "raid", "block-table" },
	{ "raid", "page-map" },	      { "raid", "die-dies" },
	{ "load", "profile" },	      { "load", "policy" },	     { "quiet", "progress" },
	{ "fault-script", "change" }, { "raid", "fault-script" },
	{ "raid", "host-fill" },	      { "load", "host-fill" },
	{ "jobs", "timeline" },	      { "raid", "change" },	     { "change", "timeline" },
};

static int report_missing_required_option(const struct relation *need, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL, "--%s needs --%s%s", need->option, need->other,
			 is_option_name_a_device_param(need->option, strlen(need->option)) ?
				 "; the parameter of the same name is set by --set" :
				 "");
}

static int check_required_and_excluded_options(const struct sim_options *options,
					       struct aftl_error *error)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(needs); i++)
		if (sim_did_user_set_option(options, needs[i].option) &&
		    !sim_did_user_set_option(options, needs[i].other))
			return report_missing_required_option(&needs[i], error);
	for (unsigned int i = 0; i < ARRAY_SIZE(excludes); i++)
		if (sim_did_user_set_option(options, excludes[i].option) &&
		    sim_did_user_set_option(options, excludes[i].other))
			return aftl_fail(error, -EINVAL, "--%s and --%s contradict each other",
					 excludes[i].option, excludes[i].other);
	return 0;
}

/* Options that only apply to one workload or to one kind of arrivals. */
struct specialty {
	const char *option;
	const char *of;
	u64 value;
};

static const struct specialty workload_specialties[] = {
	{ "zipf-skew", "zipf", SIM_WORKLOAD_ZIPF },
	{ "zipf-order", "zipf", SIM_WORKLOAD_ZIPF },
	{ "stride", "sequential", SIM_WORKLOAD_SEQUENTIAL },
	{ "drift-set", "drift", SIM_WORKLOAD_DRIFT },
	{ "drift-requests", "drift", SIM_WORKLOAD_DRIFT },
	{ "active-set", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-requests", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-others", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-extent", "active", SIM_WORKLOAD_ACTIVE },
	{ "zone-size", "zones", SIM_WORKLOAD_ZONES },
	{ "open-zones", "zones", SIM_WORKLOAD_ZONES },
	{ "zone-rewrites", "zones", SIM_WORKLOAD_ZONES },
};

static const struct specialty arrival_specialties[] = {
	{ "depth", "closed", SIM_ARRIVAL_CLOSED },
	{ "tenants", "closed", SIM_ARRIVAL_CLOSED },
	{ "rate", "open", SIM_ARRIVAL_OPEN },
	{ "utilisation", "open", SIM_ARRIVAL_OPEN },
	{ "arrival-shape", "open", SIM_ARRIVAL_OPEN },
	{ "rate-between", "open", SIM_ARRIVAL_OPEN },
	{ "time-scale", "trace", SIM_ARRIVAL_TRACE },
};

static int refuse_options_of_unselected_choice(const struct sim_options *options, const char *what,
					       u64 value, const struct specialty *table,
					       unsigned int count, struct aftl_error *error)
{
	for (unsigned int i = 0; i < count; i++)
		if (sim_did_user_set_option(options, table[i].option) && table[i].value != value)
			return aftl_fail(error, -EINVAL, "--%s needs --%s %s", table[i].option,
					 what, table[i].of);
	return 0;
}

static int check_workload_options(const struct sim_options *options, struct aftl_error *error)
{
	if (options->workload != SIM_WORKLOAD_UNIFORM && options->workload != SIM_WORKLOAD_BURSTS &&
	    sim_did_user_set_option(options, "hot-share"))
		return aftl_fail(error, -EINVAL, "--hot-share needs --workload uniform or bursts");
	if (options->scatter && options->workload != SIM_WORKLOAD_SEQUENTIAL &&
	    !sim_did_user_set_option(options, "hot-share"))
		return aftl_fail(error, -EINVAL,
				 "--scatter needs --hot-share or --workload sequential");
	if (options->scatter && options->stride)
		return aftl_fail(error, -EINVAL, "--scatter and --stride contradict each other");
	return refuse_options_of_unselected_choice(options, "workload", options->workload,
						   workload_specialties,
						   ARRAY_SIZE(workload_specialties), error);
}

static int check_arrival_options(const struct sim_options *options, struct aftl_error *error)
{
	if (options->arrival >= SIM_ARRIVAL_TRACE && !options->trace)
		return aftl_fail(error, -EINVAL, "--arrival %s needs --trace",
				 sim_get_arrival_name(options));
	if (options->arrival == SIM_ARRIVAL_OPEN && !sim_did_user_set_option(options, "rate") &&
	    !sim_did_user_set_option(options, "utilisation"))
		return aftl_fail(error, -EINVAL, "--arrival open needs --rate or --utilisation");
	return refuse_options_of_unselected_choice(options, "arrival", options->arrival,
						   arrival_specialties,
						   ARRAY_SIZE(arrival_specialties), error);
}

/* Standard input can be read only once, but with --from its content is first copied to a file. */
static bool is_trace_on_stdin(const struct sim_options *options)
{
	return options->trace && !strcmp(options->trace, "-") && !options->from;
}

/* Several runs cannot share one output file, nor read standard input. */
static int refuse_file_sharing_by_runs(const struct sim_options *options, struct aftl_error *error)
{
	if (options->seed_count > 1 && options->timeline)
		return aftl_fail(error, -EINVAL,
				 "--timeline tells devices apart by their policies; give one seed");
	if (sim_options_count_runs(options) < 2)
		return 0;
	if (options->dump)
		return aftl_fail(error, -EINVAL,
				 "--dump saves one device; give one policy and one seed");
	if (options->record)
		return aftl_fail(error, -EINVAL,
				 "--record writes one run; give one policy and one seed");
	if (is_trace_on_stdin(options))
		return aftl_fail(error, -EINVAL,
				 "standard input can be read once; give one policy and one seed, or name a file");
	return 0;
}

/* A saved device names its policy; loading the device looks only for built-in policies. */
static int check_loaded_policies(const struct sim_options *options, struct aftl_error *error)
{
	bool saved = options->dump || options->changes.count;

	for (u32 i = 0; saved && i < options->policy_count; i++)
		if (!aftl_policy_find(options->policies[i]->name))
			return aftl_fail(error, -EINVAL,
					 "--%s saves the device, which works only with a built-in policy; leave it out, or build %.40s in",
					 options->dump ? "dump" : "change",
					 options->policies[i]->name);
	return 0;
}

/*
 * --yardstick draws the stream a second time, and models one device whose parameters do not change.
 * It cannot model zones, which prescribe the place of each write.
 */
static int check_offline_optimum_option(const struct sim_options *options, struct aftl_error *error)
{
	static const char *const others[] = { "raid", "tenants", "beside-rate", "change", "load",
					      "host-fill" };

	if (!options->yardstick)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		if (sim_did_user_set_option(options, others[i]))
			return aftl_fail(error, -EINVAL,
					 "--yardstick and --%s contradict each other", others[i]);
	if (options->params.zoned || options->params.shards > 1)
		return aftl_fail(error, -EINVAL, "--yardstick: the device has %s; set %s",
				 options->params.zoned ? "zones" : "several shards",
				 options->params.zoned ? "zoned 0" : "shards 1");
	if (is_trace_on_stdin(options))
		return aftl_fail(error, -EINVAL,
				 "--yardstick reads the trace twice, and standard input can be read once; name a file");
	return 0;
}

/* Check that all changes are within the run; for a trace, whose length is unknown, do nothing. */
static int check_device_changes_in_run(const struct sim_options *options, struct aftl_error *error)
{
	u64 last = sim_get_request_count_at_last_change(&options->changes);
	bool endless = options->trace && !sim_did_user_set_option(options, "requests");

	if (endless || last <= options->warmup || last - options->warmup <= options->requests)
		return 0;
	return aftl_fail(error, -EINVAL, "--change: %llu is beyond the last request",
			 (unsigned long long)last);
}

/* Options that work only for a device of one shard. */
static const struct {
	const char *option;
	const char *why;
} one_shard[] = {
	{ "raid", "members of an array have one FTL each" },
	{ "dump", "a device of several FTLs cannot be saved" },
	{ "change", "a device of several FTLs cannot be changed" },
	{ "fault-script", "it numbers the requests of one FTL" },
	{ "timeline", "it draws the dies of one FTL" },
	{ "page-map", "it numbers the blocks of one FTL" },
	{ "slowest", "it observes the dies of one FTL" },
	{ "beside-rate", "such a writer waits for one FTL" },
	{ "host-fill", "it fills one FTL" },
};

static int check_shard_options(const struct sim_options *options, struct aftl_error *error)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(one_shard) && options->params.shards > 1; i++)
		if (sim_did_user_set_option(options, one_shard[i].option))
			return aftl_fail(error, -EINVAL, "--%s: %s; set shards 1",
					 one_shard[i].option, one_shard[i].why);
	return 0;
}

/* The host can write a whole device in order only if the device is empty and has no zones. */
static int check_host_fill_option(const struct sim_options *options, struct aftl_error *error)
{
	if (!options->host_fill)
		return 0;
	if (options->params.fill != AFTL_FILL_NONE)
		return aftl_fail(error, -EINVAL, "--host-fill needs --fill none");
	if (options->params.zoned)
		return aftl_fail(error, -EINVAL, "--host-fill: the device has zones; set zoned 0");
	return 0;
}

static int check_file_option_conflicts(const struct sim_options *options, struct aftl_error *error)
{
	if (options->load && options->param_given)
		return aftl_fail(error, -EINVAL,
				 "--load brings all parameters with it; %.40s cannot be set",
				 options->param_given);
	if (is_trace_on_stdin(options) && options->repeat > 1)
		return aftl_fail(error, -EINVAL,
				 "standard input can be read once; --repeat needs a file");
	if (options->json && options->record && !strcmp(options->json, "-") &&
	    !strcmp(options->record, "-"))
		return aftl_fail(error, -EINVAL, "--json and --record both want standard output");
	return refuse_file_sharing_by_runs(options, error);
}

int option_rules_check(struct sim_options *options, struct aftl_error *error)
{
	int ret = check_required_and_excluded_options(options, error);

	options->trace_path = options->trace;
	/* Without --arrival, derive the kind of arrivals from the other options. */
	if (!sim_did_user_set_option(options, "arrival")) {
		if (sim_did_user_set_option(options, "rate") ||
		    sim_did_user_set_option(options, "utilisation"))
			options->arrival = SIM_ARRIVAL_OPEN;
		else if (options->trace && !sim_did_user_set_option(options, "depth"))
			options->arrival = SIM_ARRIVAL_TRACE;
		else
			options->arrival = SIM_ARRIVAL_CLOSED;
	}
	/* Disable bursts unless the workload or an option requests them. */
	if (options->workload != SIM_WORKLOAD_BURSTS &&
	    !sim_did_user_set_option(options, "burst-on") &&
	    !sim_did_user_set_option(options, "burst-off"))
		options->burst_off = 0;
	if (!ret)
		ret = check_workload_options(options, error);
	if (!ret)
		ret = check_arrival_options(options, error);
	if (!ret)
		ret = check_device_changes_in_run(options, error);
	if (!ret)
		ret = check_loaded_policies(options, error);
	if (!ret)
		ret = check_shard_options(options, error);
	if (!ret)
		ret = check_offline_optimum_option(options, error);
	if (!ret)
		ret = check_host_fill_option(options, error);
	return ret ? ret : check_file_option_conflicts(options, error);
}
