// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments to struct sim_options. One table says what options there are, a second
 * one which of them need or exclude each other.
 */
#include <stdio.h>

#include "complain.h"
#include "core/ftl/ftl.h"
#include "key-value.h"
#include "parameter-file.h"
#include "shares.h"
#include "sim-options.h"

enum kind {
	KIND_COUNT = AFTL_PARAM_COUNT,
	KIND_BYTES = AFTL_PARAM_BYTES,
	KIND_TIME = AFTL_PARAM_TIME,
	KIND_RATE = AFTL_PARAM_RATE,
	KIND_CHOICE = AFTL_PARAM_CHOICE,
	KIND_SHARE,
	KIND_TEXT,
	KIND_SWITCH,
	/* In the words of reading-option-table.h. */
	KIND_COMMAND_TEXT = KIND_TEXT,
	KIND_COMMAND_SWITCH = KIND_SWITCH,
};

static const char *const workload_words[] = { "uniform", "zipf", "sequential",
					       "bursts",  "drift", "active", "zones", NULL };
static const char *const arrival_words[] = { "closed", "open", "trace", "device", NULL };
static const char *const die_dies_words[] = { "never", "late", "early", NULL };
static const char *const arrival_shape_words[] = { "poisson", "fixed", NULL };

/**
 * struct option - a line of option-table.h, or a title when it has no field
 */
struct option {
	const char *name;
	enum kind kind;
	size_t field;
	u64 smallest;
	u64 largest;
	const char *standard;
	const char *value;
	const char *help;
};

static const struct option options_table[] = {
#define SIM_OPT_GROUP(title) { .help = (title) },
#define SIM_OPT(_name, _kind, least, most, usual, _value, phrase) {	\
	.name = #_name,							\
	.kind = KIND_##_kind,						\
	.field = offsetof(struct sim_options, _name),			\
	.smallest = least,						\
	.largest = most,						\
	.standard = usual,						\
	.value = _value,						\
	.help = phrase,							\
},
#include "option-table.h"
#undef SIM_OPT
#undef SIM_OPT_GROUP
};

#define OPTIONS ARRAY_SIZE(options_table)

static_assert(ARRAY_SIZE(options_table) <= SIM_OPTIONS, "room for each option");

static const char *const *option_words(const struct option *option)
{
	if (!strcmp(option->name, "workload"))
		return workload_words;
	if (!strcmp(option->name, "arrival"))
		return arrival_words;
	if (!strcmp(option->name, "die_dies"))
		return die_dies_words;
	return arrival_shape_words;
}

/* Dashes and underscores are the same; a "=" ends the name. */
static bool same_name(const char *name, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (name[i] != (text[i] == '-' ? '_' : text[i]))
			return false;
	return !name[length];
}

static const struct option *find_option(const char *text, size_t length)
{
	unsigned int i;

	for (i = 0; i < OPTIONS; i++)
		if (options_table[i].name && same_name(options_table[i].name, text, length))
			return &options_table[i];
	return NULL;
}

bool sim_option_given(const struct sim_options *options, const char *name)
{
	return options->given[find_option(name, strlen(name)) - options_table];
}

/* The spelling of the command line. */
static const char *dashed(const char *name, char text[32])
{
	unsigned int i;

	for (i = 0; i < 31 && name[i]; i++)
		text[i] = name[i] == '_' ? '-' : name[i];
	text[i] = '\0';
	return text;
}

/* Values */

static int complain_number(const struct option *option, const char *text, const char *cause,
			   struct aftl_error *error)
{
	char name[32];

	dashed(option->name, name);
	if (option->kind == KIND_RATE)
		return aftl_fail(error, -EINVAL, "--%s: \"%.40s\" is not a number such as 2 or 0.5",
				 name, text);
	return aftl_fail(error, -EINVAL, "--%s: %.190s", name, cause);
}

static void print_number(const struct option *option, u64 value, char text[AFTL_VALUE_SIZE])
{
	struct aftl_param like = { .type = (enum aftl_param_type)option->kind };

	if (option->kind == KIND_RATE)
		decimal_print(value, SIM_RATE_DECIMALS, text);
	else
		aftl_param_print(&like, value, text);
}

static int check_range(const struct option *option, const char *text, u64 value,
		       struct aftl_error *error)
{
	char smallest[AFTL_VALUE_SIZE];
	char largest[AFTL_VALUE_SIZE];
	char name[32];

