# SPDX-License-Identifier: GPL-2.0-only
"""Properties of the Makefile; `make -n` prints its commands without running them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import TOP

HISTOGRAM = "dm-approxftl/core/base/histogram"


def run_make(*words: str | Path, where: Path = TOP) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-f", TOP / "Makefile", *words], cwd=where, text=True,
                          capture_output=True, check=False)


def linked_tree(place: Path) -> Path:
    """Return a directory of links to the sources, without a build directory."""
    place.mkdir()
    for entry in TOP.iterdir():
        if entry.name not in ("build", ".git", "debian"):
            (place / entry.name).symlink_to(entry)
    return place


def tree_with_script(place: Path, installs: str) -> Path:
    """Return such a tree with another install-packages script."""
    own = linked_tree(place)
    (own / "selftests").unlink()
    (own / "selftests").mkdir()
    for entry in (TOP / "selftests").iterdir():
        (own / "selftests" / entry.name).symlink_to(entry)
    (own / "selftests/install-packages").unlink()
    (own / "selftests/install-packages").write_text(f"#!/bin/sh\n{installs}\n")
    (own / "selftests/install-packages").chmod(0o755)
    return own


@pytest.mark.parametrize(("one", "other"), [("", "{}/"), ("{}/", "")])
def test_objects_depend_on_headers_in_any_folder(tmp_path: Path, one: str, other: str) -> None:
    """Objects depend on headers for any spelling of O=; stale objects once caused a crash."""
    own = linked_tree(tmp_path / "tree")
    made = []
    for folder, words in ((one, []), (other, []), (other, ["-W", f"{HISTOGRAM}.h"])):
        build = f"{folder.format(own)}build"
        done = run_make(f"O={build}", *words, f"{build}/obj/{HISTOGRAM}.o", where=own)
        made.append(done.stdout.count(f"CC      {build}/obj/{HISTOGRAM}.o"))
    assert made == [1, 0, 1]


@pytest.mark.parametrize(("installs", "status"), [
    ("true", 0), ("exit 1", 2), ('[ "$1" = --building ]', 2)])
def test_only_missing_packages_end_a_check(tmp_path: Path, installs: str, status: int
                                                 ) -> None:
    """Missing packages end a check; a failed build does not, and every-test counts it."""
    own = tree_with_script(tmp_path / "tree", installs)
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


@pytest.mark.parametrize("known", ["flags", "san-address-undefined/flags", "tests/a.log"])
def test_an_old_build_directory_is_recognised_by_its_content(
        tmp_path: Path, known: str) -> None:
    place = linked_tree(tmp_path / "tree")
    build = place / "build"
    (build / known).parent.mkdir(parents=True)
    (build / known).write_text("")
    done = run_make("clean", where=place)
    assert (done.returncode, done.stderr, build.exists()) == (0, "", False)
    build.mkdir()
    (build / "thesis.tex").write_text("mine")
    assert run_make("clean", where=place).returncode == 2
    shutil.rmtree(build)


# ---------------------------------------------------------------- include paths

SOURCES = [path.relative_to(TOP) for folder in ("dm-approxftl/core", "userspace", "trace-tools",
                                                "selftests")
           for path in (TOP / folder).rglob("*.c")]
#: Lower layers, with all the directories from which they may include headers.
BELOW = {
    "dm-approxftl/core": {"dm-approxftl", "userspace/host"},
    "userspace/lib": {"dm-approxftl", "userspace/host"},
    "userspace/libapproxftl": {"dm-approxftl/uapi"},
    "trace-tools/reader": {"dm-approxftl", "userspace/host", "userspace/lib"},
}
#: Sources with other compilers or flags, which are not checked.
OTHERS = ("selftests/kernel", "selftests/bench", "userspace/playground/wasi")


def folders_of_parts(build: Path) -> dict[str, set[str]]:
    """Return the include directories (-I) of each part, from make's commands."""
    parts: dict[str, Path] = {}
    for source in SOURCES:
        if not str(source).startswith(OTHERS):
            parts.setdefault("/".join(source.parts[:2]), source)
    objects = []
    for source in parts.values():
        kind = "fuzz/" if source.name.startswith("fuzz-") else "san-address-undefined/" \
            if source.parts[0] == "selftests" else ""
        objects.append(build / f"{kind}obj" / source.with_suffix(".o"))
    said = run_make("-n", "V=1", f"O={build}", *objects).stdout.splitlines()
    return {part: set(re.findall(r"-I (\S+)", next(line for line in said
                                                   if line.endswith(f" {source}"))))
            for part, source in parts.items()}


def add_include_folders(file: Path, folders: set[str], found: set[str], seen: set[Path]) -> None:
    """Add the include directories that a file and its headers use."""
    seen.add(file)
    for name in re.findall(r'^#\s*include ["<]([^">]+)[">]', (TOP / file).read_text(), re.M):
        beside = Path(os.path.normpath(file.parent / name))
        for folder in (None, *folders):
            header = beside if folder is None else Path(folder) / name
            if (TOP / header).is_file():
                found |= {folder} if folder else set()
                if header not in seen:
                    add_include_folders(header, folders, found, seen)
                break


def test_include_paths_are_limited_to_used_folders(tmp_path: Path) -> None:
    parts = folders_of_parts(tmp_path / "build")
    assert len(parts) > 18
    for part, folders in parts.items():
        found: set[str] = set()
        for source in SOURCES:
            if str(source).startswith(f"{part}/") and not str(source).startswith(OTHERS):
                add_include_folders(source, folders, found, set())
        assert found == folders, part
        assert folders == BELOW.get(part, folders), part
    assert set(BELOW) < set(parts)
