// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-torture: runs a random load on a disk and verifies every block.
 */
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "complain.h"
#include "interruption.h"
#include "torture-run.h"
#include "standard-streams.h"

/* For the signal handler. */
static struct ledger *the_ledger;

static void freeze_ledger_on_signal(int number __maybe_unused)
{
	ledger_freeze_after_power_failure(the_ledger);
}

/* Whoever sees that SIGUSR1 is caught may stop the run at once: catch stop signals before. */
static void catch_signals(struct ledger *ledger)
{
	struct sigaction action = { .sa_handler = freeze_ledger_on_signal, .sa_flags = SA_RESTART };

	the_ledger = ledger;
	interruption_catch_stop_signals();
	sigaction(SIGUSR1, &action, NULL);
}

/* Draw a random number that distinguishes this run from other runs. */
static u64 draw_random_id_of_torture_run(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return aftl_hash64_pair((u64)now.tv_sec, (u64)now.tv_nsec);
}

static int begin_torture_run(struct torture_run *run, struct aftl_error *error)
{
	struct torture_options *options = &run->options;
	struct ledger_header header = { .device = draw_random_id_of_torture_run() };
	u64 size = options->size_bytes ? options->size_bytes : run->target.size;
	int ret;

	header.seed = options->seed ? (u32)options->seed : (u32)draw_random_id_of_torture_run() | 1;
	header.unit_bytes = options->unit_bytes ? (u32)options->unit_bytes : run->target.sector;
	header.units = size / header.unit_bytes;
	if (header.unit_bytes % run->target.sector || size > run->target.size ||
	    !header.units || header.units > U32_MAX)
		return aftl_fail(error, -EINVAL,
				 "%.120s has %llu bytes in sectors of %u: --size and --unit must fit",
				 options->device, (unsigned long long)run->target.size,
				 run->target.sector);
	ret = ledger_create(&run->ledger, options->state, &header, options->sync, error);
	if (!ret && options->zeroed)
		ledger_expect_zeroes_in_all_units(run->ledger);
	return ret;
}

static int resume_torture_run(struct torture_run *run, struct aftl_error *error)
{
	const struct ledger_header *header;
	int ret = ledger_open(&run->ledger, run->options.state, run->options.sync, error);

	if (ret)
		return ret;
	header = ledger_header(run->ledger);
	if (header->unit_bytes % run->target.sector ||
	    header->units * header->unit_bytes > run->target.size)
		return aftl_fail(error, -EINVAL,
				 "%.80s is smaller, or has larger sectors, than the device of the state file %.80s",
				 run->options.device, run->options.state);
	run->options.power_failed |= header->frozen;
	if (run->options.power_failed)
		ledger_apply_power_failure(run->ledger);
	return 0;
}

static int open_torture_files(struct torture_run *run, struct aftl_error *error)
{
	const struct torture_options *options = &run->options;
	bool again = options->resume || options->verify;
	struct target_options target_options = { .path = options->device,
						 .writes = !options->verify,
						 .overwrite = options->overwrite || again,
						 .force = options->force };
	int ret = target_open(&run->target, &target_options, error);

	if (!ret)
		ret = again ? resume_torture_run(run, error) : begin_torture_run(run, error);
	if (!ret)
		run->unit_bytes = ledger_header(run->ledger)->unit_bytes;
	return ret;
}

static enum exit_code check_all_blocks(struct torture_run *run)
{
	struct aftl_error error;

	if (!check_all_torture_units(run, &error))
		return EXIT_DONE;
	return report_command_failure("torture", &error, EXIT_FAILED);
}

/* Check the device (--resume, --verify), run the load (not with --verify), check again. */
static enum exit_code run_torture(struct torture_run *run)
{
	const struct torture_options *options = &run->options;
	enum exit_code code = EXIT_DONE;

	catch_signals(run->ledger);
	if (options->resume || options->verify)
		code = check_all_blocks(run);
	if (!code && !run->wrong && !options->verify) {
		run->options.power_failed = false;
		code = run_press_on_device(run);
		if (!code && !run->wrong && !is_stop_requested())
			code = check_all_blocks(run);
	}
	printf("seed %u", ledger_header(run->ledger)->seed);
	for (u32 op = 0; op < LOAD_OPS; op++)
		printf(", %llu %s", (unsigned long long)run->counts[op], load_op_names[op]);
	printf("; %llu failed, %llu unreadable, %llu wrong\n", (unsigned long long)run->failed,
	       (unsigned long long)run->unreadable, (unsigned long long)run->wrong);
	if (run->wrong)
		return EXIT_NOT_VERIFIED;
	return !code && is_stop_requested() ? EXIT_INTERRUPTED : code;
}

int main(int argc, char **argv)
{
	static struct torture_run run = { .target.fd = -1 };
	enum exit_code code = EXIT_FAILED;
	struct aftl_error error;

	standard_streams_set_up();
	if (torture_options_parse(&run.options, argc, argv, &error))
		return report_command_failure("torture", &error, EXIT_USAGE);
	if (run.options.help) {
		torture_options_print_help();
		return standard_streams_end("approxftl torture", EXIT_DONE);
	}
	if (open_torture_files(&run, &error))
		complain_as("torture", "%s", error.text);
	else
		code = run_torture(&run);
	ledger_close(run.ledger);
	target_close(&run.target);
	return standard_streams_end("approxftl torture", code);
}
