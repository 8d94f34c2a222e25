#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Replay a device's requests in the simulator, and compare the final counters and digest.

    replay.py --trace FILE --stats FILE --digest HEX --record FILE -- SIMULATOR ARGUMENT...

The trace is the text output of the tracepoint aftl_submit for one device, from its first request
on. The statistics and the digest are the answers to the messages "stats" and "digest" of the
idle device. The requests are kept as a record file in --record.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from selftests.sim import support

SECTOR = 512
SUBMIT = re.compile(r" aftl_submit: (.*)$")


def read_traced_requests(trace: Path) -> list[dict[str, int]]:
    """Return the traced requests in the order of submission; exit if the trace lacks one."""
    requests = []
    for line in trace.read_text().splitlines():
        found = SUBMIT.search(line)
        if found:
            words = (word.split("=") for word in found[1].split())
            requests.append({key: int(value) for key, value in words if key != "dev"})
    requests.sort(key=lambda request: request["seq"])
    lost = next((i for i, r in enumerate(requests) if r["seq"] != i), None)
    if lost is not None:
        sys.exit(f"request {lost} is not in the trace")
    return requests


def write_record_file_of_traced_requests(requests: list[dict[str, int]], path: Path) -> None:
    """Write the requests as a record file with the device's submission times."""
    data = support.Header(minor=1, records=len(requests), source=b"aftl_submit").pack_header()
    for r in requests:
        sectors = r["unit_bytes"] // SECTOR
        op = r["op"]
        if op == support.WRITE and r["fua"]:
            op |= support.FUA
        data += support.Record(
            r["at_ns"], r["unit"] * sectors, r["units"] * sectors, op, r["class"],
            r["queue"] << 8 | r["stream"],
        ).pack_record()
    path.write_bytes(data)


def main() -> None:
    """Compare device and simulator; fail if they differ or if the trace is empty."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--stats", type=Path, required=True)
    parser.add_argument("--digest", required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("simulator", nargs="+")
    options = parser.parse_args()
    requests = read_traced_requests(options.trace)
    pairs = (line.split() for line in options.stats.read_text().splitlines())
    stats = {name: int(value) for name, value in pairs}
    write_record_file_of_traced_requests(requests, options.record)
    until_ns = stats["device_ns"]
    command = [*options.simulator, "--trace", str(options.record), "--queue-by", "recorded",
               "--arrival", "device"]
    command += ["--until", f"{until_ns}ns", "--quiet", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    run: dict[str, object] = json.loads(done.stdout)["runs"][0]
    digest = options.digest
    counters = run["counters"]
    assert isinstance(counters, dict)
    differing = [
        f"{name}: {stats.get(name)} in the kernel, {value} in the simulator"
        for name, value in counters.items()
        if stats.get(name) != value
    ]
    if digest != run["digest"]:
        differing.append(f"digest: {digest} in the kernel, {run['digest']} in the simulator")
    print(
        f"# {len(requests)} requests, {stats['array_programs']} programs,"
        f" {stats['gc_blocks']} blocks collected, {stats['device_ns'] // 1000000} ms"
    )
    for line in differing:
        print(f"# {line}")
    sys.exit(bool(differing or not requests))


if __name__ == "__main__":
    main()
