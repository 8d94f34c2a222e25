# SPDX-License-Identifier: GPL-2.0-only
"""approxftl app weights: a network whose weights lose bits, and how well it still tells digits."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import approxftl
from approxftl.models import parse
from approxftl.models.choice import Choice
from approxftl.models.planes import Layout, PlaneFile, Planes, is_by_plane, pieces
from approxftl.models.source import FileSource, MemorySource, ModelError
from approxftl_tools import command, network
from approxftl_tools.command import Refusal
from approxftl_tools.network import KINDS, Digits, Layer

EPILOG = """\
A network with two hidden layers learns the digits that scikit-learn brings. Its weights are stored
by bit plane, the lowest planes approximate; biases, scales and headers are precise. A precise copy
is beside them. Reading counts the bits that have flipped, plane by plane, asks the device, and
tells how many digits the network tells right: with all layers as they are stored, with one of them
and the others precise, and as the rate of flipped bits predicts, by networks of which other bits
have flipped at random.

Exit status: 0 done, 1 failed, 2 usage, 3 no such file, 4 precise data were damaged.
"""

STORED, PRECISE = "weights", "weights.precise"
ABOUT = "approxftl.weights"
#: A prediction reaches so many standard deviations to both sides.
SIGMAS = 4
#: What a device counts, and what it is here.
COSTS = {"energy_pj": ("program_energy_pj", "erase_energy_pj"), "program_ns": ("array_program_ns",),
         "programs": ("array_programs",), "wear": ("wear_sum",), "erases": ("array_erases",)}
Json = dict[str, Any]


def number(least: int, most: int) -> Any:
    """Return a reader of numbers."""
    def read(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least} to {most}")
        return value

    return read


def options() -> command.Parser:
    """Return the command line."""
    parser = command.parser("app weights", "Trains a small network, stores its weights by bit "
                            "plane in DIRECTORY, and tells what flipped bits cost.", EPILOG)
    parser.add_argument("directory", metavar="DIRECTORY", type=Path, help="where its files are")
    parser.add_argument("--phase", choices=("all", "write", "read"), default="all",
                        help="what of it is to be done (default all)")
    parser.add_argument("--type", choices=tuple(KINDS), help="of a weight (default bfloat16)")
    parser.add_argument("--planes", metavar="N", type=number(0, 16),
                        help="lowest bits of a weight that are approximate (default: the mantissa "
                             "of a bfloat16, four of an int8)")
    parser.add_argument("--hidden", metavar="N", type=number(8, 4096),
                        help="width of the hidden layers (default 256)")
    parser.add_argument("--seed", metavar="N", type=number(1, 2**32),
                        help="of training, and of which digits are kept for the test (default 1)")
    parser.add_argument("--draws", metavar="N", type=number(8, 100000), default=100,
                        help="networks that a prediction is made of (default 100)")
    parser.add_argument("--precise", action="store_true", help="declare nothing approximate")
    parser.add_argument("--require", action="store_true",
                        help="fail where there is no device of dm-approxftl")
    parser.add_argument("--force", action="store_true",
                        help="replace files that are not of this program")
    parser.add_argument("--json", metavar="FILE", type=command.named,
                        help="the report as JSON, - for standard output")
    return parser


def setup_of(args: argparse.Namespace) -> Json:
    """Return the parameters, which the files remember."""
    kind = args.type or "bfloat16"
    usual = Choice(planes=args.planes).low_planes(KINDS[kind])
    if args.planes not in (None, usual):
        raise Refusal(f"--planes: a weight of {kind} has {KINDS[kind].bits}", command.USAGE)
    return {"type": kind, "planes": usual, "hidden": args.hidden or 256, "seed": args.seed or 1}


# Writing


def counters(folder: Path) -> Json | None:
    """Return what the device below has counted, for whoever may ask."""
    state = folder.stat()
    name = Path(f"/sys/dev/block/{os.major(state.st_dev)}:{os.minor(state.st_dev)}/dm/name")
    try:
        done = subprocess.run([command.program(), "stat", name.read_text().strip(), "--json"],
                              capture_output=True, check=False, timeout=60)
        found: Json = json.loads(done.stdout)["devices"][0]["counters"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return found


def spent(before: Json | None, after: Json | None) -> Json | None:
    """Return what was spent in between."""
    if before is None or after is None:
        return None
    return {cost: sum(after[name] - before[name] for name in names)
            for cost, names in COSTS.items()}


def check_ours(path: Path, force: bool) -> None:
    """Refuse to replace what somebody else has put there."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise Refusal(f"{path}: is not a file of this program, and no file at all")
    if force or not path.exists():
        return
    try:
        with path.open("rb") as file:
            about_of(opened(file))
    except ModelError:
        raise Refusal(f"{path}: is not of this program; --force replaces it") from None


