// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "class-rules.h"
#include "core/base/random.h"

#define RATIO_ONE 1000000ULL

/**
 * struct class_rule - a rule that gives writes a class; absent conditions match every write
 * @class: class that the rule assigns
 * @process: pattern of the process name, or NULL
 * @begin: begin of the address range
 * @end: end of the address range
 * @least: minimum size
 * @most: maximum size
 * @stream: stream number, or -1
 * @share: share of the address space, in units of 1 / RATIO_ONE
 */
struct class_rule {
	u8 class;
	char *process;
	u64 begin;
	u64 end;
	u64 least;
	u64 most;
	int stream;
	u64 share;
};

static bool parse_rule_bytes(struct text_cursor word, u64 *bytes)
{
	struct aftl_error unused;
	char text[32];

	if (word.end - word.at >= (ptrdiff_t)sizeof(text))
		return false;
	scnprintf(text, sizeof(text), "%.*s", (int)(word.end - word.at), word.at);
	return !aftl_parse_value(AFTL_PARAM_BYTES, NULL, text, bytes, &unused);
}

static bool parse_rule_range(struct text_cursor word, struct class_rule *rule)
{
	struct text_cursor offset = text_get_until(&word, '+');
	u64 length;

	return text_skip_if_equal(&word, '+') && parse_rule_bytes(offset, &rule->begin) &&
	       parse_rule_bytes(word, &length) && length &&
	       !__builtin_add_overflow(rule->begin, length, &rule->end);
}

static bool parse_rule_size(struct text_cursor word, struct class_rule *rule)
{
	struct text_cursor least = text_get_until(&word, '.');

	if (!text_skip_if_equal(&word, '.') || !text_skip_if_equal(&word, '.'))
		return false;
	return (is_text_at_end(&least) || parse_rule_bytes(least, &rule->least)) &&
	       (is_text_at_end(&word) || parse_rule_bytes(word, &rule->most)) &&
	       rule->least <= rule->most;
}

static bool parse_rule_stream(struct text_cursor word, struct class_rule *rule)
{
	u64 number;

	if (!text_get_bounded_u64(&word, TRACE_STREAMS - 1, &number) || !is_text_at_end(&word))
		return false;
	rule->stream = (int)number;
	return true;
}

static bool parse_data_fraction_of_rule(struct text_cursor word, struct class_rule *rule)
{
	return text_get_scaled_decimal(&word, RATIO_ONE, &rule->share) && is_text_at_end(&word) &&
	       rule->share <= RATIO_ONE;
}

static bool parse_rule_process(struct text_cursor word, struct class_rule *rule)
{
	if (is_text_at_end(&word) || rule->process)
		return false;
	rule->process = memory_alloc_zeroed((size_t)(word.end - word.at) + 1, 1);
	memcpy(rule->process, word.at, (size_t)(word.end - word.at));
	return true;
}

static const struct {
	const char *key;
	bool (*parse)(struct text_cursor word, struct class_rule *rule);
} terms[] = {
	{ "process", parse_rule_process }, { "range", parse_rule_range },
	{ "size", parse_rule_size },	   { "stream", parse_rule_stream },
	{ "share", parse_data_fraction_of_rule },
};

static bool parse_rule_term(struct text_cursor word, struct class_rule *rule)
{
	struct text_cursor key = text_get_until(&word, '=');

	for (unsigned int i = 0; i < ARRAY_SIZE(terms); i++)
		if (is_text_equal(key, terms[i].key))
			return text_skip_if_equal(&word, '=') && terms[i].parse(word, rule);
	return false;
}

static int report_bad_rule(struct text_cursor word, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "--rule: \"%.*s\" is not understood; a rule is such as approximate:process=ffmpeg,size=64KiB..",
			 (int)min((size_t)(word.end - word.at), (size_t)60), word.at);
}

static int parse_class_rule(struct class_rule *rule, const char *words, struct aftl_error *error)
{
	struct text_cursor text = { words, words + strlen(words) };
	struct text_cursor class = text_get_until(&text, ':');
	char name[AFTL_RECORD_NAME_SIZE];

	*rule = (struct class_rule){
		.end = U64_MAX, .most = U64_MAX, .stream = -1, .share = RATIO_ONE,
	};
	scnprintf(name, sizeof(name), "%.*s", (int)(class.end - class.at), class.at);
	if (!aftl_find_quality_level_by_name(name, &rule->class))
		return report_bad_rule(class, error);
	if (!text_skip_if_equal(&text, ':'))
		return 0;
	do {
		struct text_cursor word = text_get_until(&text, ',');

		if (!parse_rule_term(word, rule))
			return report_bad_rule(word, error);
	} while (text_skip_if_equal(&text, ','));
	return 0;
}

int class_rules_parse(struct class_rules *rules, const char *const *texts, u32 count, u64 seed,
		      struct aftl_error *error)
{
	int ret = 0;

	*rules = (struct class_rules){
		.rules = memory_alloc_zeroed(count, sizeof(*rules->rules)),
		.count = count,
		.seed = seed,
	};
	for (u32 i = 0; i < count && !ret; i++) {
		ret = parse_class_rule(&rules->rules[i], texts[i], error);
		rules->by_process |= !!rules->rules[i].process;
	}
	if (ret)
		class_rules_free(rules);
	return ret;
}

void class_rules_free(struct class_rules *rules)
{
	for (u32 i = 0; i < rules->count; i++)
		free(rules->rules[i].process);
	free(rules->rules);
	*rules = (struct class_rules){ 0 };
}

static bool does_process_name_match_pattern(const char *wanted, const char *name)
{
	size_t length = strlen(wanted);

	if (!name)
		return false;
	if (wanted[length - 1] == '*')
		return !strncmp(name, wanted, length - 1);
	/* Compare only the characters of a process name that the kernel keeps. */
	return !strncmp(name, wanted, PROCESS_NAME_SIZE - 2);
}

static bool does_rule_match_request(const struct class_rules *rules, const struct class_rule *rule,
				    const struct trace_request *request, const char *name)
{
	u64 draw = aftl_hash64_pair(rules->seed, request->offset / CLASS_RULE_SHARE_BYTES);

	return (!rule->process || does_process_name_match_pattern(rule->process, name)) &&
	       request->offset >= rule->begin && request->offset + request->bytes <= rule->end &&
	       request->bytes >= rule->least && request->bytes <= rule->most &&
	       (rule->stream < 0 || rule->stream == request->stream) &&
	       aftl_map_random_to_range(draw, RATIO_ONE) < rule->share;
}

void class_rules_apply(const struct class_rules *rules, struct trace_request *request,
		       const char *name)
{
	if (request->op != AFTL_OP_WRITE)
		return;
	request->class = TRACE_PRECISE;
	request->by = TRACE_BY_NOBODY;
	for (u32 i = 0; i < rules->count; i++) {
		if (!does_rule_match_request(rules, &rules->rules[i], request, name))
			continue;
		request->class = rules->rules[i].class;
		request->by = TRACE_BY_RULE;
		return;
	}
}