	if (value >= option->smallest && value <= option->largest)
		return 0;
	print_number(option, option->smallest, smallest);
	print_number(option, option->largest, largest);
	return aftl_fail(error, -EINVAL, "--%s: %.40s is out of range; it must be %s to %s",
			 dashed(option->name, name), text, smallest, largest);
}

/* A count such as 250k, 1M or 2G without its letter; returns what that stands for. */
static u64 take_scale(const struct option *option, const char *text, char digits[AFTL_VALUE_SIZE])
{
	static const char letters[] = "kMG";
	size_t length = strlen(text);
	const char *letter = length > 1 ? strchr(letters, text[length - 1]) : NULL;
	u64 scale = 1000;

	scnprintf(digits, AFTL_VALUE_SIZE, "%s", text);
	if (option->kind != KIND_COUNT || !letter || length >= AFTL_VALUE_SIZE)
		return 1;
	digits[length - 1] = '\0';
	for (; letter > letters; letter--)
		scale *= 1000;
	return scale;
}

static int set_number(struct sim_options *options, const struct option *option, const char *text,
		      struct aftl_error *error)
{
	const char *const *words = option->kind == KIND_CHOICE ? option_words(option) : NULL;
	u64 *value = (u64 *)((char *)options + option->field);
	char digits[AFTL_VALUE_SIZE];
	u64 scale = take_scale(option, text, digits);
	struct aftl_error cause;

	if (aftl_parse_value((enum aftl_param_type)option->kind, words, scale > 1 ? digits : text,
			     value, &cause))
		return complain_number(option, text, cause.text, error);
	if (*value > U64_MAX / scale)
		return complain_number(option, text, "more than fits into 64 bits", error);
	*value *= scale;
	return option->kind == KIND_CHOICE ? 0 : check_range(option, text, *value, error);
}

/* Shares */

static int complain_share_range(const struct option *option, const char *text, bool percent,
				struct aftl_error *error)
{
	char smallest[AFTL_VALUE_SIZE];
	char largest[AFTL_VALUE_SIZE];
	char name[32];

	share_print(option->smallest, percent, smallest);
	share_print(option->largest, percent, largest);
	return aftl_fail(error, -EINVAL, "--%s: %.40s is out of range; it must be %s to %s",
			 dashed(option->name, name), text, smallest, largest);
}

/* 50 that was meant as 50%. */
static bool lacks_sign(const struct option *option, const struct share *share)
{
	return !share->percent && share->value > option->largest && !share->finer &&
	       share->value % 100 == 0 && share->value / 100 <= option->largest;
}

static int complain_sign(const struct option *option, const char *text, u64 meant,
			 struct aftl_error *error)
{
	char percentage[AFTL_VALUE_SIZE];
	char fraction[AFTL_VALUE_SIZE];
	char name[32];

	share_print(meant, true, percentage);
	share_print(meant, false, fraction);
	return aftl_fail(error, -EINVAL, "--%s: %.40s is more than the whole; write %s or %s",
			 dashed(option->name, name), text, percentage, fraction);
}

static int check_share(const struct option *option, const char *text, const struct share *share,
		       struct aftl_error *error)
{
	char name[32];

	if (lacks_sign(option, share))
		return complain_sign(option, text, share->value / 100, error);
	if (share->value < option->smallest || share->value > option->largest)
		return complain_share_range(option, text, share->percent, error);
	if (share->finer)
		return aftl_fail(error, -EINVAL,
				 "--%s: %.40s is finer than shares can be; the smallest step is %s",
				 dashed(option->name, name), text,
				 share->percent ? "0.01%" : "0.0001");
	return 0;
}

static int set_share(struct sim_options *options, const struct option *option, const char *text,
		     struct aftl_error *error)
{
	struct share share;
	char name[32];

	if (!share_parse(text, &share))
		return aftl_fail(error, -EINVAL,
				 "--%s: \"%.40s\" is not a share such as 0.5 or 50%%",
				 dashed(option->name, name), text);
	*(u64 *)((char *)options + option->field) = share.value;
	return check_share(option, text, &share, error);
}

