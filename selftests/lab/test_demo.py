# SPDX-License-Identifier: GPL-2.0-only
"""Test the demonstration script with a stand-in for the virtual machine."""

import shutil
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, Done, run_program

DEMO = TOP / "userspace/demo/approxftl-demo"
NAMES = [f"{policy}{rest}" for policy in ("baseline", "approxftl")
         for rest in (".app.json", *(f".run{run}.fio.json" for run in range(1, 5)), ".stat.json",
                      "-image.stat.json", "-written.app.json")]

# The first argument names the program to replace.
STAND_INS = {
    "bin/approxftl": 'while [ $# -gt 0 ]; do [ "$1" != --output ] || echo page >"$2"; shift; done',
    "bin/approxftl-app": ":",
    "bin/approxftl-compare": ":",
    "bin/approxftl-report": ":",
    "bin/fio": ":",
    "bin/mkfs.ext4": ":",
    "lib/approxftl/demo/in-guest.sh": ":",
    "bin/approxftl-lab": f"""
echo "$RUN" >>"${{0%/*}}/booted"
while [ "$1" != --results ]; do shift; done
for name in {' '.join(NAMES)}; do echo "$name of $RUN" >"$2/$name"; done
exit "${{CODE:-0}}"
""",
}


class Installed:
    """The demonstration script, installed beside fake tools, and a folder for its result files."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.results = place / "results"
        for name, script in STAND_INS.items():
            self.add_fake_program(name, script)
        shutil.copy(DEMO, place / "bin")

    def add_fake_program(self, name: str, script: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run_demo(self, number: str = "1", code: int = 0) -> Done:
        return run_program(self.place / "bin/approxftl-demo", "-O", self.results,
                           environment={"PATH": f"{self.place}/bin:/usr/bin:/bin", "RUN": number,
                                        "CODE": str(code)})

    def was_lab_booted(self) -> bool:
        return (self.place / "bin/booted").exists()

    def read_result_files(self) -> dict[str, str]:
        """Return the files in the results folder, except hidden ones."""
        return {path.name: path.read_text() for path in self.results.glob("[!.]*")}

    def list_hidden_files(self) -> list[str]:
        return [path.name for path in self.results.glob(".*")]


@pytest.fixture
def stubbed_demo(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def make_expected_outputs_of_run(number: str) -> dict[str, str]:
    """Return the output files of a run of the demonstration."""
    return {**{name: f"{name} of {number}\n" for name in NAMES}, "report.html": "page\n"}


def test_a_demo_run_replaces_the_earlier_figures(stubbed_demo: Installed) -> None:
    for number in ("1", "2"):
        done = stubbed_demo.run_demo(number)
        assert (done.code, done.err) == (0, ""), done
        assert stubbed_demo.read_result_files() == make_expected_outputs_of_run(number)
        assert stubbed_demo.list_hidden_files() == [".approxftl-demo"]


@pytest.mark.parametrize("code", [0, 125])
def test_files_of_the_user_in_the_results_folder_are_kept(stubbed_demo: Installed,
                                                          code: int) -> None:
    mine = {"mail.fio.json": "me", "thesis.app.json": "me", "a.stat.json": "me", "x.html": "me"}
    stubbed_demo.results.mkdir()
    for name, text in mine.items():
        (stubbed_demo.results / name).write_text(text)
    assert stubbed_demo.run_demo(code=code).code == code
    assert stubbed_demo.read_result_files() == {**mine,
                                                **(make_expected_outputs_of_run("1") if code == 0
                                                   else {})}


def test_a_failed_run_keeps_the_earlier_figures(stubbed_demo: Installed) -> None:
    stubbed_demo.run_demo("1")
    assert stubbed_demo.run_demo("2", code=98).code == 98
    assert stubbed_demo.read_result_files() == make_expected_outputs_of_run("1")
    assert stubbed_demo.list_hidden_files() == [".approxftl-demo"]


@pytest.mark.parametrize("name", ["baseline.run1.fio.json", "approxftl-image.stat.json",
                                  "report.html"])
@pytest.mark.parametrize("before", [True, False])
def test_files_of_the_user_with_names_of_outputs_are_not_replaced(stubbed_demo: Installed,
                                                                  name: str, before: bool) -> None:
    if before:
        stubbed_demo.run_demo()
        (stubbed_demo.place / "bin/booted").unlink()
    stubbed_demo.results.mkdir(exist_ok=True)
    (stubbed_demo.results / name).write_text("me")
    done = stubbed_demo.run_demo("2")
    assert done.code == 1
    assert f"{stubbed_demo.results}/{name} is not of a demonstration" in done.err
    assert "--output" in done.err
    assert (stubbed_demo.results / name).read_text() == "me"
    assert not stubbed_demo.was_lab_booted()


def test_a_symbolic_link_as_output_is_neither_followed_nor_replaced(
        stubbed_demo: Installed) -> None:
    stubbed_demo.results.mkdir()
    (stubbed_demo.place / "precious").write_text("me")
    (stubbed_demo.results / "report.html").symlink_to("../precious")
    assert "report.html is not of a demonstration" in stubbed_demo.run_demo().err
    assert (stubbed_demo.place / "precious").read_text() == "me"
    (stubbed_demo.results / "report.html").unlink()
    (stubbed_demo.results / "report.html").symlink_to("nowhere")
    assert "report.html is not of a demonstration" in stubbed_demo.run_demo().err


def test_a_results_folder_that_cannot_be_made_is_named(stubbed_demo: Installed) -> None:
    stubbed_demo.results.write_text("me")
    done = stubbed_demo.run_demo()
    assert (done.code, stubbed_demo.was_lab_booted()) == (1, False)
    assert done.err.splitlines()[-1] == (
        f"approxftl demo: {stubbed_demo.results}: no folder can be made there; --output names "
        f"another")


def test_missing_packages_are_reported_before_the_run(stubbed_demo: Installed) -> None:
    stubbed_demo.add_fake_program("bin/approxftl-report",
                                  "echo 'approxftl report: no numpy' >&2; exit 1")
    done = stubbed_demo.run_demo()
    assert (done.code, done.err,
            stubbed_demo.was_lab_booted()) == (1, "approxftl report: no numpy\n", False)
    assert not stubbed_demo.results.exists()
