# SPDX-License-Identifier: GPL-2.0-only
"""The tables of approxftl worn: stacks (file systems, databases) and fault scenarios of a drive."""

from collections.abc import Sequence
from dataclasses import dataclass

#: Parameters of the drives: 4 dies of 160 blocks, 320 MiB and space to lose a die; no device time.
SHAPE = "blocks 160 op 50 timing off errors off"
#: Transactions of a writer.
TRANSACTIONS = 90
#: When the fault comes: all objects exist by then.
MIDDLE = 55
#: Place of the hash tree of dm-verity behind its 128 MiB of data, and of the root hash
VERITY = "--hash-offset=134217728 --root-hash-file=/run/worn-root-hash"
OPEN_VERITY = f"veritysetup open $dev0 worn-verity $dev0 {VERITY}"
#: File systems without a row, and the reason
LEFT_OUT = {"bcachefs": "its tools are in neither Debian 12 nor 13, and only Debian's Linux 6.12 "
                        "has its module, not 6.1 and 7.3"}


def parse_number_ranges(text: str) -> list[int]:
    """Return the ascending numbers that a text such as "1-3,7" lists."""
    ranges = (part.partition("-") for part in text.split(","))
    return sorted({number for first, _, last in ranges
                   for number in range(int(first), int(last or first) + 1)})


def format_number_ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as a text that parse_number_ranges() reads."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if run[1:] else f"{run[0]}" for run in runs)


@dataclass(frozen=True)
class Stack:
    """A storage stack: software on one to three drives ($dev0 to $dev2), mounted at $place.

    The commands in `seal`, if any, make the written drive read-only before all faults.
    """

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
    seal: tuple[str, ...] = ()


def make_ext4_stack(name: str, about: str, work: str, packages: tuple[str, ...] = (),
                    options: str = "defaults") -> Stack:
    """Return a storage stack: software on ext4 on one drive."""
    return Stack(name, about, work, ("mkfs.ext4 -q -F $dev0",), f"mount -t ext4 -o {options} $dev0 "
                 "$place", repair="e2fsck -fy $dev0", programs=("mkfs.ext4", "e2fsck"),
                 packages=("e2fsprogs", *packages))


def make_btrfs_stack(name: str, about: str, data: str, metadata: str, drives: int) -> Stack:
    """Return a storage stack of btrfs with the given profiles of data and metadata."""
    devices, mount = "$dev0", "mount -t btrfs $dev0 $place"
    if drives == 2:
        # If the superblock of the first drive is lost, the second one is mounted.
        devices, mount = "$dev0 $dev1", (
            "sh -c 'mount -t btrfs -o device=$dev1 $dev0 $place || "
            "mount -t btrfs -o degraded $dev1 $place'")
    return Stack(name, about, "files", (f"mkfs.btrfs -q -f -d {data} -m {metadata} {devices}",),
                 mount, drives=drives, programs=("mkfs.btrfs",), packages=("btrfs-progs",),
                 modules=("btrfs",), status=("btrfs device stats $place",))


def make_md_stack(level: int, first: str, others: str) -> Stack:
    """Return a storage stack of ext4 on an array of drives."""
    count = 1 + len(others.split())
    return Stack(
        f"md-raid{level}", f"ext4 on md RAID-{level} of {count} drives", "files",
        (f"mdadm --create /dev/md9 --run --assume-clean --level={level} --raid-devices={count} "
         f"--metadata=1.2 --bitmap=none {first} {others}", "mkfs.ext4 -q -F /dev/md9"),
        "mount -t ext4 /dev/md9 $place", ("mdadm --stop /dev/md9",),
        # A drive whose superblock is lost is left out, as --scan does.
        (f"sh -c 'mdadm --assemble --run /dev/md9 {first} {others} || "
         f"mdadm --assemble --run /dev/md9 {others}'",), "e2fsck -fy /dev/md9", count,
        ("mdadm", "mkfs.ext4"), ("mdadm", "e2fsprogs"), (f"raid{level}",), ("cat /proc/mdstat",))


