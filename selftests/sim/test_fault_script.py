# SPDX-License-Identifier: GPL-2.0-only
"""Fault scripts: each fault happens once; a message names each error in a script."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selftests.sim.support import get_only_run, run_approxftl, run_sim

import approxftl as aftl

DEVICE = ("--profile", "demo", "--blocks", "16", "--op", "60", "--requests")
QUICK = settings(max_examples=25,
                 suppress_health_check=[HealthCheck.function_scoped_fixture])


def save_fault_script(folder: Path, text: str | bytes) -> Path:
    path = folder / "script.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


TIMES = st.builds("{}{}".format, st.integers(1, 9), st.sampled_from(["us", "ms", "s", "h", "d"]))
ACTIONS = st.one_of(*(st.fixed_dictionaries({key: st.integers(0, 3)})
                      for key in ("unit", "block", "die")), st.fixed_dictionaries({"age": TIMES}))
LATER = st.integers(10**6, 10**12)
TRIGGERS = st.one_of(st.fixed_dictionaries({"after_write": LATER}),
                     st.fixed_dictionaries({"after_read": LATER}),
                     st.fixed_dictionaries({"after_program": st.integers(0, 9)}))
SCRIPTS = st.lists(st.builds(lambda a, t: {**a, **t}, ACTIONS, TRIGGERS), max_size=64)


@given(faults=SCRIPTS, blank=st.sampled_from(["", " ", "\t "]),
       comment=st.sampled_from(["", " # why", "#", "  "]))
@QUICK
def test_valid_fault_scripts_are_valid_toml(tmp_path: Path, faults: list[dict[str, Any]],
                                            blank: str, comment: str) -> None:
    """A run of one read prints a note for each fault of its script that has not happened."""
    lines = []
    for fault in faults:
        lines += ["[[fault]]", *(f"{key}{blank}={blank}" +
                                 (f'"{value}"' if isinstance(value, str) else str(value))
                                 for key, value in fault.items())]
    text = "".join(f"{line}{comment}\n" for line in lines)
    assert tomllib.loads(text).get("fault", []) == faults
    done = run_approxftl("sim", *DEVICE, "1", "--write-share", "0", "--fault-script",
                         save_fault_script(tmp_path, text))
    assert done.code == 0, done.err
    assert done.err.count("note: fault ") == len(faults)


@given(text=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode), st.lists(
    st.sampled_from(["[[fault]]", "unit", "=", "5", '"', "after_write", "\n", " ", "#", "after_",
                     "-", "9" * 30, "age", "1d", "x" * 50]), max_size=40).map(
                         lambda words: "".join(words).encode())))
@QUICK
def test_a_fault_script_is_refused_unless_it_is_toml(tmp_path: Path, text: bytes) -> None:
    done = run_approxftl("sim", *DEVICE, "1", "--fault-script", save_fault_script(tmp_path, text))
    assert done.code in {0, 2}, done.err
    if done.code:
        assert done.err.count("\n") == 1 and len(done.err) < 500
    else:
        # A comment may have bytes that TOML refuses, and a line may end with any returns.
        lines = [line.split(b"#")[0].rstrip(b"\r") for line in text.split(b"\n")]
        assert len(tomllib.loads(b"\n".join(lines).decode()).get("fault", [])) <= 64


@pytest.mark.parametrize(("text", "said"), [
    ("unit = 5", "the first line that is no comment is not [[fault]]"),
    ("[[fault]]\nunit = 5 6", "fault 1 has a line that is not NAME = NUMBER"),
    ("[[fault]] unit = 5", "fault 1 has a line that is not NAME = NUMBER"),
    ("[[fault]]\nunit = 05", "fault 1 has a line that is not NAME = NUMBER"),
    ("[[fault]]", "fault 1 has none of unit, block, die, age, wear, life and power"),
    ("[[fault]]\nunit = 5", "fault 1 has none of after_write, after_read"),
    ("[[fault]]\nunit = 5\nblock = 6", "fault 1 has both unit and block"),
    ("[[fault]]\nunit = 5\nafter_read = 6\nafter_write = 6",
     "fault 1 has both after_read and after_write"),
    ("[[fault]]\nunit = 5\nafter_write = 0", "fault 1: write 0 does not come any more"),
    ("[[fault]]\ndie = 5\nafter_write = 1", 'fault 1: "5" is not a die; there are 0 to 3'),
    ("[[fault]]\nflash = 5\nafter_write = 1", 'fault 1: "flash" is not a fault: '),
    ("[[fault]]\nunit = 5\nafter_flush = 1", 'fault 1: "flush" is not a trigger: '),
    ("[[fault]]\ndie = 1\nafter_write = 1\n" * 65, "there are more than 64 faults"),
])
def test_wrong_fault_scripts_are_refused(tmp_path: Path, text: str, said: str) -> None:
    done = run_approxftl("sim", *DEVICE, "9", "--fault-script", save_fault_script(tmp_path, text))
    assert done.code == 2
    assert said in done.err


def test_a_message_names_the_path_of_a_fault_script_once(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such file")):
        done = run_approxftl("sim", *DEVICE, "1", "--fault-script", path)
        assert done.code == 2
        assert done.err.startswith(f"approxftl sim: {path}: {reason}")


def test_a_scripted_die_failure_happens_after_its_write(tmp_path: Path) -> None:
    """The die fails after the write that the script names, and no earlier."""
    lost = {}
    for write in (1000, 2000):
        path = save_fault_script(tmp_path, f"[[fault]]\ndie = 1\nafter_write = {write}\n")
        run = get_only_run(run_sim(*DEVICE, "3000", "--write-share", "0.5", "--fault-script", path))
        lost[write] = run["counters"]["read_lost_units"]
    assert lost[1000] > lost[2000] == 0 or lost[1000] > lost[2000] > 0
    again = aftl.simulate(profile="demo", blocks=16, op=60, requests=3000, write_share=0.5,
                          fault_script=str(path))
    assert again.result["counters"]["read_lost_units"] == lost[2000]
