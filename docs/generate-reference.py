#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write docs/reference.md from the JSON of `approxftl params` and from tables in C headers.

    docs/generate-reference.py [--program build/approxftl] [--out docs/reference.md]
"""

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
TABLE = TOP / "dm-approxftl/core/base/param-table.h"
COUNTERS = TOP / "dm-approxftl/core/base/counter-table.h"
HANDLES = TOP / "dm-approxftl/core/base/handle-table.h"
STATUS = TOP / "dm-approxftl/target/status-table.h"
MESSAGES = TOP / "dm-approxftl/target/message.c"
# The column of that file's comment where meanings begin.
MEANING_AT = 28

HEAD = """\
# Reference

<!-- Written by docs/generate-reference.py; a test fails if this page is out of date. -->

This page lists every parameter, profile, policy and counter of the emulated device. `approxftl
params`, `approxftl profiles` and `approxftl policies` print the parameters, profiles and policies
on a terminal, and `approxftl sim --help` explains the options of the simulator itself.

## Parameters

`--KEY VALUE` or `--set KEY=VALUE` on the command line of `approxftl sim` sets a parameter. The
values shown are those of the profile `demo`; the section [Profiles](#profiles) lists the values of
other profiles that differ.

| type | how to write it |
| --- | --- |
| number | digits |
| size | bytes, or with KiB, MiB, GiB: `8KiB` |
| time | with ns, us, ms, s, min, h or d: `700us` |
| percentage | `12.5%` or `12.5`; `1` only in a table line, else `1%` |
| rate | events per trial: `7.2e-4` |
| word | one of the words in the range column |
| weights | up to eight numbers from 1 to 255: `3:1`; `0` is none |

| change | how the parameter of a device that exists may change |
| --- | --- |
| live | at any time: message `policy`, `approxftl sim --change`, or a reload |
| reload | by a reload of the table (not on a zoned device), or by `approxftl sim --change` |
| never | not on the same flash; a reload in memory makes a new flash ([reload](dm-approxftl.rst)) |
"""

Json = dict[str, Any]


def run_program_for_json(program: Path, *arguments: str) -> Json:
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, check=True)
    answer: Json = json.loads(done.stdout)
    return answer


def format_markdown_table_row(*cells: str) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def format_markdown_table_head(*titles: str) -> Iterator[str]:
    """Return the heading lines of a Markdown table."""
    yield format_markdown_table_row(*titles)
    yield format_markdown_table_row(*("---" for _ in titles))


def list_macros_by_heading(path: Path, macro: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the heading comments of a C table of macros, each with the arguments of its macros."""
    pattern = re.compile(rf"^/\* ([^*\n]+) \*/$|^{macro}\((\w+),?(.*?)\)$", re.M | re.S)
    title, members = "", list[tuple[str, str]]()
    for comment, name, rest in pattern.findall(path.read_text()):
        if comment:
            if members:
                yield title, members
            title, members = comment, []
        else:
            members.append((name, rest))
    yield title, members


def format_parameter_range(parameter: Json) -> str:
    """Return the values that a parameter may have."""
    words = parameter.get("words")
    if words:
        return ", ".join(words)
    return f"{parameter['smallest']} .. {parameter['largest']}"


def format_parameter_tables(program: Path) -> Iterator[str]:
    """Return the tables of parameters, grouped as in their source."""
    known = {one["key"]: one for one in run_program_for_json(program, "params")["parameters"]}
    groups = [
        (title, [known.pop(key) for key, _ in members])
        for title, members in list_macros_by_heading(TABLE, "PARAM")
    ]
    for title, members in [*groups, ("Policies and rules", list(known.values()))]:
        yield f"\n### {title}\n"
        yield from format_markdown_table_head("key", "value", "type", "range", "change",
                                              "meaning")
        for one in members:
            yield format_markdown_table_row(f"`{one['key']}`", one["value"], one["type"],
                                            format_parameter_range(one), one["change"],
                                            one["help"])


def format_profile_table(program: Path) -> Iterator[str]:
    standard = {v["key"]: v["value"] for v in run_program_for_json(program, "params")["parameters"]}
    yield "\n## Profiles\n"
    yield from format_markdown_table_head("profile", "device", "differs from `demo` in")
    for one in run_program_for_json(program, "profiles")["profiles"]:
        name = one["name"]
        values = run_program_for_json(program, "params", "--profile", name)["parameters"]
        changed = [f"`{v['key']}={v['value']}`" for v in values if v["value"] != standard[v["key"]]]
        yield format_markdown_table_row(f"`{name}`", one["about"], " ".join(changed))


def format_policy_table(program: Path) -> Iterator[str]:
    yield "\n## Policies\n"
    yield from format_markdown_table_head("policy", "what it does")
    for one in run_program_for_json(program, "policies")["policies"]:
        yield format_markdown_table_row(f"`{one['name']}`", one["about"])


def format_counter_tables() -> Iterator[str]:
    """Return the tables of counters, grouped as in their source."""
    yield "\n## Counters\n"
    yield ("The JSON output of `approxftl sim` has the following counters of each run in its "
           "object\n`counters`. The name of a counter contains its unit.")
    for title, members in list_macros_by_heading(COUNTERS, "COUNTER"):
        yield f"\n### {title}\n"
        yield from format_markdown_table_head("counter", "meaning")
        for name, rest in members:
            yield format_markdown_table_row(f"`{name}`", rest.strip().strip('"'))
    yield "\n### Of each placement handle\n"
    yield from format_markdown_table_head("counter", "meaning")
    for _, members in list_macros_by_heading(HANDLES, "HANDLE_COUNTER"):
        for name, rest in members:
            yield format_markdown_table_row(f"`{name}`", rest.strip().strip('"'))


def format_status_word_table() -> Iterator[str]:
    """Return the table of the words of a device's status line."""
    yield "\n## Status line\n"
    yield ("After the target's name `dmsetup status` prints the following words. New words are "
           "appended.\n")
    yield from format_markdown_table_head("position", "word", "meaning")
    pattern = re.compile(r'^STATUS_(TEXT|NUMBER|PAIR)\(([^"]*), "([^"]*)"\)$', re.M)
    for position, (_, names, text) in enumerate(pattern.findall(STATUS.read_text()), 1):
        yield format_markdown_table_row(str(position), f"`{names.replace(', ', '/')}`", text)


def format_message_table() -> Iterator[str]:
    """Return the table of device messages, read from the C comment above their handler."""
    yield "\n## Messages\n"
    yield ("`approxftl message NAME ...` or `dmsetup message NAME 0 ...` "
           "sends a message to a device.\n")
    yield from format_markdown_table_head("message", "meaning")
    meanings = dict[str, str]()
    verb = ""
    for line in MESSAGES.read_text().split("*/")[0].splitlines():
        name, text = line[3:MEANING_AT].strip(), line[MEANING_AT:].strip()
        if line.startswith(" *   ") and text:
            verb = name or verb
            meanings[verb] = f"{meanings.get(verb, '')} {text}".strip()
    for name, text in meanings.items():
        yield format_markdown_table_row(f"`{name}`", text)


def main() -> None:
    """Write docs/reference.md, or another file that the command line names."""
    parser = argparse.ArgumentParser(description="Write the reference of parameters and counters.")
    parser.add_argument("--program", type=Path, default=TOP / "build/approxftl")
    parser.add_argument("--out", type=Path, default=TOP / "docs/reference.md")
    options = parser.parse_args()
    program = options.program.absolute()
    parts = [*format_parameter_tables(program), *format_profile_table(program),
             *format_policy_table(program), *format_counter_tables(), *format_status_word_table(),
             *format_message_table()]
    options.out.write_text(HEAD + "\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
