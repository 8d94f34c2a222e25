#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stress a device with a load; a random seed chooses its backing device and events such as faults.

torture.py                       all test points; AFTL_TORTURE_SECONDS=N: scenarios for N seconds,
                                 with seeds from AFTL_TORTURE_SEED on
torture.py SEED [KEY=VALUE]...   one scenario; KEY=VALUE overrides a field of Scenario

Prints each scenario as a command that repeats it. A hang prints the kernel's stacks, leaves the
device behind and ends the test. It checks that

- no block holds another's data, or older data than completed (after power failure: flushed) ones
- no request fails unless the medium does
- nothing takes longer than AFTL_TORTURE_PATIENCE seconds
- the audits of the device and of its volume find no error
"""

import ctypes
import mmap
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from ktap import (
    APPROXFTL,
    BUILD,
    FailedError,
    capacity_in_sectors,
    finish_test,
    format_volume,
    has_kernel_module,
    is_check_selected,
    make_ram_disks,
    print_test_point,
    run_check,
    set_processor_count,
    skip_test_point,
)

TORTURE = str(BUILD / "approxftl-torture")
PATIENCE = float(os.environ.get("AFTL_TORTURE_PATIENCE") or 600)
NAME = "aftl-torture"
MEDIUM = "aftl-medium"
BELOW = "aftl-below"
RAM = "/dev/ram0"
NVME = "/dev/nvme0n1"
SECTORS = 262144  # size of the medium
FLIPS = "512"  # most flipped bits of an approximate unit
LEAST_EVENTS = 3  # at least, even on a slow machine

# The controller's time in "wide" delays completions beyond the end of the flash operation.
SHAPES = {
    "tiny": "channels 1 chips 1 blocks 32 word_lines 2 op 45",
    "safe": "channels 1 chips 2 blocks 64 word_lines 2 op 40",
    "small": "channels 1 chips 2 blocks 64 word_lines 2 op 35",
    "wide": "channels 2 chips 2 blocks 64 word_lines 2 op 35 controller 100us ecc 20us",
    "mapped": "channels 1 chips 2 blocks 256 word_lines 2 op 40 page 4KiB map_cache 16KiB",
    "tlc": "channels 1 chips 1 bits 3 one_shot on blocks 80 word_lines 2 op 45",
    "shared": "channels 4 chips 1 blocks 64 word_lines 2 op 40",
}
SHARDS = (1, 2, 4)  # of the shape "shared"; a device in memory may change it
MEDIA = ("ram", "linear", "slow", "failing", "bad", "ours", "nvme")
EVENTS = ("pause", "noflush", "reload", "policy", "message", "medium", "reopen", "kill", "cut")


class CommandError(FailedError):
    """Raised when a command fails, which a failing backing device may cause."""


class HangError(Exception):
    """Raised when an operation did not end in time."""


def describe_command(arguments: tuple[str, ...], output: str) -> str:
    """Return a command and its output for an error message."""
    return f"{' '.join(arguments)}: {output.strip() or 'failed'}"


def run_command(*arguments: str, text: str = "", tolerant: bool = False) -> str:
    """Run a command within PATIENCE seconds and return its output."""
    child = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = child.communicate(text, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise HangError(f"{' '.join(arguments)} has not ended after {PATIENCE:g} s") from None
    if child.returncode and not tolerant:
        raise CommandError(describe_command(arguments, output) + read_last_kernel_messages())
    return output


def wait_for_condition(condition: Callable[[], object], late: str, pause: float = 0.01) -> None:
    """Wait for a condition; raise an error with this message after PATIENCE seconds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise HangError(late)
        time.sleep(pause)


def read_last_kernel_messages() -> str:
    """Return the last kernel log lines of the module, as the end of an error message."""
    lines = [line for line in run_command("dmesg", tolerant=True).splitlines()
             if "approxftl" in line]
    return "".join(f"; {line}" for line in lines[-2:])


