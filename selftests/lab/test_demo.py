# SPDX-License-Identifier: GPL-2.0-only
"""The demonstration around the virtual machine, which is replaced by a stand-in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, Done, run_program

DEMO = TOP / "userspace/demo/approxftl-demo"
NAMES = [f"{policy}{rest}" for policy in ("baseline", "approxftl")
         for rest in (".app.json", ".fio.json", ".stat.json", "-image.stat.json",
                      "-written.app.json")]

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
    """The demonstration installed beside stand-ins, and a folder for its figures."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.results = place / "results"
        for name, script in STAND_INS.items():
            self.stand_in(name, script)
        shutil.copy(DEMO, place / "bin")

    def stand_in(self, name: str, script: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, number: str = "1", code: int = 0) -> Done:
        return run_program(self.place / "bin/approxftl-demo", "-O", self.results,
                           environment={"PATH": f"{self.place}/bin:/usr/bin:/bin", "RUN": number,
                                        "CODE": str(code)})

    def booted(self) -> bool:
        return (self.place / "bin/booted").exists()

    def found(self) -> dict[str, str]:
        """Return the files in the folder, except hidden ones."""
        return {path.name: path.read_text() for path in self.results.glob("[!.]*")}

    def hidden(self) -> list[str]:
        return [path.name for path in self.results.glob(".*")]


@pytest.fixture
def demo(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def figures_of_run(number: str) -> dict[str, str]:
    """Return the output files of a run."""
    return {**{name: f"{name} of {number}\n" for name in NAMES}, "report.html": "page\n"}


def test_a_run_replaces_the_figures_of_the_last(demo: Installed) -> None:
    for number in ("1", "2"):
        done = demo.run(number)
        assert (done.code, done.err) == (0, ""), done
        assert demo.found() == figures_of_run(number)
        assert demo.hidden() == [".approxftl-demo"]


@pytest.mark.parametrize("code", [0, 125])
def test_foreign_files_in_the_results_are_kept(demo: Installed, code: int) -> None:
    mine = {"mail.fio.json": "me", "thesis.app.json": "me", "a.stat.json": "me", "x.html": "me"}
    demo.results.mkdir()
    for name, text in mine.items():
        (demo.results / name).write_text(text)
    assert demo.run(code=code).code == code
    assert demo.found() == {**mine, **(figures_of_run("1") if code == 0 else {})}


def test_a_failed_run_keeps_the_earlier_figures(demo: Installed) -> None:
    demo.run("1")
    assert demo.run("2", code=98).code == 98
    assert demo.found() == figures_of_run("1")
    assert demo.hidden() == [".approxftl-demo"]


@pytest.mark.parametrize("name", ["baseline.fio.json", "approxftl-image.stat.json", "report.html"])
@pytest.mark.parametrize("before", [True, False])
def test_foreign_files_with_output_names_are_not_replaced(
        demo: Installed, name: str, before: bool) -> None:
    if before:
        demo.run()
        (demo.place / "bin/booted").unlink()
    demo.results.mkdir(exist_ok=True)
    (demo.results / name).write_text("me")
    done = demo.run("2")
    assert done.code == 1
    assert f"{demo.results}/{name} is not of a demonstration" in done.err
    assert "--output" in done.err
    assert (demo.results / name).read_text() == "me"
    assert not demo.booted()


def test_a_link_is_not_followed_nor_replaced(demo: Installed) -> None:
    demo.results.mkdir()
    (demo.place / "precious").write_text("me")
    (demo.results / "report.html").symlink_to("../precious")
    assert "report.html is not of a demonstration" in demo.run().err
    assert (demo.place / "precious").read_text() == "me"
    (demo.results / "report.html").unlink()
    (demo.results / "report.html").symlink_to("nowhere")
    assert "report.html is not of a demonstration" in demo.run().err


def test_a_results_folder_that_cannot_be_made_is_named(demo: Installed) -> None:
    demo.results.write_text("me")
    done = demo.run()
    assert (done.code, demo.booted()) == (1, False)
    assert done.err.splitlines()[-1] == (
        f"approxftl demo: {demo.results}: no folder can be made there; --output names another")


def test_missing_packages_are_reported_before_the_run(demo: Installed) -> None:
    demo.stand_in("bin/approxftl-report", "echo 'approxftl report: no numpy' >&2; exit 1")
    done = demo.run()
    assert (done.code, done.err, demo.booted()) == (1, "approxftl report: no numpy\n", False)
    assert not demo.results.exists()
