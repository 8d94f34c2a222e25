# SPDX-License-Identifier: GPL-2.0-only
"""The emulated drives: each has a profile of the core, a policy, and a scale factor of its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GIB = 1 << 30


@dataclass(frozen=True)
class Free:
    """A parameter of a drive's profile that a fit may change: its bounds and its step."""

    name: str
    low: float
    high: float
    step: float
    unit: str = ""

    def __post_init__(self) -> None:
        """Refuse a parameter whose range is empty, or whose step does not fit into the range."""
        if not 0 < self.step <= self.high - self.low:
            raise ValueError(f"{self.name}: {self.low:g} to {self.high:g} by {self.step:g} is no "
                             "range to fit in")

    def format_parameter_value(self, value: float) -> str:
        """Return a parameter's value in the simulator's syntax."""
        return f"{value:.6g}{self.unit}"

    def read_parameter_value_from_result(self, parameters: Mapping[str, Any]) -> float:
        """Return this parameter's value from the parameters that a simulator's result reports."""
        suffix, scale = {"%": ("_percent", 1.0), "us": ("_ns", 1e3), "": ("", 1.0)}[self.unit]
        return float(parameters[self.name + suffix]) / scale


@dataclass(frozen=True)
class Drive:
    """A real drive and its emulation."""

    name: str
    about: str
    capacity: int
    policy: str
    #: Bytes that are erased together; zone sizes scale with it.
    superblock: int
    #: Bytes that the drive writes for each byte of a sequential write; 1 if unknown.
    own_writes: float = 1.0
    #: Tolerance of write amplification, as a share.
    band: float = 0.05
    #: The fitted parameters of the profile; empty if the profile is another drive's.
    free: tuple[Free, ...] = ()
    #: Options that give the device zones, for tables of zone appends; empty if it has none.
    zoned: tuple[str, ...] = ()
    #: Options that replace the profile of this name, to try another profile.
    options: tuple[str, ...] = ()
    #: Tell whether the drive has no profile of its own, so that a fit starts from the generic one.
    generic: bool = False

    def device_options(self) -> tuple[str, ...]:
        """Return the simulator's options for the device, without the policy."""
        return self.options or (f"--profile={self.name}",)

    def copy_drive_with_options(self, *options: str) -> Drive:
        """Return a copy of the drive with more options, which replace those of the same name."""
        found = {option.partition("=")[0]: option for option in (*self.device_options(), *options)}
        return replace(self, options=tuple(found.values()))

    def make_drive_arguments(self) -> tuple[str, ...]:
        """Return the simulator's options for the device and its policy."""
        return (*self.device_options(), f"--policy={self.policy}")


#: Over-provisioning, which includes the few open and free blocks of a die.
SPARE = Free("op", 7, 60, 0.2, "%")
READ = Free("read", 20, 120, 1, "us")
FIRST = Free("read_first", 15, 100, 1, "us")
LAST = Free("read_last", 20, 150, 1, "us")
#: Read time of relocation: planes sense together, so a page takes no longer than alone.
MOVE = Free("read_move", 5, 60, 1, "us")
STEP = Free("suspend_step", 20, 600, 2, "us")
ERASE = Free("erase", 100, 2000, 2, "us")
#: Time for which the controller's processor works on a program: writes of the host wait for it.
PROGRAM_WORK = Free("controller_program", 0, 40, 0.5, "us")
RELOCATION_WORK = Free("controller_relocate", 0, 40, 0.5, "us")
#: Free blocks that idle dies keep: garbage collection of idle times makes reads wait.
IDLE = Free("gc", 1, 30, 0.5, "%")

#: Name of the profile with which a drive is emulated that has no profile.
GENERIC = "generic-drive"
#: Bytes of the generic drive that are erased together.
GENERIC_SUPERBLOCK = int(4.3 * GIB)
#: Largest capacity of a generic drive with 16 dies; a larger drive has 32.
SMALL = 12 * 10**11
#: Policies and victim selectors of generic drives: the families of docs/drives.md, the first to
#: start with.
FAMILIES = (("baseline", "greedy"), ("separated", "cost_benefit"), ("separated", "fifo"))


def make_generic_drive(name: str, capacity: int) -> Drive:
    """Return a drive without profile, of which only the capacity is known."""
    size = () if capacity <= SMALL else ("--chips=4", "--layers=4")
    return Drive(name, f"{name}, {capacity / 1e9:.0f} GB, emulated from {GENERIC}", capacity,
                 FAMILIES[0][0], GENERIC_SUPERBLOCK,
                 free=(SPARE, Free("read", 20, 150, 1, "us"), LAST, MOVE,
                       Free("program", 20, 4000, 10, "us"),
                       Free("controller", 1, 100, 0.2, "us"),
                       Free("controller_vary", 0, 10, 0.1, "us"), STEP, ERASE, IDLE),
                 options=(f"--profile={GENERIC}", *size, f"--victim={FAMILIES[0][1]}"),
                 generic=True)


#: In the order of the report.
DRIVES = (
    Drive("micron-7450-max", "Micron 7450 MAX 800 GB", 800166076416, "baseline",
          int(2.1 * GIB), 1.038, 0.03,
          (SPARE, READ, LAST, MOVE, STEP, ERASE, IDLE, PROGRAM_WORK, RELOCATION_WORK)),
    Drive("solidigm-p5520", "Solidigm D7-P5520 1.92 TB", 1920383410176, "separated",
          int(8.6 * GIB), 1.105,
          free=(SPARE, READ, FIRST, MOVE, STEP, ERASE, IDLE, PROGRAM_WORK, RELOCATION_WORK)),
    Drive("kioxia-cm7r", "Kioxia CM7-R 3.84 TB", 3840755982336, "baseline", int(4.3 * GIB),
          free=(SPARE, READ, FIRST, MOVE, Free("program", 10, 120, 1, "us"), Free("row", 1, 12, 1),
                ERASE)),
    Drive("samsung-pm9a3", "Samsung PM9A3 960 GB", 960197124096, "baseline", int(4.3 * GIB),
          free=(SPARE, READ, LAST, MOVE, STEP, ERASE, IDLE)),
    Drive("wd-dc-960", "WD DC series 960 GB, model not named", 960197124096, "separated",
          int(4.3 * GIB), free=(SPARE, READ, LAST, MOVE, STEP, ERASE, IDLE, PROGRAM_WORK,
                                RELOCATION_WORK)),
    # A zone is a superblock, as in the ZN540; the buffer holds what open zones have not filled.
    Drive("wd-zn540", "WD Ultrastar DC ZN540 1 TB", 1020678963200, "baseline", int(1.05 * GIB),
          zoned=("--zoned=128MiB", "--zone_capacity=96MiB", "--buffer=48MiB"),
          free=(READ, LAST, Free("command", 0, 20, 0.5, "us"),
                Free("controller_append", 0, 20, 0.1, "us"),
                Free("suspend_step", 20, 600, 10, "us"), Free("suspend_limit", 1, 20, 1),
                Free("suspend_reads", 1, 16, 1))),
    Drive("wd-conventional", "WD, not named, a sibling of the ZN540", 1020678963200, "baseline",
          int(1.05 * GIB)),
    Drive("kioxia-xg6", "Kioxia XG6", 1024209543168, "baseline", int(1.05 * GIB), free=(READ,)),
)
