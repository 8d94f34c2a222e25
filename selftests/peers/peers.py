#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run one device and its requests in MQSim, NVMeVirt or FEMU and in approxftl sim, and compare.

Each pair of runs begins with equal configurations. Each further step removes one difference of the
models, in the peer's files or settings or in sim's options, until the results agree.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP)]

from selftests.peers import layers  # noqa: E402

BINARY = Path(os.environ.get("APPROXFTL", TOP / "build/approxftl")).absolute()
#: Largest relative difference that needs no cause.
BAR = 0.05
Words = dict[str, str | int | float]

#: The log has a line for each completed request if its period is shorter than a clock tick of it.
LOGGED: Words = {"Enable_ResponseTime_Logging": "true", "ResponseTime_Logging_Period_Length": 1,
                 "Ideal_Mapping_Table": "true"}
SMALL: Words = {"Flash_Channel_Count": 2, "Chip_No_Per_Channel": 2, "Die_No_Per_Chip": 1,
                "Plane_No_Per_Die": 1, "Block_No_Per_Plane": 256, "Page_No_Per_Block": 64,
                "Overprovisioning_Ratio": 0.2, "Static_Wearleveling_Enabled": "false"}
FLOW: Words = {"Channel_IDs": "0,1", "Chip_IDs": "0,1", "Die_IDs": 0, "Plane_IDs": 0,
               "Device_Level_Data_Caching_Mode": "TURNED_OFF", "Working_Set_Percentage": 85,
               "Average_Request_Size": 16, "Stop_Time": 0, "Average_No_of_Reqs_in_Queue": 16}
GENERATED = ("--buffer", "0", "--footprint", "85%", "--size", "8KiB", "--depth", "16")
#: A device of one chip for each die.
CHIPS: Words = {"Chip_No_Per_Channel": 8, "Die_No_Per_Chip": 1}
CHIP_FLOW: Words = {"Chip_IDs": "0,1,2,3,4,5,6,7", "Die_IDs": 0}


@dataclass(frozen=True)
class Step:
    """The changed options of one row of a comparison, which also apply to the rows below."""

    cause: str
    config: Words = field(default_factory=dict)
    flow: Words = field(default_factory=dict)
    ours: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A load, the results to compare, and changes that make our results agree with MQSim's."""

    name: str
    figures: tuple[str, ...]
    steps: tuple[Step, ...]
    trace: str = ""
    #: Requests of a generated load, and of those the ones before statistics begin.
    requests: int = 0
    warmup: int = 0


TIMES = ("mean_us", "p99_us", "iops")
PAIRS = (
    Pair("wsrch", TIMES, (Step("as configured"),), "wsrch-small"),
    Pair("tpcc", TIMES, (
        Step("as configured"),
        Step("partial writes of unwritten pages read them first here", ours=("--whole-units",)),
        Step("MQSim's cache transfers 200 MB/s", {"Data_Cache_DRAM_Data_Rate": 100000}),
        Step("MQSim's dies of a chip wait for each other", CHIPS, CHIP_FLOW),
        Step("MQSim transfers parts of pages", {"Channel_Transfer_Rate": 2000}),
    ), "tpcc-small"),
    Pair("random reads", TIMES, (
        Step("as configured", SMALL, FLOW | {"Read_Percentage": 100},
             (*GENERATED, "--write-share", "0")),
        Step("MQSim's commands wait for transfers on their channel",
             {"Flash_Channel_Count": 4, "Chip_No_Per_Channel": 1},
             {"Channel_IDs": "0,1,2,3", "Chip_IDs": 0}),
    ), requests=50000),
    *(Pair(f"random writes, {rule}", ("write_amplification", "erases"), (
        Step("as configured", SMALL | {"GC_Block_Selection_Policy": rule}, FLOW,
             (*GENERATED, "--write-share", "100%", "--fill", "none")),
        Step("MQSim keeps 5 % of the blocks free also under load",
             ours=("--blocks", "245", "--op", "16.41%")),
    ), requests=300000, warmup=100000) for rule in ("GREEDY", "RGA")),
)


def set_xml_elements(text: str, values: Words) -> str:
    """Return a file of MQSim with changed values; exit if the file lacks an element."""
    for name, value in values.items():
        text, found = re.subn(f"(<{name}>)[^<]*<", rf"\g<1>{value}<", text)
        if not found:
            sys.exit(f"peers: MQSim's file has no {name}")
    return text


