# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel's fuzzer is told of the module is what the compiler and the module have."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest
from selftests.lib.programs import PROGRAM, TOP, run_program

sys.path.insert(0, str(TOP / "selftests/kernel"))

import approx_control
import descriptions
from descriptions import DescriptionError, Header

UAPI = descriptions.header()
PARTS = {"size", "fd", "zero", "out", "choice", "flags", "array", "count", "text", "length",
         "number"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """Return what the compiler knows: offsets and sizes of members, sizes, constants."""
    place = tmp_path_factory.mktemp("compiled")
    structs = [f"offsetof(struct {s.name}, {m.name}), sizeof(((struct {s.name} *)0)->{m.name})"
               for s in UAPI.structures.values() for m in s.members]
    structs += [f"sizeof(struct {name})" for name in UAPI.structures]
    numbers = [name for values in UAPI.enums.values() for name in values] + list(UAPI.defines)
    (place / "all.c").write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <linux/approxftl.h>\n"
        "static const unsigned long long all[] = {" + ", ".join((*structs, *numbers)) + "};\n"
        "int main(void)\n{\n\tfor (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++)\n"
        '\t\tprintf("%llu\\n", all[i]);\n}\n')
    subprocess.run(["gcc", "-I", TOP / "dm-approxftl/uapi", "-o", place / "all", place / "all.c"],
                   check=True)
    done = subprocess.run([place / "all"], check=True, capture_output=True, text=True)
    return list(map(int, done.stdout.split()))


def test_structures_and_constants_are_the_compilers(compiled: list[int]) -> None:
    sizes = {"I": 4, "i": 4, "Q": 8}
    expected = list[int]()
    for one in UAPI.structures.values():
        at = 0
        for member in one.members:
            expected += [at, sizes[member.letter]]
            at += sizes[member.letter]
    expected += [one.form.size for one in UAPI.structures.values()]
    expected += [value for values in UAPI.enums.values() for value in values.values()]
    expected += list(UAPI.defines.values())
    assert compiled == expected


def test_every_constant_is_described() -> None:
    text = re.sub(r"/\*.*?\*/", "", descriptions.HEADER.read_text(), flags=re.S)
    known = {*UAPI.defines, *(name for values in UAPI.enums.values() for name in values)}
    named = set(re.findall(r"^#define (APPROXFTL_\w+)[^\"\n]*$|^\t(APPROXFTL_\w+) =", text, re.M))
    assert {first or second for first, second in named} == known


#: What structures have behind the last member of their first version.
GROWN = {"approxftl_stats": ["level_2", "level_3"]}


def test_ioctls_are_the_modules() -> None:
    table = re.findall(r"^\tCALL\((\w+), (\w+), (\w+),",
                       (TOP / "dm-approxftl/tags/control.c").read_text(), re.M)
    assert [call for call, _, _ in table] == list(UAPI.calls)
    for call, name, last in table:
        assert UAPI.takes(call).name == name
        members = [member.name for member in UAPI.takes(call).members]
        assert members[members.index(last) + 1:] == GROWN.get(name, [])


def test_tests_of_tags_speak_of_the_same_structures() -> None:
    forms = {number: form.format for number, form in approx_control.FORMATS.items()}
    assert forms == {number: UAPI.takes(call).form.format for call, number in UAPI.calls.items()}


def test_every_structure_is_taken_or_answered() -> None:
    arrays = {m.of for s in UAPI.structures.values() for m in s.members if m.part == "array"}
    for name, one in UAPI.structures.items():
        assert one.calls or name in arrays
        assert {member.part for member in one.members} <= PARTS


def test_addresses_have_a_length_beside_them() -> None:
    for one in UAPI.structures.values():
        parts = Counter(member.part for member in one.members)
        assert (parts["array"], parts["text"]) == (parts["count"], parts["length"]), one.name
        assert parts["size"] == (1 if one.calls else 0)


def test_keys_are_the_modules() -> None:
    keys = descriptions.table_keys()
    text = descriptions.OPTIONS.read_text()
    enum = descriptions.found(r"enum target_key \{(.*?)\tTARGET_KEYS,", text, "the keys")
    own = [word.removeprefix("KEY_").lower() for word in re.findall(r"KEY_\w+", enum[1])]
    params = [one["key"] for one in descriptions.ask("params")]
    assert list(keys) == own + params


@pytest.mark.parametrize("key", [*map(descriptions.parameter, descriptions.ask("params"))],
                         ids=lambda key: str(key.name))
def test_a_parameters_wrong_values_are_wrong(key: descriptions.Key) -> None:
    def says(value: str) -> str:
        return run_program(PROGRAM, "sim", "--set", f"{key.name}={value}", "--requests", "0").err

    assert not says(key.right)
    assert all(key.name in says(value) for value in key.wrong)


def test_messages_are_the_modules() -> None:
    text = descriptions.MESSAGES.read_text()
    verbs = re.findall(r'^\t\{ \.name = "(\w+)"(?:, \.least = (\d))?(?:, \.most = (\d))?', text,
                       re.M)
    counts = dict[str, set[int]]()
    for words in descriptions.messages():
        optional = sum(word.startswith("[") for word in words)
        counts.setdefault(words[0], set()).update((len(words) - 1 - optional, len(words) - 1))
    assert counts == {verb: {int(least or 0), int(most or 0)} for verb, least, most in verbs}


@pytest.mark.parametrize(("old", "new"), [
    ("address of struct iovec[@iov_count]", "address of iovecs"),
    (" * @iov_count: how many\n", ""),
    ("struct approxftl_note - APPROXFTL_NOTE: ", "struct approxftl_note - "),
    ("#define APPROXFTL_SYNC_FIRST 0x1", "#define APPROXFTL_SYNC_FIRST (1 << SHIFT)"),
    ("\t__u32 whose;", "\t__u16 whose;"),
])
def test_what_is_not_understood_is_an_error(old: str, new: str) -> None:
    text = descriptions.HEADER.read_text()
    assert old in text
    changed = Header(text.replace(old, new))
    with pytest.raises((DescriptionError, ValueError, KeyError)):
        assert [changed.takes(call) for call in changed.calls]
