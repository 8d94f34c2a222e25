# SPDX-License-Identifier: GPL-2.0-only
"""Test approxrun: its rules, and the tags of files that programs open."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, Done
from selftests.library.support import DOUBLE, Call, parse_call_log, run_program_with_library


def run_approxrun(rules: str, *command: str | Path, options: tuple[str, ...] = (), folder: Path,
                  ) -> tuple[Done, list[Call]]:
    file = folder / "rules"
    file.write_text(rules)
    log = folder / "log"
    log.unlink(missing_ok=True)
    done = run_program_with_library(DOUBLE / "approxrun", "-r", file, *options, "--", *command,
                                    log=log)
    return done, parse_call_log(log)


def read_control_device_calls(found: list[Call]) -> list[tuple[str, int, int, int]]:
    return [(call.what, call.offset, call.length, call.kind) for call in found]


def test_a_rule_may_keep_the_head_of_a_file_precise(tmp_path: Path) -> None:
    file = tmp_path / "picture.raw"
    done, found = run_approxrun("*.raw precise=4KiB\n", "dd", "if=/dev/zero", f"of={file}",
                                "count=1", "status=none", folder=tmp_path)
    assert done == Done(0, "", "")
    assert read_control_device_calls(found) == [("tag", 0, -1, 1), ("tag", 0, 4096, 0)]
    assert found[0].inode == file.stat().st_ino


def test_reads_and_unmatched_files_are_not_tagged(tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(b"data")
    done, found = run_approxrun("*.raw\n", "cp", tmp_path / "a.raw", tmp_path / "b",
                                folder=tmp_path)
    assert done == Done(0, "", "")
    assert found == []
    assert (tmp_path / "b").read_bytes() == b"data"


def test_the_first_matching_rule_applies(tmp_path: Path) -> None:
    rules = "index.* precise\n# a comment\n\n*/data/* remember # of all else\n"
    (tmp_path / "data").mkdir()
    script = f"echo 1 > {tmp_path}/data/index.raw; echo 2 > {tmp_path}/data/x"
    _, found = run_approxrun(rules, "sh", "-c", script, folder=tmp_path)
    assert read_control_device_calls(found) == [("tag", 0, -1, 0), ("tag", 0, -1, 1)]
    assert os.getxattr(tmp_path / "data/x", "user.approxftl") == b"0+"


def test_rules_match_the_paths_of_their_patterns(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for rules, matches in (("x", True), ("?", True), ("*/x", True), (f"{tmp_path}/*x", True),
                           ("*/a/*", True), ("a/b/x", False), ("b", False), ("[ab]", False)):
        _, found = run_approxrun(f"{rules}\n", "touch", tmp_path / "a/b/x", folder=tmp_path)
        assert bool(found) == matches, rules


def test_rules_may_name_a_process(tmp_path: Path) -> None:
    script = f"cp {tmp_path}/rules {tmp_path}/x; dd if=/dev/null of={tmp_path}/y status=none"
    _, found = run_approxrun("x process=c?\ny process=cp\n", "sh", "-c", script, folder=tmp_path)
    assert [c.inode for c in found] == [(tmp_path / "x").stat().st_ino]


OPENERS = {
    "open": 'open(p, O_WRONLY | O_CREAT, 0600)',
    "open64": 'open64(p, O_RDWR | O_CREAT, 0600)',
    "openat": 'openat(AT_FDCWD, p, O_WRONLY | O_CREAT, 0600)',
    "openat64": 'openat64(AT_FDCWD, p, O_WRONLY | O_CREAT, 0600)',
    "creat": 'creat(p, 0600)',
    "creat64": 'creat64(p, 0600)',
    "fopen": 'fopen(p, "w") ? 3 : -1',
    "fopen64": 'fopen64(p, "r+") ? 3 : fopen64(p, "w") ? 3 : -1',
    "freopen": 'freopen(p, "w", stdin) ? 3 : -1',
    "fortified": "open(p, flags)",
}


@pytest.mark.parametrize("name", OPENERS)
def test_files_are_tagged_by_every_open_call(name: str, tmp_path: Path) -> None:
    file = tmp_path / "x.raw"
    if name == "fortified":
        file.touch()
    source = ("#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
              "int main(int c, char **v) { const char *p = v[1]; int flags = c == 2 ? O_RDWR : 0;"
              f"(void)flags; int fd = {OPENERS[name]}; return fd < 0; }}\n")
    program = tmp_path / "program"
    subprocess.run(["gcc", "-O2", "-D_FORTIFY_SOURCE=2", "-xc", "-", "-o", program], input=source,
                   text=True, check=True)
    done, found = run_approxrun("*.raw\n", program, file, folder=tmp_path)
    assert done == Done(0, "", "")
    assert read_control_device_calls(found) == [("tag", 0, -1, 1)]
    if name in ("open", "openat64", "creat"):
        assert file.stat().st_mode & 0o777 == 0o600


def test_files_of_a_python_program_are_tagged(tmp_path: Path) -> None:
    done, found = run_approxrun("*.raw\n", sys.executable, "-c",
                                f"open({str(tmp_path / 'x.raw')!r}, 'wb').write(b'x')",
                                folder=tmp_path)
    assert done == Done(0, "", "")
    assert read_control_device_calls(found) == [("tag", 0, -1, 1)]


def test_approxrun_keeps_status_and_output_of_the_program(tmp_path: Path) -> None:
    done, _ = run_approxrun("*\n", "sh", "-c", "echo said; exit 7", folder=tmp_path)
    assert (done.code, done.out) == (7, "said\n")
    done, _ = run_approxrun("*\n", "cp", "/nonexistent", tmp_path / "x", folder=tmp_path)
    assert done.code == 1
    assert "No such file" in done.err


def test_verbose_prints_each_tag(tmp_path: Path) -> None:
    done, _ = run_approxrun("x\n", "touch", tmp_path / "x", folder=tmp_path, options=("-v",))
    assert done.err == f"approxrun: {tmp_path}/x: approximate\n"


@pytest.mark.parametrize(("line", "wrong"), [
    ("x precise=", "precise= takes bytes"),
    ("x precise=4KB", "precise= takes bytes"),
    ("x precise=-1", "precise= takes bytes"),
    ("x precise=99999999999999999999", "precise= takes bytes"),
    ("x precise=9999999TiB", "precise= takes bytes"),
    ("x process=", "process= takes one name, once"),
    ("x process=a process=b", "process= takes one name, once"),
    ("x approximate", "the words behind a pattern are"),
    ("x precise remember", "a file that is precise has no header"),
])
def test_wrong_rules_are_refused(line: str, wrong: str, tmp_path: Path) -> None:
    done, found = run_approxrun(f"good\n\n{line}\n", "touch", tmp_path / "x", folder=tmp_path)
    assert (done.code, done.out, found) == (2, "", [])
    assert done.err.startswith(f"approxrun: {tmp_path}/rules:3: {wrong}")
    assert not (tmp_path / "x").exists()


def test_valid_rules_pass_the_check(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("a precise=0\nb precise=7 process=x\nc precise=1GiB remember\nd precise=4KiB\n")
    assert run_program_with_library(DOUBLE / "approxrun", "--check", "-r", file) == Done(0, "", "")


def test_wrong_usage_is_refused(tmp_path: Path) -> None:
    assert run_program_with_library(DOUBLE / "approxrun",
                                    "--help").out.startswith("Usage: approxrun -r RULES")
    assert run_program_with_library(DOUBLE / "approxrun",
                                    "true").err.startswith("approxrun: -r RULES missing")
    assert run_program_with_library(DOUBLE / "approxrun", "-r",
                                    tmp_path).err.startswith("approxrun: PROGRAM missing")
    done = run_program_with_library(DOUBLE / "approxrun", "-r", tmp_path / "none", "true")
    assert (done.code, done.err) == (3, f"approxrun: {tmp_path}/none: No such file or directory\n")
    done, _ = run_approxrun("x\n", "/nonexistent", folder=tmp_path)
    assert (done.code, done.err) == (
        127, "approxrun: /nonexistent: cannot run: No such file or directory\n")


def test_programs_run_without_a_device(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("x\n")
    done = run_program_with_library(BUILD / "approxrun", "-r", rules, "touch", tmp_path / "x",
                                    library=BUILD)
    assert done == Done(0, "", "")
    done = run_program_with_library(BUILD / "approxrun", "-r", rules, "-R", "touch", tmp_path / "y",
                                    library=BUILD)
    assert done.code == 3
    assert not (tmp_path / "y").exists()
