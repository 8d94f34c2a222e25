# SPDX-License-Identifier: LGPL-2.1-or-later
"""Declare ranges of files that may lose bits: libapproxftl for Python.

    import approxftl

    with approxftl.open("/mnt/picture", "wb", precise=[(0, 4096)]) as f:
        f.write(header_of_4096_bytes)
        f.write(pixels)
        f.sync()
        print(f.errors().flipped_bits)

The simulator is here, too: simulate(), sweep(), Device; see docs/python.md.

A file that is opened for writing is approximate, except for the ranges in `precise`. Without a
dm-approxftl device, or without libapproxftl, everything works and all data stay precise;
require=True raises a RefusedError instead.
"""

from __future__ import annotations

import builtins
import ctypes
import enum
import importlib
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

from approxftl.absent import Absent, Library

if TYPE_CHECKING:
    import numpy.typing
    from typing_extensions import Buffer

    from approxftl.chart import Chart as Chart
    from approxftl.policy import Blocks as Blocks
    from approxftl.policy import Page as Page
    from approxftl.policy import Policy as Policy
    from approxftl.simlib import InputError as InputError
    from approxftl.simlib import OptionError as OptionError
    from approxftl.simlib import SimulationError as SimulationError
    from approxftl.simlib import SimulationWarning as SimulationWarning
    from approxftl.simulation import OPERATIONS as OPERATIONS
    from approxftl.simulation import RequestTable as RequestTable
    from approxftl.simulation import Run as Run
    from approxftl.simulation import Runs as Runs
    from approxftl.simulation import simulate as simulate
    from approxftl.simulation import sweep as sweep
    from approxftl.stepped import NOWHERE as NOWHERE
    from approxftl.stepped import Device as Device

__all__ = [
    "TO_END",
    "Arena",
    "Class",
    "Errors",
    "Extent",
    "File",
    "Info",
    "MountedDevice",
    "RefusedError",
    "Unit",
    "load_safetensors",
    "open",
]

#: Names of the simulator, whose modules need numpy and libapproxftl-sim.so: loaded at first use.
_SIMULATOR = {
    "Chart": "chart", "Blocks": "policy", "Page": "policy", "Policy": "policy",
    "InputError": "simlib", "OptionError": "simlib", "SimulationError": "simlib",
    "SimulationWarning": "simlib",
    "OPERATIONS": "simulation", "RequestTable": "simulation", "Run": "simulation",
    "Runs": "simulation", "simulate": "simulation", "sweep": "simulation",
    "wait_reasons": "simulation",
    "NOWHERE": "stepped", "Device": "stepped",
}
#: Old names, which the next release does not have.
_RENAMED = {"SimulatedDevice": "Device"}


def __getattr__(name: str) -> Any:
    if new_name := _RENAMED.get(name):
        warnings.warn(f"approxftl.{name} is now approxftl.{new_name}", DeprecationWarning, 2)
        name = new_name
    if name not in _SIMULATOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_SIMULATOR[name]}"), name)


TO_END = -1
_REQUIRE = 1
_BATCH = 256
_LEVEL_2, _LEVEL_3 = 0x4, 0x8
_LEVEL_MAX = 3


class Class(enum.IntEnum):
    """The declared class of data; the levels 2 and 3 are approximate with more errors."""

    PRECISE = 0
    APPROXIMATE = 1
    NONE = 2
    LEVEL_2 = 3
    LEVEL_3 = 4

    @classmethod
    def of_level(cls, level: int) -> Class:
        """Return the class of a quality level: 0 is precise, 1 to 3 are approximate."""
        levels = (cls.PRECISE, cls.APPROXIMATE, cls.LEVEL_2, cls.LEVEL_3)
        if not 0 <= level < len(levels):
            raise ValueError(f"{level} is no quality level; it is 0 to 3")
        return levels[level]


class Extent(NamedTuple):
    """A tagged range; its length may be TO_END.

    The level is 2 or 3 for approximate data of these levels, otherwise 0.
    """

    offset: int
    length: int
    kind: Class
    level: int = 0


