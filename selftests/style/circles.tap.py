#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No two files of the module use each other, and no two of its rooms.

A file uses another if it names a function or variable that the other defines; what the contract
of policies declares is the contract's, wherever it is defined. What is left of circles is counted
below. The numbers may only fall: whoever unties a knot lowers them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

TOP = Path("dm-approxftl")
CONTRACT = Path("core/policy/policy.h")
# Files in a circle with others, in the core and in the module around it; rooms likewise.
MOST = {"core files": 10, "core rooms": 2, "module files": 16, "module rooms": 5}

PROSE = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.DOTALL)
DEFINED = re.compile(
    r"^(?!static|extern|typedef|#)[\w \t*]*?\b(aftl_\w+)(?:\[\w*\])?"
    r"(?:\([^;{}]*\)[^;{}()]*(?:\([^;{}]*\)\s*)?\n\{| = )",
    re.MULTILINE,
)
DECLARED = re.compile(r"\b(aftl_\w+)\(")
NAMED = re.compile(r"(?<!struct )(?<!enum )\b(aftl_\w+)")
Graph = dict[str, set[str]]


def read(path: Path) -> str:
    """Return the source without comments and texts."""
    return PROSE.sub("", path.read_text())


def uses(texts: dict[Path, str]) -> dict[Path, set[Path]]:
    """Return whom each file uses."""
    home = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    home |= dict.fromkeys(DECLARED.findall(read(TOP / CONTRACT)), CONTRACT)
    words = {path: set(NAMED.findall(text)) for path, text in texts.items()}
    return {
        path: {home[word] for word in said if word in home and home[word] != path}
        for path, said in words.items()
    }


def graph(used: dict[Path, set[Path]], name: Callable[[Path], str]) -> Graph:
    """Return the same with files put together that have one name."""
    nodes: Graph = {name(path): set() for path in used}
    nodes |= {name(other): set() for others in used.values() for other in others}
    for path, others in used.items():
        nodes[name(path)] |= {name(other) for other in others} - {name(path)}
    return nodes


def reachable(nodes: Graph, start: str) -> set[str]:
    """Return what is used by whatever is used, and so on."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        new = nodes[ahead.pop()] - seen
        seen |= new
        ahead += new
    return seen


def circles(nodes: Graph) -> list[list[str]]:
    """Return the groups in which each uses each other, by way of others or not."""
    far = {node: reachable(nodes, node) for node in nodes}
    groups = {
        tuple(sorted({other for other in far[node] if node in far[other]} | {node}))
        for node in nodes
        if node in far[node]
    }
    return [list(group) for group in sorted(groups)]


def report(number: int, what: str, found: Iterable[list[str]]) -> bool:
    """Print one TAP point."""
    groups = list(found)
    count = sum(len(group) for group in groups)
    good = count == MOST[what]
    print(f"{'ok' if good else 'not ok'} {number} - {what} in circles: {count}")
    for group in groups:
        print(f"# {' '.join(group)}")
    if count > MOST[what]:
        print(f"# there were {MOST[what]}: one more uses what uses it")
    elif not good:
        print(f"# there were {MOST[what]}: write the new number into {Path(__file__).name}")
    return good


def main() -> int:
    """Look at the core's files, at the others, and at the rooms of these."""
    texts = {path.relative_to(TOP): read(path) for path in sorted(TOP.rglob("*.c"))}
    used = uses(texts)
    if sum(map(len, used.values())) < len(texts):
        print("Bail out! hardly anything uses anything: this looks for the wrong names")
        return 1
    core = {path: others for path, others in used.items() if path.parts[0] == "core"}
    rest = {
        path: {other for other in others if other.parts[0] != "core"}
        for path, others in used.items()
        if path not in core and len(path.parts) > 1
    }
    verdicts = [
        report(1, "core files", circles(graph(core, str))),
        report(2, "core rooms", circles(graph(core, lambda path: path.parts[1]))),
        report(3, "module files", circles(graph(rest, str))),
        report(4, "module rooms", circles(graph(rest, lambda path: path.parts[0]))),
    ]
    print(f"1..{len(verdicts)}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
