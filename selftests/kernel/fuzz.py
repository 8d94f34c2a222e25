#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fuzz table lines, messages and ioctls with nearly valid inputs, guided by coverage.

Table lines and messages go to a device, ioctls of /dev/approxftl to files on ext4, without
privileges and by root, who also has a second device. descriptions.py has the valid values; the
seeds use each of them once. An input is a list of steps. Fuzzing mutates inputs, and keeps those
that reach new coverage for further mutation. AFTL_FUZZ_SECONDS sets a minimum duration,
AFTL_FUZZ_SEED the random seed. The module must accept each step or refuse it with one of its error
codes; the table that it reports for an accepted line must load and be reported identically. Prints
an input that violates this or taints the kernel.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import random
import struct
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import descriptions
from approx_control import FORMATS
from descriptions import Key
from ktap import (
    SMALL,
    UNIT,
    Mount,
    allow_everybody_to_tag,
    count_random_samples_per_kernel,
    drop_privileges,
    finish_test,
    run_check,
    run_command,
    run_function_in_child,
    temporary_device,
)
from mapper import CREATE, REMOVE, Mapper
from reached import Reached

SEED = 2018
LONG = float(os.environ.get("AFTL_FUZZ_SECONDS") or 0)
STEPS = 8  # most steps of an input
KEPT = 0.8  # share of inputs that mutate a kept one
MIB = 1 << 20
# Error codes that the module or device-mapper itself may return.
ALLOWED = {"EINVAL", "ENOMEM", "EBUSY", "ENXIO", "ENOENT", "ENOSPC", "ERANGE", "ENOTSUP",
           "E2BIG", "EBADF", "EPERM", "EFAULT", "EOVERFLOW", "ENODEV", "ENOTBLK", "EFBIG", "EAGAIN",
           "ENODATA"}
ODD = (0, 1, 2, 3, 7, 8, 63, 64, 65, 4095, UNIT, 65535, 2**20, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
       2**63 - 2, 2**63 - 1, 2**63, 2**64 - UNIT, 2**64 - 1)
WORDS = ("", "0", "1", "-1", "7", "63", "4294967295", "18446744073709551616", "1e-5", "1e-999",
         "0x10", "99.999", "3.5ms", "1KiB", "1EiB", "off", "on", "real", "ram", "none", "op",
         "%s%n", "\u00fc", "x" * 300)
# Small devices for an input's first step, which execute steps quickly. THREE suits any policy.
TWO = ["ram", *SMALL.split()]
THREE = ["ram", "channels", "1", "chips", "1", "bits", "3", "one_shot", "on", "blocks", "80",
         "word_lines", "2", "op", "45", "timing", "off"]

#: The roles of the members of each ioctl's structure, behind its size, in the order of
#: approx_control.FORMATS. The module sets those named "out".
RANGE, QUERY = "fd class flags offset length out zero", "fd offset room count out"
ROLES = (
    7 * "out ", RANGE, RANGE, QUERY, "choice class out text bytes zero",
    "fd class flags offset vectors count out out", RANGE, QUERY,
    "fd offset length room count out out out", "fd choice out", "bytes text", 20 * "out ",
    "fd class carriers out out out out out zero",
)
CALLS = {number: ["size", *roles.split()] for number, roles in zip(FORMATS, ROLES, strict=True)}
#: What a member may hold, besides descriptors and numbers
VALUES = {"class": range(5), "choice": range(2), "flags": range(2), "carriers": (0, 1, 2, 4, 8),
          "count": (0, 1, 2, 4, 100), "bytes": (0, 1, 6, 64), "out": (0,), "zero": (0,)}

Step = list[str]
Input = list[Step]


class BadError(Exception):
    """Raised when the module breaks a rule that the fuzzer checks."""


def read_kernel_taint_mask() -> str:
    """Return the kernel's taint mask."""
    return Path("/proc/sys/kernel/tainted").read_text()


