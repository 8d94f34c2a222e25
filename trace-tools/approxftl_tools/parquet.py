# SPDX-License-Identifier: GPL-2.0-only
"""approxftl parquet: convert the CSV of approxftl trace into a Parquet file."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from approxftl_tools import command
from approxftl_tools.command import Refusal

EPILOG = """\
"approxftl trace convert IN OUT.parquet" converts any trace in one step.

Exit status: 0 done, 1 failed, 2 usage.
"""

#: Name and type of each column, in the order of the CSV.
COLUMNS = (("t_ns", "uint64"), ("op", "string"), ("offset_bytes", "uint64"), ("bytes", "uint64"),
           ("latency_ns", "uint64"), ("pid", "uint32"), ("stream", "uint16"), ("class", "string"))


def import_pyarrow(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise Refusal("Parquet files need the Python package pyarrow: pip install pyarrow; "
                      "--to csv does without") from error


def is_empty_regular_file(number: int) -> bool:
    """Tell whether a descriptor is an empty regular file."""
    return stat.S_ISREG(os.fstat(number).st_mode) and not os.lseek(number, 0, os.SEEK_CUR)


@contextmanager
def open_parquet_sink(target: Path) -> Iterator[BinaryIO]:
    """Yield the Parquet output: stdout if that is an empty file, else a new file at `target`."""
    if target == command.STANDARD and is_empty_regular_file(1):
        with open(1, "wb", closefd=False) as sink:
            yield sink
    else:
        with command.temporary_output(target) as file, file.open("wb") as sink:
            yield sink


def write_parquet(source: Any, target: Path) -> None:
    """Write a Parquet file, one block of records at a time."""
    arrow, csv, parquet = map(import_pyarrow, ("pyarrow", "pyarrow.csv", "pyarrow.parquet"))
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in COLUMNS],
                          metadata={"approxftl": command.simulator_version()})
    types = csv.ConvertOptions(column_types=schema, include_columns=schema.names)
    with open_parquet_sink(target) as sink:
        try:
            with (csv.open_csv(source, convert_options=types) as blocks,
                  parquet.ParquetWriter(sink, schema, compression="zstd") as writer):
                for block in blocks:
                    writer.write_batch(block.cast(schema))
        except arrow.ArrowException as error:
            raise Refusal(f"{target}: {error}") from error


def main() -> int:
    parser = command.make_verb_parser("parquet",
                                      "Make a Parquet file of the CSV of requests that is on "
                                      "standard input.", EPILOG)
    parser.add_argument("output", metavar="FILE", type=command.output_path,
                        help="where it goes, - for standard output")

    def run_parquet() -> int:
        arguments = parser.parse_args()
        write_parquet(sys.stdin.buffer, arguments.output)
        return command.DONE

    return command.run_command("parquet", run_parquet)


if __name__ == "__main__":
    sys.exit(main())
