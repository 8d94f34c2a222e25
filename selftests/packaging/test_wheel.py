# SPDX-License-Identifier: GPL-2.0-only
"""The wheel, installed by each supported Python, simulates and runs studies without the tree."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from selftests.lib.programs import PROGRAM, TOP, run_program

#: Release of Debian for each Python; no release has Python 3.12.
SUITES = {"3.11": "bookworm", "3.12": None, "3.13": "trixie", "3.14": "testing"}
WHEELS = Path(sys.prefix) / "wheels"
STUDY = """study = 1
[base]
profile = "demo"
requests = 100
[vary]
policy = ["baseline"]
"""
SIMULATION = """
import approxftl
print(approxftl.__file__, approxftl.simulate(profile="demo", requests=1000).json, end="")
"""

pytestmark = [pytest.mark.slow, pytest.mark.in_turn("wheel")]


def find_python(version: str) -> Path:
    """Return a Python of this machine, or of the release of Debian that has it; or skip."""
    found = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin") or next(
        Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"), None)
    if found:
        return Path(found)
    suite = SUITES[version]
    if not suite:
        pytest.skip(f"this machine has no Python {version}, and no release of Debian has it")
    made = subprocess.run([TOP / "selftests/first-steps/foreign-python", suite],
                          capture_output=True, text=True, check=False)
    if made.returncode == 4:
        pytest.skip(f"Python {version}: {made.stderr.splitlines()[-1]}")
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.strip()) / "bin/python3"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    done = run_program(sys.executable, "-m", "pip", "-q", "wheel", "--no-build-isolation",
                       "--no-deps", "--no-index", "-w", place, TOP)
    assert done.code == 0, done.err
    return next(place.iterdir())


@pytest.mark.parametrize("version", SUITES)
def test_the_wheel_works_in_a_clean_environment(version: str, wheel: Path, tmp_path: Path) -> None:
    if not WHEELS.exists():
        pytest.skip("selftests/install-packages has not fetched the wheels of other Pythons")
    python = tmp_path / "venv/bin/python3"
    environment = {"PATH": "/usr/bin:/bin", "AFTL_BUILD": "/nowhere", "APPROXFTL": "approxftl"}

    def run_wheel_command(*command: str | Path, code: int = 0) -> tuple[str, str]:
        done = run_program(*command, directory=tmp_path, environment=environment)
        assert done.code == code, done
        return done.out, done.err

    run_wheel_command(find_python(version), "-m", "venv", tmp_path / "venv")
    run_wheel_command(python, "-m", "pip", "-q", "--disable-pip-version-check", "install",
                      "--no-index",
                      "--find-links", WHEELS, wheel)
    place, _, found = run_wheel_command(python, "-c", SIMULATION)[0].partition(" ")
    assert place.startswith(f"{tmp_path}/venv/lib/python{version}/")
    line = ("sim", "--profile=demo", "--requests=1000", "--json=-")
    assert found == run_program(PROGRAM, *line).out
    own = Path(place).with_name("approxftl-sim")
    assert run_wheel_command(own, *line)[0] == found
    (tmp_path / "study.toml").write_text(STUDY)
    out, _ = run_wheel_command(python.with_name("approxftl-study"), "run", "study.toml", "--json=-")
    assert [one["runs"] for one in json.loads(out)["rows"]] == [1]
    _, said = run_wheel_command(python.with_name("approxftl-synth"), "--like", "PRN_0", "-O",
                                "x.aft", code=1)
    assert said == ("approxftl synth: approxftl: a Python package has only the verb sim; "
                    '"make install" installs trace\n')