static int set_value(struct sim_options *options, const struct option *option, const char *text,
		     struct aftl_error *error)
{
	if (option->kind == KIND_SWITCH)
		*(bool *)((char *)options + option->field) = true;
	else if (option->kind == KIND_TEXT)
		*(const char **)((char *)options + option->field) = text;
	else if (option->kind == KIND_SHARE)
		return set_share(options, option, text, error);
	else
		return set_number(options, option, text, error);
	return 0;
}

/* Finding out what an argument is */

static int complain_unknown(const char *text, size_t length, struct aftl_error *error)
{
	const char *words[OPTIONS + AFTL_PARAMS_MAX + 1] = { NULL };
	char wrong[41], name[32];
	const char *meant;
	unsigned int i, count = 0;

	for (i = 0; i < OPTIONS; i++)
		if (options_table[i].name)
			words[count++] = options_table[i].name;
	for (i = 0; i < aftl_param_count(); i++)
		words[count++] = aftl_param_at(i)->key;
	scnprintf(wrong, sizeof(wrong), "%.*s", (int)min(length, sizeof(wrong) - 1), text);
	meant = closest_word(wrong, words);
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"--%s\"; did you mean --%s?",
				 wrong, dashed(meant, name));
	return aftl_fail(error, -EINVAL,
			 "unknown option \"--%s\"; \"approxftl sim --help\" lists the options, \"approxftl params\" the parameters",
			 wrong);
}

/**
 * struct argument - one "--name value" or "--name=value"
 * @name: without the dashes
 * @length: of the name
 * @value: NULL if there is none
 * @count: arguments of the command line that it takes
 */
struct argument {
	const char *name;
	size_t length;
	const char *value;
	int count;
};

static bool split_argument(char **argv, struct argument *argument, struct aftl_error *error)
{
	if (!strcmp(argv[0], "-h") || !strcmp(argv[0], "-q")) {
		*argument = (struct argument){ .name = argv[0][1] == 'h' ? "help" : "quiet" };
		argument->length = strlen(argument->name);
		argument->count = 1;
		return true;
	}
	if (argv[0][0] != '-' || argv[0][1] != '-' || !argv[0][2]) {
		aftl_fail(error, -EINVAL,
			  "\"%.40s\" is not an option; a record file is read by --trace FILE",
			  argv[0]);
		return false;
	}
	argument->name = argv[0] + 2;
	argument->length = strcspn(argument->name, "=");
	if (argument->name[argument->length]) {
		argument->value = argument->name + argument->length + 1;
		argument->count = 1;
	} else {
		argument->value = argv[1];
		argument->count = argv[1] ? 2 : 1;
	}
	return true;
}

static bool has_value(const struct argument *argument, struct aftl_error *error)
{
	if (argument->value)
		return true;
	aftl_fail(error, -EINVAL, "--%.*s needs a value", (int)min(argument->length, 40UL),
		  argument->name);
	return false;
}

/* Seeds */

static int add_seed(struct sim_options *options, u64 seed, struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; i < options->seed_count; i++)
		if (options->seeds[i] == seed)
			return aftl_fail(error, -EINVAL, "--seed: %llu is there twice",
					 (unsigned long long)seed);
	if (options->seed_count == SIM_SEEDS)
		return aftl_fail(error, -EINVAL, "--seed: at most %u seeds", SIM_SEEDS);
	options->seeds[options->seed_count++] = seed;
	return 0;
}

/* 7, or 1..8 with both ends. */
static int add_seeds(struct sim_options *options, char *item, struct aftl_error *error)
{
	char *end = strstr(item, "..");
	struct aftl_error unused;
	u64 first = 0, last = 0;
	int ret;

	if (end)
		*end = '\0';
	ret = aftl_parse_value(AFTL_PARAM_COUNT, NULL, item, &first, &unused);
	if (!ret)
		ret = aftl_parse_value(AFTL_PARAM_COUNT, NULL, end ? end + 2 : item, &last,
				       &unused);
	if (ret || last < first)
		return aftl_fail(error, -EINVAL,
				 "--seed: \"%.40s%s%.40s\" is not a number, nor a range such as 1..8",
				 item, end ? ".." : "", end ? end + 2 : "");
	do
		ret = add_seed(options, first, error);
	while (!ret && first++ < last);
	return ret;
}

