# SPDX-License-Identifier: GPL-2.0-only
"""Helpers of the benchmarks: paths, common options, a virtual machine's output, the result file."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()


def make_benchmark_parser(description: str, result: str,
                          rounds: int = 0) -> argparse.ArgumentParser:
    """Return a parser of the options of all benchmarks; ROUNDS adds --rounds with a default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, default=BUILD / result, metavar="FILE",
                        help=f"results ({result} in the build directory)")
    parser.add_argument("--strict", action="store_true", help="a missed bar is a failure")
    if rounds:
        parser.add_argument("--rounds", type=int, default=rounds, metavar="N",
                            help=f"runs of each ({rounds})")
        parser.add_argument("--scale", type=float, default=1.0, metavar="X",
                            help="times the requests (1)")
    return parser


def require_built_program(program: Path) -> Path:
    """Return the path of a program, which must have been built."""
    if not program.is_file():
        sys.exit(f"bench: {program} does not exist: make all")
    return program


def read_output_fields_of_guest_command(word: str, command: str, *run: str) -> list[list[str]]:
    """Run a command in a virtual machine; return the fields of lines that begin with WORD."""
    done = subprocess.run(
        [TOP / "userspace/lab/approxftl-lab", *run, "--timeout", "1200", "--cmd", command],
        cwd=TOP, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode and "not ok" not in done.stdout:
        sys.exit(f"bench: {command} ended with {done.returncode}\n{done.stdout}")
    words = [line.split()[2:] for line in done.stdout.splitlines() if line.startswith(f"# {word} ")]
    if not words:
        sys.exit(f"bench: {command} measured nothing\n{done.stdout}")
    return words


def write_result_json(file: Path, members: Mapping[str, Any]) -> None:
    """Write the results of a benchmark as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(members, indent=1) + "\n")
    print(f"\nall numbers: {file}")


def find_benchmark_exit_status(args: argparse.Namespace, *, met: bool) -> int:
    """Return a benchmark's exit status; with --strict a missed limit is a failure."""
    return 1 if args.strict and not met else 0
