# SPDX-License-Identifier: GPL-2.0-only
"""Command line of the table generator, with the commands generate, check, states and show."""

import argparse
import sys
from pathlib import Path

from aftl_physics import report, tables


def check_generated_files(directory: Path) -> int:
    """Compare the generated C files with newly computed text and return the exit status."""
    for name in (tables.HEADER, tables.SOURCE):
        path = directory / name
        if not path.is_file():
            print(f"{path} does not exist: run 'generate' first.", file=sys.stderr)
            return 1
        different = tables.first_differing_c_item(name, path.read_text(encoding="utf-8"))
        if different:
            print(f"{path} differs from the models, first in {different}.", file=sys.stderr)
            return 1
    return 0


def physics_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="aftl_physics", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    write = commands.add_parser("generate", help="write physics-tables.c and .h")
    write.add_argument("--out", type=Path, required=True, metavar="DIR")
    compare = commands.add_parser("check", help="compare existing tables with the models")
    compare.add_argument("--against", type=Path, required=True, metavar="DIR")
    commands.add_parser("states", help="print cell-states.h, the voltages behind the error curves")
    commands.add_parser("show", help="print a summary of the models")
    return top


def main() -> int:
    """Run the command line of the table generator."""
    args = physics_parser().parse_args()
    try:
        if args.command == "generate":
            for name, text in tables.generated_files().items():
                (args.out / name).write_text(text, encoding="utf-8")
            return 0
        if args.command == "check":
            return check_generated_files(args.against)
        print(tables.cell_states_text() if args.command == "states" else report.physics_report(),
              end="")
    except OSError as error:
        print(f"aftl_physics: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
