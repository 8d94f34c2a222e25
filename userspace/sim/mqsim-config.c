// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read an ssdconfig.xml of MQSim. Of XML, elements with their text are read: files of MQSim have no
 * attributes, and entities or document types are refused instead of expanded.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "device-choice.h"
#include "file-claims.h"
#include "mqsim-config.h"
#include "shares.h"

#define FILE_BYTES_MAX 65536
/* Maximum digits of a number in ssdconfig.xml: products of two such numbers fit 64 bits. */
#define DIGITS 10
#define VALUE_BYTES 32
#define BLANKS " \t\r\n"
/* The fraction 1.0 in the fixed-point format of AFTL_PARAM_RATE, to which fractions are parsed. */
#define RATE_ONE 1000000000000ULL

/* XML elements of ssdconfig.xml that contain other elements. */
enum element { ROOT, HOST, DEVICE, FLASH, ELEMENTS };

static const struct {
	const char *name;
	enum element parent;
} elements[] = {
	[ROOT] = { "Execution_Parameter_Set", ELEMENTS },
	[HOST] = { "Host_Parameter_Set", ROOT },
	[DEVICE] = { "Device_Parameter_Set", ROOT },
	[FLASH] = { "Flash_Parameter_Set", DEVICE },
};

enum kind { COUNT, BYTES, TIME, SHARE, WORD, LOWER, ONLY, PART, FACTOR, EFFECTLESS, UNMODELLED };

enum row {
#define MQSIM(parent, id, name, kind, argument) id,
#include "mqsim-table.h"
#undef MQSIM
	ROWS
};

static const struct {
	const char *name;
	const char *argument;
	enum element parent;
	enum kind kind;
} rows[ROWS] = {
#define MQSIM(parent, id, name, kind, argument) { name, argument, parent, kind },
#include "mqsim-table.h"
#undef MQSIM
};

/*
 * Parameters of our device that ssdconfig.xml does not have, with MQSim's fixed behaviour: MQSim
 * maps one flash page at a time, its cells have no errors, an address determines its die, and its
 * write cache programs a write at once.
 */
static const char *const constants[][2] = {
	{ "unit", "0" },	   { "layers", "1" },	     { "errors", "off" },
	{ "read_limit", "0" },	   { "allocate", "static" }, { "plane_mode", "shared" },
	{ "buffer_high", "0" },	   { "buffer_safe", "on" },  { "order", "read_first" },
	{ "write_expire", "0" },   { "gc_idle_valid", "100" },
};

/**
 * struct config - a file that is being read
 * @options: takes the parameters
 * @path: for messages
 * @text: the whole file
 * @at: the text that is read next
 * @inside: the innermost open element
 * @seen: elements that were opened
 * @values: text of each parameter, empty until it is read
 */
struct config {
	struct sim_options *options;
	const char *path;
	char text[FILE_BYTES_MAX];
	const char *at;
	enum element inside;
	bool seen[ELEMENTS];
	char values[ROWS][VALUE_BYTES];
};

__printf(3, 4)
static int report_mqsim_error(const struct config *config, struct aftl_error *error,
			      const char *format, ...)
{
	char cause[140];
	unsigned int line = 1;
	va_list arguments;

	for (const char *c = config->text; c < config->at; c++)
		line += *c == '\n';
	va_start(arguments, format);
	vsnprintf(cause, sizeof(cause), format, arguments);
	va_end(arguments);
	return config->at ? aftl_fail(error, -EINVAL, "%.80s: line %u: %s", config->path, line,
				      cause) :
			    aftl_fail(error, -EINVAL, "%.80s: %s", config->path, cause);
}

static int read_mqsim_text(struct config *config, struct aftl_error *error)
{
	int ret = claim_input_file(config->path, error);
	FILE *file = ret ? NULL : fopen(config->path, "re");
	size_t length;
	int code;

	if (ret)
		return ret;
	if (!file)
		return aftl_fail(error, -ENOENT, "%.120s: %s", config->path, strerror(errno));
	length = fread(config->text, 1, sizeof(config->text) - 1, file);
	code = ferror(file) ? errno : 0;
	fclose(file);
	if (code)
		return aftl_fail(error, -EIO, "%.120s: %s", config->path, strerror(code));
	if (length == sizeof(config->text) - 1 || strlen(config->text) != length)
		return aftl_fail(error, -EINVAL, "%.120s is no ssdconfig.xml of MQSim",
				 config->path);
	return 0;
}

/* Skip blanks, comments and the line "<?xml ...?>". Return false if a comment does not end. */
static bool skip_xml_comments(struct config *config)
{
	for (;;) {
		bool comment;
		const char *end;

		config->at += strspn(config->at, BLANKS);
		comment = !strncmp(config->at, "<!--", 4);
		if (!comment && strncmp(config->at, "<?", 2) != 0)
			return true;
		end = strstr(config->at + 2, comment ? "-->" : "?>");
		if (!end)
			return false;
		config->at = end + (comment ? 3 : 2);
	}
}