class Subject(ABC):
    """An interface of the module that executes fuzzed steps."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.right = set[str]()  # names that must be accepted at least once
        self.accepted = set[str]()

    @abstractmethod
    def make_seed_inputs(self) -> list[Input]:
        """Return valid inputs that together use each key, message or ioctl of the interface."""

    @abstractmethod
    def draw_random_step(self) -> Step:
        """Return a random step of the interface: a table line, a message, an ioctl or I/O."""

    @abstractmethod
    def mutate_step(self, step: Step) -> Step:
        """Return a copy of a step with a random change."""

    @abstractmethod
    def execute_step(self, step: Step) -> str:
        """Execute a step; return the module's answer."""

    def execute_steps(self, steps: Input) -> list[str]:
        """Execute all steps; return the module's answers."""
        return [self.execute_step(step) for step in steps]

    def execute_and_record_step(self, step: Step, act: Callable[[], object], of: list[str]) -> str:
        """Call the function of a step; return its result; note keys or calls that succeed."""
        try:
            act()
        except OSError as error:
            if (name := errno.errorcode.get(error.errno or 0, "?")) not in ALLOWED:
                raise BadError(f"{' '.join(step)}: {error}") from None
            return f"{of[0]} {name}"
        self.accepted |= self.right.intersection(of)
        return f"{of[0]} accepted"

    def mutate_input(self, steps: Input, others: list[Input]) -> Input:
        steps = [list(step) for step in steps]
        for _ in range(self.draw.choice((1, 1, 2, 3))):
            at = self.draw.randrange(len(steps))
            way = self.draw.random()
            if way < 0.6:
                steps[at] = self.mutate_step(steps[at])
            elif way < 0.75:
                steps.insert(at + 1, self.draw_random_step())
            elif way < 0.85 and len(steps) > 1:
                del steps[at]
            else:
                other = self.draw.choice(others)
                steps[at + 1 :] = other[self.draw.randrange(len(other)) :]
        return steps[:STEPS]

    def mutate_words_of_step(self, words: Step) -> Step:
        """Mutate a few words of a step regardless of their meaning."""
        words = list(words)
        at = self.draw.randrange(len(words))
        other = self.draw.randrange(len(words))
        way = self.draw.randrange(5)
        if way == 0:
            words[at] = self.draw.choice(WORDS)
        elif way == 1:
            words.insert(at, self.draw.choice(WORDS))
        elif way == 2 and len(words) > 1:
            del words[at]
        elif way == 3:
            words.append(words[at])
        else:
            words[at], words[other] = words[other], words[at]
        return words