@dataclass
class Scenario:
    """The random choices that make up a run of the torture test."""

    seed: int
    media: str = ""
    shape: str = ""
    policy: str = ""
    timing: str = ""
    unit: str = ""
    buffer: str = ""
    tag_all: str = ""
    shards: int = 0
    depth: int = 0
    most: str = ""
    delays: str = ""
    events: str = ""
    pace: float = 0.0
    seconds: float = 2.0

    def choose_random_scenario_fields(self, draw: random.Random) -> None:
        """Draw random values for the fields that the command line left unset."""
        drawn = {
            "shape": (shape := self.shape or draw.choice(sorted(SHAPES))),
            "media": draw.choice([m for m in MEDIA if m != "nvme" or has_nvme_drive()]),
            "shards": draw.choice(SHARDS) if shape == "shared" else 0,
            "policy": draw.choice(list_policies_for_device_type(shape)),
            "timing": draw.choice(("real", "off", "scale:3")),
            "unit": draw.choice(("512", "1KiB", "2KiB", "4KiB", "4KiB")),
            "buffer": draw.choice(("0", "64KiB", "256KiB", "8MiB")),
            "tag_all": draw.choice(("precise", "precise", "approximate")),
            "depth": draw.choice((1, 8, 64, 128)),
            "most": draw.choice(("4KiB", "64KiB", "256KiB", "1MiB")),
            "delays": " ".join(str(draw.choice((0, 0, 1, 5, 50))) for _ in range(3)),
            "events": ",".join(draw.sample(EVENTS, draw.randint(1, len(EVENTS)))),
            "pace": draw.choice((0.02, 0.1, 0.4)),
        }
        for key, value in drawn.items():
            if not getattr(self, key):
                setattr(self, key, value)

    @property
    def may_medium_fail(self) -> bool:
        return self.media in ("failing", "bad")

    @property
    def volume_sectors(self) -> int:
        """Return how many sectors of the backing device the volume uses, at most."""
        return SECTORS

    @property
    def is_backing_device_approxftl(self) -> bool:
        """Return whether the backing device is another approxftl device."""
        return self.media == "ours"

    @property
    def build_command_of_load_program(self) -> list[str]:
        """Return the program that loads the device, and its options for this device."""
        flips = ["--flips", FLIPS] if self.tag_all == "approximate" else []
        return [TORTURE, *flips]

    def list_suitable_policies(self) -> list[str]:
        """Return the policies that suit the device under test."""
        return list_policies_for_device_type(self.shape)

    def build_volume_parameters(self) -> str:
        safe = f" buffer {self.buffer} buffer_safe on" if self.shape == "safe" else ""
        shards = f" shards {self.shards}" if self.shards else ""
        return f"{SHAPES[self.shape]} unit {self.unit}{safe}{shards}"

    def build_table_parameters(self) -> str:
        buffer = "" if self.shape == "safe" else f"buffer {self.buffer} "
        return (f"{self.build_volume_parameters()} {buffer}policy {self.policy} "
                f"timing {self.timing} tag_all {self.tag_all}")

    def build_command_to_repeat_run(self) -> str:
        words = [f"{f.name}={getattr(self, f.name)}" for f in fields(self)
                 if f.name != "seed" and getattr(self, f.name)]
        return f"selftests/kernel/torture.py {self.seed} {shlex.join(words)}"


def list_policies_for_device_type(shape: str) -> list[str]:
    """Return the policies that suit a device of a given shape, such as "tiny" or "tlc"."""
    if shape in ("tiny", "mapped"):
        return ["baseline"]
    if shape != "tlc":
        return ["baseline", "approxftl"]
    return [line.split()[0] for line in run_command(APPROXFTL, "policies").splitlines()]


def has_nvme_drive() -> bool:
    """Return whether there is an NVMe drive of sufficient size."""
    return Path(NVME).exists() and int(run_command("blockdev", "--getsz", NVME)) >= SECTORS


