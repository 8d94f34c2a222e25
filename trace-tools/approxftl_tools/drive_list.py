# SPDX-License-Identifier: GPL-2.0-only
"""The drives that are emulated: for each a profile of the core, a policy, and how it scales."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


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
    #: Whether its own measurements were fitted to; if not, its profile is that of another drive.
    fitted: bool = True
    #: Whether zones have told which block is collected.
    by_zones: bool = False
    #: Options in place of the profile of this name, for who tries out others.
    options: tuple[str, ...] = ()

    def arguments(self) -> tuple[str, ...]:
        """Return the options of the simulator that make the device."""
        device = self.options or (f"--profile={self.name}",)
        return (*device, f"--policy={self.policy}")


#: In the order of the report.
DRIVES = (
    Drive("micron-7450-max", "Micron 7450 MAX 800 GB", 800166076416, "baseline",
          int(2.1 * GIB), 1.038, 0.03),
    Drive("solidigm-p5520", "Solidigm D7-P5520 1.92 TB", 1920383410176, "separated",
          int(8.6 * GIB), 1.105),
    Drive("kioxia-cm7r", "Kioxia CM7-R 3.84 TB", 3840755982336, "baseline", int(4.3 * GIB)),
    Drive("samsung-pm9a3", "Samsung PM9A3 960 GB", 960197124096, "baseline", int(4.3 * GIB)),
    Drive("wd-dc-960", "WD DC series 960 GB, model not named", 960197124096, "separated",
          int(4.3 * GIB), by_zones=True),
    Drive("wd-zn540", "WD Ultrastar DC ZN540 1 TB", 1020678963200, "baseline", int(1.05 * GIB)),
    Drive("wd-conventional", "WD, not named, a sibling of the ZN540", 1020678963200, "baseline",
          int(1.05 * GIB), fitted=False),
    Drive("kioxia-xg6", "Kioxia XG6", 1024209543168, "baseline", int(1.05 * GIB)),
)