def store(path: Path, layout: Layout, planes: int, device: approxftl.Device | None) -> None:
    """Write all of it; what is approximate is tagged before."""
    with command.output(path) as made, made.open("w+b") as file:
        for one in layout.planes if device and planes else ():
            assert device is not None
            device.tag(file.fileno(), *one.low(planes))
        layout.write(file.fileno())
        os.fsync(file.fileno())
        # What is read from now on is read from the device.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write(args: argparse.Namespace) -> Json:
    """Train, and store it precisely and approximately."""
    setup = setup_of(args)
    for name in (STORED, PRECISE):
        check_ours(args.directory / name, args.force)
    learned, _ = network.digits(setup["seed"])
    layers = network.trained(setup["hidden"], setup["seed"], learned)
    model = parse(MemorySource(network.packed(layers, KINDS[setup["type"]], setup)))
    layout = Layout(model, [tensor for tensor in model.tensors if network.is_weight(tensor)])
    with approxftl.Device(args.directory, require=args.require) as device:
        os.sync()
        counts = [counters(args.directory)]
        for name, teller in ((PRECISE, None), (STORED, None if args.precise else device)):
            store(args.directory / name, layout, setup["planes"], teller)
            os.sync()
            counts.append(counters(args.directory))
    return {"parameters": setup, "cost": {"precise": spent(*counts[:2]),
                                          "tagged": spent(*counts[1:])}}


# Reading


def opened(file: Any) -> PlaneFile:
    """Return a file by plane."""
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    model = parse(FileSource(file))
    if not is_by_plane(model):
        raise ModelError("it is not by plane")
    return PlaneFile(model)


def about_of(file: PlaneFile) -> Json:
    """Return the parameters of a file, or refuse one of another program."""
    try:
        setup: Json = json.loads(parse(file).metadata[ABOUT])
        wanted = {"type": str, "planes": int, "hidden": int, "seed": int}
        good = {key: type(value) for key, value in setup.items()} == wanted
    except (KeyError, ValueError):
        good = False
    if not good or setup["type"] not in KINDS:
        raise ModelError("it is no file of this program")
    return setup


@contextmanager
def pair(folder: Path) -> Iterator[tuple[PlaneFile, PlaneFile, int]]:
    """Yield what was stored, its precise copy, and a descriptor of the first."""
    path = folder / STORED
    try:
        with path.open("rb") as stored, (folder / PRECISE).open("rb") as precise:
            yield opened(stored), opened(precise), stored.fileno()
    except FileNotFoundError as error:
        raise Refusal(f"{error.filename}: {error.strerror}; --phase write makes it",
                      command.NOT_FOUND) from error
    except ModelError as error:
        raise Refusal(f"{path}: {error}", command.NOT_VERIFIED) from error


def content(file: PlaneFile) -> list[bytes]:
    """Return the data of each tensor of the original."""
    return [file.read(tensor.offset, tensor.length) for tensor in parse(file).tensors]


def differing(one: bytes, other: bytes) -> int:
    """Count bits."""
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()


def flips_of(stored: PlaneFile, precise: PlaneFile, planes: Planes) -> list[int]:
    """Count the flipped bits of a layer, those beyond its end, too, lowest plane first."""
    bits = planes.tensor.element.bits
    return [differing(*(file.source.read(planes.at + plane * planes.each, planes.each)
                        for file in (stored, precise))) for plane in reversed(range(bits))]


def whole(stored: PlaneFile, precise: PlaneFile) -> int:
    """Count the bits of two files that differ."""
    parts = zip(*(pieces(file.source, 0, file.source.size) for file in (stored, precise)),
                strict=True)
    return sum(differing(one, other) for one, other in parts)


def reported(folder: Path, fd: int, require: bool) -> Json | None:
    """Return what the device says of the file."""
    with approxftl.Device(folder, require=require) as device:
        if not device.active:
            return None
        errors = device.errors(fd)
    return {"units": errors.units, "approximate_units": errors.approximate_units,
            "flipped_bits": errors.flipped_bits}


def mixed(layers: Sequence[Layer], others: Sequence[Layer], one: int) -> list[Layer]:
    """Return the second network with one layer of the first."""
    return [mine if number == one else other
            for number, (mine, other) in enumerate(zip(layers, others, strict=True))]


def predicted(precise: PlaneFile, setup: Json, rate: float, draws: int, data: Digits) -> Json:
    """Return what the rate alone lets expect: networks of which random bits have flipped."""
    tensors, original = parse(precise).tensors, content(precise)
    chance = np.random.default_rng([setup["seed"], 2])
    found = []
    for _ in range(draws):
        drawn = [network.flipped(one, tensor.element, setup["planes"], rate, chance)
                 if network.is_weight(tensor) else one
                 for tensor, one in zip(tensors, original, strict=True)]
        found.append(network.accuracy(network.unpacked(tensors, drawn)[0], data))
    # One digit more or less is no deviation that a rate could tell.
    reach = SIGMAS * float(np.std(found)) + 1 / len(data.labels)
    mean = float(np.mean(found))
    return {"mean": mean, "low": max(0.0, mean - reach), "high": min(1.0, mean + reach),
            "draws": draws}


