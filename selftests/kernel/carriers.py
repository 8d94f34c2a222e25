#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a bio carries: the write hint of a file, the I/O priority and the write stream of a request.

They make data approximate where the table line names them, and nothing else becomes approximate.
Hints also reach the policy, as lifetimes, write streams and placement handles. Linux passes hints
to bios since 6.9, and streams since 6.16.
"""

import errno
import fcntl
import mmap
import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import approx_control as approx
from approx_control import APPROXIMATE, NONE, PRECISE, Control, buffer_address, expect_refused_ioctl
from ktap import (
    EXT4,
    KERNEL,
    NOBODY,
    SMALL,
    UNIT,
    XFS,
    Mount,
    allow_everybody_to_tag,
    drop_privileges,
    finish_test,
    has_kernel_module,
    make_ram_disks,
    opened_file,
    read_counters,
    reload_device,
    require,
    run_check,
    run_command,
    run_dmsetup,
    run_function_in_child,
    run_selected_check,
    send_dm_message,
    skip_test_point,
    temporary_device,
)
from stacks import BTRFS, NOCOW, ONE, STACKS, TWO, stacked_device, two_test_devices
from tagged_writes import (
    FixedFileUring,
    Uring,
    issue_syscall,
    map_stored_classes,
    read_first_bytes_of_units,
)

NAME = "aftl-carried"
UNITS = 64
LENGTH = UNITS * UNIT
F_SET_RW_HINT = 1036
#: The I/O priority with the hint of the default of the table option ioprio_hint.
TAG_PRIORITY = 2 << 13 | 341 << 3 | 4
NEW = os.O_RDWR | os.O_CREAT
DIRECT = os.O_RDWR | os.O_DIRECT
IOPRIO_SET = 251
INODE, HINT, PRIORITY = 1, 2, 4
ALL = "inode,write_hint,ioprio,write_stream"
HAS_HINTS, HAS_STREAMS = KERNEL >= (6, 9), KERNEL >= (6, 16)
ONLY_OWNERS_SET_HINTS = KERNEL >= (6, 13)


def set_life_time_hint(fd: int, life: int) -> None:
    """Set the write life-time hint of a file, which its inode keeps after a close."""
    fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("=Q", life))


def set_thread_io_priority(priority: int) -> None:
    """Set the I/O priority of this thread; 0 for the default."""
    issue_syscall(IOPRIO_SET, 1, 0, priority)


def list_stored_classes_of_file(fd: int) -> list[int]:
    """Return the data class (precise or approximate) of each unit of a file on flash."""
    return [unit.kind for unit in Control().list_stored_units(fd)]


def make_memory_with_file_data(mark: bytes = b"carriers") -> mmap.mmap:
    """Return anonymous memory with the data of a file: a repeated mark of 8 bytes."""
    data = mmap.mmap(-1, LENGTH)
    data[:] = mark * (LENGTH // 8)
    return data


def write_by_page_cache(fd: int, *mark: bytes) -> None:
    """Write the test data to a file through the page cache."""
    os.pwrite(fd, make_memory_with_file_data(*mark), 0)
    os.fsync(fd)


def write_to_mapping(fd: int, *mark: bytes) -> None:
    os.truncate(fd, LENGTH)
    with mmap.mmap(fd, LENGTH) as view:
        view[:] = make_memory_with_file_data(*mark)[:]
        view.flush()
    os.fsync(fd)


def write_by_direct_io(fd: int, *mark: bytes) -> None:
    """Write the test data to a file by direct I/O, past the page cache."""
    require(os.pwrite(fd, make_memory_with_file_data(*mark), 0) == LENGTH, "a short write")
    os.fsync(fd)


def write_by_io_workers(fd: int, *mark: bytes) -> None:
    """Write by direct I/O from a worker thread of io_uring."""
    data = make_memory_with_file_data(*mark)
    require(Uring(by_workers=True).submit_and_await_write(fd, buffer_address(data), LENGTH,
                                                          0) == LENGTH,
            "a short write")
    os.fsync(fd)


def write_with_stream(fd: int, stream: int) -> None:
    ring, data = Uring(by_workers=False), make_memory_with_file_data()
    ring.stream = stream
    require(ring.submit_and_await_write(fd, buffer_address(data), LENGTH, 0) == LENGTH,
            f"stream {stream} is refused")


WAYS: dict[str, tuple[int, Callable[..., None]]] = {
    "buffered": (0, write_by_page_cache),
    "mmap": (0, write_to_mapping),
    "direct": (os.O_DIRECT, write_by_direct_io),
    "io_uring-workers": (os.O_DIRECT, write_by_io_workers),
}


# Tags


@contextmanager
def mounted_device(carriers: str, make: str, keys: str = "") -> Iterator[Path]:
    """Context manager: a new file system on a device that honours the given carriers."""
    with temporary_device(NAME, f"{SMALL} errors off tag_carrier {carriers} {keys}") as path, \
            Mount(path, make) as place:
        yield place


def get_approximate_unit_percent(kinds: list[int]) -> int:
    """Return the percentage of approximate units among a file's data classes."""
    require(len(kinds) == UNITS, f"{len(kinds)} units are stored")
    return kinds.count(APPROXIMATE) * 100 // UNITS


