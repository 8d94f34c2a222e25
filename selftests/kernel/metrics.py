#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Parse metrics as strictly as Prometheus does, and print one value.

    metrics.py FILE NAME LABELS

Fails on all that a scraper would refuse: a metric without a type, lines of a metric that are not
adjacent, duplicate lines, values that are no numbers, histogram buckets that decrease or lack
+Inf.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LINE = re.compile(r'([a-z0-9_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} ([0-9.]+)\Z')
ENDS = ("_bucket", "_sum", "_count")


def family_of(name: str, types: dict[str, str]) -> str:
    """Return the metric that a line belongs to."""
    for end in ENDS:
        if name.endswith(end) and types.get(name.removesuffix(end)) == "histogram":
            return name.removesuffix(end)
    return name


def read(text: str) -> dict[tuple[str, str], float]:
    """Return all values by name and labels."""
    types: dict[str, str] = {}
    found: dict[tuple[str, str], float] = {}
    order: list[str] = []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in types and kind in ("counter", "gauge", "histogram"), line
            assert kind != "counter" or name.endswith("_total"), line
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = LINE.match(line)
            assert match, line
            name = family_of(match[1], types)
            assert name in types, f"{line}: no type"
            assert name not in order[:-1], f"{line}: not beside the others"
            order += [name] if order[-1:] != [name] else []
            key = (match[1], match[2])
            assert key not in found, f"{line}: twice"
            found[key] = float(match[3])
    assert text.endswith("\n") and found, "no metrics"
    return found


def check_buckets(found: dict[tuple[str, str], float]) -> None:
    """Require that buckets are cumulative, and that +Inf equals the count."""
    last: dict[str, float] = {}
    for (name, labels), value in found.items():
        if name.endswith("_bucket"):
            device, bound = re.sub(r',le="[^"]*"', "", labels), labels.rsplit("le=", 1)[1]
            assert value >= last.get(device, 0), f"{labels}: falls"
            last[device] = value
            if bound == '"+Inf"':
                assert value == found[name.removesuffix("_bucket") + "_count", device], labels


def main() -> None:
    """Check all metrics and print one."""
    path, name, labels = sys.argv[1:]
    found = read(Path(path).read_text())
    check_buckets(found)
    print(f"{found[name, labels]:.12g}")


if __name__ == "__main__":
    main()
