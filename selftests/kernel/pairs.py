#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pairs of features on one device under the load and the events of torture.py.

pairs.py                    run all pairs, or with AFTL_TURN a sample, drawn by AFTL_PAIRS_SEED
pairs.py NAME+NAME [SEED]   run one pair

The features are those of selftests/lib/features.txt, and "nested": the block device below is
another approxftl device. A pair that the table refuses must be refused by the kernel, too.
"""

import fcntl
import os
import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from zlib import crc32

from ktap import (
    APPROXFTL,
    FailedError,
    capacity_in_sectors,
    finish_test,
    has_kernel_module,
    require,
    run_check,
    set_processor_count,
    skip_test_point,
    table_line,
)
from torture import (
    FLIPS,
    NAME,
    TORTURE,
    CommandError,
    Device,
    HangError,
    Scenario,
    exit_after_hang,
    run_command,
    run_random_scenario,
    run_torture_point,
)

TABLE = Path("selftests/lib/features.txt")
SAMPLE = 6
F_SET_RW_HINT = 1036
#: The table's devices are as small as a test in userspace wants them.
LARGER = {"blocks": "128"}
USED = 8192  # sectors of the medium that such a volume uses at least
EVENTS = "pause,noflush,reload,policy,message,hint,priority,reopen,kill"
#: What happened, over all pairs
tally = Counter[str]()


class Table:

    def __init__(self) -> None:
        self.base: dict[str, str] = {}
        self.features: dict[str, dict[str, str]] = {"nested": {"medium": "nested"}}
        self.refused: set[frozenset[str]] = set()
        for text in TABLE.read_text().splitlines():
            kind, *words = text.split() or ["#"]
            if kind == "base":
                self.base = self.parse_parameters(words) | LARGER
            elif kind == "feature":
                self.features[words[0]] = self.parse_parameters(words[1:])
            elif kind == "refused":
                self.refused.add(frozenset(words))

    @staticmethod
    def parse_parameters(words: list[str]) -> dict[str, str]:
        """Parse KEY=VALUE."""
        return {key: value for key, _, value in (word.partition("=") for word in words)}


@dataclass
class Pair(Scenario):
    """The random choices of a run, with the table parameters of a pair of features."""

    names: tuple[str, ...] = ()
    shaped: dict[str, str] = field(default_factory=dict)  # by the features alone
    fixed: dict[str, str] = field(default_factory=dict)  # of the volume
    seconds: float = 1.5

    def choose_random_scenario_fields(self, draw: random.Random) -> None:
        """Choose the timing, policy, backing device and load of a run at random."""
        super().choose_random_scenario_fields(draw)
        table = Table()
        self.shaped = {}
        for name in self.names:
            self.shaped |= table.features[name]
        self.policy = self.shaped.pop("policy", "baseline")
        self.shaped.pop("medium", "")
        self.media = draw.choice(("linear", "linear", "linear", "ram"))
        if "nested" in self.names:
            self.media = "ours"
        if "failing" in self.names:
            self.media = "bad"
        self.fixed = table.base | self.shaped
        self.tag_all = "precise"
        self.events = EVENTS
        for name, event in (("tags", "tag"), ("failing", "medium")):
            if name in self.names:
                self.events += f",{event},{event}"
        if self.media in ("linear", "ours"):
            self.events += ",cut,cut"
        self.most = "64KiB"

    @property
    def volume_sectors(self) -> int:
        """Return the size of the tested volume on the backing device, in sectors."""
        return USED

    @property
    def is_backing_device_approxftl(self) -> bool:
        """Return whether the backing device is another approxftl device."""
        return "nested" in self.names

    @property
    def build_command_of_load_program(self) -> list[str]:
        if "zones" in self.names:
            return ["python3", "selftests/kernel/zone_load.py"]
        # Ranges of a device that is opened exclusively cannot be tagged.
        return [TORTURE, *(["--force", "--flips", FLIPS] if "tags" in self.names else [])]

    def list_suitable_policies(self) -> list[str]:
        """Return policies that the device's table line may name."""
        every = [words.split()[0] for words in run_command(APPROXFTL, "policies").splitlines()]
        return random.Random(f"{self.names} {time.monotonic()}").sample(every, 3)

    def build_volume_parameters(self) -> str:
        return " ".join(f"{key} {value}" for key, value in self.fixed.items())

    def build_table_parameters(self) -> str:
        return f"{self.build_volume_parameters()} policy {self.policy} timing {self.timing}"

    def build_command_to_repeat_run(self) -> str:
        return f"selftests/kernel/pairs.py {'+'.join(self.names)} {self.seed}: {self.media}"


