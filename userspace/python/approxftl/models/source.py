# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read untrusted model files, with limits on the bytes read and on names."""

import os
import struct
from typing import BinaryIO, Protocol

#: Limits of the header's size and of the number of tensors.
HEADER_BYTES = 32 << 20
TENSORS = 1 << 16

_WINDOW = 1 << 16


class ModelError(ValueError):
    """Raised for a file that is no model or an unsupported model; the text is the message."""


def printable_name(text: str, most: int = 60) -> str:
    """Return a shortened form of a name that is safe to print."""
    safe = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:most])
    return safe + "..." if len(text) > most else safe


class Source(Protocol):
    """An interface for random access to bytes."""

    @property
    def size(self) -> int:
        """Return the length of the source in bytes."""

    def read_byte_range(self, offset: int, length: int) -> bytes:
        """Return the bytes of a range; raise ModelError beyond the source's end."""


class FileSource:
    """A source of bytes: a file that is open for reading."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = os.lseek(file.fileno(), 0, os.SEEK_END)

    def read_byte_range(self, offset: int, length: int) -> bytes:
        """Return the bytes of a range; raise ModelError beyond the source's end."""
        pieces: list[bytes] = []
        end = offset + length
        if not 0 <= offset <= end <= self.size:
            raise ModelError(f"the file ends at byte {self.size}, before what should be at "
                             f"{offset}")
        while offset < end:
            piece = os.pread(self._file.fileno(), end - offset, offset)
            if not piece:
                raise ModelError(f"the file ended at byte {offset} meanwhile")
            pieces.append(piece)
            offset += len(piece)
        return b"".join(pieces)


class Cursor:
    """A reading position in a source of bytes, with a limit on the bytes read."""

    def __init__(self, source: Source, begin: int = 0, end: int | None = None) -> None:
        self.source = source
        self.at = begin
        self.end = source.size if end is None else end
        self._left = HEADER_BYTES
        self._window = b""
        self._begin = 0

    def _advance_cursor(self, length: int) -> int:
        """Advance by a number of bytes; return the index in the buffer at which they begin."""
        if length > self.end - self.at:
            raise ModelError(f"the file ends within what byte {self.at} begins")
        self._left -= length
        if self._left < 0:
            raise ModelError(f"the header is larger than {HEADER_BYTES >> 20} MiB")
        if not self._begin <= self.at <= self.at + length <= self._begin + len(self._window):
            self._begin = self.at
            bytes_read = min(max(length, _WINDOW), self.end - self.at)
            self._window = self.source.read_byte_range(self.at, bytes_read)
        self.at += length
        return self.at - length - self._begin

    def read_bytes(self, length: int) -> bytes:
        """Return the next bytes of the source."""
        begin = self._advance_cursor(length)
        return self._window[begin:begin + length]

    def read_number(self, form: struct.Struct) -> int:
        """Return the next integer of the source."""
        begin = self._advance_cursor(form.size)
        result: int = form.unpack_from(self._window, begin)[0]
        return result

    def skip_bytes(self, length: int) -> int:
        """Advance over data without reading them; return their offset."""
        if length > self.end - self.at:
            raise ModelError(f"the file ends within what byte {self.at} begins")
        self.at += length
        return self.at - length

    def read_text(self, length: int) -> str:
        """Return the next bytes of the source as text."""
        try:
            return self.read_bytes(length).decode()
        except UnicodeDecodeError:
            raise ModelError(f"the text at byte {self.at - length} is not UTF-8") from None


class MemorySource:
    """A source of bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_byte_range(self, offset: int, length: int) -> bytes:
        """Return the bytes of a range; raise ModelError beyond the source's end."""
        if not 0 <= offset <= offset + length <= self.size:
            raise ModelError(f"the data end at byte {self.size}, before what should be at {offset}")
        return self._data[offset:offset + length]
