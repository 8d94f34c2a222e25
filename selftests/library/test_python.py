# SPDX-License-Identifier: GPL-2.0-only
"""Test the Python binding of the C library."""

import re
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP
from selftests.library.support import DOUBLE, HEADERS, parse_call_log, run_python

NOWHERE = Path("/nowhere")  # a directory without the library
BINDING = (TOP / "userspace/python/approxftl/__init__.py").read_text()


def run_python_program(program: str, file: Path, **options: Path) -> str:
    done = run_python("import sys, os, approxftl\nfrom approxftl import *\npath = sys.argv[1]\n"
                      + program, file, **options)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def zeroed_file(tmp_path: Path) -> Path:
    made = tmp_path / "file"
    made.write_bytes(bytes(65536))
    return made


OPENED = """
with approxftl.open(path, "wb", precise=[(0, 4096)], remember=True) as f:
    assert f.write(bytes(40960)) == 40960
    f.sync()
    assert f.query() == [Extent(0, 4096, Class.PRECISE), Extent(4096, TO_END, Class.APPROXIMATE)]
    errors = f.errors()
    assert (errors.units, errors.approximate_units, errors.unit_bytes) == (10, 9, 4096), errors
    f.untag(8192)
    assert f.errors().approximate_units == 1
print(os.getxattr(path, "user.approxftl").decode())
"""


