#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The simulator's output is the same, byte for byte, for every compiler, option and machine.

Every build runs the same command lines, in a directory of its own with the same relative
names, so that nothing has to be left out of the comparison: the JSON names the program
"approxftl" wherever it is. Record files and saved devices are compared, too. The reference
build also checks that each command line covers its feature; otherwise equality proves little.

Other machines are emulated by QEMU's user mode; s390x is big-endian. They also check, print and
make volumes, whose format is little-endian.
"""

import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOP = Path(os.environ.get("AFTL_TOP", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()

Counters = Mapping[str, int]


@dataclass(frozen=True)
class Build:
    """A compiler, its options and its build directory; a build without options exists already.

    The sanitizers' objects are shared with the other tests. An emulator runs the programs of a
    build for another processor architecture.
    """

    name: str
    compiler: str
    options: tuple[str, ...]
    place: Path
    folder: str = "."
    emulator: str = ""


def make_cross_build(machine: str, emulator: str) -> Build:
    """Return a static build for another processor architecture.

    The build lacks libdevmapper and libblkid, which the compared commands do not call.
    """
    return Build(machine, f"{machine}-linux-gnu-gcc",
                 ("OPT=-O2", f"OBJCOPY={machine}-linux-gnu-objcopy", "CLI_LIBS=",
                  "CFLAGS=-idirafter /usr/include",
                  "LDFLAGS=-static -Wl,--unresolved-symbols=ignore-all"),
                 BUILD / "determinism" / machine, emulator=f"qemu-{emulator}")


BUILDS = (
    Build("as it is", "gcc", (), BUILD),
    Build("clang -O0", "clang", ("OPT=-O0",), BUILD / "determinism/clang"),
    Build("clang -O2", "clang", ("OPT=-O2",), BUILD / "determinism/clang-o2"),
    Build("gcc -O2 with sanitizers", "gcc", ("OPT=-O2", "SAN=address,undefined"), BUILD,
          "san-address-undefined"),
)
MACHINES = (make_cross_build("aarch64", "aarch64"), make_cross_build("riscv64", "riscv64"),
            make_cross_build("s390x", "s390x"))


@dataclass(frozen=True)
class Run:
    """A command line, a condition that its output must fulfil, and its output files."""

    name: str
    arguments: str
    did: Callable[[Counters], bool]
    files: tuple[str, ...] = ()


RUNS = (
    Run(
        "all tag-aware policies, Zipf, collection, errors",
        "--policy baseline,delta_b,vth_b,approxftl --workload zipf --approx-share 40% "
        "--fill random --fill_approx 40% --requests 20000 --verify",
        lambda c: c["gc_blocks"] > 0 and c["read_flipped_bits"] > 0,
    ),
    Run(
        "voltage model, quality levels, age, wear, refresh",
        "--policy vth_b,approxftl,levels --cell_model voltage --age 4319h --refresh 1h "
        "--wear_gap 1 --fill random --fill_approx 30% --approx-share 30% --level-2-share 30% "
        "--level-3-share 20% --hot-share 90% --hot-range 10% --arrival open --rate 2 "
        "--requests 8000",
        lambda c: c["programmed_refresh_units"] > 0 and c["wear_blocks"] > 0,
    ),
    Run(
        "word lines, buffer, bursts, suspension",
        "--profile micro19 --policy pageftl,cubeftl,cubeftl_minus --workload bursts "
        "--utilisation 60% --suspend program --order read_first --fill sequential "
        "--fill_valid 10% --footprint 1% --requests 20000 --verify",
        lambda c: c["array_suspends"] > 0 and c["buffer_read_units"] > 0,
    ),
    Run(
        "independent planes, drift, discards, flushes, bad blocks",
        "--profile tos22 --blocks 64 --fill none --bad 2e-2 --policy baseline,approxftl "
        "--workload drift "
        "--discard-share 10% --flush-every 50 --size 4KiB:50,64KiB:10,256KiB:1 "
        "--approx-share 20% --buffer 8MiB --requests 6000 --op 40%",
        lambda c: c["host_discard_units"] > 0 and c["host_flush_requests"] > 0,
    ),
    Run(
        "closed loop, tag runs, wear out",
        "--policy approxftl --layers 3 --word_lines 5 --channels 3 --endurance 8 "
        "--approx-share 60% --approx-run 32 --write-share 90% --fill sequential "
        "--op 40% --requests 100000 --promote 3 --refresh 0",
        lambda c: c["retired_blocks"] > 0 and c["programmed_promotion_units"] > 0,
    ),
    Run(
        "cache of one bit in a cell, idle and short of space",
        "--policy vth_b,tlc --chips 1 --bits 3 --one_shot on --blocks 80 --op 45% --slc_static 4% "
        "--slc_dynamic 100% --fill sequential --fill_valid 60% --approx-share 30% "
        "--write-share 100% --size 32KiB --workload bursts --burst-on 400ms --burst-off 1s "
        "--utilisation 300% --idle 5ms --requests 6000 --verify",
        lambda c: c["fold_blocks"] > c["fold_idle_blocks"] > 0,
    ),
    Run(
        "reads from memory, and ahead",
        "--policy vth_b,approxftl --workload sequential --write-share 20% --approx-share 30% "
        "--fill sequential --fill_approx 30% --read_cache 4MiB --read_ahead 512KiB --depth 8 "
        "--requests 10000 --verify",
        lambda c: c["read_cache_units"] > c["read_ahead_vain_units"] > 0,
    ),
    Run(
        "several FTLs in threads",
        "--policy baseline,approxftl --shards 2 --fill random --fill_overwrite 100% --jobs 4 "
        "--approx-share 30% --size 4KiB:50,256KiB:10 --discard-share 5% --flush-every 50 "
        "--utilisation 70% --requests 6000 --warmup 500 --verify",
        lambda c: c["gc_blocks"] > 0 and c["host_discard_units"] > 0,
    ),
    Run(
        "record",
        "--workload zipf --arrival open --utilisation 70% --approx-share 50% --requests 10000 "
        "--policy approxftl --record stream.aft --dump device --fill random",
        lambda c: c["host_write_requests"] > 0,
        ("stream.aft", "device"),
    ),
    Run(
        "replay",
        "--fill none --trace stream.aft --repeat 2 --time-scale 1.5 --policy baseline,approxftl "
        "--seed 7",
        lambda c: c["host_write_approx_units"] > 0,
    ),
    Run(
        "load and go on",
        "--load device --requests 10000 --workload sequential --write-share 100% --dump later",
        lambda c: c["host_write_requests"] > 0,
        ("later",),
    ),
)

#: Three-bit word lines in layers, zones and costs give each policy something to do.
FOR_EVERY_POLICY = (
    "--chips 1 --bits 3 --one_shot on --blocks 80 --word_lines 2 --op 45% --buffer 256KiB "
    "--zone1 200ms --zone2 1s --zone3 3s --misprograms 0.001 --read_coarse 90us --read_fine 45us "
    "--workload zipf --approx-share 30% --fill random --fill_approx 30% --requests 40000 --verify"
)


def list_compared_commands() -> list[Run]:
    """Return the command lines in RUNS, and two more that run half of the policies each.

    One command cannot run all policies, as the number of policies of a command is limited.
    """
    said = subprocess.run([BUILD / "approxftl", "policies"], capture_output=True, text=True,
                          check=True).stdout
    names = [line.split()[0] for line in said.splitlines()]
    return [*RUNS, *(
        Run(f"{', '.join(part)}", f"--policy {','.join(part)} {FOR_EVERY_POLICY}",
            lambda c: c["gc_blocks"] > 0)
        for part in (names[::2], names[1::2]))]


class Tap:
    """Prints TAP points and the plan."""

    def __init__(self) -> None:
        self.points = 0
        self.failures = 0

    def print_tap_point(self, good: bool, name: str, why: str = "") -> None:
        """Print the TAP line of one test point."""
        self.points += 1
        self.failures += not good
        if why:
            print("".join(f"# {line}\n" for line in why.splitlines()), end="")
        print(f"{'ok' if good else 'not ok'} {self.points} - {name}", flush=True)

    def print_plan(self) -> int:
        """Print the TAP plan."""
        print(f"1..{self.points}")
        return 1 if self.failures else 0


def compile_program(build: Build) -> tuple[Path | None, str]:
    """Build the simulator; return its path, whether the build succeeded, and make's output."""
    program = build.place / build.folder / "approxftl"
    if not build.options:
        return (program, "") if program.exists() else (None, f"{program} is not built: make all")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", "-C", TOP, f"-j{os.cpu_count()}", f"O={build.place}", f"CC={build.compiler}",
         *build.options, program],
        env=environment, capture_output=True, text=True, check=False,
    )
    return (program, "") if done.returncode == 0 else (None, done.stderr)


