# SPDX-License-Identifier: GPL-2.0-only
"""Images of devices with data of other software, made by its programs or byte by byte."""

import hashlib
import os
import struct
import subprocess
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path

MIB = 1 << 20
SIZE = 64 * MIB
LARGE = 320 * MIB
NAME = uuid.UUID("5c2f7a10-93b4-4e6d-8f01-a2b3c4d5e6f7")
PLACES = 1000
END = 16 * MIB
PAGE = 4096
MASK = (1 << 64) - 1


def make_sparse_file(path: Path, size: int) -> None:
    """Make a sparse file of zeroes."""
    with path.open("wb") as file:
        file.truncate(size)


def write_bytes_at_file_offset(path: Path, offset: int, data: bytes) -> None:
    """Write bytes into a file; a negative offset counts from the file's end."""
    with path.open("r+b") as file:
        file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        file.write(data)


def digest_nonzero_pages(path: Path) -> str:
    """Return a checksum of all non-zero pages and their offsets."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        os.fsync(file.fileno())
        size = file.seek(0, os.SEEK_END)
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            file.seek(at)
            # Whether a page of zeroes is allocated depends on the page cache.
            for first in range(at - at % PAGE, end, PAGE):
                file.seek(first)
                page = file.read(PAGE)
                if any(page):
                    total.update(struct.pack("<Q", first) + page)
            at = end
    return f"{total.hexdigest()} {size}"


def hash_u64(x: int) -> int:
    """Compute the same hash as aftl_hash64() in C."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def get_offset_probed_by_format(size: int, index: int) -> int:
    """Return an offset, far from a device's ends, where `approxftl format` searches for data."""
    return END + hash_u64(hash_u64(size) ^ index) % ((size - 2 * END) // 4096) * 4096


def make_image_maker_from_command(size: int, *command: str) -> Callable[[Path], None]:
    """Return a function that makes a medium by running a formatting program."""

    def make_device_image(path: Path) -> None:
        make_sparse_file(path, size)
        subprocess.run(
            [*command, str(path)], check=True, capture_output=True, input=b"pass",
            env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})  # fmt: skip

    return make_device_image


def make_image_maker_from_bytes(*pieces: tuple[int, bytes], size: int = SIZE) -> Callable[[Path],
                                                                                          None]:
    """Return a function that makes a medium by writing pieces at their offsets."""

    def make_device_image(path: Path) -> None:
        make_sparse_file(path, size)
        for offset, data in pieces:
            write_bytes_at_file_offset(path, offset, data)

    return make_device_image


def make_raid_superblock(at: int, offset: int) -> Callable[[Path], None]:
    """Return an md RAID superblock, format 1; mdadm could make it only with md in the kernel."""
    block = bytearray(256)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    block[16:32] = NAME.bytes
    block[32:37] = b"array"
    struct.pack_into("<Q", block, 144, offset // 512)
    words = sum(struct.unpack("<64I", block))
    struct.pack_into("<I", block, 216, ((words & 0xFFFFFFFF) + (words >> 32)) & 0xFFFFFFFF)
    return make_image_maker_from_bytes((at, bytes(block)))


def make_lvm_label() -> bytes:
    """Return the LVM label of a physical volume, for sector 1."""
    crc = 0xF597A6CF
    label = bytearray(512)
    label[0:8] = b"LABELONE"
    struct.pack_into("<Q", label, 8, 1)
    struct.pack_into("<I", label, 20, 32)
    label[24:32] = b"LVM2 001"
    label[32:64] = b"hwoRZwlCmo3ZlRXzUe0tYIexIgBgThxy"
    struct.pack_into("<Q", label, 64, SIZE)
    for byte in label[20:]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    struct.pack_into("<I", label, 16, crc)
    return bytes(label)


def make_gpt_header(at: int, other: int) -> tuple[bytes, bytes]:
    """Return a GPT header, and its partition entries."""
    last = SIZE // 512 - 1
    entry = uuid.UUID("0fc63daf-8483-4772-8e79-3d69d8477de4").bytes_le + NAME.bytes_le
    entries = (entry + struct.pack("<QQQ", 2048, 65536, 0)).ljust(128 * 128, b"\0")
    table = 2 if at == 1 else last - 32
    header = bytearray(
        struct.pack(
            "<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, at, other, 34, last - 33,
            NAME.bytes_le, table, 128, 128, zlib.crc32(entries)))  # fmt: skip
    struct.pack_into("<I", header, 16, zlib.crc32(header))
    return bytes(header), entries


def make_partition_table(kind: int) -> bytes:
    entry = struct.pack("<BBBBBBBBII", 0, 0, 2, 0, kind, 0, 0, 0, 1, SIZE // 512 - 1)
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def list_byte_ranges_of_gpt() -> list[tuple[int, bytes]]:
    """Return the pieces of a GPT (header, entries), then those of the backup GPT."""
    last = SIZE // 512 - 1
    first, entries = make_gpt_header(1, last)
    backup, _ = make_gpt_header(last, 1)
    return [(0, make_partition_table(0xEE)), (512, first), (1024, entries),
            ((last - 32) * 512, entries), (last * 512, backup)]  # fmt: skip


# By name: libblkid's name of the type, and the function that makes the medium.
MEDIA: dict[str, tuple[str, Callable[[Path], None]]] = {
    "btrfs": ("btrfs", make_image_maker_from_command(LARGE, "mkfs.btrfs", "-q", "-L", "pictures")),
    "ext4": ("ext4", make_image_maker_from_command(SIZE, "mkfs.ext4", "-q", "-L", "pictures")),
    "xfs": ("xfs", make_image_maker_from_command(LARGE, "mkfs.xfs", "-q", "-L", "pictures")),
    "f2fs": ("f2fs", make_image_maker_from_command(SIZE, "mkfs.f2fs", "-q", "-l", "pictures")),
    "swap": ("swap", make_image_maker_from_command(SIZE, "mkswap", "-q", "-L", "pictures")),
    "luks2": ("crypto_LUKS", make_image_maker_from_command(
        SIZE, "cryptsetup", "luksFormat", "-q", "--type", "luks2", "--key-file", "-",
        "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")),
    "md 1.0": ("linux_raid_member", make_raid_superblock(SIZE - 8192, SIZE - 8192)),
    "md 1.2": ("linux_raid_member", make_raid_superblock(4096, 4096)),
    "LVM": ("LVM2_member", make_image_maker_from_bytes((512, make_lvm_label()))),
    "GPT": ("gpt", make_image_maker_from_bytes(*list_byte_ranges_of_gpt())),
    "GPT, its backup alone": ("gpt", make_image_maker_from_bytes(*list_byte_ranges_of_gpt()[-2:])),
    "MBR": ("dos", make_image_maker_from_bytes((0, make_partition_table(0x83)))),
}  # fmt: skip
