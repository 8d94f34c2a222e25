# SPDX-License-Identifier: GPL-2.0-only
"""approxftl synth: generate a synthetic stream like a published volume or a trace."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from approxftl_tools import command, record_writer, row_list, synthesis, workload_profile
from approxftl_tools.command import Refusal
from approxftl_tools.row_list import Column
from approxftl_tools.workload_profile import Profile

EPILOG = """\
The traces of MSR Cambridge must not be redistributed; if you have one, replace --like by --fit,
or use "approxftl trace convert" and the trace itself. The header of the result says that it
is synthetic, and lists profile, seed, and the properties that the profile leaves to assumptions.

Examples:
  approxftl synth --list
  approxftl synth --like PRN_0 --requests 500000 -O prn_0.aft
  approxftl synth --fit capture.aft --profile-out capture.json -O more.aft --requests 1000000
  approxftl synth --profile capture.json --approx-share 0.5 --seed 7 -O tagged.aft

Exit status: 0 done, 1 failed, 2 usage, 3 no such file or volume, 4 --within was not kept.
"""


#: Deviation of a zone's share from which an explanation is printed.
VISIBLE = 0.1


def parse_option_as_fraction(text: str) -> float:
    """Parse a share, such as --approx-share, from a fraction or a percentage; refuse a bare 1."""
    if text == "1":
        raise argparse.ArgumentTypeError("1 may mean 1% or 100%; write one of these")
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f'"{text}" is no share; write 0.5 or 50%')
    return value


parse_request_count = command.make_integer_parser(1, 10**9, "10^9")


def make_synth_parser() -> command.Parser:
    parser = command.make_verb_parser("synth", "Make a record file (.aft) of synthetic requests.",
                                      EPILOG)
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--list", action="store_true", help="print the published volumes")
    origin.add_argument("--like", metavar="VOLUME", help="one of them")
    origin.add_argument("--fit", metavar="TRACE", type=Path, help="a record file to measure")
    origin.add_argument("--profile", metavar="FILE", type=Path, help="a profile that was saved")
    parser.add_argument("-O", "--output", metavar="FILE", type=command.output_path,
                        help="where the records go, - for standard output")
    parser.add_argument("--profile-out", metavar="FILE", type=command.output_path,
                        help="save the profile, - for standard output")
    parser.add_argument("--requests", metavar="N", type=parse_request_count, default=100000,
                        help="how many (default 100000)")
    parser.add_argument("--seed", metavar="N", default=1, help="(default 1)",
                        type=command.make_integer_parser(0, 2**64 - 1, "2^64 - 1"))
    parser.add_argument("--approx-share", metavar="SHARE", type=parse_option_as_fraction,
                        help="places whose data are approximate (default: as in the profile)")
    parser.add_argument("--read-places-share", metavar="SHARE", type=parse_option_as_fraction,
                        help="of the places that are written, those that are read, too (default: "
                             "as in the profile)")
    parser.add_argument("--reads-of-a-place", metavar="N", type=parse_request_count,
                        help="of data that is only read, their mean (default: as in the profile)")
    parser.add_argument("--within", metavar="SHARE", type=parse_option_as_fraction,
                        help="fail if a characteristic is missed by more than that")
    row_list.add_list_options(parser)
    command.add_json_option(parser)
    return parser


def refuse_contradicting_options(arguments: argparse.Namespace, switch: str,
                                 names: Sequence[str]) -> None:
    """Refuse an option that contradicts another option."""
    for name in names:
        if getattr(arguments, name) is not None:
            raise Refusal(f"--{name.replace('_', '-')} and {switch} contradict each other",
                          command.USAGE)


KEYS = ("name", "writes_percent", "updates_percent", "write_kb", "read_kb",
        "update_zones_percent", "arrival_mean_ms")


def make_percentage_column(key: str, about: str, title: str) -> Column:
    return Column(key, title, about, said=lambda row: f"{row[key]:.1f}%")


def make_length_column(key: str, about: str, title: str) -> Column:
    return Column(key, title, about, said=lambda row: f"{row[key]:.1f} KB")


COLUMNS = (
    Column("name", "volume", "of the published traces", False),
    make_percentage_column("writes_percent", "requests that write", "writes"),
    make_percentage_column("updates_percent", "writes to what was written before", "updates"),
    make_length_column("write_kb", "mean length of a write", "write"),
    make_length_column("read_kb", "mean length of a read", "read"),
    make_percentage_column("hot_updates_percent", "updates in the three youngest zones", "hot"),
    Column("arrival_mean_ms", "between", "mean time between requests",
           said=lambda row: f"{row['arrival_mean_ms']:g} ms" if row["arrival_mean_ms"]
           else "unknown"))


def volumes_of_published_traces() -> list[dict[str, Any]]:
    found = [dict(zip(KEYS, row, strict=True)) for row in workload_profile.PUBLISHED]
    return [{**row, "arrival_mean_ms": row["arrival_mean_ms"] or None} for row in found]


def list_trace_volumes(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Print the list of the published trace volumes."""
    refuse_contradicting_options(arguments, "--list",
                                 ("output", "profile_out", "approx_share", "within",
                                                  "reads_of_a_place", "read_places_share"))
    choice = row_list.choose_list_columns(arguments, COLUMNS)
    if arguments.json and not choice.chosen:
        command.write_json_document(arguments.json,
                                    {**command.make_common_keys_of_json_documents("synth",
                                                                                  argv),
                                     "volumes": volumes_of_published_traces()})
    else:
        choice.print_list_rows(arguments, "synth", argv, [
            {**row, "hot_updates_percent": round(sum(row["update_zones_percent"][:3]), 6)}
            for row in volumes_of_published_traces()])
    return command.DONE


