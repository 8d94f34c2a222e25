# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the C library does where no device is, where there is no C library either."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from typing import Any, NamedTuple

_REQUIRE = 1
_TO_END = -1


class _Piece(NamedTuple):
    """Some bytes of an arena's file, in memory."""

    address: int
    offset: int
    memory: mmap.mmap


class _Arena:
    """Memory that a file backs, approximate nowhere."""

    def __init__(self, fd: int) -> None:
        self.fd = os.dup(fd)
        self.pieces: list[_Piece] = []

    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def map(self, offset: int, size: int) -> int:
        memory = mmap.mmap(self.fd, size, offset=offset)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.pieces.append(_Piece(address, offset, memory))
        return address

    def grow(self, size: int) -> int:
        offset = -(-self.size() // mmap.PAGESIZE) * mmap.PAGESIZE
        pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        os.ftruncate(self.fd, offset + pages)
        return self.map(offset, pages)


class Absent:
    """The functions of the library, without their prefix; most have nothing to do."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.sentence = ""
        self.arenas: dict[int, _Arena] = {}

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: 0

    def refuse(self, number: int, sentence: str) -> int:
        """Keep the sentence for reason()."""
        self.sentence = sentence
        return -number

    def reason(self, _device: Any) -> bytes:
        """Say what the last refusal was."""
        return self.sentence.encode()

    def open(self, path: bytes | None, flags: int, out: Any) -> int:
        """Refuse what is required, and a path that is not there."""
        if flags & _REQUIRE or (path is not None and not os.access(path, os.F_OK)):
            return self.refuse(errno.ENODEV, self.why)
        out._obj.value = 1
        return 0

    def stored(self, _device: Any, _fd: int, cursor: Any, *_rest: Any) -> int:
        """Nothing is known of any unit."""
        cursor._obj.value = _TO_END
        return 0

    def pwrite(self, _device: Any, fd: int, data: bytes, _size: int, offset: int,
               _kind: int) -> int:
        """Write as anybody does."""
        try:
            return os.pwrite(fd, data, offset)
        except OSError as error:
            return self.refuse(error.errno or errno.EIO, f"write: {error.strerror}")

    def arena_create(self, _device: Any, fd: int, out: Any) -> int:
        """Remember the file."""
        try:
            arena = _Arena(fd)
        except OSError as error:
            return self.refuse(error.errno or errno.EIO, f"arena: {error.strerror}")
        out._obj.value = id(arena)
        self.arenas[id(arena)] = arena
        return 0

    def arena_destroy(self, handle: Any) -> None:
        """Forget it; its memory goes when nobody has any of it."""
        os.close(self.arenas.pop(handle.value).fd)

    def alloc(self, handle: Any, size: int) -> int | None:
        """Map pages behind what the file holds."""
        try:
            return self.arenas[handle.value].grow(size)
        except (OSError, ValueError):
            ctypes.set_errno(errno.ENOMEM)
            return None

    def arena_offset(self, handle: Any, address: int) -> int:
        """Find the piece that an address is in."""
        for piece in self.arenas[handle.value].pieces:
            if 0 <= address - piece.address < len(piece.memory):
                return piece.offset + address - piece.address
        return self.refuse(errno.EINVAL, "that is not of this arena")

    def arena_at(self, handle: Any, offset: int) -> int | None:
        """Map the whole file: what is wanted may be in several pieces."""
        arena = self.arenas[handle.value]
        size = arena.size()
        if not 0 <= offset < size:
            return None
        for piece in arena.pieces:
            if piece.offset == 0 and len(piece.memory) == size:
                return piece.address + offset
        return arena.map(0, size) + offset

    def arena_sync(self, handle: Any) -> int:
        """Write back what was changed."""
        arena = self.arenas[handle.value]
        try:
            for piece in arena.pieces:
                piece.memory.flush()
            os.fdatasync(arena.fd)
        except OSError as error:
            return self.refuse(error.errno or errno.EIO, f"arena: {error.strerror}")
        return 0
