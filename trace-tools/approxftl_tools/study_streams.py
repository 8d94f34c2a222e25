# SPDX-License-Identifier: GPL-2.0-only
"""The files that the points of a study read: named ones, and record files that are made for it."""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approxftl_tools.command import NOT_FOUND, USAGE, Refusal, output

#: Options of approxftl synth that are the study's to give.
RESERVED = ("like", "fit", "profile", "list", "output", "profile-out", "seed", "json")
#: What draws streams: those of another version are other files.
MAKERS = ("aft.py", "record_writer.py", "synth.py", "synthesis.py", "workload_profile.py")


@dataclass(frozen=True)
class Setting:
    """What the file of a study leaves open."""

    #: Of values such as "1000|10000" the second.
    full: bool = False
    #: Record files NAME.aft, in place of those that would be made.
    traces: Path | None = None
    #: Where those are that are made.
    made: Path = Path("traces")
    #: Keys in place of the file's; those of [base] beside the file's.
    more: dict[str, Any] = field(default_factory=dict)


def picked(value: Any, full: bool) -> Any:
    """Return what is meant by values such as "1000|10000", wherever they are."""
    if isinstance(value, dict):
        return {key: picked(one, full) for key, one in value.items()}
    if isinstance(value, list):
        return [picked(one, full) for one in value]
    first, bar, second = value.partition("|") if isinstance(value, str) else ("", "", "")
    return (second if full else first) if bar else value


@dataclass
class Streams:
    """The files of one study, by their names in an archive of it."""

    #: The study's own.
    path: Path
    program: Path
    setting: Setting
    #: Options of approxftl synth; without them a trace is a file that there is.
    synth: dict[str, Any] | None
    #: Of an archive.
    packed: dict[str, Path] | None
    named: dict[str, Path] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse options that the study gives itself, and what is none."""
        wrong = [key for key in self.synth or {} if key.replace("_", "-") in RESERVED]
        if wrong:
            raise Refusal(f'{self.path}: [synth] "{wrong[0]}" is not for a study, which does that '
                          "itself", USAGE)
        for key, value in (self.synth or {}).items():
            if not isinstance(value, str | int | float):
                raise Refusal(f'{self.path}: [synth] "{key}" is one value', USAGE)

    def found(self, option: str, name: str, seed: object) -> Path:
        """Return the file that an option names, for a point with this seed."""
        like = self.synth is not None and option == "trace"
        made = like and not self.setting.traces and name not in (self.packed or ())
        key = f"{name}, seed {seed}" if made else name
        if key not in self.named:
            self.named[key] = self.place(key, name, seed, like)
        return self.named[key]

    def place(self, key: str, name: str, seed: object, like: bool) -> Path:
        """Return where a file is."""
        if self.packed is not None:
            if key not in self.packed:
                raise Refusal(f'{self.path}: "{key}" is not in the archive', NOT_FOUND)
            return self.packed[key]
        if not like:
            return (self.path.parent / name).absolute()
        return self.make(name, seed) if self.setting.traces is None else self.real(name)

    def real(self, name: str) -> Path:
        """Return the record file that is used in place of one that would be made."""
        path = (self.setting.traces or Path()) / f"{name}.aft"
        if not path.exists():
            raise Refusal(f"{self.setting.traces}: there is no {name}.aft; approxftl trace convert "
                          "makes one", NOT_FOUND)
        return path.absolute()

    def make(self, name: str, seed: object) -> Path:
        """Return a record file like a volume; it is made if it is not there."""
        words = [f"--like={name}", *(f"--{key}={value}" for key, value in
                                     (self.synth or {}).items()), f"--seed={seed}"]
        makers = b"".join((Path(__file__).parent / name).read_bytes() for name in MAKERS)
        digest = hashlib.sha256("\0".join(words).encode() + makers).hexdigest()[:12]
        path = (self.setting.made / f"{re.sub(r'[^A-Za-z0-9]', '_', name)}-{digest}.aft").absolute()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with output(path) as file:
                done = subprocess.run(
                    [self.program, "synth", *words, f"--output={file}"], stdin=subprocess.DEVNULL,
                    capture_output=True, encoding="utf-8", errors="surrogateescape", check=False)
                if done.returncode:
                    said = done.stderr.strip().removeprefix("approxftl synth: ")
                    raise Refusal(f"{self.path}: [synth] {said}", done.returncode)
        return path