class Medium:
    """The backing device, which can fail, slow down or lose power while in use."""

    def __init__(self, scenario: Scenario, draw: random.Random) -> None:
        self.scenario = scenario
        self.draw = draw
        self.base = NVME if scenario.media == "nvme" else RAM
        self.broken = False

    def make_medium(self) -> str:
        """Create the backing device; return its path."""
        if self.scenario.media == "ram":
            return "ram"
        make_ram_disks(1, SECTORS)
        for module in ("dm_delay", "dm_flakey"):
            run_command("modprobe", module)
        if self.scenario.is_backing_device_approxftl:
            keys = "blocks 128 word_lines 8 op 30 unit 512 timing off"
            run_command("dmsetup", "create", BELOW, "--table",
                        f"0 {SECTORS} approxftl ram {len(keys.split())} {keys}")
            self.base = f"/dev/mapper/{BELOW}"
        run_command("dmsetup", "create", MEDIUM, "--table", self.make_dm_table_of_working_medium())
        return f"/dev/mapper/{MEDIUM}"

    def make_dm_table_of_working_medium(self) -> str:
        """Return the dm table of a working backing device, fast or slow."""
        if self.scenario.media != "slow":
            return f"0 {SECTORS} linear {self.base} 0"
        reads, writes, flushes = self.scenario.delays.split()
        return (f"0 {SECTORS} delay {self.base} 0 {reads} {self.base} 0 {writes} "
                f"{self.base} 0 {flushes}")

    def replace_medium_table(self, table: str) -> None:
        """Replace the dm table of the backing device, by which pending requests continue."""
        run_command("dmsetup", "reload", MEDIUM, text=table)
        run_command("dmsetup", "suspend", "--noflush", "--nolockfs", MEDIUM)
        run_command("dmsetup", "resume", MEDIUM)

    def restore_dm_table_of_working_medium(self) -> None:
        """Restore the dm table with which the backing device works."""
        self.broken = False
        self.replace_medium_table(self.make_dm_table_of_working_medium())

    def make_medium_drop_writes(self) -> None:
        """Make the backing device drop all further writes."""
        self.replace_medium_table(f"0 {SECTORS} flakey {self.base} 0 0 3600 1 drop_writes")

    def change_medium_at_random(self) -> None:
        """Change the delays of the backing device, make it fail, or repair it."""
        if self.scenario.media == "slow":
            self.scenario.delays = " ".join(str(self.draw.randint(0, 50)) for _ in range(3))
            self.restore_dm_table_of_working_medium()
        elif self.broken:
            self.restore_dm_table_of_working_medium()
        elif self.scenario.media in ("failing", "bad"):
            self.broken = True
            self.replace_medium_table(
                self.make_dm_table_of_failing_medium() if self.scenario.media == "failing"
                else self.make_dm_table_with_failing_sectors())

    def make_dm_table_of_failing_medium(self) -> str:
        """Return a dm table with which the backing device fails all requests, writes or reads."""
        ways = ["error_writes", "error"]
        if not run_command("dmsetup", "targets").count("flakey           v1.4"):
            ways.append("error_reads")
        way = self.draw.choice(ways)
        if way == "error":
            return f"0 {SECTORS} error"
        return f"0 {SECTORS} flakey {self.base} 0 0 3600 1 {way}"

    def make_dm_table_with_failing_sectors(self) -> str:
        """Return a dm table with which a few small ranges of the backing device fail."""
        at = 0
        lines = []
        for start in sorted(self.draw.sample(range(8, self.scenario.volume_sectors - 64, 64), 20)):
            lines.append(f"{at} {start - at} linear {self.base} {at}")
            lines.append(f"{start} 8 error")
            at = start + 8
        return "\n".join([*lines, f"{at} {SECTORS - at} linear {self.base} {at}"])

    def remove_medium(self) -> None:
        """Remove the backing device and the devices below it."""
        for name in (MEDIUM, BELOW):
            if Path(f"/dev/mapper/{name}").exists():
                run_command("dmsetup", "remove", name)
        if Path("/sys/module/brd").exists():
            run_command("rmmod", "brd")


