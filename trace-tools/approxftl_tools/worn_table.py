# SPDX-License-Identifier: GPL-2.0-only
"""The tables of approxftl worn: stacks (file systems and databases) and lives of a drive."""

from __future__ import annotations

from dataclasses import dataclass

#: Parameters of the drives: 4 dies of 128 blocks, 256 MiB and space to lose a die; no device time.
SHAPE = "blocks 128 op 50 timing off errors off"
#: Transactions of a writer.
TRANSACTIONS = 90
#: When the fault comes: all objects exist by then.
MIDDLE = 55


@dataclass(frozen=True)
class Stack:
    """Software on one or two drives; commands see $dev0, $dev1, $place and $top."""

    name: str
    about: str
    work: str
    make: tuple[str, ...]
    mount: str
    release: tuple[str, ...] = ()
    assemble: tuple[str, ...] = ()
    repair: str = ""
    drives: int = 1
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    status: tuple[str, ...] = ()


def ext4_stack(name: str, about: str, work: str, packages: tuple[str, ...] = (),
               options: str = "defaults") -> Stack:
    """Return a stack on ext4 on one drive."""
    return Stack(name, about, work, ("mkfs.ext4 -q -F $dev0",), f"mount -t ext4 -o {options} $dev0 "
                 "$place", repair="e2fsck -fy $dev0", programs=("mkfs.ext4", "e2fsck"),
                 packages=("e2fsprogs", *packages))


def btrfs_stack(name: str, about: str, data: str, metadata: str, drives: int) -> Stack:
    """Return a stack of btrfs with profiles of data and metadata."""
    devices = "$dev0 $dev1" if drives == 2 else "$dev0"
    return Stack(name, about, "files", (f"mkfs.btrfs -q -f -d {data} -m {metadata} {devices}",),
                 "mount -t btrfs" + (" -o device=$dev1" if drives == 2 else "") + " $dev0 $place",
                 drives=drives, programs=("mkfs.btrfs",), packages=("btrfs-progs",),
                 modules=("btrfs",), status=("btrfs device stats $place",))


STACKS = (
    ext4_stack("ext4", "ext4, data=ordered", "files"),
    ext4_stack("ext4-journal", "ext4, data=journal", "files", options="data=journal"),
    # These variables of xfstests let mkfs.xfs make a file system below 300 MB.
    Stack("xfs", "XFS", "files", (
        "env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f $dev0",),
        "mount -t xfs $dev0 $place", repair="xfs_repair -L $dev0", programs=("mkfs.xfs",),
        packages=("xfsprogs",), modules=("xfs",)),
    btrfs_stack("btrfs", "btrfs, metadata single", "single", "single", 1),
    btrfs_stack("btrfs-dup", "btrfs, data and metadata DUP", "dup", "dup", 1),
    btrfs_stack("btrfs-raid1", "btrfs, data and metadata RAID1 on two drives", "raid1", "raid1", 2),
    Stack("f2fs", "F2FS", "files", ("mkfs.f2fs -q -f $dev0",), "mount -t f2fs $dev0 $place",
          repair="fsck.f2fs -f $dev0", programs=("mkfs.f2fs",), packages=("f2fs-tools",),
          modules=("f2fs",)),
    Stack("md-raid1", "ext4 on md RAID-1 of two drives", "files",
          ("mdadm --create /dev/md9 --run --assume-clean --level=1 --raid-devices=2 "
           "--metadata=1.2 --bitmap=none $dev0 $dev1", "mkfs.ext4 -q -F /dev/md9"),
          "mount -t ext4 /dev/md9 $place", ("mdadm --stop /dev/md9",),
          ("mdadm --assemble --run /dev/md9 $dev0 $dev1",), "e2fsck -fy /dev/md9", 2,
          ("mdadm", "mkfs.ext4"), ("mdadm", "e2fsprogs"), ("raid1",), ("cat /proc/mdstat",)),
    ext4_stack("sqlite-rollback", "SQLite, rollback journal, on ext4", "sqlite-rollback",
               ("python3",)),
    ext4_stack("sqlite-wal", "SQLite, WAL, on ext4", "sqlite-wal", ("python3",)),
    ext4_stack("lmdb", "LMDB on ext4", "lmdb", ("python3-lmdb",)),
    ext4_stack("leveldb", "LevelDB, default checks, on ext4", "leveldb", ("python3-plyvel",)),
    ext4_stack("leveldb-checked", "LevelDB, paranoid_checks, on ext4", "leveldb-checked",
               ("python3-plyvel",)),
    ext4_stack("git", "git, default core.fsync, on ext4", "git", ("git",)),
    ext4_stack("git-fsync", "git, core.fsync=all, on ext4", "git-fsync", ("git",)),
    ext4_stack("postgres", "PostgreSQL without checksums, on ext4", "postgres", ("postgresql",)),
    ext4_stack("postgres-checksums", "PostgreSQL with checksums, on ext4", "postgres-checksums",
               ("postgresql",)),
)


@dataclass(frozen=True)
class Event:
    """A step of a life.

    `when` is a number of acknowledged transactions, "loaded" (all are written, and the page cache
    is dropped) or "unmounted". `what` is "message TEXT" to the first drive, or another action of
    worn_guest.py.
    """

    when: int | str
    what: str


@dataclass(frozen=True)
class Life:
    """What happens to the first drive."""

    name: str
    about: str
    options: str = ""
    events: tuple[Event, ...] = ()
    durable: bool = False
    approximate: bool = False


BLOCKS = 512
#: One block in seven
GROWN = " ".join(str(block) for block in range(0, BLOCKS, 7))
LIVES = (
    Life("healthy", "nothing happens"),
    Life("die-death", "a die fails; its data are lost", "",
         (Event(MIDDLE, "message fault die 1"),)),
    Life("die-death-rain", "a die fails; RAIN has the parity", "superblock 4 rain on",
         (Event(MIDDLE, "message fault die 1"),)),
    Life("bad-blocks", "one block in seven goes bad under load", "",
         (Event(MIDDLE, f"fault-blocks {GROWN}"),)),
    Life("no-spare", "all blocks go bad but a few, until no write can be placed", "",
         (Event(MIDDLE, "fault-blocks all"),)),
    Life("power-loss", "the power fails; the write buffer is lost", "buffer 1MiB",
         (Event(TRANSACTIONS - 20, "cut"),), durable=True),
    Life("power-loss-plp", "the power fails; capacitors save the write buffer",
         "buffer 1MiB buffer_safe on", (Event(TRANSACTIONS - 20, "cut"),), durable=True),
    Life("bad-page", "the page with the data of each of three objects is uncorrectable", "",
         (Event("loaded", "spoil data"),)),
    Life("bad-copies", "all pages with the data of three objects are uncorrectable", "",
         (Event("loaded", "spoil copies"),)),
    Life("bad-name", "a page of a directory is uncorrectable", "",
         (Event("loaded", "spoil names"),)),
    Life("power-loss-bad-log", "the power fails; then the page of the last transaction is "
         "uncorrectable, which is in the log of a database", "buffer 1MiB",
         (Event(TRANSACTIONS - 20, "cut"), Event("unmounted", "spoil newest")), durable=True),
    Life("shelf", "a worn drive with weak ECC lies unpowered for five years",
         "errors on cell_model voltage cycles 20000 ecc_bits 3 ecc_levels 0",
         (Event("unmounted", "message age 43800h"),)),
    Life("flips", "data of tagged files flip; all other data are precise",
         "errors on rber 0 rber_approx 1e-3", approximate=True),
)