class Device(Subject):
    """A device that receives fuzzed table lines, messages and I/O."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.mapper = Mapper()
        self.keys = descriptions.describe_table_keys()
        self.verbs = descriptions.read_message_words()
        self.suspended = False

    def draw_value_for_table_line_key(self, key: Key) -> str:
        """Return a random value for a key of the table line, mostly a valid one."""
        kinds = ((key.right,), key.others, key.wrong)
        return self.draw.choice(self.draw.choices(kinds, (5, 5, 1))[0])

    def draw_value_for_message_argument(self, word: str) -> str:
        if word == "<duration>":
            return self.draw.choice(("0", "1h", "30d", "36500d", "1"))
        if word == "<key>":
            return self.draw.choice(list(self.keys))
        if word == "<shard>":
            return "0"
        return str(self.draw.choice((0, 1, 2, 3, 63, 64, 255, 256, self.draw.choice(ODD))))

    def draw_message_step(self, verb: tuple[str, ...]) -> Step:
        words = [self.draw_value_for_message_argument(word.strip("[]")) if "<" in word else word
                 for word in verb]
        if verb[1:] == ("<key>", "<value>"):
            words[2] = self.draw_value_for_table_line_key(self.keys[words[1]])
        if verb[0] == "fault" and self.draw.random() < 0.5:
            trigger = self.draw.choice(("write", "read", "time", "program"))
            words += ["after", trigger, self.draw.choice(("0", "1", "9", "300", "1ms"))]
        return ["message", *words]

    def execute_step(self, step: Step) -> str:
        kind, *words = step
        if kind == "line":
            of = ["line", *words[1::2]]
            return self.execute_and_record_step(step, lambda: self.load_table_line(words), of)
        if kind == "message":
            text = " ".join(words).encode()
            of = [" ".join(["message", *words[:1]])]
            return self.execute_and_record_step(step, lambda: self.mapper.send_dm_message(text), of)
        if kind in ("suspend", "resume"):
            return self.execute_and_record_step(
                step, lambda: self.suspend_or_resume(suspended=kind == "suspend"), [kind])
        return self.execute_and_record_step(step, self.write_and_read_device, [kind])

    def suspend_or_resume(self, *, suspended: bool) -> None:
        """Suspend or resume the device."""
        self.mapper.suspend_or_resume(suspended=suspended)
        self.suspended = suspended

    def load_table_line(self, words: Step) -> None:
        """Load a table and resume; reloading the reported table must not change it."""
        store, colon, number = words[0].partition(":")
        line = " ".join([store, number if colon else str(len(words) - 1), *words[1:]]).encode()
        self.mapper.load_table(line)
        self.suspend_or_resume(suspended=False)
        if (printed := self.mapper.read_live_table()) != self.reload_table_line_of_device(printed):
            raise BadError(f"{line!r}: {printed!r} became {self.mapper.read_live_table()!r}")

    def reload_table_line_of_device(self, line: bytes) -> bytes:
        """Load the table line that the device reported; return the line that it then reports."""
        self.mapper.load_table(line)
        self.suspend_or_resume(suspended=True)
        self.suspend_or_resume(suspended=False)
        return self.mapper.read_live_table()

    def write_and_read_device(self) -> None:
        """Write and read, unless the device is suspended or simulates the time of requests."""
        if self.suspended or b"timing off" not in self.mapper.read_live_table():
            return
        data = mmap.mmap(-1, 64 * UNIT)
        fd = os.open(self.mapper.node, os.O_RDWR | os.O_DIRECT)
        try:
            for _ in range(4):
                at = self.draw.randrange(256) * UNIT
                os.pwritev(fd, [data], at)
                os.preadv(fd, [data], at)
            os.fdatasync(fd)
        except OSError as error:
            # ENODATA: more bits flip than ECC corrects, which the parameters may ask for.
            if error.errno not in (errno.EIO, errno.ENOSPC, errno.ENODATA):
                raise
        finally:
            os.close(fd)

    def execute_steps(self, steps: Input) -> list[str]:
        """Execute fuzzed steps on a device that is created before, and removed afterwards."""
        self.mapper.issue_dm_ioctl(CREATE)
        try:
            return super().execute_steps(steps)
        finally:
            self.mapper.issue_dm_ioctl(REMOVE)
            self.suspended = False


class Lines(Device):
    """Fuzzed table lines of a device."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.right = set(self.keys)

    def make_seed_inputs(self) -> list[Input]:
        """Return table lines that together have each key, and one table line for each policy."""
        pairs = [[key.name, key.right] for key in self.keys.values()]
        lines = [sum(pairs[at : at + 12], ["line", "none"]) for at in range(0, len(pairs), 12)]
        small = [["line", *THREE, "policy", name] for name in self.keys["policy"].others]
        return [[line] for line in lines] + [[line, ["press"]] for line in small]

    def draw_random_step(self) -> Step:
        """Return an I/O step, or the table line of a small device with a few random parameters."""
        if self.draw.random() < 0.3:
            return ["press"]
        keys = self.draw.sample(list(self.keys.values()), self.draw.randrange(6))
        shape = self.draw.choice((TWO, THREE))
        more = [[key.name, self.draw_value_for_table_line_key(key)] for key in keys
                if key.name not in shape]
        return sum(more, ["line", *shape])

    def mutate_step(self, step: Step) -> Step:
        """Mutate a table line: a value, the count of feature arguments, or the backing store."""
        if step[0] != "line":
            return self.draw_random_step()
        way = self.draw.random()
        if way < 0.6:
            places = [at for at in range(3, len(step), 2) if step[at - 1] in self.keys]
            if places:
                step = list(step)
                at = self.draw.choice(places)
                step[at] = self.draw_value_for_table_line_key(self.keys[step[at - 1]])
            return step
        if way < 0.7:
            return ["line", f"ram:{self.draw.choice(WORDS)}", *step[2:]]
        return ["line", *self.mutate_words_of_step(step[1:])]


