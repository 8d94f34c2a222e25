#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Describe the module's interfaces for fuzz.py, extracted from the sources that define them.

descriptions.py     prints the ioctls of uapi/linux/approxftl.h with the role of each member, the
                    keys of a table line with values inside and outside of their limits, and the
                    messages

Anything that cannot be parsed is an error, so that fuzz.py covers the complete interface.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
MODULE = TOP / "dm-approxftl"
HEADER = MODULE / "uapi/linux/approxftl.h"
OPTIONS = MODULE / "target/options.c"
MESSAGES = MODULE / "target/message.c"
BUILD = Path(os.environ.get("AFTL_BUILD") or TOP / "build")
APPROXFTL = os.environ.get("APPROXFTL") or BUILD / "approxftl"
LETTERS = {"__u32": "I", "__s32": "i", "__aligned_u64": "Q"}
TO_END = "APPROXFTL_TO_END"
# The column at which explanations begin in the comment of MESSAGES.
MEANING_AT = 28


class DescriptionError(Exception):
    """A source cannot be parsed."""


def found(pattern: str, text: str, what: str) -> re.Match[str]:
    """Return the match of a pattern; raise an error if there is none."""
    if not (match := re.search(pattern, text, re.S | re.M)):
        raise DescriptionError(what)
    return match


@dataclass(frozen=True)
class Member:
    """A structure member: name, struct format letter, role, and the values that it may have.

    Roles: size, fd, zero, out, choice, flags, array (an address), count (of that array), text
    (an address), length (of that text), number.
    """

    name: str
    letter: str
    part: str
    values: tuple[int, ...] = ()
    of: str = ""


@dataclass(frozen=True)
class Structure:
    """A structure of the header and the ioctls that take it."""

    name: str
    members: tuple[Member, ...]
    calls: tuple[str, ...]

    @property
    def form(self) -> struct.Struct:
        """Return the structure's binary layout."""
        return struct.Struct("=" + "".join(member.letter for member in self.members))


