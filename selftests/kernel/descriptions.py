#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The keys of a table line and the messages for fuzz.py, extracted from the sources of the target.

Anything that cannot be parsed is an error, so that fuzz.py covers the complete interface.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
MODULE = TOP / "dm-approxftl"
OPTIONS = MODULE / "target/options.c"
MESSAGES = MODULE / "target/message.c"
BUILD = Path(os.environ.get("AFTL_BUILD") or TOP / "build")
APPROXFTL = os.environ.get("APPROXFTL") or BUILD / "approxftl"
# The column at which explanations begin in the comment of MESSAGES.
MEANING_AT = 28


class DescriptionError(Exception):
    """Raised when a source of the keys or of the messages cannot be parsed."""


@dataclass(frozen=True)
class Key:
    """A key of a table line with a value that is always valid, other values and invalid ones."""

    name: str
    right: str
    others: tuple[str, ...]
    wrong: tuple[str, ...]


def run_verb_as_parsed_json(what: str) -> Any:
    done = subprocess.run([APPROXFTL, what, "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)[what.replace("params", "parameters")]


# Prepend a digit, so that the value exceeds the maximum but keeps its notation and unit.
def make_too_large_parameter(text: str) -> str:
    """Return an invalid value of a key, larger than the maximum @text, with the same unit."""
    if not (match := re.search(r"^(\d+(?:e-?\d+)?)(\w*)$", text, re.S | re.M)):
        raise DescriptionError(f"the value {text}")
    number, unit = match.groups()
    return f"9{number}{unit}"


def make_key_of_parameter(one: dict[str, Any]) -> Key:
    """Convert the description of a parameter that `approxftl` prints into a key."""
    if one["type"] == "word":
        return Key(one["key"], one["value"], tuple(one["words"]), ("", "x", one["words"][0] + "x"))
    if one["type"] == "weights":
        return Key(one["key"], one["value"], ("3:1", "7", "1:2:3:4:5:6:7:255"),
                   ("", "x", "3:", "1:0", "256", "1" + 8 * ":1"))
    if one["type"] not in ("number", "size", "time", "percentage", "rate"):
        raise DescriptionError(f"the type of {one['key']}: {one['type']}")
    near = ("1", "2", "3", "7", "16") if one["type"] == "number" else ()
    return Key(one["key"], one["value"], (one["smallest"], one["largest"], *near),
               ("", "-1", make_too_large_parameter(one["largest"]), one["value"] + "x", "1" * 40))


def describe_table_keys() -> dict[str, Key]:
    own = {
        "profile": ("demo", tuple(one["name"] for one in run_verb_as_parsed_json("profiles"))),
        "policy": ("approxftl", tuple(one["name"] for one in run_verb_as_parsed_json("policies"))),
        "timing": ("off", ("real", "scale:1", "scale:1000000")),
        "tag_all": ("precise", ("approximate",)),
        "ioprio_hint": ("0", ("1", "1023")),
        "tag_carrier": ("inode", ("ioprio", "write_stream,write_hint,inode")),
    }
    wrong = ("", "x", "-1", "scale:0", "1024", "4294967296")
    names = re.findall(r'^\t\[KEY_\w+\] = "(\w+)",$', OPTIONS.read_text(), re.M)
    if sorted(names) != sorted(own):
        raise DescriptionError(f"the target's keys are {names}")
    keys = [Key(name, *own[name], wrong) for name in names]
    return {key.name: key
            for key in (*keys, *map(make_key_of_parameter, run_verb_as_parsed_json("params")))}


def read_message_words() -> tuple[tuple[str, ...], ...]:
    """Return the words of each message of message.c; an argument is <name> or [<name>]."""
    lines = MESSAGES.read_text().split("*/")[0].splitlines()
    usages = (line[3:MEANING_AT].split() for line in lines if line.startswith(" *   "))
    return tuple(tuple(words) for words in usages if words)
