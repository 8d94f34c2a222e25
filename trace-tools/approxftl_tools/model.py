# SPDX-License-Identifier: GPL-2.0-only
"""approxftl tag model: choose the weights of a neural network that may lose bits, and tag them."""

import argparse
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from approxftl.models import parse_model
from approxftl.models.choice import (
    RULES,
    UNIT,
    Choice,
    Range,
    count_bytes_in_ranges,
    merge_extents,
    whole_units_in_byte_ranges,
)
from approxftl.models.planes import Layout, PlaneFile, Planes, is_bit_plane_model, read_file_chunks
from approxftl.models.source import FileSource, ModelError, printable_name
from approxftl.models.tensors import Model, Tensor
from approxftl_tools import command
from approxftl_tools.command import Refusal
from approxftl_tools.row_list import align_columns

EPILOG = """\
By default weights are approximate: tensors of two dimensions or more whose numbers are integers of
8 or 16 bits and, in a file stored by bit plane, the mantissa of each number, or the lower half of a
number without exponent. Headers, names, scales, biases and unknown parts stay precise. A tag
applies only to data that are written later; --rewrite writes the file again.

Examples:
  approxftl tag model model.safetensors --dry-run
  approxftl tag model model.safetensors --to-planes /mnt/model.planes --remember
  approxftl tag model /mnt/model.planes --from-planes model.safetensors
  approxftl tag model /mnt/model.gguf --type q8_0 --except 'token_embd*' --rewrite
  approxftl tag model /mnt/model.planes --level 3 --level '1:*attn*' --rewrite

Exit status: 0 done, 1 failed, 2 usage, 3 no such file, or no device below it.
"""

#: Ranges that are passed in one command line.
BATCH = 1000
#: Least numbers of a tensor: with fewer a plane fills less than one unit of flash.
NUMBERS = 8 * UNIT


def parse_quality_level_and_name_pattern(text: str) -> tuple[str, str]:
    """Parse a quality level and the name pattern that it applies to."""
    level, colon, pattern = text.partition(":")
    if level not in ("1", "2", "3") or bool(colon) != bool(pattern):
        raise argparse.ArgumentTypeError(
            f"{printable_name(text)} is no level from 1 to 3, or LEVEL:PATTERN")
    return level, pattern or "*"


def make_tag_model_parser() -> command.Parser:
    parser = command.make_verb_parser("tag model",
                                      "Says which of a model's weights may lose bits: a file of "
                                      "safetensors, GGUF, ONNX or npy.", EPILOG)
    parser.add_argument("file", metavar="FILE", type=Path, help="the model")
    parser.add_argument("--tensor", metavar="PATTERN", action="append", default=[],
                        help="only tensors of such names")
    parser.add_argument("--except", metavar="PATTERN", action="append", default=[],
                        dest="never", help="none of such names")
    parser.add_argument("--type", metavar="TYPE,...", default="", help="only of these types")
    parser.add_argument("--rule", choices=RULES, default="weights",
                        help="of these: weights (default), or all")
    parser.add_argument("--planes", metavar="N", type=command.make_integer_parser(0, 64),
                        help="the lowest N bits of each number, of a file by plane")
    parser.add_argument("-l", "--level", metavar="N[:PATTERN]",
                        type=parse_quality_level_and_name_pattern,
                        action="append",
                        default=[], help="quality level, 1 to 3, of all, or of such names; what "
                        "is said last holds")
    into = parser.add_mutually_exclusive_group()
    into.add_argument("--to-planes", metavar="OUT", type=command.output_path,
                      help="make a file by plane, and tag that")
    into.add_argument("--from-planes", metavar="OUT", type=command.output_path,
                      help="make the original of a file by plane again")
    parser.add_argument("-n", "--dry-run", action="store_true", help="change nothing, tell only")
    parser.add_argument("-r", "--remember", action="store_true",
                        help="keep it in the file's attribute, too, for after an unmount")
    parser.add_argument("-w", "--rewrite", action="store_true",
                        help="store again what is approximate from now on")
    command.add_json_option(parser)
    return parser


@dataclass(frozen=True)
class Verdict:
    """The decision about a stored tensor: its approximate range, or the reason why it has none."""

    tensor: Tensor
    stored: Range
    approximate: Range | None
    why_not: str
    planes: int | None = None


