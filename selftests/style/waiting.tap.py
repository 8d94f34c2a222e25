#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No test has a deadline or asserts a measured time; selftests/README.md gives the reasons."""

import re
import subprocess
import sys
from pathlib import Path

DEADLINE = re.compile("|".join([
    r"timeout\s*=\s*[\dA-Z]",
    r"(?<!['\"])\.(wait|join)\([\dA-Z]",
    r"assert .*\b(monotonic|perf_counter|time)\(\)",
    r"\btimeout (-\S+ \S+ )*[\"$\d]",
    r"--timeout\b",
]))

#: Files that may match: the reason
EXCEPTIONS = {
    "selftests/first-steps/on-release": "it interrupts make at some moment",
    "selftests/kernel/install-kselftest": "it tells kselftest that there is no deadline",
    "selftests/kernel/library.sh": "it interrupts a verb at some moment",
    "selftests/kernel/run-others": "a day instead of the lab's deadline; it watches the progress",
    "selftests/kernel/torture.py": "AFTL_TORTURE_PATIENCE: in runs of hours it prints the stacks",
    "selftests/lab/test_lab.py": "the option --timeout of approxftl lab is tested",
    "selftests/run": "the deadline of libFuzzer for one input",
    "selftests/style/waiting.tap.py": "the patterns",
}


def main() -> int:
    """Print one test point as TAP."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "selftests"],
        capture_output=True, text=True, check=False)
    files = listed.stdout.split() or [str(path) for path in Path("selftests").rglob("*.*")]
    found, used = [], set()
    for name in files:
        path = Path(name)
        # Benchmarks measure time, and mutants may hang.
        if (name.startswith(("selftests/bench/bench", "selftests/mutants/"))
                or path.suffix in {".c", ".h", ".md", ".patch"} or not path.is_file()):
            continue
        text = path.read_bytes()
        if b"\0" in text[:1024] or "/corpus/" in name:
            continue
        lines = [f"# {name}:{number}: {line.strip()}"
                 for number, line in enumerate(text.decode(errors="replace").splitlines(), 1)
                 if DEADLINE.search(line)]
        if name not in EXCEPTIONS:
            found += lines
        elif lines:
            used.add(name)
    found += [f"# {name} is an exception without need" for name in EXCEPTIONS.keys() - used]
    print("\n".join(found), end="\n" if found else "")
    print(f"{'not ok' if found else 'ok'} 1 - tests wait for progress, not for a time\n1..1")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
