# SPDX-License-Identifier: GPL-2.0-only
"""Store numbers by bit plane, read them back, and measure how much flipped bits cost."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import approxftl
from approxftl import Class
from approxftl.models import parse_model
from approxftl.models.choice import Choice
from approxftl.models.planes import Layout, PlaneFile, Planes, is_bit_plane_model, read_file_chunks
from approxftl.models.source import FileSource, MemorySource, ModelError
from approxftl.models.tensors import Tensor
from approxftl_tools import command, lossy
from approxftl_tools.arrays import np
from approxftl_tools.command import Refusal
from approxftl_tools.lossy import KINDS

#: Half width of a prediction in standard deviations.
SIGMAS = 4
#: Quality levels of approximate data.
LEVELS = range(1, 4)
#: Costs in the report, and the device counters that add up to each.
COSTS = {"energy_pj": ("program_energy_pj", "erase_energy_pj"), "program_ns": ("array_program_ns",),
         "programs": ("array_programs",), "wear": ("wear_sum",), "erases": ("array_erases",)}
Json = dict[str, Any]


def parse_plane_level(text: str) -> tuple[int, int | None]:
    """Parse a quality level and the number of lowest bit planes that it applies to."""
    level, colon, planes = text.partition(":")
    if level not in ("1", "2", "3") or bool(colon) != planes.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no level from 1 to 3, or LEVEL:PLANES")
    return int(level), int(planes) if colon else None


def parse_run_labels(text: str) -> dict[str, str]:
    found = dict(one.partition("=")[::2] for one in text.split(","))
    if not all(key.isidentifier() and value for key, value in found.items()):
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE,...")
    return found


@dataclass(frozen=True)
class Parameter:
    """An integer option of a program, such as --vectors, which determines the data it stores."""

    least: int
    most: int
    usual: int
    about: str


@dataclass(frozen=True)
class Subject:
    """A program that stores numbers by bit plane and judges the damage by bit flips."""

    name: str
    summary: str
    epilog: str
    #: Name of the share that judge() returns.
    measure: str
    parameters: Mapping[str, Parameter]
    #: Returns the numbers in the format of lossy.packed(), given the parameters.
    make: Callable[[Json], bytes]
    #: Returns the measured share, and the number of repaired values.
    judge: Callable[[Json, Sequence[Tensor], Sequence[bytes]], tuple[float, int]]
    #: Number of judged items: a difference of one item is within the resolution of a prediction.
    judged: int

    @property
    def precise_file_name(self) -> str:
        return f"{self.name}.precise"


def make_plane_app_parser(subject: Subject) -> command.Parser:
    parser = command.make_verb_parser(f"app {subject.name}", subject.summary, subject.epilog)
    parser.add_argument("directory", metavar="DIRECTORY", type=Path, help="where its files are")
    parser.add_argument("--phase", choices=("all", "write", "read"), default="all",
                        help="what of it is to be done (default all)")
    parser.add_argument("--type", choices=tuple(KINDS), help="of a number (default bfloat16)")
    parser.add_argument("--planes", metavar="N", type=command.make_integer_parser(0, 16),
                        help="lowest bits of a number that are approximate (default: the mantissa "
                             "of a bfloat16, four of an int8)")
    parser.add_argument("-l", "--level", metavar="N[:PLANES]", type=parse_plane_level,
                        action="append",
                        help="quality level, 1 to 3, of these planes, or of the lowest PLANES of "
                             "them; what is said last holds (default 1)")
    for name, one in subject.parameters.items():
        parser.add_argument(f"--{name}", metavar="N",
                            type=command.make_integer_parser(one.least, one.most),
                            help=f"{one.about} (default {one.usual})")
    parser.add_argument("--draws", metavar="N", type=command.make_integer_parser(8, 100000),
                        default=100, help="copies that a prediction is made of (default 100)")
    parser.add_argument("-p", "--precise", action="store_true", help="declare nothing approximate")
    parser.add_argument("--require", action="store_true",
                        help="fail where there is no device of dm-approxftl")
    parser.add_argument("-f", "--force", action="store_true",
                        help="replace files that are not of this program")
    parser.add_argument("--label", metavar="KEY=VALUE,...", type=parse_run_labels, default={},
                        help="what the report is to be known by, such as cycles=1000,months=3")
    command.add_json_option(parser)
    return parser


def list_quality_levels_of_bit_planes(said: Sequence[tuple[int, int | None]],
                                      planes: int) -> list[int]:
    """Return the quality level of each approximate bit plane, the lowest first."""
    levels = [1] * planes
    for level, lowest in said:
        count = planes if lowest is None else lowest
        if count > planes:
            raise Refusal(f"--level: of {count} planes {planes} are approximate", command.USAGE)
        levels[:count] = [level] * count
    return levels


def collect_parameters_of_stored_data(subject: Subject, args: argparse.Namespace) -> Json:
    """Return the program's name and parameters, which are stored in the files with the data."""
    kind = args.type or "bfloat16"
    usual = Choice(planes=args.planes).count_approximate_bit_planes(KINDS[kind])
    if args.planes not in (None, usual):
        raise Refusal(f"--planes: a number of {kind} has {KINDS[kind].bits}", command.USAGE)
    return {"app": subject.name, "type": kind, "planes": usual,
            "levels": list_quality_levels_of_bit_planes(args.level or (), usual),
            **{name: getattr(args, name) or one.usual
               for name, one in subject.parameters.items()}}


