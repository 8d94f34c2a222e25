#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No two files of the module use each other, and no two of its rooms.

A file uses another if it names a function or variable that the other defines. And it uses what it
includes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

TOP = Path("dm-approxftl")

PROSE = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.DOTALL)
DEFINED = re.compile(
    r"^(?!static|extern|typedef|#)[\w \t*]*?\b(aftl_\w+)(?:\[\w*\])?"
    r"(?:\([^;{}]*\)[^;{}()]*(?:\([^;{}]*\)\s*)?\n\{| = )",
    re.MULTILINE,
)
INCLUDED = re.compile(r'^#include "([\w/-]+\.h)"', re.MULTILINE)
NAMED = re.compile(r"(?<!struct )(?<!enum )\b(aftl_\w+)")
Graph = dict[str, set[str]]


def read(path: Path) -> str:
    """Return the source without comments and texts."""
    return PROSE.sub("", path.read_text())


def uses(texts: dict[Path, str]) -> dict[Path, set[Path]]:
    """Return whom each file uses."""
    home = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    words = {path: set(NAMED.findall(text)) for path, text in texts.items()}
    return {
        path: {home[word] for word in said if word in home and home[word] != path}
        for path, said in words.items()
    }


def includes() -> dict[Path, set[Path]]:
    """Return which header of a room each file of one includes."""
    paths = {path.relative_to(TOP): path for path in sorted(TOP.rglob("*.[ch]"))}
    included = {
        path: {Path(name) for name in INCLUDED.findall(full.read_text())}
        for path, full in paths.items()
    }
    return {path: others & paths.keys() for path, others in included.items() if len(path.parts) > 1}


def graph(used: dict[Path, set[Path]], name: Callable[[Path], str]) -> Graph:
    """Return the same with files put together that have one name."""
    nodes: Graph = {name(path): set() for path in used}
    nodes |= {name(other): set() for others in used.values() for other in others}
    for path, others in used.items():
        nodes[name(path)] |= {name(other) for other in others} - {name(path)}
    return nodes


def room(path: Path) -> str:
    """Return the folder, below that of the core or of the module."""
    return "/".join(path.parts[:-1])


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


def report(number: int, what: str, groups: list[list[str]]) -> bool:
    """Print one TAP point."""
    print(f"{'not ok' if groups else 'ok'} {number} - {what} are in no circle")
    for group in groups:
        print(f"# {' '.join(group)}")
    return not groups


def main() -> int:
    """Look at the core's files, at the others, and at the rooms of these."""
    texts = {path.relative_to(TOP): read(path) for path in sorted(TOP.rglob("*.c"))}
    used = uses(texts)
    included = includes()
    if min(sum(map(len, used.values())), sum(map(len, included.values()))) < len(texts):
        print("Bail out! hardly anything uses anything: this looks for the wrong names")
        return 1
    core = {path: others for path, others in used.items() if path.parts[0] == "core"}
    rest = {
        path: {other for other in others if other.parts[0] != "core"}
        for path, others in used.items()
        if path not in core and len(path.parts) > 1
    }
    subjects = {
        "the core's files": graph(core, str),
        "the core's rooms": graph(core, lambda path: path.parts[1]),
        "files around the core": graph(rest, str),
        "rooms around the core": graph(rest, lambda path: path.parts[0]),
        "files, by what they include,": graph(included, str),
        "rooms, by what their files include,": graph(included, room),
    }
    verdicts = [
        report(i, what, circles(nodes)) for i, (what, nodes) in enumerate(subjects.items(), 1)
    ]
    print(f"1..{len(verdicts)}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
