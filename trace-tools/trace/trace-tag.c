// SPDX-License-Identifier: GPL-2.0-only
#include "class-rules.h"
#include "trace-copy.h"

static const char usage[] =
	"Usage: approxftl trace tag --rule RULE ... [OPTION ...] IN ... OUT.aft\n"
	"\n"
	"Reads a trace, tags writes as approximate by rules, and writes a record file.\n"
	"\n"
	"  --rule approximate:process=ffmpeg     writes by processes of that name\n"
	"  --rule approximate:share=0.5          half of all mebibytes of addresses, by --seed\n"
	"  --rule approximate:range=1GiB+4GiB    writes to that range\n"
	"  --rule approximate:size=64KiB..       large writes; ..4KiB are small ones\n"
	"\n"
	"A rule with several terms, separated by commas, matches if all terms do. The first\n"
	"matching rule decides; a write that no rule matches is precise.\n";

static void apply_class_rules(void *context, struct trace_request *request, const char *name)
{
	class_rules_apply(context, request, name);
}

static int parse_tagging_rules(struct trace_run *run, struct class_rules *rules,
			       struct aftl_error *error)
{
	const struct trace_file *first = &run->reader.merge.sources[0].file;
	int ret;

	if (!run->options.rule_count)
		return aftl_fail(error, -EINVAL,
				 "--rule missing; \"approxftl trace tag --help\" explains it");
	ret = class_rules_parse(rules, run->options.rules, run->options.rule_count,
				run->options.seed, error);
	if (!ret && rules->by_process && !first->format->events)
		ret = aftl_fail(error, -EINVAL,
				"--rule: %s has no names of processes; blktrace and blkparse have",
				first->format->name);
	if (ret)
		class_rules_free(rules);
	run->options.to = "aft";
	return ret;
}

static enum exit_code run_tag(struct trace_run *run)
{
	struct class_rules rules = { 0 };
	struct aftl_error error;
	enum exit_code code = parse_tagging_rules(run, &rules, &error) ?
				      trace_complain_usage(&error) :
				      trace_copy(run, apply_class_rules, &rules);

	class_rules_free(&rules);
	return code;
}

const struct trace_verb trace_tag = {
	.name = "tag",
	.help = "say by rules which writes may lose bits",
	.bit = VERB_TAG,
	.usage = usage,
	.targets = 1,
	.run = run_tag,
};
