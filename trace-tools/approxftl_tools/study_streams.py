# SPDX-License-Identifier: GPL-2.0-only
"""Find the files that the points of a study read, and generate synthetic record files."""

import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approxftl_tools.command import NOT_FOUND, USAGE, Refusal, temporary_output

#: Options of approxftl synth that only the study itself may set.
RESERVED = ("like", "fit", "profile", "list", "output", "profile-out", "seed", "json")
#: Modules that generate streams; their digest is part of a generated file's name.
MAKERS = ("aft.py", "record_writer.py", "synth.py", "synthesis.py", "workload_profile.py")


@dataclass(frozen=True)
class Setting:
    """Settings that the command line adds to a study."""

    #: True to pick the second of values such as "1000|10000".
    full: bool = False
    #: Folder of record files NAME.aft that replace generated ones.
    traces: Path | None = None
    #: Folder of generated record files.
    made: Path = Path("traces")
    #: Keys that override the file's; those of [base] are merged.
    more: dict[str, Any] = field(default_factory=dict)


def resolve_quick_or_full_values(value: Any, full: bool) -> Any:
    """Return a study's values; of a text such as "1000|10000" take 1000, or 10000 with `full`."""
    if isinstance(value, dict):
        return {key: resolve_quick_or_full_values(one, full) for key, one in value.items()}
    if isinstance(value, list):
        return [resolve_quick_or_full_values(one, full) for one in value]
    first, bar, second = value.partition("|") if isinstance(value, str) else ("", "", "")
    return (second if full else first) if bar else value


@dataclass
class Streams:
    """The files of a study, by their names in an archive of it."""

    #: The study's own file.
    path: Path
    program: Path
    setting: Setting
    #: Options of approxftl synth; None if traces are existing files.
    synth: dict[str, Any] | None
    #: Files of an archive; None outside one.
    packed: dict[str, Path] | None
    named: dict[str, Path] = field(default_factory=dict)

    def check_synth_options(self) -> None:
        """Refuse reserved and malformed options of [synth]."""
        wrong = [key for key in self.synth or {} if key.replace("_", "-") in RESERVED]
        if wrong:
            raise Refusal(f'{self.path}: [synth] "{wrong[0]}" is not for a study, which does that '
                          "itself", USAGE)
        for key, value in (self.synth or {}).items():
            if not isinstance(value, str | int | float):
                raise Refusal(f'{self.path}: [synth] "{key}" is one value', USAGE)

    def path_named_by_option(self, option: str, name: str, seed: object) -> Path:
        """Return the path of the file that an option names; generated files differ by seed."""
        like = self.synth is not None and option == "trace"
        made = like and not self.setting.traces and name not in (self.packed or ())
        key = f"{name}, seed {seed}" if made else name
        if key not in self.named:
            self.named[key] = self.generated_record_path(key, name, seed, like)
        return self.named[key]

    def generated_record_path(self, key: str, name: str, seed: object, like: bool) -> Path:
        if self.packed is not None:
            if key not in self.packed:
                raise Refusal(f'{self.path}: "{key}" is not in the archive', NOT_FOUND)
            return self.packed[key]
        if not like:
            return (self.path.parent / name).absolute()
        return self.find_or_generate_record_file(name, seed) if self.setting.traces is None else \
            self.find_record_file_named_by_user(name)

    def find_record_file_named_by_user(self, name: str) -> Path:
        """Return the real record file that the user names in place of a generated one."""
        path = (self.setting.traces or Path()) / f"{name}.aft"
        if not path.exists():
            raise Refusal(f"{self.setting.traces}: there is no {name}.aft; approxftl trace convert "
                          "makes one", NOT_FOUND)
        return path.absolute()

    def find_or_generate_record_file(self, name: str, seed: object) -> Path:
        """Return a record file generated like a published volume; generate it if it is missing."""
        words = [f"--like={name}", *(f"--{key}={value}" for key, value in
                                     (self.synth or {}).items()), f"--seed={seed}"]
        makers = b"".join((Path(__file__).parent / name).read_bytes() for name in MAKERS)
        digest = hashlib.sha256("\0".join(words).encode() + makers).hexdigest()[:12]
        path = (self.setting.made / f"{re.sub(r'[^A-Za-z0-9]', '_', name)}-{digest}.aft").absolute()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary_output(path) as file:
                done = subprocess.run(
                    [self.program, "synth", *words, f"--output={file}"], stdin=subprocess.DEVNULL,
                    capture_output=True, encoding="utf-8", errors="surrogateescape", check=False)
                if done.returncode:
                    said = done.stderr.strip().removeprefix("approxftl synth: ")
                    raise Refusal(f"{self.path}: [synth] {said}", done.returncode)
        return path
