// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture-account.h"
#include "capture-blktrace.h"
#include "capture-program.h"
#include "checked-memory.h"
#include "command-line.h"
#include "complain.h"
#include "json-envelope.h"
#include "output-file.h"
#include "trace-record.h"

#define VERB "trace record"

/* Default buffers of blktrace: 4 MiB per CPU. */
#define BUFFER_KIB 512
#define BUFFERS 8

/**
 * struct capture - an invocation of the subcommand
 * @device_path: the device, or a path on it
 * @output: directory of the capture
 * @buffer_kib: size of a blktrace buffer in KiB
 * @buffers: number of blktrace buffers per CPU
 * @strict: fail if events or writes are missing
 * @no_sync: do not write dirty data back at the end
 * @help: print the help
 * @device: traced device
 * @before: state of an emulated SSD before the run
 * @after: state of an emulated SSD after the run
 * @blktrace: the running blktrace
 * @written_sectors: sectors written during the run, by the kernel's count
 * @hidden_sectors: written sectors that are missing in the trace
 * @program: the program that runs
 * @argc: number of words of the command line, "approxftl trace record ..."
 * @argv: words of the command line
 */
struct capture {
	const char *device_path;
	const char *output;
	u64 buffer_kib;
	u64 buffers;
	bool strict;
	bool no_sync;
	bool help;
	struct capture_device device;
	struct capture_state before;
	struct capture_state after;
	struct blktrace_run blktrace;
	u64 written_sectors;
	u64 hidden_sectors;
	struct capture_program program;
	int argc;
	char **argv;
};

/* Command line */

#define FIELD(name) offsetof(struct capture, name)
#define SWITCH(letter, name, field, help) \
	{ name, letter, COMMAND_SWITCH, FIELD(field), NULL, help, 0, 0, 0 }
#define COUNT(name, field, help) \
	{ name, 0, AFTL_PARAM_COUNT, FIELD(field), "N", help, 1, 1 << 20, 0 }

static const struct command_option options_table[] = {
	{ "output", 'O', COMMAND_TEXT, FIELD(output), "DIRECTORY",
	  "the result (default: NAME.aftrec, NAME being the device's)", 0, 0, 0 },
	SWITCH(0, "strict", strict, "events or writes that are not there are a failure"),
	SWITCH(0, "no-sync", no_sync, "do not write back what is dirty when the program has ended"),
	COUNT("buffer-kib", buffer_kib, "size of blktrace's buffers (default 512)"),
	COUNT("buffers", buffers, "buffers of each processor (default 8)"),
	SWITCH('h', "help", help, "print this"),
};

/* Parsing stops at the program's name: later options belong to the program. */
static const struct command_line command = {
	.name = VERB,
	.options = options_table,
	.count = ARRAY_SIZE(options_table),
	.column = 24,
	.ends = true,
};

static void print_record_help(void)
{
	puts("Usage: approxftl trace record [OPTION ...] DEVICE|DIRECTORY -- PROGRAM [ARG ...]\n"
	     "\n"
	     "Runs a program while blktrace watches a block device, or the one that a directory\n"
	     "is on, and leaves a directory with the trace and all about device and program.\n"
	     "The exit status is the program's.\n");
	command_line_print_help(&command);
}

static int parse_record_arguments(struct capture *capture, int argc, char **argv,
				  struct aftl_error *error)
{
	int ret = command_line_parse(&command, capture, argc, argv, error);

	if (ret || capture->help)
		return ret;
	if (optind >= argc || !strcmp(argv[optind - 1], "--"))
		return aftl_fail(error, -EINVAL, "DEVICE missing: name the device to be traced");
	capture->device_path = argv[optind++];
	if (optind < argc && !strcmp(argv[optind], "--"))
		optind++;
	if (optind >= argc)
		return aftl_fail(error, -EINVAL, "PROGRAM missing: name the program to be run");
	capture->program.argv = argv + optind;
	return 0;
}

/* Output directory */

static int report_capture_output_error(const struct capture *capture, struct aftl_error *error)
{
	return aftl_fail(error, -errno, "%.120s: cannot create: %s%s", capture->output,
			 strerror(errno), errno == EEXIST ? "; name another by --output" : "");
}

/* Refuse a directory on the traced device: the trace would contain its own writes. */
static int check_output_not_on_device(const struct capture *capture, struct aftl_error *error)
{
	const struct capture_device *device = &capture->device;
	struct stat found;

	if (stat(capture->output, &found))
		return report_capture_output_error(capture, error);
	if (found.st_dev != makedev(device->major, device->minor))
		return 0;
	rmdir(capture->output);
	return aftl_fail(error, -EINVAL,
			 "%.120s would be on the device that is traced; name another place by --output",
			 capture->output);
}

static int create_output_directory(struct capture *capture, char *standard, size_t size,
				   struct aftl_error *error)
{
	const struct capture_device *device = &capture->device;

	if (!capture->output) {
		scnprintf(standard, size, "%s.aftrec",
			  device->emulated ? device->dm.name : device->name);
		capture->output = standard;
	}
	if (mkdir(capture->output, 0777))
		return report_capture_output_error(capture, error);
	return check_output_not_on_device(capture, error);
}

/**
 * struct document - a file in the capture's directory, which appears when it is complete
 * @path: path of the file
 * @file: open file
 * @json: JSON document in the file
 */
struct document {
	char path[PATH_MAX];
	struct output_file file;
	struct json_writer json;
};

