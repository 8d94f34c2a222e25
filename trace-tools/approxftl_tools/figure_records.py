# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the contents of record files."""

from collections import Counter

from approxftl_tools import aft
from approxftl_tools.arrays import np
from approxftl_tools.figure import Bars, Cell, Curves, Figure, Grid
from approxftl_tools.figure_runs import require_nonempty_figures
from approxftl_tools.inputs import Inputs

#: Time intervals in which requests are counted.
INTERVALS = 120
#: Address rows of a map.
ADDRESS_ROWS = 32


def request_rate_figure(file: aft.RecordFile) -> Figure:
    """Return a figure of the request rate over time."""
    t_ns, operations = file.get_record_column("t_ns"), file.get_operation_codes_of_records()
    end = max(int(t_ns.max()), 1)
    edges = np.linspace(0, end, INTERVALS + 1)
    seconds = (edges[1:] - edges[:-1]) / 1e9
    curves = []
    for number, name in enumerate(aft.OPERATIONS):
        counts, _ = np.histogram(t_ns[operations == number], edges)
        if counts.any():
            curves.append((name.replace("_", " "), list(edges[:-1] / 1e9), list(counts / seconds)))
    return Figure("record-rate", f"Requests over time, {file.file_label}",
                  "Requests in a second, by operation.",
                  Curves("s", "requests/s", curves, steps=True), (str(file.path),))


def request_address_figure(file: aft.RecordFile) -> Figure:
    """Return a figure with a map of request addresses over time."""
    t_ns, sectors = file.get_record_column("t_ns"), file.get_record_column("off_sect")
    moves = np.isin(file.get_operation_codes_of_records(), (0, 1))
    top = max(int(sectors[moves].max()) + 1, file.device_bytes // aft.SECTOR)
    end = max(int(t_ns[moves].max()), 1)
    counts, rows, columns = np.histogram2d(
        sectors[moves].astype(float), t_ns[moves].astype(float),
        (ADDRESS_ROWS, INTERVALS), ((0, top), (0, end)))
    cells: list[list[Cell]] = [[int(value) for value in row] for row in counts[::-1]]
    names = [f"{row * aft.SECTOR / 2**20:.4g}" for row in rows[:-1]][::-1]
    return Figure("record-map", f"Addresses over time, {file.file_label}",
                  "How many reads and writes go where, from left to right in time, from the begin "
                  "of the device below to its end above.",
                  Grid("MiB", "s", names, [f"{column / 1e9:.4g}" for column in columns[:-1]],
                       cells, "requests"), (str(file.path),))


def request_size_figure(file: aft.RecordFile) -> Figure:
    operations, sizes = file.get_operation_codes_of_records(), file.get_record_column("nsect")
    moves = np.isin(operations, (0, 1))
    lengths = sorted(set(sizes[moves].tolist()), key=int)
    powers = sorted({int(size - 1).bit_length() if size else 0 for size in lengths})
    series = []
    for number, name in enumerate(aft.OPERATIONS[:2]):
        counts = Counter(int(size - 1).bit_length() if size else 0
                         for size in sizes[operations == number].tolist())
        series.append((name, [float(counts[power]) for power in powers]))
    names = [f"{2**power * aft.SECTOR / 1024:g}" for power in powers]
    return Figure("record-sizes", f"Lengths of requests, {file.file_label}",
                  "Requests by length; each category is up to so many KiB.",
                  Bars(names, series, "requests"), (str(file.path),))


def make_figures_of_record_file(inputs: Inputs) -> list[Figure]:
    found: list[Figure] = []
    for file in inputs.records:
        if len(file.records):
            found.append(request_rate_figure(file))
            if np.isin(file.get_operation_codes_of_records(), (0, 1)).any():
                found += [request_address_figure(file), request_size_figure(file)]
    return require_nonempty_figures(found,
                                    "approxftl trace convert and approxftl trace record write "
                                    "record files, and so does approxftl sim --record FILE")