@dataclass
class Load:
    """The load: the program approxftl-torture, which writes and verifies."""

    scenario: Scenario
    folder: Path
    begun: bool = False
    child: subprocess.Popen[str] | None = None
    arguments: list[str] = field(default_factory=list)

    def start_torture_load(self, *options: str) -> None:
        """Start the load; with a saved state, resume it."""
        tolerant = ["--errors"] if self.scenario.may_medium_fail else []
        self.arguments = [*self.scenario.build_command_of_load_program, "--state",
                          str(self.folder / "state"),
                          "--seed", str(self.scenario.seed), "--time", "10h", "--depth",
                          str(self.scenario.depth), "--most", self.scenario.most, "--discard",
                          "zeroes", "--patience", f"{PATIENCE:g}s", *tolerant,
                          "--resume" if self.begun else "--overwrite", *options,
                          f"/dev/mapper/{NAME}"]
        self.begun = True
        with (self.folder / "load").open("w") as output:
            self.child = subprocess.Popen(self.arguments, stdout=output,
                                          stderr=subprocess.STDOUT, text=True)
        self.wait_until_load_ready()

    def wait_until_load_ready(self) -> None:
        """Wait until the load has loaded its state and has set a handler for SIGUSR1."""
        child = self.child
        assert child

        def is_load_ready() -> bool:
            text = Path(f"/proc/{child.pid}/status").read_text()
            caught = re.search(r"^SigCgt:\s*(\w+)", text, re.M)
            handled = int(caught[1], 16) >> (signal.SIGUSR1 - 1) & 1 if caught else 0
            return bool(handled) or child.poll() is not None

        wait_for_condition(is_load_ready, "the load does not begin")

    def check_load_running(self) -> None:
        """Fail the test point if the load has ended."""
        if self.child and self.child.poll() is not None:
            self.check_load_result()
            raise FailedError("the load has ended by itself")

    def check_load_result(self) -> None:
        """Require that the ended load has found no error, by its output and exit status."""
        assert self.child
        code = self.child.returncode
        output = (self.folder / "load").read_text().strip()
        self.child = None
        if "no answer for" in output:
            raise HangError(output)
        if code not in (0, 130, -signal.SIGKILL):
            raise FailedError(output + read_last_kernel_messages())

    def stop_load(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the load and evaluate its result."""
        if not self.child:
            return
        self.child.send_signal(number)
        try:
            self.child.wait(PATIENCE * 1.5)
        except subprocess.TimeoutExpired:
            raise HangError(f"the load does not end on {number.name}") from None
        self.check_load_result()

    def announce_power_failure(self) -> None:
        """Announce a power failure to the load, and wait until the load acknowledges it."""
        assert self.child
        self.child.send_signal(signal.SIGUSR1)
        wait_for_condition(lambda: self.read_ledger_field(36), "the load does not hear SIGUSR1")

    def read_ledger_field(self, offset: int) -> int:
        """Return a field of struct ledger_header of the running load's state file."""
        self.check_load_running()
        with (self.folder / "state").open("rb") as file:
            file.seek(offset)
            return int.from_bytes(file.read(4), "little")

    def wait_until_device_filled(self) -> None:
        """Wait until the load has written each unit of the device."""
        wait_for_condition(lambda: self.read_ledger_field(40), "the load does not fill the device",
                           0.1)

    def verify_all_blocks(self, *options: str) -> None:
        """Let approxftl torture verify every block of the device."""
        self.start_torture_load("--verify", *options)
        assert self.child
        try:
            self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise HangError("the last check does not end") from None
        self.check_load_result()


class Device:
    """The device under test with its load."""

    def __init__(self, scenario: Scenario, draw: random.Random, folder: Path) -> None:
        self.scenario = scenario
        self.draw = draw
        self.medium = Medium(scenario, draw)
        self.load = Load(scenario, folder)
        self.store = ""
        self.sectors = 0

    @property
    def is_device_persistent(self) -> bool:
        """Return whether the device keeps its data when it is removed."""
        return self.store != "ram"

    def make_device_table(self) -> str:
        keys = self.scenario.build_table_parameters()
        return f"0 {self.sectors} approxftl {self.store} {len(keys.split())} {keys}"

    def open_device(self) -> None:
        run_command("dmsetup", "create", NAME, "--table", self.make_device_table())

    def close_device(self) -> None:
        """Remove the device; retry while a killed program still holds it."""
        self.wait_until_device_closed()
        run_command("dmsetup", "remove", NAME)

    def wait_until_device_closed(self) -> None:
        """Wait until the pending requests of a killed program no longer hold the device."""
        count = ("dmsetup", "info", "-c", "--noheadings", "-o", "open", NAME)
        wait_for_condition(lambda: run_command(*count).strip() == "0", f"{NAME} stays in use", 0.05)

    def send_dm_message(self, *words: str) -> str:
        """Send a message to the device and return the answer."""
        return run_command("dmsetup", "message", NAME, "0", *words).strip()

    # Events

    def suspend_and_audit(self) -> None:
        """Suspend the device, which waits for pending requests, audit its state, and resume."""
        run_command("dmsetup", "suspend", NAME)
        time.sleep(self.draw.choice((0, 0.05)))
        if (books := self.send_dm_message("audit")) != "clean":
            raise FailedError(f"audit: {books}")
        run_command("dmsetup", "resume", NAME)

    def suspend_with_pending_requests(self) -> None:
        """Suspend the device with requests still pending, and resume it."""
        run_command("dmsetup", "suspend", "--noflush", "--nolockfs", NAME)
        time.sleep(self.draw.choice((0, 0.05)))
        run_command("dmsetup", "resume", NAME)

    def reload_device_with_random_timing(self) -> None:
        """Load a table with other timing, buffer size and shards, sometimes with --noflush."""
        self.scenario.timing = self.draw.choice(("real", "off", "scale:2"))
        buffer = self.draw.choice(("0", "128KiB", "4MiB"))
        if self.scenario.shape != "safe":
            self.scenario.buffer = buffer
        if self.scenario.shards and not self.is_device_persistent:
            self.scenario.shards = self.draw.choice(SHARDS)
        self.load_table(noflush=self.draw.random() < 0.3)

    def change_policy(self) -> None:
        """Load a table with another policy."""
        self.scenario.policy = self.draw.choice(self.scenario.list_suitable_policies())
        self.load_table()

    def load_table(self, *, noflush: bool = False) -> None:
        """Replace the table; if unflushed writes may be lost, restart the load around it."""
        if self.may_unflushed_writes_be_lost:
            self.load.stop_load()
        run_command("dmsetup", "reload", NAME, text=self.make_device_table())
        if noflush:
            run_command("dmsetup", "suspend", "--noflush", "--nolockfs", NAME)
        run_command("dmsetup", "resume", NAME)
        if self.may_unflushed_writes_be_lost:
            self.load.start_torture_load(*self.list_load_options_after_lost_writes())

    def send_random_message(self) -> None:
        # Old approximate data have too many errors for the load's limit.
        age = "1d" if self.scenario.tag_all == "precise" else "5min"
        words = self.draw.choice(("stats", "luns", "blocks 0 32", f"age {age}", "gc", "reset",
                                  f"block {self.draw.randrange(32)}", "gc", "fault"))
        if words == "fault":
            # Fail only few blocks, so that enough are left.
            words = f"fault block {self.draw.randrange(2)}"
        self.send_dm_message(*words.split())

    def reopen_device(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the load, recreate the device, resume the load, which must find all its writes."""
        self.load.stop_load(number)
        if self.is_device_persistent:
            self.repair_medium()
            self.close_device()
            self.open_device()
        else:
            self.wait_until_device_closed()
        self.load.start_torture_load(*self.list_load_options_after_lost_writes())

    def kill_load_and_reopen_device(self) -> None:
        """Kill the load, recreate the device, resume the load, which must find completed writes."""
        self.reopen_device(signal.SIGKILL)

    @property
    def may_unflushed_writes_be_lost(self) -> bool:
        """Return whether unflushed writes may be lost because of a failing backing device."""
        return self.scenario.may_medium_fail and self.is_device_persistent

    def list_load_options_after_lost_writes(self) -> list[str]:
        """Return the load's option --power-failed if unflushed writes may be lost, else none."""
        failed = "fail" in run_command("dmsetup", "status", NAME).split()
        return ["--power-failed"] if self.may_unflushed_writes_be_lost and not failed else []

    def fail_power(self) -> None:
        """Emulate a power failure, after which the load must find all flushed writes."""
        if not self.is_device_persistent or self.scenario.may_medium_fail:
            return
        self.load.announce_power_failure()
        self.medium.make_medium_drop_writes()
        time.sleep(self.draw.choice((0, 0.1, 0.5)))
        self.load.stop_load(signal.SIGKILL)
        self.close_device()
        self.medium.restore_dm_table_of_working_medium()
        self.open_device()
        self.load.start_torture_load("--power-failed")

    def repair_medium(self) -> None:
        """Repair the backing device after a failure."""
        if self.medium.broken:
            self.medium.restore_dm_table_of_working_medium()

    def list_possible_events(self) -> dict[str, Callable[[], None]]:
        """Return the events that may happen to the device."""
        return {
            "pause": self.suspend_and_audit, "noflush": self.suspend_with_pending_requests,
            "reload": self.reload_device_with_random_timing, "policy": self.change_policy,
            "message": self.send_random_message, "medium": self.medium.change_medium_at_random,
            "reopen": self.reopen_device, "kill": self.kill_load_and_reopen_device,
            "cut": self.fail_power,
    }

    def cause_random_event(self) -> None:
        """Cause a random event; the load must survive it."""
        name = self.draw.choice(self.scenario.events.split(","))
        if os.environ.get("AFTL_TORTURE_TALK"):
            print(f"# {time.monotonic():.2f} {name}", flush=True)
        try:
            self.list_possible_events()[name]()
        except CommandError:
            if not self.scenario.may_medium_fail:
                raise
            try:
                run_command("dmsetup", "resume", NAME)
            except CommandError:
                self.repair_medium()
                run_command("dmsetup", "resume", NAME)
            if not self.load.child:
                self.load.start_torture_load(*self.list_load_options_after_lost_writes())
        self.load.check_load_running()

    def stop_load_and_verify_all_blocks(self) -> None:
        """Verify all data, once more after reopening the device, and check the volume."""
        self.load.stop_load()
        self.repair_medium()
        if not self.scenario.may_medium_fail:
            self.suspend_and_audit()
        if self.is_device_persistent:
            self.close_device()
            self.open_device()
        self.load.verify_all_blocks(*self.list_load_options_after_lost_writes())
        self.close_device()
        if self.is_device_persistent and self.scenario.media != "bad":
            run_command(APPROXFTL, "check", self.store)
        self.medium.remove_medium()

    def run_scenario(self, draw: random.Random) -> None:
        self.store = self.medium.make_medium()
        self.sectors = min(capacity_in_sectors(replace(self.scenario,
                                                       shards=shards).build_table_parameters())
                           for shards in (SHARDS if self.scenario.shards else (0,)))
        if self.is_device_persistent:
            format_volume(self.store, self.scenario.build_volume_parameters(), self.scenario.policy)
        self.open_device()
        self.load.start_torture_load()
        self.load.wait_until_device_filled()
        until = time.monotonic() + self.scenario.seconds
        events = 0
        while time.monotonic() < until or events < LEAST_EVENTS:
            time.sleep(draw.expovariate(1 / self.scenario.pace))
            self.cause_random_event()
            events += 1
        self.stop_load_and_verify_all_blocks()

    def clean_up_after_error(self) -> None:
        if self.load.child:
            self.load.child.kill()
            self.load.child.wait(PATIENCE)
        for name in (NAME, MEDIUM, BELOW):
            run_command("dmsetup", "remove", "--force", "--retry", name, tolerant=True)
        run_command("rmmod", "brd", tolerant=True)


def print_device_state() -> None:
    """Print the device's table, status and answers to messages, if it still answers."""
    for words in (("table", NAME), ("status", NAME), ("message", NAME, "0", "luns"),
                  ("message", NAME, "0", "stats")):
        try:
            print(re.sub("^", "# ", run_command("dmsetup", *words, tolerant=True), flags=re.M))
        except HangError as hang:
            print(f"# {hang}")


def print_blocked_stacks() -> None:
    """Print the stacks of all tasks in uninterruptible sleep, and the kernel log."""
    print_device_state()
    run_command("dmesg", "-C", tolerant=True)
    Path("/proc/sysrq-trigger").write_text("w")
    for status in Path("/proc").glob("[0-9]*/task/[0-9]*/status"):
        try:
            words = status.read_text()
            if re.search(r"^State:\s+D", words, re.M):
                print(f"# {words.split()[1]} {status.parent.name}")
                print(re.sub("^", "#   ", status.with_name("stack").read_text(), flags=re.M))
        except OSError:
            continue
    print(re.sub("^", "# ", run_command("dmesg", tolerant=True), flags=re.M), flush=True)


def run_random_scenario(scenario: Scenario, kind: type[Device] = Device) -> None:
    draw = random.Random(scenario.seed)
    scenario.choose_random_scenario_fields(draw)
    print(f"# {scenario.build_command_to_repeat_run()}", flush=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="torture-") as folder:
        device = kind(scenario, draw, Path(folder))
        try:
            device.run_scenario(draw)
        except (FailedError, OSError):
            device.clean_up_after_error()
            raise


def parse_scenario(words: list[str]) -> Scenario:
    """Parse the scenario SEED KEY=VALUE... of the command line."""
    scenario = Scenario(int(words[0]))
    for word in words[1:]:
        key, _, value = word.partition("=")
        setattr(scenario, key, type(getattr(scenario, key))(value))
    return scenario


# No memory

UNIT = 4096
LARGE = 64 * UNIT
DATA = 4 << 20
STANDSTILL = 4  # seconds; below the 5 s after which a waiting mempool_alloc() retries


def read_process_status(pid: int) -> dict[str, str]:
    """Return the fields of a process in /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


class Scarcity:
    """A memory shortage: min_free_kbytes reserves all memory; most processes are stopped."""

    def __init__(self) -> None:
        if ctypes.CDLL(None, use_errno=True).mlockall(3):
            raise FailedError("memory cannot be locked")
        Path("/proc/self/oom_score_adj").write_text("-1000")
        # Kernel threads ignore the signals.
        self.others = {int(place.name) for place in Path("/proc").glob("[0-9]*")}
        self.others -= {1, os.getpid()}
        self.knob = os.open("/proc/sys/vm/min_free_kbytes", os.O_RDWR)
        self.usual = os.read(self.knob, 16)
        self.all = str(os.sysconf("SC_PAGE_SIZE") // 1024 * os.sysconf("SC_PHYS_PAGES")).encode()

    def signal_other_processes(self, number: signal.Signals) -> None:
        for pid in self.others:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def are_other_processes_stopped(self) -> bool:
        """Return whether all other processes are stopped and process 1 has no pending signal."""
        for pid in self.others:
            with suppress(FileNotFoundError, ProcessLookupError):
                is_program = Path(f"/proc/{pid}/cmdline").read_bytes() != b""
                if is_program and read_process_status(pid)["State"][0] not in "TZX":
                    return False
        init = read_process_status(1)
        return init["State"][0] == "S" and not int(init["SigPnd"], 16) | int(init["ShdPnd"], 16)

    def begin_memory_shortage(self) -> None:
        """Begin the shortage of memory after process 1 has handled the signals of its stopped
        children: a handler needs a page, and Linux panics if process 1 cannot have one.
        """
        self.signal_other_processes(signal.SIGSTOP)
        until = time.monotonic() + PATIENCE
        while not self.are_other_processes_stopped():
            if time.monotonic() > until:
                self.signal_other_processes(signal.SIGCONT)
                raise FailedError("a process does not stop")
            time.sleep(0.01)
        os.pwrite(self.knob, self.all, 0)

    def end_memory_shortage(self) -> None:
        """End the shortage of memory."""
        os.pwrite(self.knob, self.usual, 0)
        self.signal_other_processes(signal.SIGCONT)


class Writer(threading.Thread):
    """A thread whose small and large writes show whether writes proceed without free memory."""

    def __init__(self, fd: int, data: mmap.mmap) -> None:
        super().__init__(daemon=True)
        self.fd = fd
        self.data = memoryview(data)
        self.gate = threading.Event()
        self.written = 0

    def write_small_and_large_requests(self) -> None:
        for at in range(0, len(self.data), LARGE):
            for size in (UNIT, LARGE):
                os.pwrite(self.fd, self.data[at : at + size], at)
                self.written += size

    def run(self) -> None:
        """Wait until the event is set, then write the data."""
        self.gate.wait()
        self.write_small_and_large_requests()

    def start_writer_and_check_progress(self) -> bool:
        """Start the thread, wait for its end; return False if it stalls for STANDSTILL seconds."""
        self.gate.set()
        before = -1
        while self.is_alive() and before != self.written:
            before = self.written
            self.join(STANDSTILL)
        return not self.is_alive()


def delays_kernel_reuse_of_memory() -> bool:
    """Return whether freed memory waits in the quarantine of KASAN, so that each write allocates.

    Without free memory the kernel then panics.
    """
    return " kasan_quarantine_put\n" in Path("/proc/kallsyms").read_text()


def check_write_without_free_memory(unit: int) -> None:
    """Writes succeed without free memory, because the write buffer programs its data."""
    make_ram_disks(1, 262144)
    run_command("dd", "if=/dev/zero", f"of={RAM}", "bs=1M", "count=256", "oflag=direct")
    shape = f"channels 1 chips 4 blocks 192 word_lines 2 op 25 unit {unit}"
    format_volume(RAM, shape, "baseline")
    keys = f"{shape} policy baseline timing off buffer 8MiB"
    run_command("dmsetup", "create", NAME, "--table",
                f"0 {capacity_in_sectors(keys)} approxftl {RAM} {len(keys.split())} {keys}")
    data = mmap.mmap(-1, DATA)
    fd = os.open(f"/dev/mapper/{NAME}", os.O_RDWR | os.O_DIRECT)
    writer = Writer(fd, data)
    writer.write_small_and_large_requests()  # allocates all that further writes reuse
    for at in range(0, DATA, unit):
        data[at : at + 16] = b"%16d" % at
    writer.start()
    scarcity = Scarcity()
    scarcity.begin_memory_shortage()
    goes_on = writer.start_writer_and_check_progress()
    scarcity.end_memory_shortage()
    writer.join(PATIENCE)
    if writer.is_alive():
        raise HangError("writes do not end")
    if not goes_on:
        raise FailedError("writes wait for pages that are in the write buffer")
    back = mmap.mmap(-1, DATA)
    os.preadv(fd, [back], 0)
    os.close(fd)
    if back[:] != data[:]:
        raise FailedError("other data are read back")
    run_command("dmsetup", "remove", "--retry", NAME)
    run_command("rmmod", "brd")


# Points

#: Name, seed and fields of each scenario.
CHOSEN = (
    ("reads slower than the flash", "5996 media=slow 'delays=5 0 0' timing=real shape=wide "
     "unit=4KiB buffer=0 events=pause depth=64 policy=baseline tag_all=precise most=256KiB "
     "pace=0.4"),
    ("messages beside slow requests", "2813 media=slow 'delays=5 5 20' timing=real shape=wide "
     "unit=4KiB events=message,pause depth=128 policy=baseline tag_all=precise most=64KiB "
     "pace=0.02"),
    ("power failure, units of 512 bytes", "3 media=linear unit=512 buffer=256KiB shape=small "
     "timing=real policy=approxftl tag_all=precise depth=64 most=64KiB events=cut,kill pace=0.1"),
    ("power failure, slow medium", "4 media=slow 'delays=1 5 50' unit=2KiB shape=small timing=off "
     "buffer=8MiB policy=baseline depth=32 most=64KiB events=cut,medium,reopen"),
    ("power failure, cached mapping table", "12 media=linear unit=512 buffer=64KiB shape=mapped "
     "timing=off depth=64 most=64KiB events=cut,reload,message pace=0.1"),
    ("all policies in turn", "5 media=linear shape=tlc timing=off buffer=64KiB "
     "events=policy,reload pace=0.05"),
    ("a medium with occasional errors", "6 media=failing shape=small timing=real "
     "events=medium,reopen,kill"),
    ("unreadable sectors", "7 media=bad shape=small timing=off events=medium,message,pause"),
    ("two shards, four and one", "13 media=ram shape=shared shards=2 timing=real depth=64 "
     "most=256KiB events=reload,noflush,message buffer=256KiB pace=0.1"),
    ("four shards, killed, other policies next", "14 media=ram shape=shared shards=4 timing=off "
     "unit=4KiB depth=128 most=1MiB events=policy,kill,pause,message pace=0.1"),
    ("power failure, two shards", "15 media=linear shape=shared shards=2 unit=4KiB timing=real "
     "buffer=256KiB depth=64 most=256KiB events=cut,reload,noflush,message pace=0.1"),
    ("power failure, persistent write buffer", "8 media=linear unit=4KiB shape=safe timing=off "
     "buffer=256KiB depth=64 most=64KiB events=cut,reload,message pace=0.1"),
)


def exit_after_hang(name: str, hang: HangError) -> None:
    """Print the kernel's stacks and end the test, because a hung device cannot be removed."""
    print(f"# {hang}")
    print_blocked_stacks()
    print_test_point("not ok", name)
    if Path("/run/share/command").exists():
        Path("/proc/sysrq-trigger").write_text("o")
    os._exit(1)


def run_torture_point(name: str, action: Callable[..., None], *arguments: object) -> None:
    """Run a test point of the torture test."""
    try:
        run_check(name, action, *arguments)
    except HangError as hang:
        exit_after_hang(name, hang)


def main() -> None:
    """Run the test points, one scenario, or scenarios with consecutive seeds."""
    set_processor_count(2)
    for module in ("dm_delay", "dm_flakey"):
        if not has_kernel_module(module):
            skip_test_point("torture", f"the kernel does not have {module}")
            finish_test()
    if has_kernel_module("nvme"):
        time.sleep(1)
    if seconds := float(os.environ.get("AFTL_TORTURE_SECONDS") or 0):
        seed = int(os.environ.get("AFTL_TORTURE_SEED") or time.time())
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            run_torture_point(f"seed {seed}", run_random_scenario,
                              Scenario(seed, seconds=seed % 20 + 3))
            seed += 1
        finish_test()
    for name, words in CHOSEN:
        if is_check_selected(name):
            run_torture_point(name, run_random_scenario, parse_scenario(shlex.split(words)))
    for unit in (UNIT, 512):
        name = f"no memory for pages, all data in the write buffer, units of {unit} bytes"
        if is_check_selected(name) and delays_kernel_reuse_of_memory():
            skip_test_point(name, "KASAN delays the reuse of the memory that writes need")
        elif is_check_selected(name):
            run_torture_point(name, check_write_without_free_memory, unit)
    finish_test()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        try:
            run_random_scenario(parse_scenario(sys.argv[1:]))
        except FailedError as wrong:
            sys.exit(f"# {wrong}")
        except HangError as hang:
            exit_after_hang(sys.argv[1], hang)
    else:
        main()