class Unit(NamedTuple):
    """The stored state of one mapping unit on flash."""

    offset: int
    device_offset: int
    kind: Class
    flags: int
    flips: int
    raw: int

    @property
    def level(self) -> int:
        """Return the quality level of the unit's data; 0 if they are precise or absent."""
        if self.kind != Class.APPROXIMATE:
            return 0
        return 3 if self.flags & _LEVEL_3 else 2 if self.flags & _LEVEL_2 else 1


class Errors(NamedTuple):
    """Bit errors of a range, rounded outward to whole units; see approxftl_errors(3)."""

    unit_bytes: int
    units: int
    approximate_units: int
    flipped_units: int
    lost_units: int
    unmodelled_units: int
    flipped_bits: int
    raw_errors: int


class Info(NamedTuple):
    """The kernel interface's version, devices, features and limits; see approxftl_caps(3)."""

    version: int
    devices: int
    can: int
    may: int
    max_files: int
    max_ranges: int


class RefusedError(OSError):
    """A request was refused; the exception's text is the library's message."""


def _make_c_struct(name: str, *fields: tuple[str, Any]) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


_U32, _U64, _S64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_Info = _make_c_struct("_Info", ("version", _U32), ("devices", _U32), ("can", _U64), ("may", _U64),
                       ("max_files", _U64), ("max_ranges", _U64), ("reserved", _U64 * 3))
_Extent = _make_c_struct("_Extent", ("offset", _S64), ("length", _S64), ("kind", _U32),
                         ("level", _U32))
_Unit = _make_c_struct("_Unit", ("offset", _S64), ("device_offset", _S64), ("kind", _U32),
                       ("flags", _U32), ("flips", _U32), ("raw", _U32))
_Errors = _make_c_struct("_Errors", *((name, _U64) for name in Errors._fields),
                         ("reserved", _U64 * 2))

_POINTER, _INT, _OFF, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_size_t
_TEXT = ctypes.c_char_p

# Result and argument types of each function.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "open": (_INT, _TEXT, ctypes.c_uint, _POINTER),
    "close": (None, _POINTER),
    "active": (ctypes.c_bool, _POINTER),
    "reason": (_TEXT, _POINTER),
    "caps": (_INT, _POINTER, _POINTER),
    "tag": (_INT, _POINTER, _INT, _OFF, _OFF, _INT),
    "untag": (_INT, _POINTER, _INT, _OFF, _OFF),
    "protect": (_INT, _POINTER, _INT, _OFF, _OFF),
    "query": (_INT, _POINTER, _INT, _OFF, _POINTER, _SIZE),
    "region_begin": (_INT, _POINTER, _INT, _TEXT),
    "region_end": (_INT, _POINTER),
    "label": (_INT, _POINTER, _TEXT),
    "pwrite": (ctypes.c_ssize_t, _POINTER, _INT, _POINTER, _SIZE, _OFF, _INT),
    "errors": (_INT, _POINTER, _INT, _OFF, _OFF, _POINTER),
    "level_errors": (_INT, _POINTER, _INT, _OFF, _OFF, ctypes.c_uint, _POINTER),
    "stored": (_INT, _POINTER, _INT, _POINTER, _OFF, _POINTER, _SIZE),
    "remember": (_INT, _POINTER, _INT),
    "recall": (_INT, _POINTER, _INT),
    "watch": (_INT, _POINTER, _INT, ctypes.c_bool),
    "arena_create": (_INT, _POINTER, _INT, _POINTER),
    "arena_destroy": (None, _POINTER),
    "alloc": (_POINTER, _POINTER, _SIZE),
    "free": (None, _POINTER, _POINTER),
    "arena_offset": (_OFF, _POINTER, _POINTER),
    "arena_at": (_POINTER, _POINTER, _OFF),
    "arena_sync": (_INT, _POINTER),
}


def _load_library() -> Library | Absent:
    """Load the library; if installed, it is two folders above the package's folder."""
    name = "libapproxftl.so.1"
    beside = Path(__file__).resolve().parents[3] / name
    try:
        library = ctypes.CDLL(str(beside) if beside.exists() else name, use_errno=True)
    except OSError as error:
        return Absent(f"{name} cannot be loaded: {error}; install it, or name its folder in"
                      " LD_LIBRARY_PATH")
    return Library(library, "approxftl", _FUNCTIONS)


