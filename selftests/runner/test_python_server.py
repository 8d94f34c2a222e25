# SPDX-License-Identifier: GPL-2.0-only
"""Programs in the Python that tests of the kernel start once: as if each had been started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, Done, run_program

BEGIN = f"cd '{TOP}' && scratch=$1 && . selftests/kernel/python.sh\n"


def run(script: str, place: Path) -> Done:
    return run_program("sh", "-c", BEGIN + script, "sh", place)


pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root may have files of its parent")


@pytest.mark.parametrize(("command", "status", "said"), [
    ("""python -c 'import sys; print(sys.argv, sys.path[0])' '' "a  b" 'c
d'""", 0, "['-c', '', 'a  b', 'c\\nd'] \n"),
    ("python -c 'raise SystemExit(7)'", 7, ""),
    ("python -c 'import os; os.kill(os.getpid(), 9)'", 137, ""),
    ("python -c 'import os, signal; os.kill(os.getpid(), 2)' 2>/dev/null", 130, ""),
    ("python - x <<'END'\nimport sys\nprint(sys.argv, __name__)\nEND", 0, "['-', 'x'] __main__\n"),
    ("echo in | python -c 'print(input())' | tr i I", 0, "In\n"),
    ("{ echo a; python -c 'print(1)'; echo b; } >$scratch/x; cat $scratch/x", 0, "a\n1\nb\n"),
    ("(exit 3); x=$(python -c 'print(5)') && python -c 'print(6)' && echo $x", 0, "6\n5\n"),
    ("echo 'import sys; from turns_of import me; print(me, sys.argv)' >$scratch/a.py\n"
     "echo 'me = __name__' >$scratch/turns_of.py; python $scratch/a.py 1 >$scratch/x &&"
     " python $scratch/a.py 2 >>$scratch/x && cut -d' ' -f1,3 $scratch/x",
     0, "turns_of '1']\nturns_of '2']\n"),
    ("python $scratch/none.py 2>$scratch/x; echo $?; grep -o FileNotFoundError $scratch/x", 0,
     "1\nFileNotFoundError\n"),
])
def test_as_if_it_had_been_started(command: str, status: int, said: str, tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert (done.code, done.out, done.err) == (status, said, "")


def test_nothing_is_left(tmp_path: Path) -> None:
    done = run("echo $!; python -c 'import os; print(os.getppid())'", tmp_path)
    server, parent = map(int, done.out.split())
    assert server == parent
    # It ends with the last that could ask it.
    assert run_program("tail", f"--pid={server}", "-f", "/dev/null").code == 0