class Messages(Device):
    """Fuzzed sequences of messages, mixed with I/O."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.right = {f"message {verb[0]}" for verb in self.verbs}

    def make_seed_inputs(self) -> list[Input]:
        """Return inputs with each message to an active and to a suspended device."""
        begin = [["line", *TWO], ["press"]]
        return [[*begin, self.draw_message_step(verb), ["suspend"],
                 self.draw_message_step(verb), ["resume"], ["press"]]
                for verb in self.verbs for _ in range(8 if "<key>" in verb else 1)]

    def draw_random_step(self) -> Step:
        """Return a random step: a message, I/O, suspend or resume."""
        other = self.draw.choice((["press"], ["suspend"], ["resume"]))
        return other if self.draw.random() < 0.3 else self.draw_message_step(
            self.draw.choice(self.verbs))

    def mutate_step(self, step: Step) -> Step:
        """Mutate the arguments of a message; a table line stays as it is."""
        if step[0] == "line":
            return step
        if step[0] != "message" or self.draw.random() < 0.3:
            return self.draw_random_step()
        return ["message", *self.mutate_words_of_step(step[1:])]


def buffer_address(data: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(data))


class Control(Subject):
    """Fuzzed ioctls of /dev/approxftl, with values that suit each member, mixed with file I/O."""

    def __init__(self, draw: random.Random, folder: Path, device: str) -> None:
        super().__init__(draw)
        self.folder = folder
        # Larger than any answer about this test's devices, whatever count an ioctl claims.
        self.room = mmap.mmap(-1, 16 * MIB)
        self.vectors = mmap.mmap(-1, UNIT)
        self.label = mmap.mmap(-1, UNIT)
        self.label[:64] = b"a-name " * 9 + b"!"
        self.file = f"{folder}/fuzz"
        memfd = os.memfd_create("fuzz")
        os.truncate(memfd, MIB)
        fds = {"file": os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600), "memfd": memfd,
               "direct": os.open(self.file, os.O_RDWR | os.O_DIRECT), "pipe": os.pipe()[0],
               "reader": os.open(self.file, os.O_RDONLY), "none": -1, "beyond": 4000,
               "folder": os.open(self.folder, os.O_RDONLY)}
        os.truncate(memfd, MIB)
        os.pwrite(fds["file"], bytes(64 * UNIT), 0)
        if device:
            fds["device"] = os.open(device, os.O_RDWR)
        self.fds = fds
        self.control = self.open_control_device()
        for i, length in enumerate((UNIT, 512, 0, 16 * UNIT, 1, 2**31)):
            struct.pack_into("=QQ", self.vectors, i * 16, buffer_address(self.room), length)
        if device:
            self.right = set(map(str, CALLS))

    def open_control_device(self) -> int:
        """Open the control device anew; closing the old one ends the tagging that it began."""
        return os.open("/dev/approxftl", os.O_RDWR)

    def draw_ioctl_member(self, role: str) -> str:
        """Return a value for a member of an ioctl's structure, such as "fd" or "offset"."""
        if role == "fd":
            return self.draw.choice([*self.fds, "file", "file"])
        if role in VALUES:
            return str(self.draw.choice(VALUES[role]))
        if role in ("offset", "length"):
            some = (0, UNIT, 512, 3 * UNIT, 2**64 - 1, self.draw.choice(ODD))
            return str(self.draw.choice(some))
        return role

    def make_ioctl_step(self, call: int, fd: str = "fd") -> Step:
        """Return a valid ioctl on this file descriptor, or on a random one."""
        return ["ioctl", str(call), *(fd if role == "fd" != fd else self.draw_ioctl_member(role)
                                      for role in CALLS[call])]

    def make_seed_inputs(self) -> list[Input]:
        """Return each ioctl on each descriptor eight times, so that some arguments fit together."""
        return [[self.make_ioctl_step(call, fd), ["write"]] for call in CALLS for fd in self.fds
                for _ in range(8)]

    def draw_random_step(self) -> Step:
        """Return a random step: an ioctl or file I/O."""
        if self.draw.random() < 0.25:
            return [self.draw.choice(("write", "direct", "truncate", "sync", "reopen"))]
        return self.make_ioctl_step(self.draw.choice(list(CALLS)))

    def mutate_step(self, step: Step) -> Step:
        """Mutate one member of an ioctl, mostly to a suitable value."""
        if step[0] != "ioctl":
            return self.draw_random_step()
        roles = CALLS[int(step[1])]
        at = self.draw.randrange(len(roles))
        odd = str(self.draw.choice(ODD)) if self.draw.random() < 0.4 else self.draw_ioctl_member(
            roles[at])
        return [*step[: at + 2], odd, *step[at + 3 :]]

    def find_number_of_ioctl_word(self, text: str, size: int) -> int:
        """Return the number that a word such as "fd" or "size" stands for in a fuzzed ioctl."""
        names = {"room": self.room, "vectors": self.vectors, "text": self.label}
        if text in names:
            return buffer_address(names[text])
        return size if text == "size" else self.fds.get(text) or int(text)

    def execute_ioctl_step(self, step: Step) -> None:
        """Issue an ioctl; zeroes follow its structure, in case the size is too large."""
        form = FORMATS[int(step[1])]
        values = (self.find_number_of_ioctl_word(text, form.size) for text in step[2:])
        fitted = [(value + 2**31) % 2**32 - 2**31 if letter == "i" else
                  value % 2 ** (32 if letter == "I" else 64)
                  for value, letter in zip(values, form.format[1:], strict=True)]
        argument = bytearray(form.pack(*fitted).ljust(256, b"\0"))
        fcntl.ioctl(self.control, int(step[1]), argument)

    def do_fuzzed_file_io(self, kind: str) -> None:
        """Do I/O on a fuzzed file, or reopen the control device."""
        at = self.draw.randrange(16) * UNIT
        if kind == "write":
            os.pwrite(self.fds["file"], bytes(UNIT), at)
        elif kind == "direct":
            os.pwritev(self.fds["direct"], [memoryview(self.room)[: 4 * UNIT]], at)
        elif kind == "truncate":
            os.truncate(self.file, at)
        elif kind == "sync":
            os.fsync(self.fds["file"])
        else:
            os.close(self.control)
            self.control = self.open_control_device()

    def execute_step(self, step: Step) -> str:
        if step[0] == "ioctl":
            return self.execute_and_record_step(step, lambda: self.execute_ioctl_step(step),
                                                [step[1]])
        return self.execute_and_record_step(step, lambda: self.do_fuzzed_file_io(step[0]), step)