static int set_seeds(struct sim_options *options, const char *list, struct aftl_error *error)
{
	char item[LIST_ITEM] = "";
	int ret = 0;

	options->param_given = "seed";
	options->seed_count = 0;
	if (!*list)
		return add_seeds(options, item, error);
	while (!ret && list_next(&list, item))
		ret = add_seeds(options, item, error);
	options->config.seed = options->seeds[0];
	return ret;
}

static int set_param(struct sim_options *options, const char *text, size_t length,
		     const char *value, struct aftl_error *error)
{
	char key[KEY_SIZE];

	key_copy(key, text, length);
	if (!strcmp(key, "seed"))
		return set_seeds(options, value, error);
	options->param_given = text;
	return aftl_param_set(&options->config, key, value, error);
}

/* KEY=VALUE */
static int set_pair(void *context, const char *pair, struct aftl_error *error)
{
	struct sim_options *options = context;
	size_t length = key_length(pair);

	if (!length)
		return aftl_fail(error, -EINVAL, "--set: \"%.40s\" is not of the form KEY=VALUE",
				 pair);
	return set_param(options, pair, length, pair + length + 1, error);
}

/* KEY=VALUE, or @FILE with many of them. */
static int set_pairs(struct sim_options *options, const char *value, struct aftl_error *error)
{
	return *value == '@' ? parameter_file_take(value + 1, set_pair, options, error) :
			       set_pair(options, value, error);
}

static bool is_param(const struct argument *argument)
{
	unsigned int i;

	for (i = 0; i < aftl_param_count(); i++)
		if (same_name(aftl_param_at(i)->key, argument->name, argument->length))
			return true;
	return false;
}

static int take_param(struct sim_options *options, const struct argument *argument,
		      struct aftl_error *error)
{
	if (!is_param(argument))
		return complain_unknown(argument->name, argument->length, error);
	if (!has_value(argument, error))
		return -EINVAL;
	return set_param(options, argument->name, argument->length, argument->value, error);
}

static int take_option(struct sim_options *options, const struct option *option,
		       struct argument *argument, struct aftl_error *error)
{
	char name[32];

	options->given[option - options_table] = true;
	if (option->kind == KIND_SWITCH) {
		if (argument->name[argument->length])
			return aftl_fail(error, -EINVAL, "--%s takes no value",
					 dashed(option->name, name));
		argument->count = 1;
		return set_value(options, option, NULL, error);
	}
	if (!has_value(argument, error))
		return -EINVAL;
	if (option->field == offsetof(struct sim_options, set))
		return set_pairs(options, argument->value, error);
	if (option->field == offsetof(struct sim_options, seed))
		return set_seeds(options, argument->value, error);
	return set_value(options, option, argument->value, error);
}

static int take_arguments(struct sim_options *options, int argc, char **argv,
			  struct aftl_error *error)
{
	int i, ret = 0;

	for (i = 0; i < argc && !ret;) {
		struct argument argument = { .name = NULL };
		const struct option *option;

		if (!split_argument(argv + i, &argument, error))
			return -EINVAL;
		option = find_option(argument.name, argument.length);
		ret = option ? take_option(options, option, &argument, error) :
			       take_param(options, &argument, error);
		i += argument.count;
	}
	return ret;
}

/* The profile comes first wherever it stands: parameters are set on top of it. */
static int load_profile(struct sim_options *options, int argc, char **argv,
			struct aftl_error *error)
{
	const char *name = options->profile;
	int i;

	for (i = 0; i < argc; i++) {
		if (i + 1 < argc && !strcmp(argv[i], "--profile"))
			name = argv[++i];
		else if (!strncmp(argv[i], "--profile=", 10))
			name = argv[i] + 10;
	}
	return aftl_profile_load(&options->config, name, error);
}

static int set_defaults(struct sim_options *options, struct aftl_error *error)
{
	unsigned int i;
	int ret = 0;

	memset(options, 0, sizeof(*options));
	for (i = 0; i < OPTIONS && !ret; i++)
		if (options_table[i].standard)
			ret = set_value(options, &options_table[i], options_table[i].standard,
					error);
	return ret;
}

/* Lists */

static int complain_policy(const char *name, struct aftl_error *error)
{
	const struct aftl_policy_type *type;
	struct aftl_error list = { "" };
	size_t used = 0;
	unsigned int i;

	for (i = 0; (type = aftl_policy_at(i)); i++)
		used += scnprintf(list.text + used, sizeof(list.text) - used, "%s%s",
				  i ? ", " : "", type->name);
	return aftl_fail(error, -EINVAL, "unknown policy \"%.40s\"; there are %.150s", name,
			 list.text);
}

