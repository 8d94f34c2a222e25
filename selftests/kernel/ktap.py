# SPDX-License-Identifier: GPL-2.0-only
"""Test points, devices and file systems for tests in Python, as lib.sh and turns.sh for shell.

A test calls point() or in_turn() for each point and ends with finish(). A point fails when its
function raises FailedError, SystemExit or OSError.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

os.chdir(Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("AFTL_BUILD") or "build").absolute()
APPROXFTL = os.environ.get("APPROXFTL") or str(BUILD / "approxftl")
UNIT = 4096
#: A small device, of 128 MiB of flash; SMALL does not wait for device time.
SHAPE = "blocks 64 word_lines 8 op 30"
SMALL = f"{SHAPE} timing off"
NOBODY = 65534
EXT4 = "mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0"
#: The three variables make mkfs.xfs accept less than 300 MB; its own tests set them.
XFS = "env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f"
KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])

os.environ["DM_DISABLE_UDEV"] = "1"
os.environ["PATH"] += ":/usr/sbin:/sbin"


class FailedError(Exception):
    """A point fails, for this reason."""


def must(condition: object, reason: str) -> None:
    """Fail unless the condition holds."""
    if not condition:
        raise FailedError(reason)


def run(*words: str | Path, text: str = "") -> str:
    """Run a command, with TEXT as its input; return its output, or fail with it."""
    done = subprocess.run([str(word) for word in words], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    must(done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}: {done.stdout}")
    return done.stdout


# Points


def part_of(variable: str) -> tuple[int, int]:
    """Return both numbers of AFTL_TURN or AFTL_PHASE, which turns.sh explains."""
    part, _, parts = (os.environ.get(variable) or "1/1").partition("/")
    return int(part), int(parts)


TURN, KERNELS = part_of("AFTL_TURN")
PHASE, PHASES = part_of("AFTL_PHASE")
counts = {"points": 0, "failures": 0, "wanted": 0, "turns": 0}


def tell(verdict: str, name: str) -> None:
    """Print the line of a point."""
    if not counts["points"]:
        print("KTAP version 1")
    counts["points"] += 1
    counts["failures"] += verdict != "ok"
    print(f"{verdict} {counts['points']} - {name}", flush=True)


def skip(name: str, reason: str) -> None:
    """Print the line of a point that cannot run here."""
    tell("ok", f"{name} # SKIP {reason}")


def explain(why: BaseException) -> None:
    """Print an error, after the one that was being handled when it was raised."""
    if why.__context__:
        explain(why.__context__)
    print("".join(f"# {line.removeprefix('# ')}\n" for line in str(why).splitlines()), end="")


def point(name: str, action: Callable[..., object], *arguments: object) -> None:
    """Run a point if KTAP_POINTS selects it."""
    if os.environ.get("KTAP_POINTS", "") not in name:
        return
    if not counts["wanted"]:
        run("dmesg", "-C")
    counts["wanted"] += 1
    try:
        action(*arguments)
    except (FailedError, AssertionError, SystemExit, OSError) as why:
        explain(why)
        tell("not ok", name)
    else:
        tell("ok", name)


def is_next_turn(name: str) -> bool:
    """Return whether a point that does not depend on the kernel belongs to this run."""
    counts["turns"] += 1
    before = counts["turns"] - 1
    if before // KERNELS % PHASES != PHASE - 1:
        print(f"# {name}: left to another commit", flush=True)
    elif (counts["turns"] - TURN) % KERNELS:
        print(f"# {name}: left to another kernel", flush=True)
    else:
        return True
    return False


def in_turn(name: str, action: Callable[..., object], *arguments: object) -> None:
    """Run a point that does not depend on the kernel."""
    if is_next_turn(name):
        point(name, action, *arguments)


def processors(number: int) -> None:
    """Set the number of processors if several kernels share the test points; see turns.sh."""
    if os.environ.get("AFTL_TURN"):
        Path("/sys/devices/system/cpu/cpu1/online").write_text(str(number - 1))


def at_once(action: Callable[..., None], *arguments: object) -> None:
    """Run a function on two processors."""
    processors(2)
    try:
        action(*arguments)
    finally:
        processors(1)


def share(number: int) -> int:
    """Return this kernel's share of a number of random samples."""
    return -(-number // KERNELS)


def finish() -> NoReturn:
    """Remove the test's devices, check the kernel's log, print the plan and exit."""
    point("every device can be removed", remove_all)
    script = '. userspace/lab/complaints.sh; dmesg | grep -E "$complaints"'
    said = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    point("the kernel's log is clean", must, not said.stdout, said.stdout)
    if not counts["wanted"]:
        tell("not ok", f"no point has '{os.environ['KTAP_POINTS']}' in its name")
    print(f"1..{counts['points']}")
    sys.exit(counts["failures"] > 0)


# Devices


def dmsetup(*words: str, text: str = "") -> str:
    """Run dmsetup."""
    return run("dmsetup", *words, text=text)


def devices() -> list[str]:
    """Return the names of the tests' devices."""
    return re.findall(r"^(aftl-\S+)\t", dmsetup("ls"), re.M)


def remove_all() -> None:
    """Remove every device of the test."""
    for name in devices():
        dmsetup("remove", name)


def line(store: str | Path, sectors: int, keys: str) -> str:
    """Return a table line."""
    return f"0 {sectors} approxftl {store} {len(keys.split())} {keys}"


def capacity(keys: str) -> int:
    """Return a device's capacity in sectors, from the error message for a too large device."""
    subprocess.run(["dmsetup", "create", "aftl-capacity", "--table", line("none", 2**43, keys)],
                   stderr=subprocess.DEVNULL, check=False)
    told = re.findall(r"but the device has (\d+);", run("dmesg"))
    must(told, f"no device of {keys}: {run('dmesg')[-300:]}")
    return int(told[-1])


def create(name: str, keys: str = SMALL, store: str | Path = "ram") -> Path:
    """Create a device of the full capacity; return its path."""
    dmsetup("create", name, "--table", line(store, capacity(keys), keys))
    return Path("/dev/mapper", name)


def reload(name: str, table: str) -> None:
    """Load a table and make it live."""
    dmsetup("reload", name, text=table)
    dmsetup("resume", name)


@contextmanager
def device(name: str, keys: str = SMALL, store: str | Path = "ram") -> Iterator[Path]:
    """Context manager: a device, removed at the end."""
    path = create(name, keys, store)
    try:
        yield path
    finally:
        dmsetup("remove", "--retry", name)


def format_volume(store: str | Path, shape: str, policy: str = "approxftl") -> None:
    """Format a volume."""
    words = shape.split()
    run(APPROXFTL, "format", "--force", "--policy", policy, store,
        *map("=".join, zip(words[::2], words[1::2], strict=True)))


def ram_disks(count: int, kib: int) -> None:
    """Make the kernel's RAM disks anew, with zeroes."""
    if Path("/sys/module/brd").exists():
        run("rmmod", "brd")
    run("modprobe", "brd", f"rd_nr={count}", f"rd_size={kib}")


def message(name: str, *words: str) -> str:
    """Send a message; return the answer."""
    return dmsetup("message", name, "0", *words)


def counters(name: str) -> dict[str, int]:
    """Return all counters."""
    return {key: int(value) for key, value in map(str.split, message(name, "stats").splitlines())}


# File systems


def kernel_has(module: str) -> bool:
    """Load a module; return whether the kernel has it."""
    return not subprocess.run(["modprobe", "-q", module], check=False).returncode


def kernel_moves_pages() -> bool:
    """Return whether the kernel has CONFIG_MIGRATION, to tell which data ext4 journals."""
    return " buffer_migrate_folio\n" in Path("/proc/kallsyms").read_text()


class Mount:
    """A file system on a device, as a context manager; remount() reads all of it from flash."""

    def __init__(self, path: str | Path, make: str = EXT4, options: str = "") -> None:
        self.path, self.options = Path(path), options.split()
        self.make = make
        self.place = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="aftl-"))

    def __enter__(self) -> Path:
        self.place.mkdir(exist_ok=True)
        self.place.chmod(0o755)
        if self.make:
            run(*self.make.split(), self.path)
        self.mount()
        return self.place

    def mount(self) -> None:
        """Mount."""
        run("mount", *self.options, self.path, self.place)

    def remount(self) -> None:
        """Unmount and mount."""
        run("umount", self.place)
        self.mount()

    def __exit__(self, *_: object) -> None:
        run("umount", self.place)
        self.place.rmdir()


def as_nobody() -> None:
    """Drop all privileges."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def in_child(action: Callable[..., object], *arguments: object) -> None:
    """Run a function in a child process with its own credentials; fail if it fails."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            action(*arguments)
            code = 0
        except (FailedError, SystemExit, OSError) as why:
            explain(why)
        finally:
            sys.stdout.flush()
            os._exit(code)
    must(os.waitpid(child, 0)[1] == 0, "the child failed")


@contextmanager
def opened(path: str | Path, flags: int = os.O_RDWR) -> Iterator[int]:
    """Context manager: a descriptor of a file, which is created if O_CREAT is among the flags."""
    fd = os.open(path, flags, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def let_everybody_tag() -> None:
    """Let every user open the control node until this test ends."""
    node = Path("/dev/approxftl")
    atexit.register(node.chmod, node.stat().st_mode & 0o777)
    node.chmod(0o666)


def flipped_bits(one: bytes | bytearray, other: bytes | bytearray) -> int:
    """Count the bits that differ."""
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()