static int open_capture_document(struct document *document, const struct capture *capture,
				 const char *name, struct aftl_error *error)
{
	int ret;

	scnprintf(document->path, sizeof(document->path), "%s/%s", capture->output, name);
	ret = output_file_open(&document->file, document->path, name, true, error);
	if (!ret)
		json_envelope_begin_for_verb(&document->json, document->file.stream, VERB,
					     capture->argc, capture->argv);
	return ret;
}

static int close_capture_document(struct document *document, struct aftl_error *error)
{
	json_envelope_end(&document->json);
	return output_file_close(&document->file, error);
}

static int write_device_json(const struct capture *capture, struct aftl_error *error)
{
	struct document document;
	struct json_writer *json = &document.json;
	int ret = open_capture_document(&document, capture, "device.json", error);

	if (ret)
		return ret;
	capture_device_write_json(&capture->device, &capture->before, &capture->after, json);
	json_begin_object(json, "trace");
	json_u64(json, "events", capture->blktrace.events);
	json_u64(json, "dropped_events", capture->blktrace.dropped);
	json_u64(json, "hidden_write_sectors", capture->hidden_sectors);
	json_end_object(json);
	return close_capture_document(&document, error);
}

static int write_program_json(const struct capture *capture, struct aftl_error *error)
{
	struct document document;
	int ret = open_capture_document(&document, capture, "program.json", error);

	if (ret)
		return ret;
	json_begin_object(&document.json, "program");
	capture_program_write_json(&capture->program, &document.json);
	json_end_object(&document.json);
	return close_capture_document(&document, error);
}

/* Capture */

static int run_program_under_trace(struct capture *capture, struct aftl_error *error)
{
	struct aftl_error later;
	int ret, end;
	u64 before;

	ret = blktrace_start(&capture->blktrace, &capture->device, capture->output,
			     capture->buffer_kib, capture->buffers, error);
	if (ret)
		return ret;
	before = capture_get_kernel_written_sectors(&capture->device);
	ret = capture_program_run(&capture->program, error);
	if (!ret && !capture->no_sync)
		capture_device_sync(&capture->device);
	capture->written_sectors = capture_get_kernel_written_sectors(&capture->device) - before;
	end = blktrace_stop(&capture->blktrace, ret ? &later : error);
	return ret ? ret : end;
}

/*
 * Compare the traced writes with the kernel's counters. Skip this if events were dropped, which
 * explains a difference. The capture is kept if the comparison fails.
 */
static void find_untraced_sectors(struct capture *capture)
{
	struct aftl_error error;
	u64 traced = 0;

	if (capture->blktrace.dropped)
		return;
	if (capture->blktrace.events &&
	    capture_count_traced_sectors(capture->output, &traced, &error))
		complain_as(VERB, "the trace is not compared with what was written: %s",
			    error.text);
	else if (capture->written_sectors > traced)
		capture->hidden_sectors = capture->written_sectors - traced;
}

static int fill_output_directory(struct capture *capture, struct aftl_error *error)
{
	int ret = read_target_state_of_captured_device(&capture->before, &capture->device, error);

	if (!ret)
		ret = run_program_under_trace(capture, error);
	if (!ret)
		ret = read_target_state_of_captured_device(&capture->after, &capture->device,
							   error);
	if (ret)
		return ret;
	find_untraced_sectors(capture);
	ret = write_device_json(capture, error);
	if (!ret)
		ret = write_program_json(capture, error);
	return ret;
}

static int record_program_trace(struct capture *capture, struct aftl_error *error)
{
	char standard[CAPTURE_NAME_SIZE + 8];
	int ret = check_blktrace_possible(error);

	if (!ret)
		ret = capture_device_find(&capture->device, capture->device_path, error);
	if (!ret)
		ret = create_output_directory(capture, standard, sizeof(standard), error);
	if (ret)
		return ret;
	ret = fill_output_directory(capture, error);
	if (ret)
		rmdir(capture->output);
	else
		fprintf(stderr, "approxftl " VERB ": %s: %llu events\n", capture->output,
			(unsigned long long)capture->blktrace.events);
	return ret;
}

/* Return the exit status of a capture; report lost events and writes that the trace lacks. */
static int exit_status_of_capture(const struct capture *capture)
{
	int status = capture_program_exit_status(&capture->program);

	if (!capture->blktrace.dropped && !capture->hidden_sectors)
		return status;
	if (capture->blktrace.dropped)
		complain_as(VERB, "%llu events were dropped; raise --buffers or --buffer-kib",
			    (unsigned long long)capture->blktrace.dropped);
	else
		complain_as(VERB,
			    "%llu sectors were written of which the trace does not tell; Linux 7.3 hides forced writes (FUA), 6.12 does not",
			    (unsigned long long)capture->hidden_sectors);
	return capture->strict && !status ? EXIT_FAILED : status;
}

static int run_capture(struct capture *capture)
{
	struct aftl_error error;
	int ret = record_program_trace(capture, &error);

	free_target_state_of_captured_device(&capture->before);
	free_target_state_of_captured_device(&capture->after);
	if (!ret)
		return exit_status_of_capture(capture);
	return report_command_failure(VERB, &error, ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED);
}

enum exit_code trace_record_main(int argc, char **argv)
{
	struct capture *capture = memory_alloc_zeroed(1, sizeof(*capture));
	struct aftl_error error;
	enum exit_code code = EXIT_DONE;

	capture->buffer_kib = BUFFER_KIB;
	capture->buffers = BUFFERS;
	capture->argc = argc;
	capture->argv = argv;
	if (parse_record_arguments(capture, argc, argv, &error)) {
		complain_as(VERB, "%s", error.text);
		code = EXIT_USAGE;
	} else if (capture->help) {
		print_record_help();
	} else {
		code = (enum exit_code)run_capture(capture);
	}
	free(capture);
	return code;
}
