# SPDX-License-Identifier: GPL-2.0-only
"""The runner reports a failure for every way in which a test can fail."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent.parent / "run"
WORK = "python3 -c 'import time\nwhile time.process_time() < 0.5: pass'"


@dataclass
class Tree:
    """A source tree that contains only tests."""

    top: Path

    def make_runner_command(self, *arguments: str) -> list[str]:
        build = ["--tree", str(self.top), "--build", str(self.top / "build")]
        return [sys.executable, str(RUN), *build, *arguments]

    def run_tests(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            self.make_runner_command(*arguments), capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def add_test_script(self, path: str, text: str) -> Path:
        file = self.top / "selftests" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def add_tap_script(self, area: str, script: str) -> None:
        self.add_test_script(f"{area}/thing.tap.sh", f"#!/bin/sh\n{script}\n")


@pytest.fixture
def tree_of_tests(tmp_path: Path) -> Tree:
    (tmp_path / "selftests").mkdir()
    return Tree(tmp_path)


def read_last_output_line(output: str) -> str:
    return output.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("echo 1..1; echo not ok 1 - broken", "failed: broken"),
        ("echo 1..2; echo ok 1 - one", "planned 2, ran 1"),
        ("echo ok 1 - one", "0 plans"),
        ("true", "0 plans"),
        ("echo 1..1; echo ok 1; echo 1..1", "2 plans"),
        ("echo 1..2; echo ok 1 - one; echo ok 3 - two", "numbered 3"),
        ("echo 1..1; echo ok 1 - one; exit 3", "exit status 3"),
        ("echo 1..1; echo ok 1 - one; exit 4", "exit status 4"),
        ("echo 1..1; echo ok 1 - one; kill -SEGV $$", "SIGSEGV"),
        ("echo 1..1; echo ok 1 - one; echo 'Bail out! no memory'", "bail out: no memory"),
        ("echo 1..1; echo ok 1 - one; sleep infinity >/dev/null 2>&1 &", "left processes running"),
    ],
)
def test_the_runner_fails_on_a_bad_tap_program(tree_of_tests: Tree, script: str,
                                               complaint: str) -> None:
    tree_of_tests.add_tap_script("core", script)
    status, output = tree_of_tests.run_tests()
    assert status == 1, output
    assert complaint in output
    assert " 1 failed," in read_last_output_line(output)


@pytest.mark.slow
def test_the_runner_names_a_test_that_hangs_and_its_processes(tree_of_tests: Tree) -> None:
    tree_of_tests.add_tap_script("core",
                                 "echo 1..2; echo ok 1 - one; sleep infinity; echo ok 2 - two")
    status, output = tree_of_tests.run_tests("--quiet", "1")
    assert status == 1
    assert "core/thing" in output
    assert "did nothing for 1 s; waiting: " in output and "sleep infinity" in output
    assert read_last_output_line(output) == "1 passed, 1 failed, 0 skipped"


@pytest.mark.slow
@pytest.mark.parametrize(("body", "status"), [
    # Slow tests that print output or use the processor are alive.
    ("for i in 1 2 3 4 5; do sleep 2; echo '# here'; done", 0),
    (f"for i in 1 2 3; do sleep 2; {WORK}; done", 0),
    ("while :; do :; done", 1),
    # A test that only polls for a missing file hangs.
    ("while ! [ -e /nonexistent ]; do sleep 0.2; done", 1),
])
@pytest.mark.in_turn
def test_a_test_without_output_or_processor_time_is_stopped(tree_of_tests: Tree, body: str,
                                                            status: int) -> None:
    tree_of_tests.add_tap_script("core", f"echo 1..1; {body}; echo ok 1 - one")
    assert tree_of_tests.run_tests("--quiet", "4")[0] == status


@pytest.mark.parametrize("script", ["echo '1..0 # SKIP no disk'", "echo '1..0 # SKIP x'; exit 4"])
def test_the_runner_fails_when_a_whole_area_was_skipped(tree_of_tests: Tree, script: str) -> None:
    tree_of_tests.add_tap_script("core", script)
    tree_of_tests.add_test_script("other/fine.tap.sh", "#!/bin/sh\necho 1..1; echo ok 1 - one\n")
    status, output = tree_of_tests.run_tests()
    assert status == 1
    assert "core: every test of the area was skipped" in output
    assert read_last_output_line(output) == "1 passed, 1 failed, 1 skipped"


FAILS_ONCE = ("echo 1..1; [ -e ../once ] || { touch ../once; echo not ok 1 - one; exit; }; "
              "echo ok 1 - one")


def test_a_test_that_passes_alone_is_flaky(tree_of_tests: Tree) -> None:
    tree_of_tests.add_tap_script("core", f"cd '{tree_of_tests.top}/selftests'; {FAILS_ONCE}")
    status, output = tree_of_tests.run_tests()
    assert status == 0
    assert "core/thing runs again, alone" in output
    assert "FLAKY core/thing: one: failed at first and passed alone. This is a defect" in output
    assert read_last_output_line(output) == "1 passed, 0 failed, 0 skipped, 1 flaky"
    logs = tree_of_tests.top / "build" / "tests" / "core"
    assert "not ok" in (logs / "thing.first.out").read_text()
    assert "not ok" not in (logs / "thing.out").read_text()
    assert "flakyFailure" in (logs.parent / "junit.xml").read_text()


@pytest.mark.parametrize("arguments", [("core",), ("--all",), ("--ktap",), ("--fast",)])
def test_only_a_whole_check_repeats_a_failed_test(tree_of_tests: Tree,
                                                  arguments: tuple[str, ...]) -> None:
    tree_of_tests.add_tap_script("core", f"cd '{tree_of_tests.top}/selftests'; {FAILS_ONCE}")
    status, output = tree_of_tests.run_tests(*arguments)
    assert status == 1 and "again" not in output


@pytest.mark.parametrize("finding", [
    "echo not ok 1 - the log is clean", "echo 'x.c:3:4: runtime error: overflow' >&2; exit 1",
    "echo '==1==ERROR: AddressSanitizer: use after free' >&2; exit 1", "kill -SEGV $$",
    "sleep infinity"])
def test_a_second_run_does_not_excuse_a_finding(tree_of_tests: Tree, finding: str) -> None:
    once = FAILS_ONCE.replace("echo not ok 1 - one; exit", finding)
    tree_of_tests.add_tap_script("core", f"cd '{tree_of_tests.top}/selftests'; {once}")
    status, output = tree_of_tests.run_tests("--quiet", "1")
    assert status == 1 and "again" not in output


def test_many_failed_tests_are_not_repeated(tree_of_tests: Tree) -> None:
    for name in ("one", "two", "three"):
        tree_of_tests.add_test_script(f"core/{name}.tap.sh",
                                      "#!/bin/sh\necho 1..1; echo not ok 1 - no\n")
    status, output = tree_of_tests.run_tests()
    assert status == 1 and "again" not in output


def test_the_runner_prints_ktap(tree_of_tests: Tree) -> None:
    tree_of_tests.add_tap_script("core",
                                 "echo 1..2; echo ok 1 - one; echo ok 2 - two '#' SKIP no disk")
    tree_of_tests.add_test_script("other/skipped.tap.sh",
                                  "#!/bin/sh\necho 1..0 '#' SKIP no root; exit 4\n")
    status, output = tree_of_tests.run_tests("--ktap", "core")
    assert (status, output.splitlines()) == (0, [
        "KTAP version 1", "1..1", "  KTAP version 1", "  1..2", "  ok 1 - one",
        "  ok 2 - two # SKIP no disk", "ok 1 - core/thing"])
    status, output = tree_of_tests.run_tests("--ktap", "other")
    assert status == 4 and read_last_output_line(output) == "ok 1 - other/skipped # SKIP no root"
    tree_of_tests.add_test_script("other/broken.tap.sh",
                                  "#!/bin/sh\necho not ok 1 - one; echo 1..1; exit 1\n")
    status, output = tree_of_tests.run_tests("--ktap", "other/broken")
    assert status == 1 and read_last_output_line(output) == "not ok 1 - other/broken"


def test_the_runner_fails_when_an_area_has_no_tests(tree_of_tests: Tree) -> None:
    tree_of_tests.add_tap_script("core", "echo 1..1; echo ok 1 - one")
    tree_of_tests.add_test_script("empty/helper.py", "")
    status, output = tree_of_tests.run_tests()
    assert status == 1
    assert "empty: the area ran no test" in output


def test_runner_runs_each_in_turn_test_in_only_one_of_six_commits(tree_of_tests: Tree) -> None:
    tree_of_tests.add_test_script("core/settings", "in-turn=a b c d\n")
    for name in "abcde":
        tree_of_tests.add_test_script(f"core/{name}.tap.sh",
                                      "#!/bin/sh\necho 1..1; echo ok 1 - one\n")
    tree_of_tests.add_test_script("alone/settings", "in-turn=f\n")
    tree_of_tests.add_test_script("alone/f.tap.sh", "#!/bin/sh\necho 1..1; echo ok 1 - one\n")
    git = ["git", "-C", str(tree_of_tests.top), "-c", "user.name=one", "-c", "user.email=one@two"]
    subprocess.run([*git, "init", "-q"], check=True)
    ran = []
    for _ in range(6):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "next"], check=True)
        status, output = tree_of_tests.run_tests()
        names = re.findall(r"/(\w): 1 passed", output)
        assert status == 0 and output.count("left to another commit") == 6 - len(names)
        ran += names
    assert sorted(ran) == ["a", "b", "c", "d", *6 * ["e"], "f"]
    assert tree_of_tests.run_tests("core")[1].endswith("5 passed, 0 failed, 0 skipped\n")


def test_the_runner_refuses_an_area_that_does_not_exist(tree_of_tests: Tree) -> None:
    tree_of_tests.add_tap_script("core", "echo 1..1; echo ok 1 - one")
    status, output = tree_of_tests.run_tests("cores")
    assert status == 1
    assert "no area 'cores'" in output


def test_the_runner_fails_when_a_test_program_was_not_built(tree_of_tests: Tree) -> None:
    tree_of_tests.add_test_script("core/test-map.c", "")
    status, output = tree_of_tests.run_tests()
    assert status == 1
    assert "not built" in output


def test_a_failed_build_is_counted_even_when_an_older_program_passes(tree_of_tests: Tree) -> None:
    tree_of_tests.add_test_script("core/test-map.c", "")
    tree_of_tests.add_test_script("../build/selftests/core/test-map",
                                  "#!/bin/sh\necho 1..1; echo ok 1 - m\n")
    status, output = tree_of_tests.run_tests("--build-failed")
    assert status == 1
    assert read_last_output_line(output) == "1 passed, 1 failed, 0 skipped"


def test_the_runner_limits_a_fuzz_harness_and_uses_its_exit_status(tree_of_tests: Tree) -> None:
    tree_of_tests.add_test_script("fuzz/fuzz-parser.c", "")
    tree_of_tests.add_test_script("fuzz/corpus/parser/seed", "x")
    harness = tree_of_tests.add_test_script("../build/selftests/fuzz/fuzz-parser",
                                            '#!/bin/sh\necho "$@" >&2\nexit 77\n')
    status, output = tree_of_tests.run_tests("--fuzz-seconds", "3")
    assert status == 1
    assert "-max_total_time=3" in output
    assert "selftests/fuzz/corpus/parser" in output
    harness.write_text("#!/bin/sh\n")
    assert tree_of_tests.run_tests()[0] == 0


@pytest.mark.slow
def test_the_runner_counts_each_pytest_case(tree_of_tests: Tree) -> None:
    tree_of_tests.add_test_script(
        "py/test_it.py",
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 1 == 2\n"
        "@pytest.mark.skip(reason='no disk')\n"
        "def test_skipped(): pass\n",
    )
    status, output = tree_of_tests.run_tests()
    assert status == 1
    assert "failed: test_bad: assert 1 == 2" in output
    assert "skipped: test_skipped: no disk" in output
    assert read_last_output_line(output) == "1 passed, 1 failed, 1 skipped"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["import nothing_of_this_name\n", "import os\nos._exit(9)\n"])
def test_the_runner_fails_when_pytest_cannot_collect(tree_of_tests: Tree, text: str) -> None:
    tree_of_tests.add_test_script("py/test_it.py", text)
    tree_of_tests.add_test_script("py/fine.tap.sh", "#!/bin/sh\necho 1..1; echo ok 1 - one\n")
    status, output = tree_of_tests.run_tests()
    assert status == 1, output
    assert "failed: pytest: exit status" in output