static bool has_policy(const struct sim_options *options, const struct aftl_policy_type *type)
{
	unsigned int i;

	for (i = 0; i < options->policy_count; i++)
		if (options->policies[i] == type)
			return true;
	return false;
}

static int add_policy(struct sim_options *options, const char *name, struct aftl_error *error)
{
	const struct aftl_policy_type *type = aftl_policy_find(name);

	if (!type)
		return complain_policy(name, error);
	if (options->policy_count == SIM_POLICIES)
		return aftl_fail(error, -EINVAL, "--policy: at most %u can be compared",
				 SIM_POLICIES);
	if (has_policy(options, type))
		return aftl_fail(error, -EINVAL, "--policy: %s is there twice", name);
	options->policies[options->policy_count++] = type;
	return 0;
}

/* Those that are not named before it. */
static int add_all(struct sim_options *options, struct aftl_error *error)
{
	const struct aftl_policy_type *type;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && (type = aftl_policy_at(i)); i++)
		if (!has_policy(options, type))
			ret = add_policy(options, type->name, error);
	return ret;
}

static int parse_policies(struct sim_options *options, struct aftl_error *error)
{
	const char *list = options->policy;
	char item[LIST_ITEM];
	int ret = 0;

	if (!*list)
		return aftl_fail(error, -EINVAL, "--policy needs a name");
	while (!ret && list_next(&list, item))
		ret = strcmp(item, "all") ? add_policy(options, item, error) :
					    add_all(options, error);
	return ret;
}

static int complain_size(const char *name, const char *item, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "--%s: \"%.40s\" is not a size such as 4096 or 16KiB, or one with a weight such as 4KiB:70",
			 name, item);
}

static int add_size(struct sim_size_list *sizes, const char *name, char *item,
		    struct aftl_error *error)
{
	size_t length = strcspn(item, ":");
	struct aftl_error unused;
	u64 bytes, weight = 1;

	if (item[length] && aftl_parse_value(AFTL_PARAM_COUNT, NULL, item + length + 1, &weight,
					     &unused))
		return complain_size(name, item, error);
	if (!weight || weight > 1000000)
		return aftl_fail(error, -EINVAL,
				 "--%s: the weight in \"%.40s\" must be 1 to 1000000", name,
				 item);
	item[length] = '\0';
	if (aftl_parse_value(AFTL_PARAM_BYTES, NULL, item, &bytes, &unused))
		return complain_size(name, item, error);
	if (!bytes || bytes > 1ULL << 30)
		return aftl_fail(error, -EINVAL,
				 "--%s: %.40s is out of range; it must be 1 to 1GiB", name, item);
	if (sizes->count == SIM_SIZES)
		return aftl_fail(error, -EINVAL, "--%s: at most %u sizes", name, SIM_SIZES);
	sizes->sizes[sizes->count++] = (struct sim_size){ .bytes = bytes, .weight = (u32)weight };
	return 0;
}

/* @name is the option that @list was given to. */
static int parse_sizes(struct sim_size_list *sizes, const char *name, const char *list,
		       struct aftl_error *error)
{
	char item[LIST_ITEM];
	int ret = 0;

	if (!*list)
		return complain_size(name, "", error);
	while (!ret && list_next(&list, item))
		ret = add_size(sizes, name, item, error);
	return ret;
}

static int parse_all_sizes(struct sim_options *options, struct aftl_error *error)
{
	int ret = parse_sizes(&options->size_list, "size", options->size, error);

	if (ret || !options->hot_size)
		return ret;
	return parse_sizes(&options->hot_size_list, "hot-size", options->hot_size, error);
}

static int add_page_block(struct sim_options *options, const char *item, struct aftl_error *error)
{
	struct aftl_error unused;
	u64 block;

	if (aftl_parse_value(AFTL_PARAM_COUNT, NULL, item, &block, &unused) || block > U32_MAX)
		return aftl_fail(error, -EINVAL,
				 "--page-map: \"%.40s\" is not a block number; write auto or a list such as 0,17",
				 item);
	if (options->page_block_count == SIM_PAGE_MAPS)
		return aftl_fail(error, -EINVAL, "--page-map: at most %u blocks", SIM_PAGE_MAPS);
	options->page_blocks[options->page_block_count++] = (u32)block;
	return 0;
}

