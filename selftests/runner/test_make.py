# SPDX-License-Identifier: GPL-2.0-only
"""Test the Makefile; `make -n` prints the commands of make without running them."""

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import TOP

HISTOGRAM = "dm-approxftl/core/base/histogram"


def run_make(*words: str | Path, where: Path = TOP) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-f", TOP / "Makefile", *words], cwd=where, text=True,
                          capture_output=True, check=False)


def make_linked_tree(place: Path) -> Path:
    """Return a directory of links to the sources, without a build directory."""
    place.mkdir()
    for entry in TOP.iterdir():
        if entry.name not in ("build", ".git", "debian"):
            (place / entry.name).symlink_to(entry)
    return place


@pytest.mark.parametrize(("one", "other"), [("", "{}/"), ("{}/", "")])
def test_objects_depend_on_headers_in_any_folder(tmp_path: Path, one: str, other: str) -> None:
    """A changed header recompiles objects, whether the directory O= is relative or absolute."""
    own = make_linked_tree(tmp_path / "tree")
    made = []
    for folder, words in ((one, []), (other, []), (other, ["-W", f"{HISTOGRAM}.h"])):
        build = f"{folder.format(own)}build"
        done = run_make(f"O={build}", *words, f"{build}/obj/{HISTOGRAM}.o", where=own)
        made.append(done.stdout.count(f"CC      {build}/obj/{HISTOGRAM}.o"))
    assert made == [1, 0, 1]


@pytest.mark.parametrize(("installs", "status"), [
    ("true", 0), ("exit 1", 2), ('[ "$1" = --building ]', 2)])
def test_missing_packages_end_a_check_but_failed_builds_do_not(tmp_path: Path, installs: str,
                                                               status: int) -> None:
    """Missing packages end `make check`; a failed build does not, but counts as a failed test."""
    own = make_linked_tree(tmp_path / "tree")
    (own / "selftests").unlink()
    (own / "selftests").mkdir()
    for entry in (TOP / "selftests").iterdir():
        (own / "selftests" / entry.name).symlink_to(entry)
    (own / "selftests/install-packages").unlink()
    (own / "selftests/install-packages").write_text(f"#!/bin/sh\n{installs}\n")
    (own / "selftests/install-packages").chmod(0o755)
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho it does not compile >&2\nexit 1\n")
    compiler.chmod(0o755)
    done = run_make("check", f"CC={compiler}", "RUN=echo runs", "AREAS=cli", f"O={tmp_path}/build",
                    "TEST_PROGRAMS=", where=own)
    assert done.returncode == status, done
    assert ("runs --build-failed" in done.stdout) == (not status)


def test_clean_removes_a_build_directory(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "deep/new"):
        build = tmp_path / name
        assert run_make(f"O={build}", f"{build}/dkms.conf").returncode == 0
        assert (build / "dkms.conf").exists()
        done = run_make("clean", f"O={build}")
        assert (done.returncode, done.stderr, build.exists()) == (0, "", False)
    assert run_make("clean", f"O={tmp_path}/none").returncode == 0


@pytest.mark.parametrize("built", [True, False])
def test_clean_keeps_a_directory_with_other_files(tmp_path: Path, built: bool) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    if built:
        assert run_make(f"O={tmp_path}", f"{tmp_path}/dkms.conf").returncode == 0
    done = run_make("clean", f"O={tmp_path}")
    assert done.returncode == 2
    assert f"make clean: {tmp_path} had other files in it before make did" in done.stderr
    assert (tmp_path / "thesis.tex").read_text() == "mine"


#: Lower layers, with all the directories from which they may include headers.
BELOW = {
    "dm-approxftl/core": "dm-approxftl userspace/host",
    "userspace/lib": "dm-approxftl userspace/host",
    "userspace/libapproxftl": "dm-approxftl/uapi",
    "trace-tools/reader": "dm-approxftl userspace/host userspace/lib",
}


def test_a_layer_includes_only_headers_of_layers_below() -> None:
    """Compilers enforce each part's list of include directories: other headers are not found."""
    shown = "".join(f"$(info {part} $(sees_{part}))" for part in BELOW)
    said = run_make("-n", "--eval", f"show: ; {shown}", "show").stdout.splitlines()
    assert dict(line.split(" ", 1) for line in said if line.split(" ")[0] in BELOW) == BELOW