@contextmanager
def open_ml_model_file(path: Path) -> Iterator[FileSource]:
    """Open a model file; refuse everything that is not a regular file."""
    command.CLAIMS.claim_input(path)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Refusal(f"{path}: {error.strerror}", command.NOT_FOUND) from error
    except OSError as error:
        raise Refusal(f"{path}: cannot open: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refusal(f"{path}: not a regular file", command.NOT_FOUND)
    with os.fdopen(fd, "rb") as file:
        yield FileSource(file)


def decide_tensor_class(choice: Choice, tensor: Tensor) -> Verdict:
    """Decide which range of a tensor, stored in its original format, is approximate."""
    stored = tensor.offset, tensor.length
    why_not = choice.why_tensor_is_precise(tensor, apart=False)
    return Verdict(tensor, stored, None if why_not else stored, why_not)


def choose_approximate_planes(choice: Choice, one: Planes) -> Verdict:
    """Decide which bit planes of a tensor are approximate in a file stored by bit plane."""
    why_not = choice.why_tensor_is_precise(one.tensor, apart=True)
    low = 0 if why_not else choice.count_approximate_bit_planes(one.tensor.element)
    return Verdict(one.tensor, (one.at, one.end_offset_of_planes - one.at),
                   one.byte_range_of_lowest_bit_planes(low) if low else None,
                   why_not or ("" if low else "no planes"), low)


def select_tensors_to_store_by_plane(choice: Choice, model: Model) -> list[Tensor]:
    """Return the tensors that are large enough to be stored by bit plane."""
    return [tensor for tensor in model.tensors
            if tensor.element.can_store_by_plane
            and tensor.length * 8 >= NUMBERS * tensor.element.bits
            and not choice.why_tensor_is_precise(tensor, apart=True)]


def list_approximate_byte_ranges(args: argparse.Namespace,
                       verdicts: Sequence[Verdict]) -> list[tuple[Range, int]]:
    """Return the approximate byte ranges of the file with their quality levels, by offset."""
    levels: dict[int, list[Range]] = {}
    for verdict in verdicts:
        if verdict.approximate:
            name = verdict.tensor.name
            said = [level for level, pattern in args.level if fnmatchcase(name, pattern)]
            levels.setdefault(int(said[-1]) if said else 1,
                              []).append(verdict.approximate)
    return sorted((one, level) for level, ranges in levels.items() for one in merge_extents(ranges))


def convert_tag_decisions_to_json(args: argparse.Namespace, path: Path, model: Model,
                       verdicts: Sequence[Verdict], ) -> dict[str, Any]:
    ranges = list_approximate_byte_ranges(args, verdicts)
    units = whole_units_in_byte_ranges(merge_extents(one for one, _ in ranges))
    return {
        "path": str(path), "form": model.form, "by_plane": is_bit_plane_model(model),
        "total_bytes": model.source.size, "unit_bytes": UNIT,
        "approximate_bytes": sum(length for _, length in units),
        "ranges": [{"offset_bytes": offset, "length_bytes": length, "level": level}
                   for (offset, length), level in ranges],
        "tensors": [{
            "name": verdict.tensor.name, "type": verdict.tensor.element.name,
            "shape": list(verdict.tensor.shape), "offset_bytes": verdict.stored[0],
            "stored_bytes": verdict.stored[1], "approximate_planes": verdict.planes,
            "approximate_bytes": count_bytes_in_ranges(verdict.approximate, units)
            if verdict.approximate else 0,
   "precise_because": verdict.why_not or None,
} for verdict in verdicts],
    }


def run_tag_command(verb: str, *words: str | Path) -> None:
    """Run approxftl tag; if it fails, raise Refusal with its error message."""
    done = subprocess.run([command.simulator_path(), "tag", verb, *words],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="backslashreplace").strip()
        raise Refusal(said.removeprefix(f"approxftl tag {verb}: ") or f"tag {verb} has ended",
                      abs(done.returncode))


def replace_file_tags(path: Path, told: dict[str, Any], args: argparse.Namespace) -> None:
    """Replace the tags of a model file by tags of its approximate ranges."""
    remember = ["--remember"] if args.remember else []
    rewrite = ["--rewrite"] if args.rewrite else []
    run_tag_command("del", *remember, "--", path)
    for level in ("1", "2", "3"):
        words = [f"{one['offset_bytes']}+{one['length_bytes']}" for one in told["ranges"]
                 if one["level"] == int(level)]
        for at in range(0, len(words), BATCH):
            run_tag_command("add", "--level", level, *remember, *rewrite, "--", path,
                            *words[at:at + BATCH])


def print_tag_decisions_of_tensors(args: argparse.Namespace, argv: Sequence[str],
                                   told: dict[str, Any]) -> int:
    """Print which tensors are approximate, and why others are not, as JSON or as a table."""
    if args.json:
        print(json.dumps({**command.make_common_keys_of_json_documents("tag", ["model", *argv]),
                          **told}, indent=1))
    else:
        rows = [("TENSOR", "TYPE", "SHAPE", "BYTES", "APPROXIMATE", "")]
        for tensor in told["tensors"]:
            rows.append((printable_name(tensor["name"]), tensor["type"],
                         "x".join(map(str, tensor["shape"])),
                         str(tensor["stored_bytes"]), str(tensor["approximate_bytes"]),
                         tensor["precise_because"] or ""))
        sys.stdout.write(align_columns(rows, [False] * 3 + [True] * 2))
        where = "by plane" if told["by_plane"] else told["form"]
        print(f"{where}: {told['approximate_bytes']} of {told['total_bytes']} bytes are approximate"
              f"{'' if told['tagged'] else ' if it is tagged so'}")
    return command.DONE


def decide_tensor_classes(choice: Choice, model: Model) -> list[Verdict]:
    """Decide for each tensor of a model which part of it is approximate."""
    if is_bit_plane_model(model):
        return [choose_approximate_planes(choice, one) for one in PlaneFile(model).planes]
    return [decide_tensor_class(choice, tensor) for tensor in model.tensors]


def tag_model_file(args: argparse.Namespace, choice: Choice) -> dict[str, Any]:
    with open_ml_model_file(args.file) as source:
        model = parse_model(source)
        told = convert_tag_decisions_to_json(args, args.file, model,
                                             decide_tensor_classes(choice, model))
    if not args.dry_run:
        replace_file_tags(args.file, told, args)
    return {**told, "tagged": not args.dry_run}


def tag_new_model_file(path: Path, told: dict[str, Any], args: argparse.Namespace) -> bool:
    """Tag a file before its data are written; return False if it is not on an approxftl device."""
    try:
        replace_file_tags(path, told, args)
    except Refusal as refusal:
        if refusal.status != command.NOT_FOUND:
            raise
        command.print_message("tag model", f"nothing is approximate: {refusal}")
        return False
    return True


def write_model_by_plane(args: argparse.Namespace, choice: Choice) -> dict[str, Any]:
    """Write a file whose data are ordered by bit plane; set its tags before the data."""
    with open_ml_model_file(args.file) as source:
        model = parse_model(source)
        if is_bit_plane_model(model):
            raise Refusal(f"{args.file}: it is by plane already")
        layout = Layout(model, select_tensors_to_store_by_plane(choice, model))
        told = convert_tag_decisions_to_json(args, args.to_planes, layout.model,
                                  [choose_approximate_planes(choice, one) for one in layout.planes])
        told |= {"by_plane": True, "total_bytes": layout.size, "tagged": False}
        if not args.dry_run:
            with command.temporary_output(args.to_planes) as path, path.open("wb") as file:
                told["tagged"] = tag_new_model_file(path, told, args)
                layout.write_plane_file(file.fileno())
                os.fsync(file.fileno())
    return told


def restore_model_from_planes(args: argparse.Namespace, argv: Sequence[str]) -> int:
    """Restore the original file from a file stored by bit plane; report the changed bits."""
    with open_ml_model_file(args.file) as source:
        model = parse_model(source)
        if not is_bit_plane_model(model):
            raise Refusal(f"{args.file}: it is not by plane")
        file = PlaneFile(model)
        file.check_bytes_outside_planes()
        changed = {one.tensor.name: bits for one in file.planes
                   if (bits := file.find_damaged_bit_planes(one))}
        if not args.dry_run:
            with command.temporary_output(args.from_planes) as path, path.open("wb") as out:
                for piece in read_file_chunks(file, 0, file.size):
                    out.write(piece)
        unchanged = file.is_original_model_intact
    if args.json:
        print(json.dumps({
            **command.make_common_keys_of_json_documents("tag", ["model", *argv]),
                          "path": str(args.file),
            "made": str(args.from_planes), "form": file.form, "total_bytes": file.size,
            "unchanged": unchanged,
            "changed": [{"name": name, "bits": bits} for name, bits in changed.items()],
        }, indent=1))
        return command.DONE
    for name, bits in changed.items():
        print(f"{printable_name(name)}: bits that have changed somewhere: "
              f"{', '.join(map(str, bits))}")
    print("it is what it was" if unchanged else "it is not what it was: bits have flipped")
    return command.DONE


def refuse_option_conflicts(args: argparse.Namespace) -> None:
    if args.from_planes:
        for name in ("tensor", "never", "type", "planes", "level", "remember", "rewrite"):
            if getattr(args, name) not in (None, [], "", False):
                raise Refusal("--from-planes tags nothing, and takes no word about tags",
                              command.USAGE)
    if args.rewrite and args.to_planes:
        raise Refusal("--to-planes stores everything anyway, without --rewrite", command.USAGE)


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)

    def run_model_verb() -> int:
        args = make_tag_model_parser().parse_args(words)
        refuse_option_conflicts(args)
        choice = Choice(tuple(args.tensor), tuple(args.never),
                        tuple(name for name in args.type.lower().split(",") if name), args.rule,
                        args.planes)
        try:
            choice.check_element_types()
        except ModelError as error:
            raise Refusal(f"--type: {error}", command.USAGE) from error
        try:
            if args.from_planes:
                return restore_model_from_planes(args, words)
            return print_tag_decisions_of_tensors(args, words,
                                                  write_model_by_plane(args, choice)
                                                  if args.to_planes else
                                                  tag_model_file(args, choice))
        except ModelError as error:
            raise Refusal(f"{args.file}: {error}") from error

    return command.run_command("tag model", run_model_verb)


if __name__ == "__main__":
    sys.exit(main())