_library = _load_library()


def _raise_refusal(result: int) -> int:
    if result < 0:
        raise RefusedError(-result, _library.reason(None).decode())
    return result


class _Closing:
    """Base class of the objects that a with statement closes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the resources that the object holds."""


class MountedDevice(_Closing):
    """A handle of the device that stores `path`, or of any device if there is no path."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, require: bool = False,
                 ) -> None:
        handle = ctypes.c_void_p()
        name = os.fsencode(path) if path is not None else None
        _raise_refusal(_library.open(name, _REQUIRE if require else 0, ctypes.byref(handle)))
        self._handle: ctypes.c_void_p | None = handle

    @property
    def handle(self) -> ctypes.c_void_p:
        """Return the handle of the C library."""
        if self._handle is None:
            raise ValueError("the device has been closed")
        return self._handle

    def close(self) -> None:
        """Close the handle and end its labelled regions; tags of files stay."""
        if self._handle is not None:
            _library.close(self._handle)
        self._handle = None

    @property
    def active(self) -> bool:
        """Tell whether tags have an effect on this device."""
        return bool(_library.active(self.handle))

    def caps(self) -> Info:
        """Return the kernel interface's version, devices, features and limits."""
        info = _Info()
        _raise_refusal(_library.caps(self.handle, ctypes.byref(info)))
        return Info(*(getattr(info, name) for name in Info._fields))

    def tag(self, fd: int, offset: int = 0, length: int = TO_END,
            kind: Class = Class.APPROXIMATE) -> None:
        """Tag a range of a file with a class."""
        _raise_refusal(_library.tag(self.handle, fd, offset, length, kind))

    def untag(self, fd: int, offset: int = 0, length: int = TO_END) -> None:
        """Remove the tags of a range of a file."""
        _raise_refusal(_library.untag(self.handle, fd, offset, length))

    def protect(self, fd: int, offset: int, length: int) -> None:
        """Declare a range of an approximate file precise, such as a header or an index."""
        _raise_refusal(_library.protect(self.handle, fd, offset, length))

    def query(self, fd: int) -> list[Extent]:
        """Return the tags of a file."""
        extents: list[Extent] = []
        room = (_Extent * _BATCH)()
        where, count = 0, _BATCH
        while count == _BATCH and where != TO_END:
            count = _raise_refusal(_library.query(self.handle, fd, where, room, _BATCH))
            extents += [Extent(e.offset, e.length, Class(e.kind), e.level if e.level > 1 else 0)
                        for e in room[:count]]
            if count:
                last = extents[-1]
                where = TO_END if last.length == TO_END else last.offset + last.length
        return extents

    def errors(self, fd: int, offset: int = 0, length: int = TO_END,
               level: int | None = None) -> Errors:
        """Count the currently flipped bits in a range of a synced file.

        With a quality level, count only units of that level.
        """
        errors = _Errors()
        if level is None:
            _raise_refusal(_library.errors(self.handle, fd, offset, length, ctypes.byref(errors)))
        else:
            _raise_refusal(_library.level_errors(self.handle, fd, offset, length, level,
                                                 ctypes.byref(errors)))
        return Errors(*(getattr(errors, name) for name in Errors._fields))

    def stored(self, fd: int, offset: int = 0, length: int = TO_END) -> Iterator[Unit]:
        """Yield the stored state of each mapping unit of a file's range."""
        cursor = ctypes.c_int64(offset)
        room = (_Unit * _BATCH)()
        end = None if length == TO_END else offset + length
        while cursor.value != TO_END:
            left = TO_END if end is None else max(0, end - cursor.value)
            count = _raise_refusal(_library.stored(self.handle, fd, ctypes.byref(cursor), left,
                                                   room, _BATCH))
            for unit in room[:count]:
                yield Unit(unit.offset, unit.device_offset, Class(unit.kind), unit.flags,
                           unit.flips, unit.raw)

    def pwrite(self, fd: int, data: bytes, offset: int, kind: Class = Class.APPROXIMATE) -> int:
        """Write data of the given class and return the number of bytes written."""
        return _raise_refusal(_library.pwrite(self.handle, fd, data, len(data), offset, kind))

    def remember(self, fd: int) -> None:
        """Store the tags of a file in its extended attribute."""
        _raise_refusal(_library.remember(self.handle, fd))

    def recall(self, fd: int) -> int:
        """Apply the tags in a file's extended attribute; return the number of tagged ranges."""
        return _raise_refusal(_library.recall(self.handle, fd))

    def watch(self, fd: int, *, on: bool = True) -> None:
        """Let the kernel apply the stored tags when a file of the file system is opened."""
        _raise_refusal(_library.watch(self.handle, fd, on))

    def label(self, text: str) -> None:
        """Add a label to the block trace."""
        _raise_refusal(_library.label(self.handle, text.encode()))

    @contextmanager
    def region(self, kind: Class = Class.APPROXIMATE, label: str | None = None) -> Iterator[None]:
        """Give this thread's O_DIRECT writes a class for the duration of a with statement."""
        _raise_refusal(_library.region_begin(self.handle, kind, label.encode() if label else None))
        try:
            yield
        finally:
            _raise_refusal(_library.region_end(self.handle))

    def arena(self, fd: int) -> Arena:
        """Return an arena of approximate memory that is backed by a file."""
        return Arena(self, fd)