def write_file_with_hint_or_priority(path: Path, way: str, carrier: str) -> list[int]:
    """Write a file whose write hint or I/O priority tags it; return the class of each unit."""
    flags, write = WAYS[way]
    with opened_file(path, NEW | flags) as fd:
        told = Control().tag_whole_file(fd, NONE)
        if carrier == "write_hint":
            set_life_time_hint(fd, approx.WRITE_HINT)
        else:
            require(told.io_priority or not told.honoured & PRIORITY, "no I/O priority is told")
            set_thread_io_priority(told.io_priority)
        write(fd)
        set_thread_io_priority(0)
        return list_stored_classes_of_file(fd)


def list_approximate_offsets(path: Path) -> set[int]:
    """Return the device offsets of the approximate units of a file or of the device."""
    with opened_file(path, os.O_RDONLY) as fd:
        return {unit.device_offset for unit in Control().list_stored_units(fd)
                if unit.kind == APPROXIMATE}


def measure_approximate_percent_per_write_method(place: Path, carrier: str) -> dict[str, int]:
    """Return, for each way of writing, which share of a file's units became approximate.

    A second file is written in the same way without a tag, or with another hint in its I/O
    priority: this file and all metadata must be precise.
    """
    known: set[int] = set()
    found = {}
    for way, (flags, write) in WAYS.items():
        with opened_file(place / f"plain-{way}", NEW | flags) as fd:
            # The least bit of the hint in an I/O priority is bit 3.
            set_thread_io_priority(Control().tag_whole_file(fd, NONE).io_priority ^ 8
                                   if carrier == "ioprio" else 0)
            write(fd)
            set_thread_io_priority(0)
        found[way] = get_approximate_unit_percent(write_file_with_hint_or_priority(place / way, way,
                                                                                   carrier))
        known |= list_approximate_offsets(place / way)
        astray = list_approximate_offsets(Path("/dev/mapper", NAME)) - known
        require(not astray, f"{way}: {len(astray)} units of others are approximate")
    return found


def compute_expected_approximate_percent(system: str, carrier: str, way: str) -> int:
    """Return the percentage of a tagged file that must be approximate, by carrier and kernel."""
    past_the_cache = way in ("direct", "io_uring-workers")
    if carrier == "ioprio":
        return 100 * past_the_cache
    if system in ("ext4", "btrfs"):
        return 100 * (HAS_HINTS and (past_the_cache or KERNEL >= (7, 0)))
    return 100 * (HAS_HINTS and system == "xfs")


def check_hint_and_io_priority_as_tags(system: str, make: str) -> None:
    """Test each carrier of tags with each way to write."""
    for carrier in ("write_hint", "ioprio"):
        with mounted_device(carrier, make) as place:
            found = measure_approximate_percent_per_write_method(place, carrier)
        print(f"# {system}, {carrier}: {found}")
        require(found == {way: compute_expected_approximate_percent(system, carrier, way)
                          for way in WAYS},
                "that is unexpected")