def run_command_for_outputs(program: Sequence[str], run: Run,
                            place: Path) -> tuple[dict[str, bytes], str]:
    """Return the output and the output files of a command, or an error message."""
    command = [*program, "sim", *run.arguments.split(), "--histogram", "--json", "-q"]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    if done.returncode:
        return {}, done.stderr.decode(errors="replace")
    return {"JSON": done.stdout} | {f: (place / f).read_bytes() for f in run.files}, ""


def describe_first_difference(a: bytes, b: bytes) -> str:
    """Describe the first difference of two texts."""
    both = zip(a, b, strict=False)
    at = next((i for i, (x, y) in enumerate(both) if x != y), min(len(a), len(b)))
    begin = max(0, at - 60)
    return f"at byte {at}: {a[begin:at + 30]!r}\n    instead: {b[begin:at + 30]!r}"


def check_build_results(tap: Tap, build: Build, runs: Sequence[Run],
                        reference: dict[str, dict[str, bytes]]) -> None:
    """Run all command lines of the comparison with one build."""
    lacking = [name for name in (build.compiler, build.emulator) if name and not shutil.which(name)]
    if lacking:
        tap.print_tap_point(True, f"{build.name} # SKIP {lacking[0]} is not installed: make deps")
        return
    program, why = compile_program(build)
    if not program:
        tap.print_tap_point(False, f"{build.name}: builds", why)
        return
    command = [*filter(None, [build.emulator]), str(program)]
    with tempfile.TemporaryDirectory() as place:
        for run in runs:
            said, why = run_command_for_outputs(command, run, Path(place))
            expected = reference.setdefault(run.name, said)
            for name, data in expected.items():
                if said and said[name] != data:
                    why += f"{name} {describe_first_difference(data, said[name])}\n"
            tap.print_tap_point(bool(said) and said == expected, f"{build.name}: {run.name}", why)
    if build.emulator:
        compare_volumes_of_builds(tap, build.name, command)