static int begin_xml_element(struct config *config, const char *name, struct aftl_error *error)
{
	for (enum element i = ROOT; i < ELEMENTS; i++) {
		if (strcmp(elements[i].name, name) != 0 || elements[i].parent != config->inside)
			continue;
		if (config->seen[i])
			return report_mqsim_error(config, error, "%s is there twice", name);
		config->seen[i] = true;
		config->inside = i;
		return 0;
	}
	return report_mqsim_error(config, error, "\"%.40s\" has no place here in a file of MQSim",
				  name);
}

static int store_mqsim_value(struct config *config, const char *name, const char *text,
			     size_t length, struct aftl_error *error)
{
	for (enum row i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].name, name) != 0 || rows[i].parent != config->inside)
			continue;
		if (*config->values[i])
			return report_mqsim_error(config, error, "%s is there twice", name);
		if (!length || length >= VALUE_BYTES || memchr(text, '&', length))
			return report_mqsim_error(config, error, "%s: \"%.*s\" is not a value",
						  name, (int)min(length, 40UL), text);
		memcpy(config->values[i], text, length);
		return 0;
	}
	return report_mqsim_error(config, error,
				  "\"%.40s\" is no parameter of MQSim that is known here", name);
}

/* Read the text and the end tag of the XML element @name, whose begin tag was read. */
static int read_mqsim_value(struct config *config, const char *name, const char *text,
			    struct aftl_error *error)
{
	size_t length = strcspn(text, "<"), end = strlen(name);
	const char *tag = text + length;

	if (strncmp(tag, "</", 2) != 0 || strncmp(tag + 2, name, end) != 0 || tag[2 + end] != '>')
		return report_mqsim_error(config, error, "<%s> does not end with </%s>", name,
					  name);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	if (store_mqsim_value(config, name, text, length, error))
		return -EINVAL;
	config->at = tag + end + 3;
	return 0;
}

/* Read one XML tag and, if it is a parameter, its value. */
static int read_mqsim_tag(struct config *config, struct aftl_error *error)
{
	bool ends = config->at[0] == '<' && config->at[1] == '/';
	const char *name = config->at + 1 + ends;
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	char copy[48];

	if (*config->at != '<' || !length || length >= sizeof(copy) || name[length] != '>')
		return report_mqsim_error(config, error,
					  "\"%.*s\" is no element, or one with attributes",
					  (int)min(strcspn(config->at, BLANKS), 20UL), config->at);
	memcpy(copy, name, length);
	copy[length] = '\0';
	if (ends) {
		if (config->inside == ELEMENTS || strcmp(copy, elements[config->inside].name) != 0)
			return report_mqsim_error(config, error, "</%s> ends what did not begin",
						  copy);
		config->inside = elements[config->inside].parent;
	} else {
		const char *text = name + length + 1;

		text += strspn(text, BLANKS);
		if (*text != '<' || text[1] == '/')
			return read_mqsim_value(config, copy, text, error);
		if (begin_xml_element(config, copy, error))
			return -EINVAL;
	}
	config->at = name + length + 1;
	return 0;
}

static int read_mqsim_elements(struct config *config, struct aftl_error *error)
{
	config->at = config->text;
	config->inside = ELEMENTS;
	do {
		if (!skip_xml_comments(config))
			return report_mqsim_error(config, error, "a comment does not end");
		if (*config->at && read_mqsim_tag(config, error))
			return -EINVAL;
	} while (*config->at);
	config->at = NULL;
	if (config->inside != ELEMENTS)
		return report_mqsim_error(config, error, "it ends inside %s",
					  elements[config->inside].name);
	for (enum row i = 0; i < ROWS; i++)
		if (!*config->values[i] && rows[i].kind != EFFECTLESS && rows[i].kind != UNMODELLED)
			return report_mqsim_error(config, error, "%s is missing", rows[i].name);
	return 0;
}

static int set_mqsim_parameter(const struct config *config, const char *key, const char *value,
			       struct aftl_error *error)
{
	return set_sim_parameter(config->options, key, strlen(key), value, error);
}

__printf(4, 5)
static int format_mqsim_parameter(const struct config *config, const char *key,
				  struct aftl_error *error, const char *format, ...)
{
	char value[40];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	return set_mqsim_parameter(config, key, value, error);
}

/* Parse a number of MQSim. Units, signs and exponents are refused; MQSim would cut them off. */
static int parse_mqsim_number(const struct config *config, enum row row, bool decimals, u64 *number,
			      struct aftl_error *error)
{
	const char *text = config->values[row];
	size_t whole = strspn(text, "0123456789");
	struct aftl_error unused;