def write_file_with_carrier(path: Path, way: str, carrier: str, mark: bytes) -> None:
    """Write a file whose writes have the field of the bio that the carrier CARRIER evaluates."""
    flags, write = WAYS[way]
    with opened_file(path, NEW | flags) as fd:
        if carrier == "write_hint":
            set_life_time_hint(fd, approx.WRITE_HINT)
        if carrier == "ioprio":
            set_thread_io_priority(TAG_PRIORITY)
        write(fd, mark)
        set_thread_io_priority(0)


def measure_approximate_percent_on_stack(place: Path, carrier: str) -> dict[str, int]:
    """Return, for each way of writing, which share of a file arrives as approximate below a stack.

    All other data on the devices below must be precise.
    """
    marks = {way: b"tagged-%d" % i for i, way in enumerate(WAYS)}
    for way in WAYS:
        write_file_with_carrier(place / f"plain-{way}", way, "", b"untagged")
        write_file_with_carrier(place / way, way, carrier, marks[way])
    os.sync()
    found = []
    for leg in (ONE, TWO):
        units = [at for at, kind in map_stored_classes(Control(), leg).items()
                 if kind == APPROXIMATE]
        found += [told[:8] for told in read_first_bytes_of_units(leg, units).values()]
    astray = set(found) - set(marks.values())
    require(not astray, f"other data are approximate: {astray}")
    return {way: found.count(mark) * 100 // UNITS for way, mark in marks.items()}


#: Stacks that pass bios on at once, so that nobody else holds references to the page cache.
DIRECT_STACKS = ("linear", "stripes", "md0")


def passes_field_of_bio(name: str, carrier: str) -> bool:
    """Return whether a stack neither copies the data nor submits bios without the field."""
    if name == "mirror":
        return carrier == "write_hint" and KERNEL >= (7, 0)
    return name not in ("crypt", "md5")


def check_carriers_on_stack(name: str, make: str = XFS, options: str = "") -> None:
    """Test each carrier of tags with each way to write, below a stack; "" for no device between."""
    for carrier in ("write_hint", "ioprio"):
        with two_test_devices(f"{SMALL} errors off tag_carrier {carrier}"), \
                stacked_device(name) if name else nullcontext(ONE) as top, \
                Mount(top, make, options) as place:
            found = measure_approximate_percent_on_stack(place, carrier)
        print(f"# {name or make}, {carrier}: {found}")
        for way, percent in found.items():
            system = "xfs" if make == XFS else "btrfs"
            most = compute_expected_approximate_percent(system, carrier, way)
            if not passes_field_of_bio(name, carrier):
                most = 0
            least = most if WAYS[way][0] & os.O_DIRECT or name in DIRECT_STACKS else 0
            require(least <= percent <= most, f"{way}: not {least} to {most} %")


def check_whole_file_tag(place: Path, honoured: int) -> None:
    """Check that APPROXFTL_TAG_FD reports the carriers that it sets, and resets them."""
    with opened_file(place / "whole", NEW) as fd:
        told = Control().tag_whole_file(fd, APPROXIMATE)
        require(told.honoured == honoured & told.passed, f"honoured {told.honoured}")
        require(told.carriers == INODE | told.honoured & HINT, f"set {told.carriers}")
        write_by_page_cache(fd)
        require(get_approximate_unit_percent(list_stored_classes_of_file(fd)) == 100,
                "a tagged file is not approximate")
        Control().tag_whole_file(fd, NONE)
        write_by_page_cache(fd)
        require(get_approximate_unit_percent(list_stored_classes_of_file(fd)) == 0,
                "an untagged file is approximate")


def check_tags_refused_for_user_nobody(path: Path) -> None:
    """Check that user nobody may not tag a file of another user."""
    drop_privileges()
    with opened_file(path) as fd:
        expect_refused_ioctl(errno.EPERM, approx.REASON_OWNER, Control().tag_whole_file, fd,
                             APPROXIMATE)


def check_whole_file_tags_and_permissions() -> None:
    """Tag files on devices that evaluate all tag carriers, or one; check who may tag them."""
    with mounted_device(ALL, EXT4, "shards 2") as place:
        check_whole_file_tag(place, 15)
        control = Control()
        with opened_file(place / "owned", NEW) as fd:
            expect_refused_ioctl(errno.EINVAL, 0, control.tag_whole_file, fd, APPROXIMATE, PRIORITY)
            expect_refused_ioctl(errno.EINVAL, 0, control.tag_whole_file, fd, 7)
            expect_refused_ioctl(errno.EBADF, 0, control.tag_whole_file, -1, APPROXIMATE)
        (place / "owned").chmod(0o666)
        run_function_in_child(check_tags_refused_for_user_nobody, place / "owned")
    with mounted_device("inode", EXT4) as place:
        check_whole_file_tag(place, 1)


def check_precise_range_of_hinted_file() -> None:
    """A device without "tag_carrier inode" ignores a file's tagged ranges, except precise ones."""
    with mounted_device("write_hint", XFS) as place, opened_file(place / "only", NEW) as fd:
        Control().tag_range(fd)
        write_by_page_cache(fd)
        require(get_approximate_unit_percent(list_stored_classes_of_file(fd)) == 0,
                "the range of a file was honoured")
        Control().tag_range(fd, 0, UNIT, PRECISE)
        set_life_time_hint(fd, approx.WRITE_HINT)
        write_by_page_cache(fd)
        kinds = list_stored_classes_of_file(fd)
    require(kinds[0] == PRECISE, "a precise range is approximate")
    require(kinds.count(APPROXIMATE) == (UNITS - 1 if HAS_HINTS else 0), f"{kinds}")


def check_hint_of_loop_image() -> None:
    """A loop device drops the write hint of its image file, which XFS passes with writeback."""
    with mounted_device("write_hint", XFS) as place:
        with opened_file(place / "image", NEW) as fd:
            os.truncate(fd, 16 << 20)
            loop = run_command("losetup", "--find", "--show", place / "image").strip()
            set_life_time_hint(fd, approx.WRITE_HINT)
            with opened_file(loop) as inner:
                write_by_page_cache(inner)
            kinds = list_stored_classes_of_file(fd)
        run_command("losetup", "-d", loop)
    require(APPROXIMATE not in kinds, "data behind a loop device are approximate")


def check_user_nobody_sets_no_field_of_others(files: list[int], victim: int) -> None:
    """As user nobody, with inherited descriptors, try to set the hint and I/O priority of root.

    FILES are a file of root and a file of nobody, open for direct I/O, which the caller compares.
    """
    others, own = files
    drop_privileges()
    for reach in (others, os.open(f"/proc/self/fd/{others}", os.O_RDONLY)):
        expect_os_error(errno.EPERM * ONLY_OWNERS_SET_HINTS, set_life_time_hint, reach,
                        approx.WRITE_HINT)
    expect_os_error(errno.EPERM, issue_syscall, IOPRIO_SET, 1, victim, TAG_PRIORITY)
    data = make_memory_with_file_data()
    for ring, fd in ((FixedFileUring(by_workers=False), own), (Uring(by_workers=True), own)):
        ring.io_priority = TAG_PRIORITY
        require(ring.submit_and_await_write(fd, buffer_address(data), LENGTH, 0) == LENGTH,
                "a short write")
        ring.io_priority = 0
        require(ring.submit_and_await_write(others, buffer_address(data), LENGTH, 0) == LENGTH,
                "a short write")


def expect_os_error(number: int, action: Callable[..., object], *arguments: object) -> None:
    """Check that a call fails with an error number, or succeeds, if it is 0."""
    found: int | None = 0
    try:
        action(*arguments)
    except OSError as why:
        found = why.errno
    require(found == number, f"{action.__name__}{arguments}: error {found}, not {number}")


def check_forged_fields() -> None:
    """A user's fields make approximate only what that user writes, or the files that he owns.

    Before Linux 6.13 a hint, which everybody may set who has opened the file, is the exception.
    """
    with mounted_device("write_hint,ioprio", XFS) as place:
        files = []
        for name in ("others", "own"):
            (place / name).touch()
            (place / name).chmod(0o666)
            files.append(os.open(place / name, DIRECT))
        os.chown(place / "own", NOBODY, NOBODY)
        run_function_in_child(check_user_nobody_sets_no_field_of_others, files, os.getpid())
        write_by_direct_io(files[0])  # root's next write
        kinds = [set(list_stored_classes_of_file(fd)) for fd in files]
        foreign = APPROXIMATE if HAS_HINTS and not ONLY_OWNERS_SET_HINTS else PRECISE
        require(kinds == [{foreign}, {APPROXIMATE}], f"others' and own data are {kinds}")
        for fd in files:
            os.close(fd)


def check_unconfigured_write_hint_is_ignored() -> None:
    """Check that write hints are ignored if only the I/O priority is a carrier of tags."""
    with mounted_device("ioprio", XFS) as place:
        found = measure_approximate_percent_per_write_method(place, "write_hint")
    require(not any(found.values()), f"{found}")


def check_tag_stream_has_highest_number() -> None:
    """The stream number of tagged data exceeds those of lifetimes and placement handles."""
    for keys, number in (("", 6), ("policy vth_b placement_handles 6", 7)):
        with temporary_device(NAME, f"{SMALL} {keys} tag_carrier write_stream") as path, \
                opened_file(path, DIRECT) as fd:
            told = Control().tag_whole_file(fd, NONE)
            require(told.write_stream == number, f"stream {told.write_stream}, not {number}")
            for stream in (number, number - 1, 0):
                write_with_stream(fd, stream)
                kinds = {unit.kind for unit in Control().list_stored_units(fd, 0, LENGTH)}
                require(kinds == {APPROXIMATE if stream == number else PRECISE},
                        f"stream {stream}: {kinds}")


def check_table_line_is_reproduced() -> None:
    """Check that the table line which a device prints makes the same device."""
    with temporary_device(NAME, f"{SMALL} tag_carrier {ALL}"):
        table = run_dmsetup("table", NAME)
        require(f"ioprio_hint 341 tag_carrier {ALL}" in table, table)
        reload_device(NAME, table)
        require(run_dmsetup("table", NAME) == table, run_dmsetup("table", NAME))


# Policies

TRACING = Path("/sys/kernel/tracing/instances/aftl-carriers")


def write_with_life_time(path: Path, life: int) -> None:
    with opened_file(path, DIRECT) as fd:
        set_life_time_hint(fd, life)
        write_by_direct_io(fd)


def write_to_stream(path: Path, stream: int) -> None:
    """Write a new file with a write stream and without a life-time hint."""
    with opened_file(path, DIRECT) as fd:
        set_life_time_hint(fd, 0)
        write_with_stream(fd, stream)


def check_stream_counters(kind: str, name: str, write: Callable[..., None],
                          *arguments: object) -> None:
    """Check that a write increments the counter of one write stream or placement handle only."""
    (TRACING / "trace").write_text("")
    send_dm_message(NAME, "reset")
    write(*arguments)
    found = {key: count for key, count in read_counters(NAME).items() if count
             and re.fullmatch(rf"{kind}_.*_host_units", key)}
    require(found == {f"{kind}_{name}_host_units": UNITS}, f"{arguments}: {found}")


def check_hints_of_traced_writes(life: int, stream: int) -> None:
    """Check that every traced write request has this life-time hint and this write stream."""
    events = [event for event in (TRACING / "trace").read_text().splitlines()
              if " aftl_submit: " in event and " op=1 " in event]
    require(events, "no write is in the trace")
    wanted = f" life={life} stream={stream} shard=0"
    require(all(event.endswith(wanted) for event in events), f"not{wanted}: {events[0]}")


def check_life_time_streams(path: Path) -> None:
    """Where a device offers write streams, the kernel maps a lifetime hint to a write stream."""
    for life in (0, 2, 3, 4, 5):
        heard = life if HAS_HINTS else 0
        check_stream_counters("stream", f"id_{heard}" if heard else "unhinted",
                              write_with_life_time, path, life)
        check_hints_of_traced_writes(heard, life if HAS_STREAMS else 0)


def check_write_to_unknown_stream_fails(path: Path, stream: int) -> None:
    ring, data = Uring(by_workers=False), make_memory_with_file_data()
    ring.stream = stream
    with opened_file(path, DIRECT) as fd:
        require(ring.submit_and_await_write(fd, buffer_address(data), LENGTH, 0) < 0,
                f"there is a stream {stream}")


def check_device_offers_write_streams(path: Path) -> None:
    """A device offers its policy's write streams to the block layer, with a counter for each."""
    number = path.stat().st_rdev  # without udev, /dev/mapper has a node instead of a link to dm-N
    queue = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue")
    require((queue / "max_write_streams").read_text() == "7\n", "the device offers other streams")
    require(int((queue / "write_stream_granularity").read_text()) > 0, "no granularity")
    for stream in (1, 7):
        check_stream_counters("stream", f"id_{stream}", write_to_stream, path, stream)
        check_hints_of_traced_writes(0, stream)
    check_write_to_unknown_stream_fails(path, 8)
    reload_device(NAME, run_dmsetup("table", NAME).replace("policy streams", "policy baseline"))
    require((queue / "max_write_streams").read_text() == "0\n", "policy baseline has streams")
    check_write_to_unknown_stream_fails(path, 1)
    (TRACING / "trace").write_text("")
    write_with_life_time(path, 2)
    check_hints_of_traced_writes(2, 0)


def check_placement_handles(path: Path) -> None:
    """Life times up to 3 select a placement handle; longer ones the default handle."""
    for life in (0, 2, 3, 4):
        heard = life if HAS_HINTS else 0
        check_stream_counters("handle", str(heard if heard <= 3 else 0), write_with_life_time, path,
                              life)
    if HAS_STREAMS:
        check_stream_counters("handle", "3", write_to_stream, path, 3)
        check_write_to_unknown_stream_fails(path, 4)


def main() -> None:
    """Run all test points."""
    allow_everybody_to_tag()
    make_ram_disks(1, 81920)
    for system, make in (("ext4", EXT4), ("xfs", XFS), ("f2fs", "mkfs.f2fs -q -f")):
        name = f"{system}: carriers reach the device"
        if has_kernel_module(system):
            run_check(name, check_hint_and_io_priority_as_tags, system, make)
        else:
            skip_test_point(name, "the kernel does not have it")
    for name in STACKS:
        run_selected_check(f"carriers below {name}", check_carriers_on_stack, name)
    if has_kernel_module("btrfs"):
        run_selected_check("carriers below btrfs", check_carriers_on_stack, "", BTRFS, NOCOW)
    run_check("a whole file is tagged by what its device honours",
              check_whole_file_tags_and_permissions)
    run_check("a precise range of a hinted file stays precise", check_precise_range_of_hinted_file)
    has_kernel_module("loop")
    run_check("a hint on the image of a loop device is ignored", check_hint_of_loop_image)
    run_check("users can forge no field for others' data", check_forged_fields)
    run_check("a carrier that the table line does not name is ignored",
              check_unconfigured_write_hint_is_ignored)
    run_check("the printed table line makes the same device", check_table_line_is_reproduced)
    if HAS_STREAMS:
        run_check("the write stream with the highest number carries tags",
                  check_tag_stream_has_highest_number)
    if not os.path.ismount("/sys/kernel/tracing"):
        run_command("mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing")
    TRACING.mkdir()
    (TRACING / "events/approxftl/aftl_submit/enable").write_text("1")
    with temporary_device(NAME, f"{SMALL} policy streams") as path:
        run_check("lifetime hints reach the policy", check_life_time_streams, path)
        if HAS_STREAMS:
            run_check("write streams reach the policy", check_device_offers_write_streams, path)
    with temporary_device(NAME, f"{SMALL} policy baseline placement_handles 3") as path:
        run_check("hints select placement handles", check_placement_handles, path)
    TRACING.rmdir()
    finish_test()


if __name__ == "__main__":
    main()