def read(args: argparse.Namespace) -> Json:
    """Tell what has become of it."""
    with pair(args.directory) as (stored, precise, fd):
        for file in (stored, precise):
            file.check_rest()
        setup = about_of(stored)
        if about_of(precise) != setup or precise.sha256 != stored.sha256:
            raise Refusal(f"{args.directory / PRECISE}: it is of another network")
        for name in ("type", "planes", "hidden", "seed"):
            if getattr(args, name) not in (None, setup[name]):
                raise Refusal(f"--{name}: {args.directory / STORED} was made with {setup[name]}",
                              command.USAGE)
        if not precise.unchanged:
            raise Refusal(f"{args.directory / PRECISE}: precise data are damaged",
                          command.NOT_VERIFIED)
        return judged(args, setup, (stored, precise), reported(args.directory, fd, args.require))


def judged(args: argparse.Namespace, setup: Json, files: tuple[PlaneFile, PlaneFile],
           told: Json | None) -> Json:
    """Compare what was stored with the precise copy."""
    stored, precise = files
    low = setup["planes"]
    flips = [flips_of(stored, precise, planes) for planes in stored.planes]
    bits = sum(8 * planes.each * low for planes in stored.planes)
    approximate = sum(sum(layer[:low]) for layer in flips)
    _, data = network.digits(setup["seed"])
    (layers, repaired), (others, _) = (network.unpacked(parse(file).tensors, content(file))
                                       for file in (stored, precise))
    return {
        "parameters": setup, "device_active": told is not None,
        "inputs": {"total_bytes": stored.source.size, "approximate_bytes": bits // 8,
                   "flipped_bits": approximate,
                   "damaged_precise_bits": whole(stored, precise) - approximate},
        **({"reported": told} if told else {}),
        "repaired_values": repaired,
        "accuracy": {
            "precise": network.accuracy(others, data), "stored": network.accuracy(layers, data),
            "predicted": predicted(precise, setup, approximate / bits if bits else 0.0,
                                   args.draws, data)},
        "layers": [{"name": planes.tensor.name, "weights": planes.count,
                    "flipped_bits_by_plane": flips[at],
                    "accuracy": network.accuracy(mixed(layers, others, at), data)}
                   for at, planes in enumerate(stored.planes)],
    }


# Telling


def tell_cost(cost: Json) -> None:
    """Print what the tags have bought, if the device has told."""
    precise, tagged = cost["precise"], cost["tagged"]
    if not precise or not tagged:
        return
    for name, unit in (("energy_pj", 1e6), ("program_ns", 1e3)):
        saved = 1 - tagged[name] / precise[name] if precise[name] else 0
        label = "energy, uJ" if name == "energy_pj" else "array time, us"
        print(f"{label}: {tagged[name] / unit:.1f} tagged, {precise[name] / unit:.1f} precise, "
              f"{saved:.1%} less")
    print(f"wear, erases: {tagged['wear'] / 1e4:.4f} tagged, {precise['wear'] / 1e4:.4f} precise")


def tell(report: Json) -> None:
    """Print it for a person."""
    setup = report["parameters"]
    print(f"weights: {setup['type']}, the {setup['planes']} lowest planes approximate, hidden "
          f"layers of {setup['hidden']}, seed {setup['seed']}")
    if "cost" in report:
        tell_cost(report["cost"])
    if "accuracy" not in report:
        return
    if not report["device_active"]:
        print("no device of dm-approxftl here: all data are precise")
    inputs, found = report["inputs"], report["accuracy"]
    print(f"flipped bits: {inputs['flipped_bits']} of {inputs['approximate_bytes']} bytes"
          + (f", as the device reports: {report['reported']['flipped_bits']}"
             if "reported" in report else "")
          + f"; in precise data: {inputs['damaged_precise_bits']}")
    guess = found["predicted"]
    print(f"digits told right: {found['stored']:.2%}; precise {found['precise']:.2%}; predicted "
          f"{guess['low']:.2%} to {guess['high']:.2%}")
    for layer in report["layers"]:
        print(f"  {layer['name']} alone: {layer['accuracy']:.2%}, flipped by plane "
              f"{' '.join(map(str, layer['flipped_bits_by_plane']))}")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    words = list(sys.argv[1:] if argv is None else argv)

    def body() -> int:
        args = options().parse_args(words)
        if not args.directory.is_dir():
            raise Refusal(f"{args.directory}: is no directory", command.NOT_FOUND)
        report: Json = {"app": "weights", "phase": args.phase}
        try:
            if args.phase != "read":
                report |= write(args)
            if args.phase != "write":
                report |= read(args)
        except approxftl.RefusedError as error:
            raise Refusal(f"{args.directory}: {error.strerror}") from error
        if args.json:
            document = {**command.envelope("app", ["weights", *words]), **report}
            command.write_file(args.json, json.dumps(document, indent=1) + "\n")
        if args.json != command.STANDARD:
            tell(report)
        if report.get("inputs", {}).get("damaged_precise_bits"):
            raise Refusal("precise data are damaged: the device, or what is below it, is at fault",
                          command.NOT_VERIFIED)
        return command.DONE

    return command.run("weights", body)


if __name__ == "__main__":
    sys.exit(main())