class Fuzzer:
    """A fuzzing loop: first the seed inputs, then mutations."""

    def __init__(self, subject: Subject, reached: Reached, draw: random.Random) -> None:
        self.subject = subject
        self.reached = reached
        self.draw = draw
        self.kept: list[Input] = []
        self.said = Counter[str]()
        self.taint = read_kernel_taint_mask()

    def try_fuzzing_input(self, steps: Input) -> None:
        """Execute an input; keep it if it reaches new coverage."""
        try:
            answers = self.subject.execute_steps(steps)
            if read_kernel_taint_mask() != self.taint:
                raise BadError("the kernel complains")
        except (BadError, OSError) as error:
            raise SystemExit(f"# {error}, after\n" + "\n".join(f"#   {s}" for s in steps)) from None
        self.said.update(answer.rpartition(" ")[2] for answer in answers)
        if self.reached.count_newly_covered_items(answers):
            self.kept.append(steps)

    def make_next_input(self) -> Input:
        """Return a mutation of a kept input or of a seed."""
        steps = self.draw.choice(self.kept)
        if self.draw.random() > KEPT:
            steps = self.draw.choice(self.subject.make_seed_inputs())
        return self.subject.mutate_input(steps, self.kept)

    def run_fuzzing_inputs(self, number: int) -> int:
        """Execute at least NUMBER inputs, for at least AFTL_FUZZ_SECONDS; return how many."""
        until = time.monotonic() + LONG
        tried = 0
        for steps in self.subject.make_seed_inputs():
            self.try_fuzzing_input(steps)
            tried += 1
        while tried < number or time.monotonic() < until:
            self.try_fuzzing_input(self.make_next_input())
            tried += 1
        return tried

    def check_percentage_of_accepted_steps(self) -> None:
        """Require that each key, message or ioctl, and 5 to 95 % of all steps, were accepted."""
        if missing := self.subject.right - self.subject.accepted:
            raise SystemExit(f"# never accepted: {' '.join(sorted(missing))}")
        every = self.said.total()
        if not every < self.said["accepted"] * 20 < every * 19:
            raise SystemExit("# they are not nearly right")