static int parse_page_map(struct sim_options *options, struct aftl_error *error)
{
	const char *list = options->page_map;
	char item[LIST_ITEM];
	int ret = 0;

	if (!list || !strcmp(list, "auto"))
		return 0;
	if (!*list)
		return add_page_block(options, list, error);
	while (!ret && list_next(&list, item))
		ret = add_page_block(options, item, error);
	return ret;
}

/* What fits together */

/* @option makes sense only where @needed is given, or where it is not. */
struct relation {
	const char *option;
	const char *other;
};

static const struct relation needs[] = {
	{ "from", "trace" },	      { "time-unit", "trace" },	   { "offset-unit", "trace" },
	{ "columns", "trace" },	      { "device", "trace" },	   { "from-issue", "trace" },
	{ "strict", "trace" },
	{ "repeat", "trace" },	      { "time-scale", "trace" },   { "approx-run", "approx-share" },
	{ "level-2-share", "approx-share" }, { "level-3-share", "approx-share" },
	{ "hot-share", "hot-range" }, { "hot-range", "hot-share" }, { "histogram", "json" },
	{ "series", "json" },	      { "block-table", "json" },    { "page-map", "json" },
	{ "hot-size", "hot-share" }, { "members", "raid" },	      { "chunk", "raid" },
	{ "stripes", "raid" },	      { "stripe-hold", "raid" },
	{ "scatter", "hot-share" },   { "beside-size", "beside-rate" },
};

static const struct relation excludes[] = {
	{ "trace", "workload" },      { "trace", "write-share" },    { "trace", "size" },
	{ "trace", "approx-share" },  { "trace", "footprint" },	     { "trace", "zipf-skew" },
	{ "trace", "hot-share" },     { "trace", "drift-set" },	     { "trace", "drift-requests" },
	{ "trace", "active-set" },    { "trace", "active-requests" }, { "trace", "active-others" },
	{ "trace", "active-extent" }, { "trace", "scatter" },	     { "trace", "stride" },
	{ "trace", "zone-size" },     { "trace", "open-zones" },     { "raid", "beside-rate" },
	{ "trace", "discard-share" }, { "trace", "flush-every" },    { "trace", "utilisation" },
	{ "trace", "burst-on" },      { "trace", "burst-off" },	     { "rate", "utilisation" },
	{ "raid", "level-2-share" },  { "raid", "level-3-share" },
	{ "raid", "load" },	      { "raid", "dump" },	     { "raid", "record" },
	{ "raid", "discard-share" },  { "raid", "flush-every" },	     { "raid", "timeline" },
	{ "raid", "block-table" },    { "raid", "page-map" },	     { "raid", "die-dies" },
	{ "load", "profile" },	      { "load", "policy" },	     { "quiet", "progress" },
	{ "jobs", "timeline" },	      { "raid", "change" },	     { "change", "timeline" },
};

static int complain_need(const struct relation *need, struct aftl_error *error)
{
	const struct argument argument = { .name = need->option, .length = strlen(need->option) };

	return aftl_fail(error, -EINVAL, "--%s needs --%s%s", need->option, need->other,
			 is_param(&argument) ?
				 "; the parameter of the same name is set by --set" : "");
}

static int check_relations(const struct sim_options *options, struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(needs); i++)
		if (sim_option_given(options, needs[i].option) &&
		    !sim_option_given(options, needs[i].other))
			return complain_need(&needs[i], error);
	for (i = 0; i < ARRAY_SIZE(excludes); i++)
		if (sim_option_given(options, excludes[i].option) &&
		    sim_option_given(options, excludes[i].other))
			return aftl_fail(error, -EINVAL, "--%s and --%s contradict each other",
					 excludes[i].option, excludes[i].other);
	return 0;
}

/* Options that one workload or one kind of arrivals has for itself. */
struct specialty {
	const char *option;
	const char *of;
	u64 value;
};