def test_open_tags_a_new_file(zeroed_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run_python_program(OPENED, zeroed_file, log=log) == "0+4096=precise 4096+\n"
    assert [(c.what, c.offset, c.length, c.kind) for c in parse_call_log(log)] == [
        ("tag", 0, -1, 1), ("tag", 0, 4096, 0), ("untag", 8192, -1, 2)]


def test_open_for_reading_makes_no_tag_calls(zeroed_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_python_program("with approxftl.open(path) as f: assert len(f.read()) == 65536", zeroed_file,
                       log=log)
    assert parse_call_log(log) == []


def test_open_tags_ranges(zeroed_file: Path) -> None:
    run_python_program("""
with approxftl.open(path, "r+b", approximate=[(4096, 8192)]) as f:
    assert f.query() == [Extent(4096, 8192, Class.APPROXIMATE)]
    assert f.seek(0, 2) == 65536
""", zeroed_file)


def test_quality_levels_are_tagged(zeroed_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_python_program("""
with approxftl.open(path, "r+b", level=2, precise=[(0, 4096)]) as f:
    f.tag(8192, 4096, Class.of_level(3))
    assert [(e.kind, e.level) for e in f.query()] == [
        (Class.PRECISE, 0), (Class.APPROXIMATE, 2), (Class.APPROXIMATE, 3), (Class.APPROXIMATE, 2)]
    assert [f.errors(level=n).units for n in range(4)] == [1, 0, 14, 1]
    assert [unit.level for unit in f.device.stored(f.fileno())] == [0, 2, 3] + [2] * 13
for call in (lambda: approxftl.open(path, "r+b", level=0), lambda: Class.of_level(4),
             lambda: approxftl.open(path, "r+b", level=4)):
    try:
        call()
    except ValueError as error:
        assert "quality level" in str(error)
    else:
        sys.exit(1)
""", zeroed_file, log=log)
    assert [c.kind for c in parse_call_log(log)] == [3, 0, 4]


EVERY_LEVEL = """
from io import open as io_open
from hypothesis import given, settings
from hypothesis import strategies as st

UNITS = 24
#: First unit, units (0: to the end), level; 4: nothing is said.
SAID = st.lists(st.tuples(st.integers(0, UNITS - 1), st.integers(0, 6), st.integers(0, 4)),
                max_size=20)


def list_quality_level_of_each_unit(extents):
    found = [None] * UNITS
    for one in extents:
        end = UNITS * 4096 if one.length == TO_END else one.offset + one.length
        level = one.level or int(one.kind)
        found[one.offset // 4096:end // 4096] = [level] * ((end - one.offset) // 4096)
    return found


@settings(max_examples=150, database=None)
@given(SAID)
def compare_levels_with_model(said):
    with io_open(path, "r+b") as file, MountedDevice(path) as device:
        fd, model = file.fileno(), [None] * UNITS
        os.truncate(fd, UNITS * 4096)
        device.untag(fd)
        for first, count, level in said:
            end = min(first + count, UNITS) if count else UNITS
            length = (end - first) * 4096 if count else TO_END
            if level == 4:
                device.untag(fd, first * 4096, length)
            elif count % 2:
                device.pwrite(fd, bytes(length), first * 4096, Class.of_level(level))
            else:
                device.tag(fd, first * 4096, length, Class.of_level(level))
            model[first:end] = [None if level == 4 else level] * (end - first)
        stored = [level or 0 for level in model]
        assert list_quality_level_of_each_unit(device.query(fd)) == model
        assert [unit.level for unit in device.stored(fd)] == stored
        assert [device.errors(fd, level=n).units for n in range(4)] == [
            stored.count(n) for n in range(4)]
        device.remember(fd)
        device.untag(fd)
        assert device.query(fd) == []
        device.recall(fd)
        assert list_quality_level_of_each_unit(device.query(fd)) == model


compare_levels_with_model()
"""


def test_quality_levels_are_read_back_as_tagged(zeroed_file: Path) -> None:
    run_python_program(EVERY_LEVEL, zeroed_file)


def test_opening_a_file_in_text_mode_is_refused(zeroed_file: Path) -> None:
    run_python_program("""
try:
    approxftl.open(path, "w")
except ValueError as error:
    assert "not binary" in str(error)
else:
    sys.exit(1)
""", zeroed_file)


def test_query_returns_700_ranges_and_stored_returns_1000_units(zeroed_file: Path) -> None:
    run_python_program("""
from io import open as io_open
os.truncate(path, 4096 * 1000)
with MountedDevice(path, require=True) as device, io_open(path, "r+b") as f:
    for i in range(700):
        device.tag(f.fileno(), 8192 * i, 4096, Class(i % 2))
    found = device.query(f.fileno())
    assert found == [Extent(8192 * i, 4096, Class(i % 2)) for i in range(700)]
    units = list(device.stored(f.fileno()))
    assert [unit.offset for unit in units] == list(range(0, 4096 * 1000, 4096))
    assert [unit.offset for unit in device.stored(f.fileno(), 4096, 8192)] == [4096, 8192]
""", zeroed_file)


def test_each_python_call_reaches_the_library(zeroed_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run_python_program("""
from io import open as io_open
device = MountedDevice(path)
assert device.active and device.caps().version == 1
with io_open(path, "r+b") as f:
    assert device.pwrite(f.fileno(), b"data", 4096) == 4
    device.remember(f.fileno())
    device.untag(f.fileno())
    assert device.recall(f.fileno()) == 1
    device.label("a label")
    with device.region(label="outer"):
        pass
    device.watch(f.fileno(), on=False)
device.close()
try:
    device.caps()
except ValueError as error:
    assert "closed" in str(error)
""", zeroed_file, log=log)
    assert [c.kind for c in parse_call_log(log) if c.what == "scope"] == [1, 2]
    assert [c.what for c in parse_call_log(log)][-1] == "unwatch"


def test_a_refused_tag_raises_refused_error(zeroed_file: Path) -> None:
    run_python_program("""
try:
    MountedDevice(path).tag(os.open(path, os.O_RDONLY))
except RefusedError as error:
    assert "open the file for writing" in str(error), error
    assert error.errno == 9
else:
    sys.exit(1)
""", zeroed_file)


ARENA = """
from io import open as io_open
device = MountedDevice(path)
with io_open(path, "w+b") as f:
    arena = device.arena(f.fileno())
    memory = arena.memory(5000)
    memory[:5] = b"first"
    assert arena.offset(memory) == 0
    second = arena.memory(1)
    assert arena.offset(second) == 8192
    arena.sync()
    assert bytes(arena.at(1, 4)) == b"irst"
    try:
        arena.at(1 << 30, 1)
    except ValueError as error:
        assert "does not reach" in str(error)
"""


@pytest.mark.parametrize("library", [DOUBLE, NOWHERE])
def test_arena_memory_is_approximate(zeroed_file: Path, library: Path) -> None:
    run_python_program(ARENA, zeroed_file, library=library)


@pytest.mark.parametrize("library", [DOUBLE, NOWHERE])
def test_an_arena_holds_numpy_arrays(zeroed_file: Path, library: Path) -> None:
    pytest.importorskip("numpy")
    run_python_program(ARENA + """
    array = arena.array((100, 100), "float32")
    array[:] = 1.5
    assert array.sum() == 15000 and arena.offset(array) == 12288
    assert arena.array(0).shape == (0,)
    try:
        arena.array(3, object)
    except TypeError as error:
        assert "cannot" in str(error)
    arena.sync()
    f.seek(12288)
    import numpy
    assert (numpy.frombuffer(f.read(40000), "float32") == 1.5).all()
""", zeroed_file, library=library)


@pytest.mark.parametrize("library", [BUILD, NOWHERE])
def test_tag_calls_do_nothing_without_a_device(zeroed_file: Path, library: Path) -> None:
    run_python_program("""
with approxftl.open(path, "wb") as f:
    f.write(b"x")
    assert not f.device.active and f.query() == [] and f.errors().units == 0
    assert list(f.device.stored(f.raw.fileno())) == [] and f.device.caps().devices == 0
    f.device.label("text")
    with f.device.region():
        assert f.device.pwrite(f.raw.fileno(), b"yes", 1) == 3
    f.remember()
    f.sync()
    assert os.pread(f.raw.fileno(), 4, 0) == b"xyes"
    assert os.listxattr(path) == []
try:
    approxftl.open(path, "wb", require=True)
except RefusedError as error:
    assert error.errno == 19, error
else:
    sys.exit(1)
try:
    MountedDevice(path + "/none")
except RefusedError as error:
    assert error.errno == 19, error
else:
    sys.exit(1)
""", zeroed_file, library=library)


def test_the_python_binding_has_every_library_function() -> None:
    header = (HEADERS / "approxftl.h").read_text()
    exported = set(re.findall(r"\tapproxftl_(\w+);", (HEADERS / "libapproxftl.map").read_text()))
    there = re.sub(r"/\*.*?\*/|^static inline .*?^}", "", header, flags=re.S | re.M)
    declared = set(re.findall(r"\bapproxftl_(\w+)\(", there))
    bound = set(re.findall(r'^    "(\w+)": \(', BINDING, re.M))
    assert declared == exported
    assert exported - bound == {"class_name", "explain"}