	if (strlen(text) == strspn(text, decimals ? "0123456789." : "0123456789") && whole &&
	    whole <= DIGITS && !aftl_parse_value(decimals ? AFTL_PARAM_RATE : AFTL_PARAM_COUNT,
						 NULL, text, number, &unused))
		return 0;
	return report_mqsim_error(config, error, "%s: \"%s\" is not a number of at most %u digits",
				  rows[row].name, text, DIGITS);
}

/* Return @word's translation (maybe "") in @list, "word=translation word ..."; NULL: none. */
static const char *translate_mqsim_keyword(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ' ')) {
		list += *list == ' ';
		if (!strncmp(list, word, length) && strchr(" =", list[length]))
			return list + length + (list[length] == '=');
	}
	return NULL;
}

static int set_param_by_mqsim_keyword(const struct config *config, enum row row,
				      struct aftl_error *error)
{
	const char *list = rows[row].argument;
	const char *meaning = translate_mqsim_keyword(list, config->values[row]);
	char key[24];

	if (!meaning)
		return report_mqsim_error(config, error, "%s: %s is not modelled", rows[row].name,
					  config->values[row]);
	if (rows[row].kind == ONLY)
		return 0;
	scnprintf(key, sizeof(key), "%.*s", (int)strcspn(list, " "), list);
	return format_mqsim_parameter(config, key, error, "%.*s", (int)strcspn(meaning, " "),
				      meaning);
}

static int apply_mqsim_value(const struct config *config, enum row row, struct aftl_error *error)
{
	bool decimals = rows[row].kind == SHARE;
	char share[AFTL_VALUE_SIZE], word[VALUE_BYTES];
	u64 number = 0;
	int ret;

	switch (rows[row].kind) {
	case LOWER:
		for (unsigned int i = 0; i < VALUE_BYTES; i++)
			word[i] = (char)tolower(config->values[row][i]);
		return set_mqsim_parameter(config, rows[row].argument, word, error);
	case WORD:
	case ONLY:
		return set_param_by_mqsim_keyword(config, row, error);
	case COUNT:
	case BYTES:
	case TIME:
	case SHARE:
		ret = parse_mqsim_number(config, row, decimals, &number, error);
		if (ret)
			return ret;
		if (decimals) {
			format_fraction_or_percentage(number / (RATE_ONE / SHARE_WHOLE), true,
						      share);
			return set_mqsim_parameter(config, rows[row].argument, share, error);
		}
		return format_mqsim_parameter(config, rows[row].argument, error, "%llu%s",
					      (unsigned long long)number,
					      rows[row].kind == TIME ? "ns" : "");
	default:
		return 0;
	}
}

static bool does_mqsim_value_equal(const struct config *config, enum row row, const char *word)
{
	return !strcmp(config->values[row], word);
}

/* Set parameter bits to 2 if LSB and MSB pages have different times in ssdconfig.xml, else to 1. */
static int apply_mqsim_page_times(const struct config *config, const u64 *number,
				  struct aftl_error *error)
{
	bool single = does_mqsim_value_equal(config, FLASH_TECHNOLOGY, "SLC");
	bool triple = does_mqsim_value_equal(config, FLASH_TECHNOLOGY, "TLC");
	u64 read = number[PAGE_READ_LATENCY_LSB], program = number[PAGE_PROGRAM_LATENCY_LSB];
	u64 last_read = single ? read : number[PAGE_READ_LATENCY_MSB];
	u64 last_program = single ? program : number[PAGE_PROGRAM_LATENCY_MSB];
	bool differ = read != last_read || program != last_program ||
		      (triple && (number[PAGE_READ_LATENCY_CSB] != read ||
				  number[PAGE_PROGRAM_LATENCY_CSB] != program));
	u64 pages = number[PAGE_NO_PER_BLOCK];
	int ret;

	if (differ && triple)
		return report_mqsim_error(config, error,
					  "Page_Read_Latency_CSB: MQSim's order of TLC pages is not modelled");
	if (differ && pages % 2)
		return report_mqsim_error(config, error, "Page_No_Per_Block: %llu is odd",
					  (unsigned long long)pages);
	ret = set_mqsim_parameter(config, "bits", differ ? "2" : "1", error);
	if (!ret)
		ret = format_mqsim_parameter(config, "word_lines", error, "%llu",
					     (unsigned long long)(differ ? pages / 2 : pages));
	if (!ret)
		ret = format_mqsim_parameter(config, "read", error, "%lluns",
					     (unsigned long long)last_read);
	if (!ret)
		ret = format_mqsim_parameter(config, "read_first", error, "%lluns",
					     (unsigned long long)read);
	if (!ret)
		ret = format_mqsim_parameter(config, "program", error, "%lluns",
					     (unsigned long long)last_program);
	return ret ? ret : format_mqsim_parameter(config, "program_fast", error, "%lluns",
						  (unsigned long long)program);
}

