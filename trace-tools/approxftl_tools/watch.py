# SPDX-License-Identifier: GPL-2.0-only
"""approxftl watch: a page that shows what a device does, and is drawn again as it does more."""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from typing import IO, Any

from approxftl_tools import command
from approxftl_tools.figure_activity import samples_figure
from approxftl_tools.page import page, shown

Json = dict[str, Any]

#: Intervals that a page shows, the last ones.
LAST = 300
PATIENCE_S = 5.0

EPILOG = """\
The page loads itself again at each interval until the command ends, by Ctrl-C, by --count, or
because the device has gone; it stays as it was then. It needs no network and no server.

Exit status: 0 done, 1 the device does not answer, 2 usage, 3 no such device, 130 interrupted.
"""


def documents(chunks: Iterable[str]) -> Iterator[tuple[str, Json]]:
    """Yield what `stat --interval --json` has printed so far: its head, then each sample."""
    decoder = json.JSONDecoder()
    text, begun = "", False
    for chunk in chunks:
        text += chunk
        if not begun:
            head, found, rest = text.partition('"samples": [')
            if not found:
                continue
            # Closed as the program will close it.
            yield "head", json.loads(f"{head}{found}]}}]}}")
            text, begun = rest, True
        while sample := re.match(r"[\s,]*(?=\{)", text):
            try:
                document, end = decoder.raw_decode(text, sample.end())
            except json.JSONDecodeError:
                break
            yield "sample", document
            text = text[end:]


@dataclass
class Watched:
    """A device, and its last intervals."""

    name: str
    interval_s: float
    argv: Sequence[str]
    device: Json = field(default_factory=dict)
    samples: deque[Json] = field(default_factory=lambda: deque(maxlen=LAST))
    seen: int = 0
    drawn: bool = False

    def take(self, kind: str, document: Json) -> None:
        """Take what the device has said."""
        if kind == "head":
            self.device = document["devices"][0]
        else:
            self.samples.append(document)
            self.seen += 1

    def facts(self) -> list[list[str]]:
        """Return what the device is and what it has done in the last interval."""
        rows = [[key, self.device[key]] for key in ("profile", "policy", "store", "timing")]
        last = self.samples[-1] if self.samples else {}
        counters = last.get("counters", {})
        for name, key in (("read requests", "host_read_requests"),
                          ("write requests", "host_write_requests")):
            done = counters.get(key, 0)
            rate = f"{done / last['interval_ns'] * 1e9:.4g}" if last else ""
            rows.append([f"{name}, 1/s", rate])
        rows += [[name, str(counters.get(key, ""))] for name, key in (
            ("flipped bits returned", "read_flipped_bits"), ("blocks erased", "array_erases"),
            ("blocks collected", "gc_blocks"), ("policy bugs", "policy_bugs"))]
        return rows

    def html(self, live: bool) -> str:
        """Return the page."""
        figures = samples_figure(self.name, list(self.samples), self.name) if self.samples else []
        state = ("Under way; the page loads itself again." if live else
                 "As it was when watching ended.")
        seen = f"{self.seen} intervals of {self.interval_s:g} s"
        if self.seen > LAST:
            seen += f", the last {LAST} of which are shown"
        return page("watch.html", f"approxftl watch: {self.name}",
                    math.ceil(self.interval_s) if live else 0, state=state, seen=seen,
                    name=self.name, facts=self.facts(), figures=[*map(shown, figures)],
                    own=join(["approxftl", "watch", *self.argv]))


def seconds(text: str) -> float:
    """Read an interval as approxftl stat does."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|min|)", text)
    value = float(found[1]) * {"ms": 1e-3, "min": 60.0}.get(found[2], 1.0) if found else 0.0
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f'"{text}" is not from 100ms to 60min')
    return value


def count(text: str) -> int:
    """Read a number of intervals."""
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f'"{text}" is no number of intervals')
    return int(text)


def options() -> command.Parser:
    """Return the command line."""
    parser = command.parser("watch", "Draws what a device does into a page, as it happens.",
                            EPILOG)
    parser.add_argument("name", metavar="NAME", help="a device of the target approxftl")
    parser.add_argument("--html", type=command.named, metavar="FILE", default=Path("watch.html"),
                        help="the page (default watch.html)")
    parser.add_argument("-i", "--interval", type=seconds, metavar="TIME", default=1.0,
                        help="from one drawing to the next, in seconds, or such as 500ms (default "
                        "1)")
    parser.add_argument("-c", "--count", type=count, metavar="N", help="end after so many")
    return parser


def chunks(stream: IO[str]) -> Iterator[str]:
    """Yield lines as they come."""
    return iter(stream.readline, "")


def follow(watched: Watched, words: Sequence[str | Path], path: Path) -> int:
    """Draw until the program that asks the device ends; return its exit status."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          encoding="utf-8", start_new_session=True) as asking:
        assert asking.stdout
        try:
            for kind, document in documents(chunks(asking.stdout)):
                watched.take(kind, document)
                command.write_file(path, watched.html(live=True))
                watched.drawn = True
            return asking.wait()
        finally:
            asking.terminate()
            asking.wait(PATIENCE_S)


def run(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Do everything."""
    command.CLAIMS.writes(arguments.html, "--html")
    if arguments.html == command.STANDARD:
        raise command.Refusal("--html: a page that is drawn again needs a file", command.USAGE)
    watched = Watched(arguments.name, arguments.interval, argv)
    words = [command.program(), "stat", arguments.name, "--json",
             f"--interval={round(arguments.interval * 1000)}ms",
             *([f"--count={arguments.count}"] if arguments.count else [])]
    try:
        with command.understanding([Path(arguments.name)]):
            return follow(watched, words, arguments.html)
    finally:
        if watched.drawn:
            command.write_file(arguments.html, watched.html(live=False))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    words = list(sys.argv[1:] if argv is None else argv)
    return command.run("watch", lambda: run(options().parse_args(words), words))


if __name__ == "__main__":
    sys.exit(main())