class Header:
    """A parser of uapi/linux/approxftl.h."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def enums(self) -> dict[str, dict[str, int]]:
        """Return the constants of each enum."""
        return {name: {word: int(value, 0) for word, value in
                       re.findall(r"(APPROXFTL_\w+) = (\w+)", body)}
                for name, body in re.findall(r"^enum (\w+) \{(.*?)^\};", self.text, re.S | re.M)}

    @cached_property
    def defines(self) -> dict[str, int]:
        """Return the values of the numeric macros."""
        values = dict[str, int]()
        for name, text in re.findall(r"^#define (APPROXFTL_\w+)[ \t]+([^\"\n]*?)(?:[ \t]*/\*.*)?$",
                                     self.text, re.M):
            if bit := re.fullmatch(r"_BITULL\((\d+)\)", text):
                values[name] = 1 << int(bit[1])
            elif text == "(~0ULL)":
                values[name] = 2**64 - 1
            elif call := re.fullmatch(r"_IO\((\w+), (\w+)\)", text):
                values[name] = values[call[1]] << 8 | int(call[2], 0)
            else:
                values[name] = int(text, 0)
        return values

    @cached_property
    def calls(self) -> dict[str, int]:
        """Return the numbers of the ioctls by name."""
        names = re.findall(r"^#define (\w+)\s+_IO\(", self.text, re.M)
        return {name: self.defines[name] for name in names}

    def mentioned(self, text: str) -> tuple[str, tuple[int, ...]]:
        """Return the role and the values of the constants that a description mentions."""
        for enum, values in self.enums.items():
            if re.search(rf"\benum {enum}\b", text) or any(
                    re.search(rf"\b{word}\b", text) for word in values):
                return "choice", tuple(values.values())
        words = [word for word in re.findall(r"\bAPPROXFTL_[A-Z_]+\*?", text) if word != TO_END]
        flags = [value for name, value in self.defines.items() if any(
            name == word or (word[-1] == "*" and name.startswith(word[:-1])) for word in words)]
        return ("flags", tuple(flags)) if flags else ("number", ())

    def member(self, name: str, letter: str, text: str) -> Member:
        """Derive a member from its kernel-doc."""
        said = text.removeprefix("in: ").split("; out:")[0]
        if array := re.match(r"address of struct (\w+)\[@\w+\]", said):
            return Member(name, letter, "array", of=array[1])
        if said.startswith(("address of a name", "its address")):
            return Member(name, letter, "text")
        if "address" in said:
            raise DescriptionError(f"the address {name}: {text}")
        if said.startswith("bytes of it, at most "):
            return Member(name, letter, "length", (self.defines[said.split()[-1]],))
        for part, is_it in (("size", name == "size"), ("fd", name == "fd"), ("zero", said == "0"),
                            ("out", said.startswith("out: "))):
            if is_it:
                return Member(name, letter, part)
        return Member(name, letter, *self.mentioned(said))

    def structure(self, name: str, doc: str, body: str) -> Structure:
        """Derive a structure from its kernel-doc and its body."""
        texts = {word: " ".join(text.replace("\n *", " ").split()) for word, text in
                 re.findall(r"^ \* @(\w+): (.*?)(?=\n \* @|\n \*\n|\Z)", doc, re.S | re.M)}
        fields = re.findall(r"^\t(\w+) (\w+);$", body, re.M)
        if {word for _, word in fields} != set(texts) or body.count(";") != len(fields):
            raise DescriptionError(f"struct {name} and its kernel-doc differ")
        members = [self.member(word, LETTERS[kind], texts[word]) for kind, word in fields]
        counts = re.findall(r"\[@(\w+)\]", doc)
        members = [Member(m.name, m.letter, "count") if m.name in counts else m for m in members]
        head = re.match(r"(APPROXFTL_\w+(?:, _\w+)*): ", doc)
        calls = head[1].replace(" _", " APPROXFTL_").split(", ") if head else []
        return Structure(name, tuple(members), tuple(calls))

    @cached_property
    def structures(self) -> dict[str, Structure]:
        """Return all structures by name."""
        pattern = r"^/\*\*\n \* struct (\w+) - (.*?)\n \*/\nstruct \1 \{\n(.*?)^\};"
        parts = re.findall(pattern, self.text, re.S | re.M)
        if len(parts) != len(re.findall(r"^struct ", self.text, re.M)):
            raise DescriptionError("a struct without kernel-doc")
        return {name: self.structure(name, doc, body) for name, doc, body in parts}

    def takes(self, call: str) -> Structure:
        """Return the structure that an ioctl takes."""
        for one in self.structures.values():
            if call in one.calls:
                return one
        raise DescriptionError(f"no struct says that {call} takes it")


@dataclass(frozen=True)
class Key:
    """A key of a table line: an always valid value, other possible values, invalid values."""

    name: str
    right: str
    others: tuple[str, ...]
    wrong: tuple[str, ...]


def ask(what: str) -> Any:
    """Return the answer of an approxftl verb as JSON."""
    done = subprocess.run([APPROXFTL, what, "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)[what.replace("params", "parameters")]


# Prepend a digit, which keeps notation and unit. An empty value would be no word of a line.
def beyond(text: str) -> str:
    """Return a value above a maximum, with the same unit."""
    number, unit = found(r"^(\d+(?:e-?\d+)?)(\w*)$", text, f"the value {text}").groups()
    return f"9{number}{unit}"


def parameter(one: dict[str, Any]) -> Key:
    """Return a parameter of the FTL as the program describes it."""
    if one["type"] == "word":
        return Key(one["key"], one["value"], tuple(one["words"]), ("", "x", one["words"][0] + "x"))
    if one["type"] == "weights":
        return Key(one["key"], one["value"], ("3:1", "7", "1:2:3:4:5:6:7:255"),
                   ("", "x", "3:", "1:0", "256", "1" + 8 * ":1"))
    if one["type"] not in ("number", "size", "time", "percentage", "rate"):
        raise DescriptionError(f"the type of {one['key']}: {one['type']}")
    near = ("1", "2", "3", "7", "16") if one["type"] == "number" else ()
    return Key(one["key"], one["value"], (one["smallest"], one["largest"], *near),
               ("", "-1", beyond(one["largest"]), one["value"] + "x", "1" * 40))


def table_keys() -> dict[str, Key]:
    """Return every key of a table line."""
    own = {
        "profile": ("demo", tuple(one["name"] for one in ask("profiles"))),
        "policy": ("approxftl", tuple(one["name"] for one in ask("policies"))),
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
    return {key.name: key for key in (*keys, *map(parameter, ask("params")))}


def messages() -> tuple[tuple[str, ...], ...]:
    """Return the words of each message, arguments as <name> or [<name>], from MESSAGES' comment."""
    lines = MESSAGES.read_text().split("*/")[0].splitlines()
    usages = (line[3:MEANING_AT].split() for line in lines if line.startswith(" *   "))
    return tuple(tuple(words) for words in usages if words)


def header() -> Header:
    """Return the parsed header of this tree."""
    return Header(HEADER.read_text())


def main() -> None:
    """Print all interfaces."""
    uapi = header()
    for call, number in uapi.calls.items():
        print(f"{call} {number:#x} {uapi.takes(call).name}")
        for member in uapi.takes(call).members:
            print(f"\t{member.letter} {member.name}: {member.part}", member.of, *member.values)
    for key in table_keys().values():
        print(f"{key.name} {key.right}; {' '.join(key.others)}; not {' '.join(key.wrong)}")
    for words in messages():
        print("message", *words)


if __name__ == "__main__":
    main()
