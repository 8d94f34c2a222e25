# SPDX-License-Identifier: GPL-2.0-only
"""Test points, devices and file systems for tests in Python, as lib.sh and turns.sh for shell.

A test calls run_check() or run_selected_check() for each point and ends with finish_test(). A point
fails when its function raises FailedError, SystemExit or OSError.
"""

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
    """Raised when a test point fails; the text is the reason."""


def require(condition: object, reason: str) -> None:
    """Fail the present test point unless a condition holds."""
    if not condition:
        raise FailedError(reason)


def run_command(*words: str | Path, text: str = "") -> str:
    """Run a command with TEXT as input; return its output, or raise FailedError with the output."""
    done = subprocess.run([str(word) for word in words], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    require(done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}: {done.stdout}")
    return done.stdout


# Points


def parse_part_and_total_of_variable(variable: str) -> tuple[int, int]:
    """Return both numbers of AFTL_TURN or AFTL_PHASE: 2/3 is the second of 3 kernels or commits."""
    part, _, parts = (os.environ.get(variable) or "1/1").partition("/")
    return int(part), int(parts)


TURN, KERNELS = parse_part_and_total_of_variable("AFTL_TURN")
PHASE, PHASES = parse_part_and_total_of_variable("AFTL_PHASE")
counts = {"points": 0, "failures": 0, "wanted": 0, "turns": 0, "moves": 0}


def print_test_point(verdict: str, name: str) -> None:
    """Print the TAP line of a test point."""
    if not counts["points"]:
        print("KTAP version 1")
    counts["points"] += 1
    counts["failures"] += verdict != "ok"
    print(f"{verdict} {counts['points']} - {name}", flush=True)


def skip_test_point(name: str, reason: str) -> None:
    """Print the TAP line of a test point that cannot run in this kernel."""
    print_test_point("ok", f"{name} # SKIP {reason}")


def print_error(why: BaseException) -> None:
    """Print the text of an exception, after the texts of its causes."""
    if why.__context__:
        print_error(why.__context__)
    print("".join(f"# {line.removeprefix('# ')}\n" for line in str(why).splitlines()), end="")


def run_check(name: str, action: Callable[..., object], *arguments: object) -> None:
    """Run a test point if KTAP_POINTS selects it."""
    if os.environ.get("KTAP_POINTS", "") not in name:
        return
    if not counts["wanted"]:
        run_command("dmesg", "-C")
    counts["wanted"] += 1
    try:
        action(*arguments)
    except (FailedError, AssertionError, SystemExit, OSError) as why:
        print_error(why)
        print_test_point("not ok", name)
    else:
        print_test_point("ok", name)


def is_check_selected(name: str) -> bool:
    """Return whether AFTL_TURN and AFTL_PHASE select the next kernel-independent test point."""
    counts["turns"] += 1
    before = counts["turns"] - 1
    if before // KERNELS % PHASES != PHASE - 1:
        print(f"# {name}: left to another commit", flush=True)
    elif (counts["turns"] - TURN) % KERNELS:
        print(f"# {name}: left to another kernel", flush=True)
    else:
        return True
    return False


def run_selected_check(name: str, action: Callable[..., object], *arguments: object) -> None:
    """Run a kernel-independent test point if AFTL_TURN and AFTL_PHASE select it."""
    if is_check_selected(name):
        run_check(name, action, *arguments)


def run_moving_check(name: str, action: Callable[..., object], *arguments: object) -> None:
    """Run a test point on one kernel, and on another kernel in the next commit."""
    counts["moves"] += 1
    if PHASES > 1 and (counts["moves"] + PHASE - TURN) % KERNELS:
        print(f"# {name}: left to another kernel", flush=True)
    else:
        run_check(name, action, *arguments)


def set_processor_count(number: int) -> None:
    """Give the guest 1 or 2 processors, if several kernels share the test points (AFTL_TURN)."""
    second = Path("/sys/devices/system/cpu/cpu1/online")
    if os.environ.get("AFTL_TURN") and second.exists():
        second.write_text(str(number - 1))


def call_function_on_two_processors(action: Callable[..., None], *arguments: object) -> None:
    set_processor_count(2)
    try:
        action(*arguments)
    finally:
        set_processor_count(1)


def count_random_samples_per_kernel(number: int) -> int:
    """Return how many of NUMBER random test cases this kernel runs; other kernels run others.

    It is half of the kernel's share if the commits divide the test points, too.
    """
    return -(-number // KERNELS) // (1 + (PHASES > 1))


def finish_test() -> NoReturn:
    """Remove the test's devices, check the kernel's log, print the plan and exit."""
    run_check("every device can be removed", remove_all_devices)
    script = '. userspace/lab/complaints.sh; dmesg | grep -E "$complaints"'
    said = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    run_check("the kernel's log is clean", require, not said.stdout, said.stdout)
    if not counts["wanted"]:
        print_test_point("not ok", f"no point has '{os.environ['KTAP_POINTS']}' in its name")
    print(f"1..{counts['points']}")
    sys.exit(counts["failures"] > 0)


# Devices


def run_dmsetup(*words: str, text: str = "") -> str:
    return run_command("dmsetup", *words, text=text)


def remove_all_devices() -> None:
    for name in re.findall(r"^(aftl-\S+)\t", run_dmsetup("ls"), re.M):
        run_dmsetup("remove", name)


def table_line(store: str | Path, sectors: int, keys: str) -> str:
    return f"0 {sectors} approxftl {store} {len(keys.split())} {keys}"


def capacity_in_sectors(keys: str) -> int:
    """Return a device's capacity in sectors from the kernel's error for a too large table."""
    subprocess.run(["dmsetup", "create", "aftl-capacity", "--table",
                    table_line("none", 2**43, keys)],
                   stderr=subprocess.DEVNULL, check=False)
    told = re.findall(r"but the device has (\d+);", run_command("dmesg"))
    require(told, f"no device of {keys}: {run_command('dmesg')[-300:]}")
    return int(told[-1])


def create_device(name: str, keys: str = SMALL, store: str | Path = "ram") -> Path:
    """Create a device that uses the whole capacity of its flash; return its path."""
    run_dmsetup("create", name, "--table", table_line(store, capacity_in_sectors(keys), keys))
    return Path("/dev/mapper", name)


def reload_device(name: str, table: str) -> None:
    """Load a table into a device and resume the device with it."""
    run_dmsetup("reload", name, text=table)
    run_dmsetup("resume", name)


@contextmanager
def temporary_device(name: str, keys: str = SMALL, store: str | Path = "ram") -> Iterator[Path]:
    """Context manager: a device, which is removed at the end."""
    path = create_device(name, keys, store)
    try:
        yield path
    finally:
        run_dmsetup("remove", "--retry", name)


def format_volume(store: str | Path, shape: str, policy: str = "approxftl") -> None:
    words = shape.split()
    run_command(APPROXFTL, "format", "--force", "--policy", policy, store,
                *map("=".join, zip(words[::2], words[1::2], strict=True)))


def make_ram_disks(count: int, kib: int) -> None:
    """Make the kernel's RAM disks anew, with zeroes."""
    if Path("/sys/module/brd").exists():
        run_command("rmmod", "brd")
    run_command("modprobe", "brd", f"rd_nr={count}", f"rd_size={kib}")


def send_dm_message(name: str, *words: str) -> str:
    """Send a message to a device; return the answer."""
    return run_dmsetup("message", name, "0", *words)


def read_counters(name: str) -> dict[str, int]:
    """Return all counters of a device."""
    return {key: int(value)
            for key, value in map(str.split, send_dm_message(name, "stats").splitlines())}


# File systems


def has_kernel_module(module: str) -> bool:
    """Load a module; return whether the kernel has it."""
    return not subprocess.run(["modprobe", "-q", module], check=False).returncode


def has_page_migration() -> bool:
    """Return whether the kernel has CONFIG_MIGRATION, by which the module detects data=journal."""
    return " buffer_migrate_folio\n" in Path("/proc/kallsyms").read_text()


class Mount:
    """Context manager: a mounted file system; after remount_file_system() reads come from flash."""

    def __init__(self, path: str | Path, make: str = EXT4, options: str = "") -> None:
        self.path, self.options = Path(path), options.split()
        self.make = make
        self.place = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="aftl-"))

    def __enter__(self) -> Path:
        self.place.mkdir(exist_ok=True)
        self.place.chmod(0o755)
        if self.make:
            run_command(*self.make.split(), self.path)
        self.mount_file_system()
        return self.place

    def mount_file_system(self) -> None:
        """Mount the file system."""
        run_command("mount", *self.options, self.path, self.place)

    def remount_file_system(self) -> None:
        """Unmount and mount the file system, so that reads come from flash."""
        run_command("umount", self.place)
        self.mount_file_system()

    def __exit__(self, *_: object) -> None:
        run_command("umount", self.place)
        self.place.rmdir()


def drop_privileges() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def run_function_in_child(action: Callable[..., object], *arguments: object) -> None:
    """Run a function in a child process with other credentials; fail if the function fails."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            action(*arguments)
            code = 0
        except (FailedError, SystemExit, OSError) as why:
            print_error(why)
        finally:
            sys.stdout.flush()
            os._exit(code)
    require(os.waitpid(child, 0)[1] == 0, "the child failed")


@contextmanager
def opened_file(path: str | Path, flags: int = os.O_RDWR) -> Iterator[int]:
    """Context manager: a descriptor of a file, which is created if O_CREAT is among the flags."""
    fd = os.open(path, flags, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def allow_everybody_to_tag() -> None:
    """Context manager: every user may open the control node /dev/approxftl."""
    node = Path("/dev/approxftl")
    atexit.register(node.chmod, node.stat().st_mode & 0o777)
    node.chmod(0o666)


def count_flipped_bits(one: bytes | bytearray, other: bytes | bytearray) -> int:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()