static const struct specialty workload_specialties[] = {
	{ "zipf-skew", "zipf", SIM_WORKLOAD_ZIPF },
	{ "stride", "sequential", SIM_WORKLOAD_SEQUENTIAL },
	{ "drift-set", "drift", SIM_WORKLOAD_DRIFT },
	{ "drift-requests", "drift", SIM_WORKLOAD_DRIFT },
	{ "active-set", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-requests", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-others", "active", SIM_WORKLOAD_ACTIVE },
	{ "active-extent", "active", SIM_WORKLOAD_ACTIVE },
	{ "zone-size", "zones", SIM_WORKLOAD_ZONES },
	{ "open-zones", "zones", SIM_WORKLOAD_ZONES },
	{ "burst-on", "bursts", SIM_WORKLOAD_BURSTS },
	{ "burst-off", "bursts", SIM_WORKLOAD_BURSTS },
};

static const struct specialty arrival_specialties[] = {
	{ "depth", "closed", SIM_ARRIVAL_CLOSED },
	{ "rate", "open", SIM_ARRIVAL_OPEN },
	{ "utilisation", "open", SIM_ARRIVAL_OPEN },
	{ "arrival-shape", "open", SIM_ARRIVAL_OPEN },
	{ "time-scale", "trace", SIM_ARRIVAL_TRACE },
};

static int check_specialties(const struct sim_options *options, const char *what, u64 value,
			     const struct specialty *table, unsigned int count,
			     struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (sim_option_given(options, table[i].option) && table[i].value != value)
			return aftl_fail(error, -EINVAL, "--%s needs --%s %s", table[i].option,
					 what, table[i].of);
	return 0;
}

static int check_workload(const struct sim_options *options, struct aftl_error *error)
{
	if (options->workload != SIM_WORKLOAD_UNIFORM && options->workload != SIM_WORKLOAD_BURSTS &&
	    sim_option_given(options, "hot-share"))
		return aftl_fail(error, -EINVAL, "--hot-share needs --workload uniform or bursts");
	return check_specialties(options, "workload", options->workload, workload_specialties,
				 ARRAY_SIZE(workload_specialties), error);
}

/* Without --arrival the other options say it. */
static void choose_arrival(struct sim_options *options)
{
	if (sim_option_given(options, "arrival"))
		return;
	if (sim_option_given(options, "rate") || sim_option_given(options, "utilisation"))
		options->arrival = SIM_ARRIVAL_OPEN;
	else if (options->trace && !sim_option_given(options, "depth"))
		options->arrival = SIM_ARRIVAL_TRACE;
	else
		options->arrival = SIM_ARRIVAL_CLOSED;
}

static int check_arrival(const struct sim_options *options, struct aftl_error *error)
{
	if (options->arrival >= SIM_ARRIVAL_TRACE && !options->trace)
		return aftl_fail(error, -EINVAL, "--arrival %s needs --trace",
				 sim_arrival_word(options));
	if (options->arrival == SIM_ARRIVAL_OPEN && !sim_option_given(options, "rate") &&
	    !sim_option_given(options, "utilisation"))
		return aftl_fail(error, -EINVAL, "--arrival open needs --rate or --utilisation");
	return check_specialties(options, "arrival", options->arrival, arrival_specialties,
				 ARRAY_SIZE(arrival_specialties), error);
}

/* With --from it is copied first. */
static bool reads_once(const struct sim_options *options)
{
	return options->trace && !strcmp(options->trace, "-") && !options->from;
}

/* What exists once cannot serve several runs. */
static int check_several(const struct sim_options *options, struct aftl_error *error)
{
	if (options->seed_count > 1 && options->timeline)
		return aftl_fail(error, -EINVAL,
				 "--timeline tells devices apart by their policies; give one seed");
	if (sim_options_runs(options) < 2)
		return 0;
	if (options->dump)
		return aftl_fail(error, -EINVAL,
				 "--dump saves one device; give one policy and one seed");
	if (options->record)
		return aftl_fail(error, -EINVAL,
				 "--record writes one run; give one policy and one seed");
	if (reads_once(options))
		return aftl_fail(error, -EINVAL,
				 "standard input can be read once; give one policy and one seed, or name a file");
	return 0;
}

unsigned int sim_options_runs(const struct sim_options *options)
{
	return max(options->policy_count, 1U) * max(options->seed_count, 1U);
}

/* The stream of a file may be shorter than anybody knows before. */
static int check_changes(const struct sim_options *options, struct aftl_error *error)
{
	u64 last = sim_changes_last(&options->changes);
	bool endless = options->trace && !sim_option_given(options, "requests");

	if (endless || last <= options->warmup || last - options->warmup <= options->requests)
		return 0;
	return aftl_fail(error, -EINVAL, "--change: %llu is beyond the last request",
			 (unsigned long long)last);
}