# Writing


def device_counters(folder: Path) -> Json | None:
    """Return the counters of the device below a file; None without a device or access to it."""
    state = folder.stat()
    name = Path(f"/sys/dev/block/{os.major(state.st_dev)}:{os.minor(state.st_dev)}/dm/name")
    try:
        done = subprocess.run([command.simulator_path(), "stat", name.read_text().strip(),
                               "--json"],
                              capture_output=True, check=False, timeout=60)
        found: Json = json.loads(done.stdout)["devices"][0]["counters"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return found


def subtract_device_cost_counters(before: Json | None, after: Json | None) -> Json | None:
    """Return the device's energy, time and wear between two readings of its counters."""
    if before is None or after is None:
        return None
    return {cost: sum(after[name] - before[name] for name in names)
            for cost, names in COSTS.items()}


def refuse_to_replace_foreign_file(subject: Subject, path: Path, force: bool) -> None:
    """Raise Refusal if the file exists and was not written by `subject`, the running program."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise Refusal(f"{path}: is not a file of this program, and no file at all")
    if force or not path.exists():
        return
    try:
        with path.open("rb") as file:
            read_parameters_from_file(subject, open_plane_file_uncached(file))
    except ModelError:
        raise Refusal(f"{path}: is not of this program; --force replaces it") from None


def get_byte_range_of_bit_plane(one: Planes, bit: int) -> tuple[int, int]:
    """Return offset and length, in the file, of the bit plane with bit number `bit`."""
    return one.end_offset_of_planes - (bit + 1) * one.bytes_of_plane, one.bytes_of_plane


def write_approximate_and_precise_files(subject: Subject, args: argparse.Namespace) -> Json:
    """Store the numbers twice: in a precise and in an approximate file."""
    setup, names = collect_parameters_of_stored_data(subject, args), (subject.precise_file_name,
                                                                      subject.name)
    for name in names:
        refuse_to_replace_foreign_file(subject, args.directory / name, args.force)
    model = parse_model(MemorySource(subject.make(setup)))
    layout = Layout(model, lossy.select_lossy_tensors(model.tensors))
    with approxftl.MountedDevice(args.directory, require=args.require) as device:
        os.sync()
        counts = [device_counters(args.directory)]
        for name, teller in zip(names, (None, None if args.precise else device), strict=True):
            levels = setup["levels"]
            with command.temporary_output(args.directory / name) as made, made.open("w+b") as file:
                for one in layout.planes if teller else ():
                    assert teller is not None
                    for bit, level in enumerate(levels):
                        teller.tag(file.fileno(), *get_byte_range_of_bit_plane(one, bit),
                                   Class.of_level(level))
                layout.write_plane_file(file.fileno())
                os.fsync(file.fileno())
                # Drop the page cache, so that later reads reach the device.
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.sync()
            counts.append(device_counters(args.directory))
    return {"parameters": setup,
            "cost": {"precise": subtract_device_cost_counters(*counts[:2]),
                     "tagged": subtract_device_cost_counters(*counts[1:])}}


# Reading


def open_plane_file_uncached(file: Any) -> PlaneFile:
    """Open a file stored by bit plane, after dropping its pages from the page cache."""
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    model = parse_model(FileSource(file))
    if not is_bit_plane_model(model):
        raise ModelError("it is not by plane")
    return PlaneFile(model)


def read_parameters_from_file(subject: Subject, file: PlaneFile) -> Json:
    """Return the parameters stored in a file; refuse a file of another program."""
    try:
        setup: Json = json.loads(parse_model(file).metadata[lossy.ABOUT])
        numbers = [setup[name] for name in ("planes", *subject.parameters)]
        good = setup["app"] == subject.name and setup["type"] in KINDS and all(
            type(one) is int for one in numbers) and len(setup) == len(numbers) + 3 and [
            one for one in setup["levels"] if one in range(1, 4)] == setup["levels"] and len(
            setup["levels"]) == setup["planes"]
    except (KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ModelError("it is no file of this program")
    return setup


@contextmanager
def open_approximate_and_precise_files(subject: Subject,
                                       folder: Path) -> Iterator[tuple[PlaneFile, PlaneFile, int]]:
    """Yield the approximate file, its precise copy, and a descriptor of the approximate file."""
    path = folder / subject.name
    try:
        with path.open("rb") as stored, (folder / subject.precise_file_name).open("rb") as precise:
            yield open_plane_file_uncached(stored), open_plane_file_uncached(
                precise), stored.fileno()
    except FileNotFoundError as error:
        raise Refusal(f"{error.filename}: {error.strerror}; --phase write makes it",
                      command.NOT_FOUND) from error
    except ModelError as error:
        raise Refusal(f"{path}: {error}", command.NOT_VERIFIED) from error


def read_tensors_from_plane_file(file: PlaneFile) -> list[bytes]:
    """Return each tensor's data, converted from bit planes to the original order."""
    return [file.read_byte_range(one.offset, one.length) for one in parse_model(file).tensors]


def count_differing_bits(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()


def count_flips_of_each_plane(stored: PlaneFile, precise: PlaneFile, planes: Planes) -> list[int]:
    """Return the flipped bits of each bit plane, padding included, the lowest plane first."""
    ranges = [get_byte_range_of_bit_plane(planes, bit)
              for bit in range(planes.tensor.element.bits)]
    return [count_differing_bits(*(file.source.read_byte_range(*place)
                                   for file in (stored, precise))) for place in ranges]


def query_errors_reported_by_device(folder: Path, fd: int, require: bool) -> Json | None:
    """Return the errors that the device reports for the file; None without a device."""
    with approxftl.MountedDevice(folder, require=require) as device:
        if not device.active:
            return None
        errors = device.errors(fd)
        levels = [device.errors(fd, level=level) for level in LEVELS]
    return {"units": errors.units, "approximate_units": errors.approximate_units,
            "flipped_bits": errors.flipped_bits,
            "approximate_units_by_level": [one.units for one in levels],
            "flipped_bits_by_level": [one.flipped_bits for one in levels]}


def predict_quality_after_flips(subject: Subject, setup: Json, precise: PlaneFile,
                                rates: Sequence[float],
                                draws: int) -> Json:
    """Return mean and range of the quality of copies with random flips at the measured rates."""
    tensors, original = parse_model(precise).tensors, read_tensors_from_plane_file(precise)
    chance = np.random.default_rng([setup["seed"], 2])
    found = [subject.judge(setup, tensors, lossy.flip_low_bits(tensors, original, rates, chance))[0]
             for _ in range(draws)]
    reach = SIGMAS * float(np.std(found)) + 1 / subject.judged
    mean = float(np.mean(found))
    return {"mean": mean, "low": max(0.0, mean - reach), "high": min(1.0, mean + reach),
            "draws": draws}


def read_back_and_compare_both_files(subject: Subject, args: argparse.Namespace) -> Json:
    """Read the approximate and the precise file back and return their comparison."""
    with open_approximate_and_precise_files(subject, args.directory) as (stored, precise, fd):
        for file in (stored, precise):
            file.check_bytes_outside_planes()
        setup = read_parameters_from_file(subject, stored)
        if read_parameters_from_file(subject, precise) != setup or precise.sha256 != stored.sha256:
            raise Refusal(f"{args.directory / subject.precise_file_name}: it is of other numbers")
        said = vars(args) | {"level": args.level
                             and list_quality_levels_of_bit_planes(args.level, setup["planes"])}
        for name, key in (("type", "type"), ("planes", "planes"), ("level", "levels"),
                          *zip(subject.parameters, subject.parameters, strict=True)):
            if said[name] not in (None, setup[key]):
                raise Refusal(f"--{name}: {args.directory / subject.name} was made with "
                              f"{setup[key]}", command.USAGE)
        if not precise.is_original_model_intact:
            raise Refusal(f"{args.directory / subject.precise_file_name}: precise data are damaged",
                          command.NOT_VERIFIED)
        told = query_errors_reported_by_device(args.directory, fd, args.require)
        return compare_stored_with_precise_numbers(subject, setup, (stored, precise), told,
                                                   args.draws)


def compare_stored_with_precise_numbers(subject: Subject, setup: Json,
                                        files: tuple[PlaneFile, PlaneFile],
                                        told: Json | None, draws: int) -> Json:
    """Compare the stored numbers with their precise copy."""
    stored, precise = files
    levels, tensors = setup["levels"], parse_model(precise).tensors
    flips = [count_flips_of_each_plane(stored, precise, planes) for planes in stored.planes]
    bits = sum(8 * planes.bytes_of_plane for planes in stored.planes)
    by_level = [sum(one[bit] for one in flips for bit, own in enumerate(levels) if own == level)
                for level in LEVELS]
    rates = [by_level[level - 1] / (bits * levels.count(level)) for level in levels]
    data, original = read_tensors_from_plane_file(stored), read_tensors_from_plane_file(precise)
    share, repaired = subject.judge(setup, tensors, data)
    parts = zip(*(read_file_chunks(file.source, 0, file.source.size) for file in files),
                strict=True)

    def judge_damage_of_single_tensor(name: str) -> float:
        mixed = [one if tensor.name == name else other
                 for tensor, one, other in zip(tensors, data, original, strict=True)]
        return subject.judge(setup, tensors, mixed)[0]

    return {
        "parameters": setup, "device_active": told is not None,
        "inputs": {"total_bytes": stored.source.size, "approximate_bytes": bits // 8 * len(levels),
                   "flipped_bits": sum(by_level), "flipped_bits_by_level": by_level,
                   "damaged_precise_bits": sum(count_differing_bits(*pair) for pair in parts)
                   - sum(by_level)},
        **({"reported": told} if told else {}),
        "repaired_values": repaired,
        "share": {
            "of": subject.measure, "precise": subject.judge(setup, tensors, original)[0],
            "stored": share,
            "predicted": predict_quality_after_flips(subject, setup, precise, rates, draws)},
        "arrays": [{"name": planes.tensor.name, "numbers": planes.count_numbers_of_tensor,
                    "flipped_bits_by_plane": flips[at],
                    "share": judge_damage_of_single_tensor(planes.tensor.name)}
                   for at, planes in enumerate(stored.planes)],
    }


# Reporting


def print_energy_time_and_wear_saved_by_tags(cost: Json) -> None:
    """Print the energy, time and wear that the tags saved, if the device has counted them."""
    precise, tagged = cost["precise"], cost["tagged"]
    if not precise or not tagged:
        return
    for name, unit in (("energy_pj", 1e6), ("program_ns", 1e3)):
        saved = 1 - tagged[name] / precise[name] if precise[name] else 0
        label = "energy, uJ" if name == "energy_pj" else "array time, us"
        print(f"{label}: {tagged[name] / unit:.1f} tagged, {precise[name] / unit:.1f} precise, "
              f"{saved:.1%} less")
    print(f"wear, erases: {tagged['wear'] / 1e4:.4f} tagged, {precise['wear'] / 1e4:.4f} precise")


def print_plane_report(subject: Subject, report: Json) -> None:
    setup = report["parameters"]
    numbers = ", ".join(f"{name} {setup[name]}" for name in subject.parameters)
    print(f"{subject.name}: {setup['type']}, the {setup['planes']} lowest planes approximate, "
          f"{numbers}" + (f", levels {' '.join(map(str, setup['levels']))}"
                          if set(setup["levels"]) - {1} else ""))
    if "cost" in report:
        print_energy_time_and_wear_saved_by_tags(report["cost"])
    if "share" not in report:
        return
    if not report["device_active"]:
        print("no device of dm-approxftl here: all data are precise")
    inputs, found = report["inputs"], report["share"]
    print(f"flipped bits: {inputs['flipped_bits']} of {inputs['approximate_bytes']} bytes"
          + (f", as the device reports: {report['reported']['flipped_bits']}"
             if "reported" in report else "")
          + f"; in precise data: {inputs['damaged_precise_bits']}")
    guess = found["predicted"]
    print(f"{subject.measure}: {found['stored']:.2%}; precise {found['precise']:.2%}; predicted "
          f"{guess['low']:.2%} to {guess['high']:.2%}")
    for one in report["arrays"]:
        print(f"  {one['name']} alone: {one['share']:.2%}, flipped by plane "
              f"{' '.join(map(str, one['flipped_bits_by_plane']))}")


def run_plane_app(subject: Subject) -> int:
    """Run the program that `subject` describes; return its exit status."""
    words = sys.argv[1:]

    def run_write_or_read_phase() -> int:
        args = make_plane_app_parser(subject).parse_args(words)
        if not args.directory.is_dir():
            raise Refusal(f"{args.directory}: is no directory", command.NOT_FOUND)
        report: Json = {"app": subject.name, "phase": args.phase, "labels": args.label}
        try:
            if args.phase != "read":
                report |= write_approximate_and_precise_files(subject, args)
            if args.phase != "write":
                report |= read_back_and_compare_both_files(subject, args)
        except approxftl.RefusedError as error:
            raise Refusal(f"{args.directory}: {error.strerror}") from error
        if args.json:
            document = {**command.make_common_keys_of_json_documents("app", [subject.name, *words]),
                        **report}
            command.write_json_document(args.json, document)
        if args.json != command.STANDARD:
            print_plane_report(subject, report)
        if report.get("inputs", {}).get("damaged_precise_bits"):
            raise Refusal("precise data are damaged: the device, or what is below it, is at fault",
                          command.NOT_VERIFIED)
        return command.DONE

    return command.run_command(f"app {subject.name}", run_write_or_read_phase)