class Crossed(Device):
    """The device under test, with a pair of features."""

    scenario: Pair

    def list_possible_events(self) -> dict[str, Callable[[], None]]:
        """Return the events that may happen to the device."""
        return super().list_possible_events() | {
            "tag": self.tag_random_range, "hint": self.set_life_time,
            "priority": self.set_io_priority}

    def fail_power(self) -> None:
        super().fail_power()
        tally["power failures"] += 1

    def tag_random_range(self) -> None:
        """Tag a random range of the device that the load writes to, or remove its tag."""
        first, last = sorted(self.draw.sample(range(self.sectors // 8 + 1), 2))
        verb = self.draw.choice(("add", "add", "del"))
        run_command(APPROXFTL, "tag", verb, f"/dev/mapper/{NAME}",
                    f"{first << 12}+{last - first << 12}")

    def set_life_time(self) -> None:
        """Set the write life-time hint of the data that the load writes from now on."""
        fd = os.open(f"/dev/mapper/{NAME}", os.O_RDWR)
        fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("=Q", self.draw.randrange(6)))
        os.close(fd)

    def set_io_priority(self) -> None:
        """Set the I/O priority of the load, by which the controller chooses a queue."""
        assert self.load.child
        words = self.draw.choice(("-c1 -n0", "-c2 -n0", "-c2 -n7", "-c3")).split()
        for task in Path(f"/proc/{self.load.child.pid}/task").iterdir():
            run_command("ionice", *words, "-p", task.name, tolerant=True)  # workers of io_uring end

    def reload_device_with_random_timing(self) -> None:
        """Load a table with another timing; then try one from which random keys are removed."""
        self.scenario.timing = self.draw.choice(("real", "off", "scale:2"))
        super().load_table(noflush=self.draw.random() < 0.3)
        before = dict(self.scenario.fixed)
        for key in self.scenario.shaped:
            if self.draw.random() < 0.4:
                del self.scenario.fixed[key]
        self.load_table_if_accepted(lambda: setattr(self.scenario, "fixed", before))

    def change_policy(self) -> None:
        """Load a table with another policy, if the device accepts it."""
        before = self.scenario.policy
        self.scenario.policy = self.draw.choice(self.scenario.list_suitable_policies())
        self.load_table_if_accepted(lambda: setattr(self.scenario, "policy", before))

    def load_table_if_accepted(self, back: Callable[[], None]) -> None:
        """Load the changed table; if the kernel refuses it, load the previous table."""
        try:
            self.load_table()
            tally["changes accepted"] += 1
        except CommandError:
            back()
            self.load_table()
            tally["changes refused"] += 1


def check_feature_pair_is_refused(scenario: Pair) -> None:
    """Require that the kernel refuses the table line with a message."""
    scenario.choose_random_scenario_fields(random.Random(scenario.seed))
    table = table_line("ram", capacity_in_sectors(scenario.build_table_parameters()),
                       scenario.build_table_parameters())
    run_command("dmesg", "-C")
    try:
        run_command("dmsetup", "create", NAME, "--table", table)
    except CommandError:
        require("approxftl: " in run_command("dmesg"), "there is no message")
    else:
        raise FailedError(f"accepted: {table}")


def run_feature_pair(scenario: Pair) -> None:
    """Run a pair of features, or check that the kernel refuses the pair."""
    name = "+".join(scenario.names)
    if frozenset(scenario.names) in Table().refused:
        run_torture_point(f"{name} is refused", check_feature_pair_is_refused, scenario)
    else:
        run_torture_point(name, run_random_scenario, scenario, Crossed)


def main() -> None:
    """Run all pairs of features, or a sample of the pairs."""
    set_processor_count(2)
    for module in ("dm_delay", "dm_flakey"):
        if not has_kernel_module(module):
            skip_test_point("pairs", f"the kernel does not have {module}")
            finish_test()
    seed = int(os.environ.get("AFTL_PAIRS_SEED") or 1)
    pairs = list(combinations(Table().features, 2))
    if os.environ.get("AFTL_TURN"):
        pairs = random.Random(seed).sample(pairs, SAMPLE)
    for names in pairs:
        begun = time.monotonic()
        run_feature_pair(Pair(crc32(f"{names} {seed}".encode()), names=names))
        print(f"# {'+'.join(names)}: {time.monotonic() - begun:.1f} s", flush=True)
    print(f"# {dict(tally)}")
    if not os.environ.get("AFTL_TURN"):
        run_check("the run had accepted and refused changes and power failures", require,
                  len(tally) == 3,
                  "not all of it")
    finish_test()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        try:
            run_feature_pair(Pair(int(sys.argv[2]) if sys.argv[2:] else 1,
                                  names=tuple(sys.argv[1].split("+"))))
        except HangError as hang:
            exit_after_hang(sys.argv[1], hang)
    else:
        main()
