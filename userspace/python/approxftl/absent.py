# SPDX-License-Identifier: LGPL-2.1-or-later
"""A replacement for the functions of libapproxftl where the library is not installed."""

import ctypes
import errno
import mmap
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

_REQUIRE = 1
_TO_END = -1


class Library:
    """The functions of a C library, named without their prefix."""

    def __init__(self, library: ctypes.CDLL, prefix: str,
                 functions: Mapping[str, tuple[Any, ...]]) -> None:
        for name, (result, *arguments) in functions.items():
            function = getattr(library, f"{prefix}_{name}")
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class _Piece(NamedTuple):
    """A part of an arena's file that is mapped into memory."""

    address: int
    offset: int
    memory: mmap.mmap


class _Arena:
    """An arena of file-backed memory that is entirely precise, for use without libapproxftl."""

    def __init__(self, fd: int) -> None:
        self.fd = os.dup(fd)
        self.pieces: list[_Piece] = []

    def file_size(self) -> int:
        return os.fstat(self.fd).st_size

    def map_arena_pages(self, offset: int, size: int) -> int:
        memory = mmap.mmap(self.fd, size, offset=offset)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.pieces.append(_Piece(address, offset, memory))
        return address

    def grow_file(self, size: int) -> int:
        offset = -(-self.file_size() // mmap.PAGESIZE) * mmap.PAGESIZE
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        os.ftruncate(self.fd, offset + pages)
        return self.map_arena_pages(offset, pages)


class Absent:
    """Stand-ins for the library's functions, named without prefix; most do nothing and return 0."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.sentence = ""
        self.arenas: dict[int, _Arena] = {}

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: 0

    def record_refusal_message(self, number: int, sentence: str) -> int:
        """Store the message that reason() returns, and return the negated error number."""
        self.sentence = sentence
        return -number

    def reason(self, _device: Any) -> bytes:
        """Return the message of the last refused request."""
        return self.sentence.encode()

    def open(self, path: bytes | None, flags: int, out: Any) -> int:
        """Open a handle without a device; refuse if one is required or the path does not exist."""
        if flags & _REQUIRE or (path is not None and not os.access(path, os.F_OK)):
            return self.record_refusal_message(errno.ENODEV, self.why)
        out._obj.value = 1
        return 0

    def stored(self, _device: Any, _fd: int, cursor: Any, *_rest: Any) -> int:
        """Return no units, because without a device nothing is known about the stored state."""
        cursor._obj.value = _TO_END
        return 0

    def pwrite(self, _device: Any, fd: int, data: bytes, _size: int, offset: int,
               _kind: int) -> int:
        """Write data by an ordinary pwrite(), without a class."""
        try:
            return os.pwrite(fd, data, offset)
        except OSError as error:
            return self.record_refusal_message(error.errno or errno.EIO, f"write: {error.strerror}")

    def arena_create(self, _device: Any, fd: int, out: Any) -> int:
        """Create an arena of memory that the file backs."""
        try:
            arena = _Arena(fd)
        except OSError as error:
            return self.record_refusal_message(error.errno or errno.EIO, f"arena: {error.strerror}")
        out._obj.value = id(arena)
        self.arenas[id(arena)] = arena
        return 0

    def arena_destroy(self, handle: Any) -> None:
        """Close the arena; its memory is unmapped when the last view of the memory is gone."""
        os.close(self.arenas.pop(handle.value).fd)

    def alloc(self, handle: Any, size: int) -> int | None:
        """Extend the arena's file and map the new pages."""
        try:
            return self.arenas[handle.value].grow_file(size)
        except (OSError, ValueError):
            ctypes.set_errno(errno.ENOMEM)
            return None

    def arena_offset(self, handle: Any, address: int) -> int:
        """Return the file offset of an address in the arena."""
        for piece in self.arenas[handle.value].pieces:
            if 0 <= address - piece.address < len(piece.memory):
                return piece.offset + address - piece.address
        return self.record_refusal_message(errno.EINVAL, "that is not of this arena")

    def arena_at(self, handle: Any, offset: int) -> int | None:
        """Return the address of a file offset. Map the whole file, so that it is contiguous."""
        arena = self.arenas[handle.value]
        size = arena.file_size()
        if not 0 <= offset < size:
            return None
        for piece in arena.pieces:
            if piece.offset == 0 and len(piece.memory) == size:
                return piece.address + offset
        return arena.map_arena_pages(0, size) + offset

    def arena_sync(self, handle: Any) -> int:
        """Write the arena's changed memory back to the file."""
        arena = self.arenas[handle.value]
        try:
            for piece in arena.pieces:
                piece.memory.flush()
            os.fdatasync(arena.fd)
        except OSError as error:
            return self.record_refusal_message(error.errno or errno.EIO, f"arena: {error.strerror}")
        return 0