class Arena(_Closing):
    """Approximate memory, allocated in whole pages; see approxftl_arena_create(3)."""

    def __init__(self, device: MountedDevice, fd: int) -> None:
        arena = ctypes.c_void_p()
        _raise_refusal(_library.arena_create(device.handle, fd, ctypes.byref(arena)))
        self._arena: ctypes.c_void_p | None = arena

    @property
    def _open_arena(self) -> ctypes.c_void_p:
        if self._arena is None:
            raise ValueError("the arena has been closed")
        return self._arena

    def close(self) -> None:
        """Unmap the arena; its memory must not be used any more."""
        if self._arena is not None:
            _library.arena_destroy(self._arena)
        self._arena = None

    def memory(self, size: int) -> memoryview:
        """Allocate memory of the arena: zeroes, unless the arena's file already had data there."""
        address = _library.alloc(self._open_arena, size)
        if address is None:
            number = ctypes.get_errno()
            raise MemoryError(f"{size} bytes of an arena: {os.strerror(number)}")
        return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")

    def array(self, shape: int | tuple[int, ...], kind: numpy.typing.DTypeLike = "float64",
              ) -> numpy.typing.NDArray[Any]:
        """Allocate a numpy array; needs numpy."""
        import numpy as np  # the other functions work without numpy

        lengths = (shape,) if isinstance(shape, int) else shape
        dtype = np.dtype(kind)
        if dtype.hasobject:
            raise TypeError("numbers can be approximate, Python objects cannot")
        count = int(np.prod(lengths, dtype=np.int64))
        memory = self.memory(max(1, dtype.itemsize * count))
        return np.frombuffer(memory, dtype=dtype, count=count).reshape(lengths)

    def offset(self, memory: Buffer) -> int:
        """Return the file offset of memory that belongs to the arena."""
        view = memoryview(memory).cast("B")
        address = ctypes.addressof(ctypes.c_ubyte.from_buffer(view))
        return _raise_refusal(_library.arena_offset(self._open_arena, address))

    def at(self, offset: int, size: int) -> memoryview:
        """Return the memory at a file offset, such as data of an earlier run."""
        last = _library.arena_at(self._open_arena, offset + size - 1) if size > 0 else None
        address = _library.arena_at(self._open_arena, offset)
        if offset < 0 or last is None or address is None:
            raise ValueError(f"the arena's file does not reach byte {offset + size - 1}")
        return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")

    def sync(self) -> None:
        """Write all changes of the arena's memory to the device."""
        _raise_refusal(_library.arena_sync(self._open_arena))


