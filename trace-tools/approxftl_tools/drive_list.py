# SPDX-License-Identifier: GPL-2.0-only
"""The drives that are emulated: for each a profile of the core, a policy, and how it scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GIB = 1 << 30


@dataclass(frozen=True)
class Free:
    """A parameter of a profile that is fitted: from where to where, in which steps."""

    name: str
    low: float
    high: float
    step: float
    unit: str = ""

    def __post_init__(self) -> None:
        """Refuse what no search could keep to."""
        if not 0 < self.step <= self.high - self.low:
            raise ValueError(f"{self.name}: {self.low:g} to {self.high:g} by {self.step:g} is no "
                             "range to fit in")

    def text(self, value: float) -> str:
        """Return a value as the simulator reads it."""
        return f"{value:.6g}{self.unit}"

    def of(self, parameters: Mapping[str, Any]) -> float:
        """Return the value that a simulator says it has run with."""
        suffix, scale = {"%": ("_percent", 1.0), "us": ("_ns", 1e3), "": ("", 1.0)}[self.unit]
        return float(parameters[self.name + suffix]) / scale


@dataclass(frozen=True)
class Drive:
    """A real drive, and what stands for it."""

    name: str
    about: str
    capacity: int
    policy: str
    #: Bytes that are erased together: what zones are measured by.
    superblock: int
    #: Bytes that the drive writes for each byte of a sequential write; 1 where it is not known.
    own_writes: float = 1.0
    #: Of write amplification.
    band: float = 0.05
    #: What is fitted of its profile; nothing of one that is another drive's.
    free: tuple[Free, ...] = ()
    #: Options in place of the profile of this name, for who tries out others.
    options: tuple[str, ...] = ()

    def device(self) -> tuple[str, ...]:
        """Return what the simulator makes the device of, before the policy."""
        return self.options or (f"--profile={self.name}",)

    def changed(self, *options: str) -> Drive:
        """Return the drive with more options."""
        return replace(self, options=(*self.device(), *options))

    def arguments(self) -> tuple[str, ...]:
        """Return the options of the simulator that make the device."""
        return (*self.device(), f"--policy={self.policy}")


#: Over-provisioning with the few blocks of a die that are open or free.
SPARE = Free("op", 7, 60, 0.2, "%")
READ = Free("read", 20, 120, 1, "us")
FIRST = Free("read_first", 15, 100, 1, "us")
LAST = Free("read_last", 20, 150, 1, "us")
#: Planes sense together what is moved: no page takes longer so than alone.
MOVE = Free("read_move", 5, 60, 1, "us")

#: In the order of the report.
DRIVES = (
    Drive("micron-7450-max", "Micron 7450 MAX 800 GB", 800166076416, "baseline",
          int(2.1 * GIB), 1.038, 0.03, (SPARE, READ, LAST, MOVE)),
    Drive("solidigm-p5520", "Solidigm D7-P5520 1.92 TB", 1920383410176, "separated",
          int(8.6 * GIB), 1.105, free=(SPARE, READ, FIRST, MOVE)),
    Drive("kioxia-cm7r", "Kioxia CM7-R 3.84 TB", 3840755982336, "baseline", int(4.3 * GIB),
          free=(SPARE, READ, FIRST, Free("program", 10, 120, 1, "us"), Free("row", 1, 12, 1))),
    Drive("samsung-pm9a3", "Samsung PM9A3 960 GB", 960197124096, "baseline", int(4.3 * GIB),
          free=(SPARE, READ, LAST, MOVE)),
    Drive("wd-dc-960", "WD DC series 960 GB, model not named", 960197124096, "separated",
          int(4.3 * GIB), free=(SPARE, READ, LAST, MOVE)),
    Drive("wd-zn540", "WD Ultrastar DC ZN540 1 TB", 1020678963200, "baseline", int(1.05 * GIB),
          free=(READ, LAST, Free("command", 0, 20, 0.5, "us"),
                Free("suspend_step", 20, 600, 10, "us"), Free("suspend_limit", 1, 20, 1))),
    Drive("wd-conventional", "WD, not named, a sibling of the ZN540", 1020678963200, "baseline",
          int(1.05 * GIB)),
    Drive("kioxia-xg6", "Kioxia XG6", 1024209543168, "baseline", int(1.05 * GIB), free=(READ,)),
)