def fuzz_interface(kind: type[Subject], number: int, *arguments: object,
                   privileged: bool = True) -> None:
    """Fuzz an interface with at least NUMBER inputs."""
    draw = random.Random(f"{os.environ.get('AFTL_FUZZ_SEED') or SEED} "
                         f"{os.environ.get('AFTL_TURN', '')} {os.environ.get('AFTL_PHASE', '')}")
    reached = Reached()
    if not privileged:
        drop_privileges()
    fuzzer = Fuzzer(kind(draw, *arguments), reached, draw)
    begun = time.monotonic()
    tried = fuzzer.run_fuzzing_inputs(number)
    print(f"# {tried} inputs in {time.monotonic() - begun:.0f} s:",
          ", ".join(f"{word} {count}" for word, count in fuzzer.said.most_common()))
    print(f"# {len(fuzzer.kept)} kept, for {reached}")
    fuzzer.check_percentage_of_accepted_steps()


def fuzz_ioctls(action: Callable[..., None], of: str) -> None:
    """Fuzz ioctls on files of ext4, and on a second approxftl device if one is named."""
    with temporary_device("aftl-place",
                          f"{SMALL} errors off") as path, temporary_device("aftl-raw"), \
            Mount(path) as place:
        place.chmod(0o777)
        run_function_in_child(action, count_random_samples_per_kernel(900), place, of)


def main() -> None:
    """Run all test points, each in a process of its own, whose coverage KCOV measures."""
    if not os.path.ismount("/sys/kernel/debug"):
        run_command("mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
    allow_everybody_to_tag()
    run_check("fuzzed table lines", run_function_in_child, fuzz_interface, Lines,
              count_random_samples_per_kernel(150))
    run_check("fuzzed messages", run_function_in_child, fuzz_interface, Messages,
              count_random_samples_per_kernel(200))
    run_check("fuzzed ioctls", fuzz_ioctls, partial(fuzz_interface, Control, privileged=False), "")
    run_check("fuzzed ioctls by root", fuzz_ioctls, partial(fuzz_interface, Control),
              "/dev/mapper/aftl-raw")
    finish_test()


if __name__ == "__main__":
    main()
