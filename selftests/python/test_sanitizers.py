# SPDX-License-Identifier: GPL-2.0-only
"""Address and undefined-behaviour sanitizers find nothing in the library while Python uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP, run_program

HERE = Path(__file__).parent
SANITIZED = BUILD / "san-address-undefined/libapproxftl-sim.so"
#: The area's tests of single runs and devices
TESTS = ("test_policy.py", "test_simulate.py", "test_stepped.py")

pytestmark = [pytest.mark.slow, pytest.mark.in_turn("sanitizers")]


def find_runtime_library(name: str) -> str:
    """Return the path of a library of the compiler."""
    return run_program("cc", f"-print-file-name={name}").out.strip()


def run_with_sanitizers(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of Python whose build directory has the sanitized library.

    Python itself leaks on purpose, and its own allocator would hide errors of size.
    """
    for program in BUILD.iterdir():
        if program.name != SANITIZED.name:
            (folder / program.name).symlink_to(program)
    (folder / SANITIZED.name).symlink_to(SANITIZED)
    libraries = " ".join(map(find_runtime_library, ("libasan.so", "libubsan.so")))
    return subprocess.run(
        [sys.executable, *command], cwd=TOP, text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={**os.environ, "AFTL_BUILD": str(folder),
                                       "LD_PRELOAD": libraries, "PYTHONMALLOC": "malloc",
                                       "ASAN_OPTIONS": "detect_leaks=0"})


@pytest.fixture(scope="module", autouse=True)
def sanitized_library() -> None:
    """Build the library with sanitizers."""
    done = run_program("make", "-C", TOP, f"-j{os.cpu_count()}", f"O={BUILD}",
                       "SAN=address,undefined", SANITIZED)
    assert done.code == 0, done.err


def test_sanitizers_find_nothing_in_the_tests_of_python(tmp_path: Path) -> None:
    done = run_with_sanitizers(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                               *(HERE / name for name in TESTS))
    assert done.returncode == 0, done.stdout
    assert "Sanitizer" not in done.stdout


def test_sanitizers_see_an_access_beyond_an_array(tmp_path: Path) -> None:
    script = """
import ctypes
import approxftl as aftl
from approxftl.simlib import lib, Job
device = aftl.Device(profile="demo")
times = (ctypes.c_int64 * 1)()
pages = (ctypes.c_int64 * 100)(*[1] * 100)
job = Job()
lib.device_batch(job.handle, device._handle, 0, 100, pages, pages, 1, times)
"""
    paths = os.pathsep.join(str(TOP / folder) for folder in ("userspace/python", "trace-tools"))
    done = run_with_sanitizers(tmp_path, "-c", f"import sys\nsys.path[:0] = {paths!r}.split(':')\n"
                               f"{script}")
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stdout