static int set_suspend_params_from_mqsim(const struct config *config, const u64 *number,
					 struct aftl_error *error)
{
	bool erase = strstr(config->values[CMD_SUSPENSION_SUPPORT], "ERASE");
	u64 time = number[erase ? SUSPEND_ERASE_TIME : SUSPEND_PROGRAM_TIME];

	if (does_mqsim_value_equal(config, CMD_SUSPENSION_SUPPORT, "NONE"))
		return 0;
	if (does_mqsim_value_equal(config, CMD_SUSPENSION_SUPPORT, "PROGRAM_ERASE") &&
	    time != number[SUSPEND_PROGRAM_TIME])
		return report_mqsim_error(config, error,
					  "Suspend_Program_Time: it must be Suspend_Erase_Time");
	return format_mqsim_parameter(config, "suspend_cost", error, "%lluns",
				      (unsigned long long)time);
}

/* Set the parameters that are computed from two or more values of the file. */
static int set_params_computed_from_mqsim_values(const struct config *config,
						 struct aftl_error *error)
{
	u64 number[ROWS] = { 0 };
	unsigned int choices = 0;
	int ret = 0;

	for (enum row i = 0; i < ROWS && !ret; i++)
		if (rows[i].kind == PART || rows[i].kind == FACTOR || rows[i].kind == COUNT)
			ret = parse_mqsim_number(config, i, rows[i].kind == FACTOR, &number[i],
						 error);
	if (!ret)
		ret = format_mqsim_parameter(config, "bus", error, "%llu",
					     (unsigned long long)number[CHANNEL_TRANSFER_RATE] *
					    number[FLASH_CHANNEL_WIDTH]);
	if (!ret) /* Convert GB/s of one PCIe lane to MB/s of all lanes. */
		ret = format_mqsim_parameter(config, "link", error, "%llu",
					     (unsigned long long)(number[PCIE_LANE_BANDWIDTH] /
								  (RATE_ONE / 1000) *
								  number[PCIE_LANE_COUNT]));
	if (!ret)
		ret = format_mqsim_parameter(config, "map_cache", error, "%llu",
					     does_mqsim_value_equal(config, IDEAL_MAPPING_TABLE,
								    "true") ?
						     0ULL :
						     (unsigned long long)number[CMT_CAPACITY]);
	if (!ret)
		ret = format_mqsim_parameter(config, "wear_gap", error, "%llu",
					     does_mqsim_value_equal(config,
								    STATIC_WEARLEVELING_ENABLED,
								    "true") ?
						     number[STATIC_WEARLEVELING_THRESHOLD] + 0ULL :
						     0ULL);
	/* MQSim's victim selector RGA draws log2(blocks of a plane) candidates. */
	for (u64 blocks = number[BLOCK_NO_PER_PLANE]; blocks > 1; blocks /= 2)
		choices++;
	if (!ret && does_mqsim_value_equal(config, GC_BLOCK_SELECTION_POLICY, "RGA"))
		ret = format_mqsim_parameter(config, "victim_choices", error, "%u",
					     max(choices, 1U));
	if (!ret)
		ret = apply_mqsim_page_times(config, number, error);
	return ret ? ret : set_suspend_params_from_mqsim(config, number, error);
}

static void print_names_of_unmodelled_mqsim_values(const struct config *config)
{
	char names[400] = "";
	size_t used = 0;

	for (enum row i = 0; i < ROWS; i++)
		if (rows[i].kind == UNMODELLED && *config->values[i])
			used += scnprintf(names + used, sizeof(names) - used, "%s%s",
					  used ? ", " : "", rows[i].name);
	if (used)
		complain_as("sim", "note: times of MQSim that are not modelled: %s", names);
}

static int apply_all_mqsim_parameters(const struct config *config, struct aftl_error *error)
{
	int ret = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(constants) && !ret; i++)
		ret = set_mqsim_parameter(config, constants[i][0], constants[i][1], error);
	for (enum row i = 0; i < ROWS && !ret; i++)
		ret = apply_mqsim_value(config, i, error);
	if (!ret)
		ret = set_params_computed_from_mqsim_values(config, error);
	if (!ret)
		print_names_of_unmodelled_mqsim_values(config);
	return ret;
}

int mqsim_config_apply(struct sim_options *options, const char *path, struct aftl_error *error)
{
	struct config *config = memory_alloc_zeroed(1, sizeof(*config));
	int ret;

	config->options = options;
	config->path = path;
	ret = read_mqsim_text(config, error);
	if (!ret)
		ret = read_mqsim_elements(config, error);
	if (!ret)
		ret = apply_all_mqsim_parameters(config, error);
	free(config);
	return ret;
}