STACKS = (
    make_ext4_stack("ext4", "ext4, data=ordered", "files"),
    make_ext4_stack("ext4-journal", "ext4, data=journal", "files", options="data=journal"),
    # These variables of xfstests let mkfs.xfs make a file system below 300 MB.
    Stack("xfs", "XFS", "files",
          ("env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f $dev0",),
          "mount -t xfs $dev0 $place", repair="xfs_repair -L $dev0", programs=("mkfs.xfs",),
          packages=("xfsprogs",), modules=("xfs",)),
    make_btrfs_stack("btrfs", "btrfs, metadata single", "single", "single", 1),
    make_btrfs_stack("btrfs-dup", "btrfs, data and metadata DUP", "dup", "dup", 1),
    make_btrfs_stack("btrfs-raid1", "btrfs, data and metadata RAID1 on two drives", "raid1",
                     "raid1", 2),
    Stack("f2fs", "F2FS", "files", ("mkfs.f2fs -q -f $dev0",), "mount -t f2fs $dev0 $place",
          repair="fsck.f2fs -f $dev0", programs=("mkfs.f2fs",), packages=("f2fs-tools",),
          modules=("f2fs",)),
    make_md_stack(1, "$dev0", "$dev1"),
    make_md_stack(5, "$dev0", "$dev1 $dev2"),
    Stack("integrity", "ext4 on dm-integrity, standalone, with a journal", "files",
          ("integritysetup -q format $dev0 --no-wipe",
           "integritysetup open --integrity-recalculate $dev0 worn-integrity",
           "mkfs.ext4 -q -F /dev/mapper/worn-integrity"),
          "mount -t ext4 /dev/mapper/worn-integrity $place",
          ("integritysetup close worn-integrity",),
          ("integritysetup open $dev0 worn-integrity",),
          "e2fsck -fy /dev/mapper/worn-integrity", 1, ("integritysetup", "mkfs.ext4"),
          ("cryptsetup-bin", "e2fsprogs"), ("dm_integrity",)),
    Stack("verity", "ext4, read-only, on dm-verity; the hash tree is on the same drive", "files",
          ("mkfs.ext4 -q -F $dev0 128M", "mount -t ext4 $dev0 $place"),
          "mount -t ext4 -o ro /dev/mapper/worn-verity $place",
          ("veritysetup close worn-verity",), (OPEN_VERITY,), "", 1,
          ("veritysetup", "mkfs.ext4"), ("cryptsetup-bin", "e2fsprogs"), ("dm_verity",), (),
          ("umount $place", f"veritysetup format $dev0 $dev0 {VERITY} --data-blocks=32768",
           OPEN_VERITY, "mount -t ext4 -o ro /dev/mapper/worn-verity $place")),
    make_ext4_stack("sqlite-rollback", "SQLite, rollback journal, on ext4", "sqlite-rollback",
                    ("python3",)),
    make_ext4_stack("sqlite-extra", "SQLite, rollback journal, synchronous=EXTRA, on ext4",
                    "sqlite-extra", ("python3",)),
    make_ext4_stack("sqlite-wal", "SQLite, WAL, on ext4", "sqlite-wal", ("python3",)),
    make_ext4_stack("lmdb", "LMDB on ext4", "lmdb", ("python3-lmdb",)),
    make_ext4_stack("leveldb", "LevelDB, default checks, on ext4", "leveldb", ("python3-plyvel",)),
    make_ext4_stack("leveldb-checked", "LevelDB, paranoid_checks, on ext4", "leveldb-checked",
                    ("python3-plyvel",)),
    make_ext4_stack("rocksdb", "RocksDB on ext4", "rocksdb", ("librocksdb7.8",)),
    make_ext4_stack("git", "git, default core.fsync, on ext4", "git", ("git",)),
    make_ext4_stack("git-fsync", "git, core.fsync=all, on ext4", "git-fsync", ("git",)),
    make_ext4_stack("postgres", "PostgreSQL without checksums, on ext4", "postgres",
                    ("postgresql",)),
    make_ext4_stack("postgres-checksums", "PostgreSQL with checksums, on ext4",
                    "postgres-checksums",
                    ("postgresql",)),
)


@dataclass(frozen=True)
class Event:
    """An event of a fault scenario. `when` is a number of acknowledged transactions, "loaded" (all
    are written and the page cache is dropped) or "unmounted". `what` is "message TEXT" to the first
    drive, or another action of worn_guest.py.
    """

    when: int | str
    what: str


@dataclass(frozen=True)
class Life:
    """A fault scenario, a column of the matrix: events that a stack's first drive undergoes."""

    name: str
    about: str
    options: str = ""
    events: tuple[Event, ...] = ()
    durable: bool = False
    approximate: bool = False

    def can_fault_scenario_run_on_stack(self, stack: Stack) -> bool:
        """Tell whether the scenario can run on a stack; bit flips need one with tagged files."""
        if stack.work != "files" or stack.seal:
            return not self.approximate and not (stack.seal and self.durable)
        return True

    @property
    def can_dm_dust_emulate_fault_scenario(self) -> bool:
        """Tell whether dm-dust can emulate the fault scenario on a plain drive."""
        emulated = any(word in self.options for word in ("errors", "rain", "buffer_safe"))
        return not self.approximate and not emulated and all(
            event.what.startswith(("spoil", "cut")) for event in self.events)


BLOCKS = 640
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
         (Event("unmounted", "spoil names"),)),
    Life("power-loss-bad-log", "the power fails; then the page of the last transaction is "
         "uncorrectable, which is in the log of a database", "buffer 1MiB",
         (Event(TRANSACTIONS - 20, "cut"), Event("unmounted", "spoil newest")), durable=True),
    Life("shelf", "a worn drive with weak ECC lies unpowered for five years",
         "errors on cell_model voltage cycles 20000 ecc_bits 3 ecc_levels 0",
         (Event("unmounted", "message age 43800h"),)),
    Life("read-disturb", "a worn drive that never relocates what is read often: a MiB is read "
         "until the page of an object in it fails",
         "errors on cell_model voltage cycles 20000 ecc_levels 0 read_limit 0",
         (Event("loaded", "read-often 40000"),)),
    Life("flips", "data of tagged files flip; all other data are precise",
         "errors on rber 0 rber_approx 1e-3", approximate=True),
)