class File(_Closing):
    """A binary file with approximate data; it has all attributes of a file of open()."""

    def __init__(self, raw: IO[bytes], device: MountedDevice) -> None:
        self.raw = raw
        self.device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def close(self) -> None:
        """Close the file and its handle."""
        try:
            self.raw.close()
        finally:
            self.device.close()

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Write data to the file; return the number of bytes written."""
        return self.raw.write(data)

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes from the file; all that are left if `size` is negative."""
        return self.raw.read(size)

    def sync(self) -> None:
        """Write all buffered data of the file to the device."""
        self.raw.flush()
        os.fdatasync(self.raw.fileno())

    def tag(self, offset: int = 0, length: int = TO_END, kind: Class = Class.APPROXIMATE) -> None:
        """Tag a range of the file with a class."""
        self.device.tag(self.raw.fileno(), offset, length, kind)

    def untag(self, offset: int = 0, length: int = TO_END) -> None:
        """Remove the tags of a range of a file."""
        self.device.untag(self.raw.fileno(), offset, length)

    def protect(self, offset: int, length: int) -> None:
        """Declare a range of an approximate file precise, such as a header or an index."""
        self.device.protect(self.raw.fileno(), offset, length)

    def query(self) -> list[Extent]:
        """Return the tags of the file."""
        return self.device.query(self.raw.fileno())

    def errors(self, offset: int = 0, length: int = TO_END, level: int | None = None) -> Errors:
        """Count the currently flipped bits; the file must also be open for reading."""
        return self.device.errors(self.raw.fileno(), offset, length, level)

    def remember(self) -> None:
        """Store the file's tags in its extended attribute."""
        self.device.remember(self.raw.fileno())


def _add_reading_to_open_mode(mode: str) -> str:
    """Return the open mode with reading added, which the error report needs."""
    return mode if "+" in mode else mode + "+"


def open(
    path: str | os.PathLike[str],
    mode: str = "rb",
    *,
    precise: Iterable[tuple[int, int]] = (),
    approximate: Iterable[tuple[int, int]] | None = None,
    level: int = 1,
    require: bool = False,
    remember: bool = False,
) -> File:
    """Open a binary file and tag its approximate ranges.

    The whole file is approximate unless `approximate` names ranges; `precise` names exceptions.
    Ranges are pairs of offset and length, which may be TO_END. A file opened for reading only keeps
    its tags. `level` is the quality level of the approximate data, 1 to 3. With `remember` the tags
    survive an unmount.
    """
    if "b" not in mode:
        raise ValueError(f"mode {mode!r} is not binary: text may not be approximate")
    if not 1 <= level <= _LEVEL_MAX:
        raise ValueError(f"{level} is no quality level of approximate data; it is 1 to 3")
    if mode.strip("rb"):
        mode = _add_reading_to_open_mode(mode)
    raw: IO[bytes] = builtins.open(path, mode)  # noqa: PTH123, SIM115 # File closes it
    try:
        device = MountedDevice(path, require=require)
    except OSError:
        raw.close()
        raise
    opened = File(raw, device)
    try:
        if raw.writable():
            for offset, length in [(0, TO_END)] if approximate is None else approximate:
                opened.tag(offset, length, Class.of_level(level))
            for offset, length in precise:
                opened.protect(offset, length)
            if remember:
                opened.remember()
    except OSError:
        opened.close()
        raise
    return opened


def load_safetensors(
    path: str | os.PathLike[str], *, protect: Iterable[str] = ("sign", "exponent"),
) -> dict[str, numpy.typing.NDArray[Any]]:
    """Return the tensors of a model as arrays by name, including flipped bits.

    `path` is a safetensors file, or one that "approxftl tag model --to-planes" made of it. Parts
    that `protect` names, "sign" and "exponent" or none, are guaranteed to be unchanged; otherwise
    the function raises a ModelError, which is a ValueError. bf16 numbers are returned as float32.
    """
    from approxftl.models import loading  # the other functions work without numpy

    with builtins.open(path, "rb") as file, MountedDevice(path) as device:  # noqa: PTH123
        def approximate(offset: int, length: int) -> int:
            return device.errors(file.fileno(), offset, length).approximate_units

        return loading.load_tensors(file, protect, approximate)
