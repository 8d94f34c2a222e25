#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No files of the module depend on each other in a circle, and neither do its directories.

A file depends on another if it uses a function or variable that the other defines. The functions of
a header belong to the file of the same name, if they are inline. Includes are checked separately.
"""

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
INLINE = re.compile(
    r"^static inline [^;{}]*?\b(aftl_\w+)\([^;{}]*\)\n\{.*?^\}", re.MULTILINE | re.DOTALL
)
INCLUDED = re.compile(r'^#include "([\w/-]+\.h)"', re.MULTILINE)
NAMED = re.compile(r"(?<!struct )(?<!enum )\b(aftl_\w+)")
Graph = dict[str, set[str]]


def remove_comments_from_source(path: Path) -> str:
    """Return the source without comments and strings; of a header, only inline functions."""
    text = PROSE.sub("", path.read_text())
    return text if path.suffix == ".c" else "\n".join(m[0] for m in INLINE.finditer(text))


def find_included_headers() -> dict[Path, set[Path]]:
    """Return the headers of the module that each file in a subdirectory includes."""
    paths = {path.relative_to(TOP): path for path in sorted(TOP.rglob("*.[ch]"))}
    included = {
        path: {Path(name) for name in INCLUDED.findall(full.read_text())}
        for path, full in paths.items()
    }
    return {path: others & paths.keys() for path, others in included.items() if len(path.parts) > 1}


def merge_graph_nodes_by_name(used: dict[Path, set[Path]], name: Callable[[Path], str]) -> Graph:
    """Merge nodes, such as files, for which name() returns the same into one node."""
    nodes: Graph = {name(path): set() for path in used}
    nodes |= {name(other): set() for others in used.values() for other in others}
    for path, others in used.items():
        nodes[name(path)] |= {name(other) for other in others} - {name(path)}
    return nodes


def find_directory_of_file(path: Path) -> str:
    return "/".join(path.parts[:-1])


def get_module_name_of_file(path: Path) -> str:
    """Return the name that a source file and its header share."""
    return str(path.with_suffix(""))


def find_reachable_nodes(nodes: Graph, start: str) -> set[str]:
    """Return the nodes that a node depends on, directly or indirectly."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        new = nodes[ahead.pop()] - seen
        seen |= new
        ahead += new
    return seen


def find_circular_dependencies(nodes: Graph) -> list[list[str]]:
    """Return the groups of nodes that all depend on each other, directly or indirectly."""
    far = {node: find_reachable_nodes(nodes, node) for node in nodes}
    groups = {
        tuple(sorted({other for other in far[node] if node in far[other]} | {node}))
        for node in nodes
        if node in far[node]
    }
    return [list(group) for group in sorted(groups)]


def print_circular_dependency_point(number: int, what: str, groups: list[list[str]]) -> bool:
    """Print one test point as TAP."""
    print(f"{'not ok' if groups else 'ok'} {number} - {what} have no circular dependency")
    for group in groups:
        print(f"# {' '.join(group)}")
    return not groups


def main() -> int:
    """Check dependencies among the core's files, among other files, and among all directories."""
    texts = {path.relative_to(TOP): remove_comments_from_source(path)
             for path in sorted(TOP.rglob("*.[ch]"))}
    home = {
        name: path
        for path, text in texts.items()
        for name in DEFINED.findall(text) + (INLINE.findall(text) if path.suffix == ".h" else [])
    }
    words = {path: set(NAMED.findall(text)) for path, text in texts.items()}
    used = {
        path: {home[word] for word in said if word in home and home[word] != path}
        for path, said in words.items()
    }
    included = find_included_headers()
    if min(sum(map(len, used.values())), sum(map(len, included.values()))) < len(texts):
        print("Bail out! hardly any file uses another: the patterns of names are wrong")
        return 1
    core = {path: others for path, others in used.items() if path.parts[0] == "core"}
    rest = {
        path: {other for other in others if other.parts[0] != "core"}
        for path, others in used.items()
        if path not in core and len(path.parts) > 1
    }
    subjects = {
        "the core's files": merge_graph_nodes_by_name(core, get_module_name_of_file),
        "the core's directories": merge_graph_nodes_by_name(core, lambda path: path.parts[1]),
        "files outside the core": merge_graph_nodes_by_name(rest, get_module_name_of_file),
        "directories outside the core": merge_graph_nodes_by_name(rest, lambda path: path.parts[0]),
        "includes of files": merge_graph_nodes_by_name(included, str),
        "includes of directories": merge_graph_nodes_by_name(included, find_directory_of_file),
    }
    verdicts = [
        print_circular_dependency_point(i, what, find_circular_dependencies(nodes))
        for i, (what, nodes) in enumerate(subjects.items(), 1)
]
    print(f"1..{len(verdicts)}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
