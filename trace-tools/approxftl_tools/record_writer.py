# SPDX-License-Identifier: GPL-2.0-only
"""Write record files, aft(5), from arrays through "approxftl trace convert"."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from approxftl_tools import aft
from approxftl_tools.arrays import np
from approxftl_tools.command import Refusal, simulator_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADER = "t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class"
CLASSES = ("precise", "approximate")
#: Names of the input and the output, fixed because the record file stores them.
INPUT, OUTPUT = "requests.csv", "requests.aft"

Column: TypeAlias = "NDArray[Any] | Sequence[int]"


def make_csv_lines_of_requests(columns: Mapping[str, Column]) -> Iterable[str]:
    """Yield the CSV header, then a line of CSV for each request."""
    yield HEADER
    for t_ns, sector, sectors, op, tag in zip(
            *(np.asarray(columns[name]).tolist()
              for name in ("t_ns", "off_sect", "nsect", "op", "class")),
            strict=True):
        yield (f"{t_ns},{aft.OPERATIONS[op]},{sector * aft.SECTOR},{sectors * aft.SECTOR},"
               f"0,0,0,{CLASSES[tag]}")


def convert_trace(folder: Path, arguments: Iterable[str]) -> None:
    try:
        done = subprocess.run([simulator_path(), "trace", "convert", "--quiet", "--keep-time",
                               *arguments, INPUT, OUTPUT],
                              cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refusal(f"{simulator_path()}: cannot run: {error.strerror}; APPROXFTL names the "
                      "program where it is not in PATH") from error
    if done.returncode:
        raise Refusal(done.stderr.strip() or f"{simulator_path()} trace convert has failed")


def write_record_file(file: Path, columns: Mapping[str, Column], device_bytes: int, origin: str,
                      about: Mapping[str, object]) -> None:
    """Write a record file into an empty directory; its header stores the facts in `about`."""
    facts = [f"--about={key}={value}" for key, value in about.items()]
    file.with_name(INPUT).write_text("\n".join(make_csv_lines_of_requests(columns)) + "\n", "utf-8")
    convert_trace(file.parent, [f"--device-bytes={device_bytes}", f"--origin={origin}", *facts])