def write_workload_file(peer: Path, pair: Pair) -> str:
    """Return a workload file with one of the flows of MQSim's own workload file."""
    kind = "Trace_Based" if pair.trace else "Synthetic"
    tag = f"IO_Flow_Parameter_Set_{kind}"
    flow = re.search(f"<{tag}>.*?</{tag}>", (peer / "workload.xml").read_text(), re.S)
    if not flow:
        sys.exit(f"peers: {peer}/workload.xml has no {tag}")
    return ('<?xml version="1.0" encoding="us-ascii"?>\n<MQSim_IO_Scenarios><IO_Scenario>'
            f"{flow[0]}</IO_Scenario></MQSim_IO_Scenarios>")


def read_mqsim_results(result: str, log: str) -> dict[str, float]:
    """Return the counts in MQSim's result file, and latencies from its log of requests."""
    counts = {name: int(value) for name, value in re.findall(r'(Issued_Flash_\w+)="(\d+)"', result)}
    writes = re.search(r"<Write_Request_Count>(\d+)", result)
    lines = [tuple(map(int, line.split()[:2])) for line in log.splitlines()[1:]]
    times = sorted(time for _, time in lines)
    span = lines[-1][0] - lines[0][0] + lines[0][1]
    return {"writes": int(writes[1]) if writes else 0,
            "programs": counts["Issued_Flash_Program_CMD"]
            + 2 * counts["Issued_Flash_Multiplane_Program_CMD"],
            "erases": counts["Issued_Flash_Erase_CMD"],
            "mean_us": sum(times) / len(times), "p99_us": times[len(times) * 99 // 100],
            "iops": len(times) / span * 1e6}


def run_mqsim(peer: Path, config: str, workload: str) -> dict[str, float]:
    """Run MQSim in a folder of its own and return its counts and latencies."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "c.xml").write_text(config)
        (place / "w.xml").write_text(workload)
        # It waits for a key at its end.
        done = subprocess.run([peer / "MQSim", "-i", "c.xml", "-w", "w.xml"], cwd=place,
                              input=b"\n", capture_output=True, check=False)
        if done.returncode or not (place / "w_scenario_1.xml").exists():
            sys.exit(f"peers: MQSim failed: {done.stdout.decode()[-200:]}")
        return read_mqsim_results((place / "w_scenario_1.xml").read_text(),
                                  next(place.glob("*.log")).read_text())


def measure_load_with_mqsim(peer: Path, pair: Pair, config: str, flow: Words) -> dict[str, float]:
    """Return MQSim's results after the warm-up, as the difference of a long and a short run."""
    where: Words = {"File_Path": str((peer / f"traces/{pair.trace}.trace").absolute())}

    def run_mqsim_requests(requests: int) -> dict[str, float]:
        what = where if pair.trace else {"Total_Requests_To_Generate": requests}
        return run_mqsim(peer, config, set_xml_elements(write_workload_file(peer, pair), flow
                                                        | what))

    found = run_mqsim_requests(pair.requests)
    if pair.warmup:
        before = run_mqsim_requests(pair.warmup)
        found |= {name: found[name] - before[name] for name in ("writes", "programs", "erases")}
    found["write_amplification"] = found["programs"] / (found["writes"] or 1)
    return found


def run_approxftl(*options: str) -> dict[str, float]:
    """Run approxftl sim with these options and return its counts and latencies."""
    done = subprocess.run([BINARY, "sim", *options, "--json", "--quiet", "--histogram"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"peers: {done.stderr.strip()}")
    run = json.loads(done.stdout)["runs"][0]
    times = [run["timing"][f"{kind}_response"] for kind in ("read", "write")]
    bins = sorted(bound for one in times for bound in one["bins"])
    rest = run["requests"] * 0.99
    p99 = next(bound for bound, count in bins if (rest := rest - count) <= 0)
    counts = run["write_amplification"]
    return {"mean_us": sum(one["sum_ns"] for one in times) / run["requests"] / 1000,
            "p99_us": p99 / 1000, "iops": run["requests"] / run["simulated_ns"] * 1e9,
            "erases": run["counters"]["array_erases"],
            "write_amplification": counts["programmed_units"] / (counts["host_write_units"] or 1)}


def measure_load_with_approxftl(peer: Path, pair: Pair, config: str,
                                options: tuple[str, ...]) -> dict[str, float]:
    load = (["--trace", str(peer / f"traces/{pair.trace}.trace"), "--fold"] if pair.trace else
            ["--requests", str(pair.requests - pair.warmup), "--warmup", str(pair.warmup)])
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(config)
        file.flush()
        return run_approxftl("--config", file.name, *load, *options)


def print_figures(load: str, cause: str, figures: tuple[str, ...], theirs: dict[str, float],
                  ours: dict[str, float]) -> bool:
    """Print a row for each figure of two simulations; return true if all of them agree."""
    errors = {name: ours[name] / theirs[name] - 1 for name in figures}
    for name, error in errors.items():
        print(f"| {load} | {cause} | {name} | {theirs[name]:.4g} | {ours[name]:.4g} "
              f"| {100 * error:+.1f} |", flush=True)
    return all(abs(error) <= BAR for error in errors.values())


def compare_mqsim_with_approxftl(peer: Path, pair: Pair) -> bool:
    """Print the rows of two simulations; return true if both agree in the last row."""
    config = set_xml_elements((peer / "ssdconfig.xml").read_text(), LOGGED)
    flow: Words = {}
    options: tuple[str, ...] = ()
    agrees = False
    for step in pair.steps:
        config, flow = set_xml_elements(config, step.config), flow | step.flow
        options += step.ours
        theirs = measure_load_with_mqsim(peer, pair, config, flow)
        ours = measure_load_with_approxftl(peer, pair, config, options)
        agrees = print_figures(pair.name, step.cause, pair.figures, theirs, ours)
    return agrees


def compare_layer_with_approxftl(pair: layers.Pair, checkout: Path) -> bool:
    """Print the rows of a layer and of approxftl sim; return true if both agree in the last."""
    settings = layers.DEVICE | pair.layer.settings
    options: tuple[str, ...] = layers.OURS
    agrees = False
    with tempfile.TemporaryDirectory() as name:
        trace = layers.write_csv_trace(pair.load, Path(name) / "trace.csv")
        for number, step in enumerate(pair.steps):
            settings, options = settings | step.settings, options + step.ours
            place = Path(name) / str(number)
            place.mkdir()
            theirs = layers.run_layer(
                layers.compile_layer(pair.layer, checkout, settings, place),
                layers.generate_requests(pair.load))
            agrees = print_figures(pair.name, step.cause, pair.figures, theirs,
                                   run_approxftl(*trace, *options))
    return agrees


def find_checkouts(folder: Path) -> dict[str, Path]:
    """Return the checkouts in a folder, by name of the peer; the folder may itself be MQSim's."""
    marks = {"MQSim": "ssdconfig.xml"} | {layer.folder: layer.sources[0]
                                          for layer in (layers.NVMEVIRT, layers.FEMU)}
    found = {name: folder / name for name, mark in marks.items() if (folder / name / mark).exists()}
    return {"MQSim": folder} if (folder / "ssdconfig.xml").exists() else found


def list_comparisons(folder: Path, names: tuple[str, ...]) -> dict[str, Callable[[], bool]]:
    """Return the comparisons with the peers in a folder whose names begin with the given words.

    Each peer that the folder lacks is reported as skipped; the program ends if it has none.
    """
    found = find_checkouts(folder)
    if not found:
        sys.exit(f"peers: {folder} has no checkout of MQSim, nvmevirt or FEMU")
    for name in ("MQSim", layers.NVMEVIRT.folder, layers.FEMU.folder):
        if name not in found:
            print(f"peers: skipped: {folder} has no {name}", file=sys.stderr)
    every: dict[str, Callable[[], bool]] = {}
    if "MQSim" in found:
        every |= {pair.name: partial(compare_mqsim_with_approxftl, found["MQSim"], pair)
                  for pair in PAIRS}
    every |= {pair.name: partial(compare_layer_with_approxftl, pair, found[pair.layer.folder])
              for pair in layers.PAIRS if pair.layer.folder in found}
    every = {name: compare for name, compare in every.items() if name.startswith(names)}
    if "MQSim" in found and not all(":" in name for name in every):
        subprocess.run(["make", "-s", "-j2", "-C", found["MQSim"]], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return every


def main() -> int:
    """Compare all pairs of simulations, or those whose names begin with the given words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path, help="folder with checkouts MQSim, nvmevirt and FEMU, "
                        "or a checkout of MQSim; each is built if needed")
    parser.add_argument("names", nargs="*", default=[""])
    arguments = parser.parse_args()
    every = list_comparisons(arguments.peers.absolute(), tuple(arguments.names))
    print("| load | taken away, one after another | figure | peer | here | difference % |\n"
          "| --- | --- | --- | ---: | ---: | ---: |")
    wrong = [name for name, compare in every.items() if not compare()]
    if wrong:
        print(f"peers: differences above 5 % without a cause: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