#: A volume has no identity of its own in this comparison.
FORMAT = ("--uuid=8e41f2c6-0b3a-4d5e-9f70-123456789abc", "--profile=demo", "blocks=40", "op=60")


def compare_volumes_of_builds(tap: Tap, machine: str, command: Sequence[str]) -> None:
    """Compare what our build and another machine's do with volumes: check, print, format."""
    def run_verb(program: Sequence[str], *words: str | Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*program, *words], cwd=place, capture_output=True, check=False)

    own = [str(BUILD / "approxftl")]
    with tempfile.TemporaryDirectory() as place:
        for image in sorted((TOP / "selftests/volume/data").glob("*.xz")):
            (Path(place) / "volume").write_bytes(lzma.decompress(image.read_bytes()))
            for verb in ("check", "dump"):
                here, there = (run_verb(program, verb, "volume", "--json")
                               for program in (own, command))
                tap.print_tap_point(here.returncode == 0 and here.stdout == there.stdout,
                                    f"{machine}: {verb} {image.name}", there.stderr.decode())
        for program, name in ((own, "own"), (command, "theirs")):
            run_verb(program, "format", name, *FORMAT)
        made = [(Path(place) / name).read_bytes() for name in ("own", "theirs")
                if (Path(place) / name).exists()]
        tap.print_tap_point(len(made) == 2 and made[0] == made[1], f"{machine}: format")


def main() -> int:
    """Compare the outputs of all builds with those of the reference build."""
    tap = Tap()
    reference: dict[str, dict[str, bytes]] = {}
    runs = list_compared_commands()
    phase, _, phases = os.environ.get("AFTL_PHASE", "").partition("/")
    for number, build in enumerate((*BUILDS, *MACHINES)):
        if number and phases and number % int(phases) != int(phase) - 1:
            print(f"# {build.name}: left to another commit")
        else:
            check_build_results(tap, build, runs, reference)
    for run in runs:
        said = reference.get(run.name)
        done = any(run.did(one["counters"]) for one in json.loads(said["JSON"])["runs"]
                   ) if said else False
        tap.print_tap_point(done, f"it does something: {run.name}")
    return tap.print_plan()


if __name__ == "__main__":
    sys.exit(main())
