# SPDX-License-Identifier: GPL-2.0-only
"""A page that is drawn while a device works; a script stands in for the program that asks it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.lib.processes import until
from selftests.lib.programs import BUILD, Done, run_program
from selftests.look.support import device

from approxftl_tools.watch import LAST, Watched, documents

Json = dict[str, Any]
VERB = BUILD / "approxftl-watch"


def sample(second: int) -> Json:
    """Return an interval in which two LUNs worked."""
    return {"interval_ns": 10**9, "device_interval_ns": 10**9, "write_amplification": 1.5,
            "late": {"count": 5, "p99_ns": 12000},
            "block_layer": {"read_requests": second, "read_bytes": second << 20,
                            "read_response_ms": 3, "write_requests": 7,
                            "write_bytes": 2 * second << 20, "write_response_ms": 21},
            "luns": [{"busy_ns": 10**8 * second}, {"busy_ns": 0}],
            "counters": {"host_write_units": 7, "read_flipped_bits": 10 + second,
                         "array_erases": 1, "gc_blocks": 0, "policy_bugs": 0}}


def printed(samples: Sequence[Json]) -> str:
    """Return what approxftl stat --interval --json prints."""
    head = device(timing="real", samples=samples)
    del head["devices"][0]["counters"]
    return json.dumps({**head, "interrupted": False}, indent=2) + "\n"


def stand_in(place: Path, lines: str, before: str = "", after: str = "exit 0") -> dict[str, str]:
    """Make a program that answers so; it writes its arguments beside it."""
    (place / "answer").write_text(lines)
    program = place / "approxftl"
    program.write_text(f'#!/bin/sh\n[ "$1" != version ] || exit 0\necho "$@" >{place}/asked\n'
                       f"echo $$ >{place}/pid\n{before}\ncat {place}/answer\n{after}\n")
    program.chmod(0o755)
    return {**os.environ, "APPROXFTL": str(program)}


def watch(*words: str | Path, place: Path, environment: dict[str, str]) -> Done:
    """Run the command."""
    return run_program(VERB, *words, directory=place, environment=environment)


@given(cuts=st.lists(st.integers(0, 4000), max_size=12), count=st.integers(0, 4))
def test_samples_are_found_however_they_arrive(cuts: list[int], count: int) -> None:
    text = printed([sample(i) for i in range(count)])
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    chunks = [text[a:b] for a, b in pairwise(places)]
    found = list(documents(chunks))
    assert [kind for kind, _ in found] == ["head"] + ["sample"] * count
    assert [document for _, document in found[1:]] == [sample(i) for i in range(count)]


def test_the_last_intervals_are_kept() -> None:
    watched = Watched("ssd", 1.0, ["ssd"])
    watched.take("head", device(timing="real"))
    for second in range(LAST + 7):
        watched.take("sample", sample(second % 10))
    assert len(watched.samples) == LAST
    assert f"{LAST + 7} intervals of 1 s, the last {LAST} of which are shown" in watched.html(True)


def test_a_page_of_what_was_seen(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, printed([sample(1), sample(2)]))
    done = watch("ssd", "-i", "500ms", "-c", "2", place=tmp_path, environment=environment)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "asked").read_text() == "stat ssd --json --interval=500ms --count=2\n"
    page = (tmp_path / "watch.html").read_text()
    assert "As it was when watching ended. 2 intervals" in page
    assert 'http-equiv="refresh"' not in page
    for figure in ("throughput", "response", "amplification", "luns"):
        assert f'id="device-{figure}"' in page
    assert "<td>12</td>" in page  # flipped bits of the last interval
    assert "LUN 0,2,20\nLUN 1,1,0\n" in unquote(page)


def test_the_page_is_there_before_the_end(tmp_path: Path) -> None:
    whole = printed([sample(1), sample(2)])
    # As far as the end of the first sample.
    cut = whole.index("},\n", whole.index('"policy_bugs"')) + 1
    environment = stand_in(tmp_path, whole[:cut] + "\n", after="exec sleep 60")
    with subprocess.Popen([VERB, "ssd", "-i", "2"], cwd=tmp_path, env=environment,
                          stderr=subprocess.PIPE, text=True) as process:
        page = tmp_path / "watch.html"
        until(lambda: page.exists() and "1 intervals" in page.read_text(), process)
        live = page.read_text()
        assert '<meta http-equiv="refresh" content="2">' in live
        assert "Under way" in live
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate()
        assert (process.returncode, complaint) == (130, "approxftl watch: interrupted\n")
    assert "As it was when watching ended. 1 intervals" in page.read_text()
    child = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, "", before="echo 'approxftl stat: there is no device x' >&2",
                           after="exit 3")
    done = watch("x", place=tmp_path, environment=environment)
    assert (done.code, done.err) == (3, "approxftl stat: there is no device x\n")
    assert not (tmp_path / "watch.html").exists()


def test_other_answers_are_refused(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, '{"devices": [{"samples": [{"interval_ns": 0}')
    done = watch("x", place=tmp_path, environment=environment)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "a value is not as its program writes it" in done.err


@pytest.mark.parametrize(("words", "sentence"), [
    (["x", "--html", "-"], "--html: a page that is drawn again needs a file"),
    (["x", "-i", "1ms"], '"1ms" is not from 100ms to 60min'),
    (["x", "-i", "often"], '"often" is not from 100ms to 60min'),
    (["x", "-c", "0"], '"0" is no number of intervals'), ([], "required: NAME")])
def test_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    done = watch(*words, place=tmp_path, environment=stand_in(tmp_path, printed([])))
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err and done.err.count("\n") == 1


def test_a_full_disk(tmp_path: Path) -> None:
    environment = stand_in(tmp_path, printed([sample(1)]))
    done = watch("ssd", "--html", "/dev/full", place=tmp_path, environment=environment)
    assert (done.code, done.err) == (
        1, "approxftl watch: /dev/full: cannot write: No space left on device\n")