static int check_files(const struct sim_options *options, struct aftl_error *error)
{
	if (options->load && options->param_given)
		return aftl_fail(error, -EINVAL,
				 "--load brings all parameters with it; %.40s cannot be set",
				 options->param_given);
	if (reads_once(options) && options->repeat > 1)
		return aftl_fail(error, -EINVAL,
				 "standard input can be read once; --repeat needs a file");
	if (options->json && options->record && !strcmp(options->json, "-") &&
	    !strcmp(options->record, "-"))
		return aftl_fail(error, -EINVAL, "--json and --record both want standard output");
	return check_several(options, error);
}

static int check_all(struct sim_options *options, struct aftl_error *error)
{
	int ret = check_relations(options, error);

	options->trace_path = options->trace;
	choose_arrival(options);
	if (!ret)
		ret = check_workload(options, error);
	if (!ret)
		ret = check_arrival(options, error);
	if (!ret)
		ret = check_changes(options, error);
	return ret ? ret : check_files(options, error);
}

int sim_options_parse(struct sim_options *options, int argc, char **argv,
		      struct aftl_error *error)
{
	int ret = set_defaults(options, error);

	if (!ret)
		ret = load_profile(options, argc, argv, error);
	if (!ret)
		ret = take_arguments(options, argc, argv, error);
	if (ret || options->help)
		return ret;
	if (!options->load)
		ret = parse_policies(options, error);
	if (!ret)
		ret = parse_all_sizes(options, error);
	if (!ret)
		ret = parse_page_map(options, error);
	if (!ret && options->change)
		ret = sim_changes_parse(&options->changes, options->change, error);
	return ret ? ret : check_all(options, error);
}

const char *sim_workload_word(const struct sim_options *options)
{
	return workload_words[options->workload];
}

const char *sim_arrival_word(const struct sim_options *options)
{
	return arrival_words[options->arrival];
}

const char *sim_shape_word(const struct sim_options *options)
{
	return arrival_shape_words[options->arrival_shape];
}

/* Help */

#define HELP_COLUMN 28
#define HELP_WIDTH 100

/* Breaks lines between words; @used columns of the first line are taken. */
static void print_wrapped(const char *text, int used)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (used + 1 + (int)length > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			used = HELP_COLUMN;
		}
		printf(" %.*s", (int)length, text);
		used += 1 + (int)length;
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct option *option)
{
	char name[32], left[64], right[240];
	int used;

	dashed(option->name, name);
	scnprintf(left, sizeof(left), "  --%s%s%s", name, option->value ? " " : "",
		  option->value ? option->value : "");
	used = printf("%-*s", HELP_COLUMN, left);
	scnprintf(right, sizeof(right), "%s%s%s%s", option->help,
		  option->standard ? " (default " : "", option->standard ? option->standard : "",
		  option->standard ? ")" : "");
	print_wrapped(right, used);
}

void sim_options_help(void)
{
	unsigned int i;

	puts("approxftl sim - run a stream of requests on an emulated SSD, in virtual time\n"
	     "\n"
	     "Usage: approxftl sim [OPTION ...]\n"
	     "\n"
	     "The same arguments always give the same output, byte for byte. Options are written\n"
	     "as \"--name value\" or \"--name=value\". Sizes are like 16KiB, times like 700us.\n"
	     "Shares are fractions like 0.5 or percentages like 50%.");
	for (i = 0; i < OPTIONS; i++) {
		if (options_table[i].name)
			print_option(&options_table[i]);
		else
			printf("\n%s\n", options_table[i].help);
	}
	puts("\n"
	     "Every parameter of the device is an option, too: --op 7 --fill random --seed 3.\n"
	     "\"approxftl params\" explains them. The parameters \"depth\" and \"hot_size\" share their\n"
	     "names with options: they are set by --set depth=N and --set hot_size=BYTES.\n"
	     "\n"
	     "Exit status: 0 done, 1 failed, 2 usage, 3 no such file, 4 --verify found an error,\n"
	     "130 interrupted (what there was is printed).\n"
	     "\n"
	     "Example: ApproxFTL against a device that does not know approximate data\n"
	     "  approxftl sim --policy baseline,approxftl --approx-share 0.5 --write-share 1");
}