def choose_workload_profile(arguments: argparse.Namespace) -> Profile:
    """Return the selected workload profile, changed by the options."""
    if arguments.like:
        profile = workload_profile.published_profile(arguments.like)
    elif arguments.fit:
        profile = workload_profile.profile_of_record_file(arguments.fit)
    else:
        profile = workload_profile.profile_from_json(arguments.profile)
    given = {key: getattr(arguments, key)
             for key in ("approx_share", "reads_of_a_place", "read_places_share")}
    return replace(profile, **{key: value for key, value in given.items() if value is not None})


def list_characteristics_beyond_tolerance(wanted: dict[str, float], made: dict[str, float],
                           within: float) -> list[str]:
    """Return the names of characteristics that miss the profile by more than --within."""
    return [key for key, value in wanted.items()
            if abs(made[key] - value) > within * (1 if key.endswith("share") else value)]


def print_characteristics(arguments: argparse.Namespace, argv: Sequence[str], profile: Profile,
                          made: dict[str, float]) -> None:
    """Print the workload profile's characteristics beside those of the generated stream."""
    wanted = profile.collect_characteristics_for_comparison()
    if arguments.json:
        command.write_json_document(arguments.json, {
            **command.make_common_keys_of_json_documents("synth", argv), "name": profile.name,
            "source": profile.source,
             "assumed": list(profile.assumed), "requests": arguments.requests,
             "seed": arguments.seed, "wanted": wanted, "made": made})
        return
    print(f"{arguments.output}: {arguments.requests} synthetic requests, {profile.source}, "
          f"{profile.name}, seed {arguments.seed}")
    print(f"assumed: {', '.join(profile.assumed) or 'nothing'}")
    print(f"{'':22}{'wanted':>10}{'made':>10}")
    for key, value in wanted.items():
        print(f"{key:22}{value:10.4g}{made[key]:10.4g}")
    zones = [key for key in wanted if key.startswith("update_zone_")]
    if bool(list_characteristics_beyond_tolerance({key: wanted[key] for key in zones}, made,
                                                  VISIBLE)):
        hours = arguments.requests * made["arrival_mean_ms"] / 3600e3
        ends = ", ".join(f"{end // (60 * 10**9)}" for end in workload_profile.ZONE_ENDS_NS)
        print(command.wrap_help_text(
            f"Updates are in zones by the time since the last write: up to {ends} minutes, and "
            f"more. This stream lasts {hours:.1f} hours; more --requests let updates grow as old "
            "as the profile wants them."))


def output_files_by_option(arguments: argparse.Namespace) -> dict[str, Path]:
    given = {"--output": arguments.output, "--profile-out": arguments.profile_out}
    return {option: path for option, path in given.items() if path}


def write_synthetic_streams(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Write the output files that the options select."""
    for path in (arguments.fit, arguments.profile):
        if path:
            command.CLAIMS.claim_input(path)
    for option, path in output_files_by_option(arguments).items():
        if path == command.STANDARD and arguments.json:
            raise Refusal(f"{option} - and --json both want standard output", command.USAGE)
        command.CLAIMS.claim_output(path, option)
    profile = choose_workload_profile(arguments)
    if arguments.profile_out:
        command.write_file(arguments.profile_out, workload_profile.profile_to_json(profile))
    if not arguments.output:
        if arguments.profile_out:
            return command.DONE
        raise Refusal("nothing to write: --output FILE takes the records, --profile-out FILE the "
                      "profile", command.USAGE)
    about = {"synthetic": "yes", "like": profile.name, "source": profile.source,
             "seed": arguments.seed, "assumed": ", ".join(profile.assumed) or "nothing"}
    # Open the output first, so that a wrong name fails before any work.
    with command.temporary_output(arguments.output, record_writer.OUTPUT) as file:
        stream = synthesis.generate_stream(profile, arguments.requests, arguments.seed)
        record_writer.write_record_file(file, stream.convert_stream_to_record_columns(),
                                        stream.device_bytes,
                                        f"synthetic {profile.name}", about)
        profile_made = workload_profile.profile_of_record_file(file)
        made = profile_made.collect_characteristics_for_comparison()
    if command.STANDARD not in output_files_by_option(arguments).values():
        print_characteristics(arguments, argv, profile, made)
    bad = list_characteristics_beyond_tolerance(profile.collect_characteristics_for_comparison(),
                                                made,
                                 arguments.within) if arguments.within else []
    if bad:
        sys.stderr.write(f"approxftl synth: {arguments.output}: further off than --within "
                         f"{arguments.within:g}: {', '.join(bad)}; more --requests let updates "
                         "grow as old as the profile wants them\n")
        return command.NOT_VERIFIED
    return command.DONE


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)

    def run_synth() -> int:
        arguments = make_synth_parser().parse_args(words)
        if not arguments.list:
            row_list.refuse_list_options_without_list(arguments, "--list")
        run = list_trace_volumes if arguments.list else write_synthetic_streams
        return run(arguments, words)

    return command.run_command("synth", run_synth)


if __name__ == "__main__":
    sys.exit(main())
