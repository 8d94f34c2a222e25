# SPDX-License-Identifier: GPL-2.0-only
"""Export the missing points of a study as commands or as a Slurm job array."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from approxftl_tools.study_plan import Point
from approxftl_tools.study_store import Store

#: Slurm sends SIGTERM a minute before the limit or on preemption. The task then requeues itself:
#: its current point starts again, finished points do not.
SCRIPT = """\
#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --time={time}
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
# {points} commands of {manifest}, {chunk} a task.
set -u
manifest={manifest}
first=$((SLURM_ARRAY_TASK_ID * {chunk} + 1))
child=
again()
{{
	trap '' TERM
	[ -z "$child" ] || kill -s TERM -- "-$child" || kill -s TERM "$child"
	wait
	scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
	exit 0
}}
trap again TERM
failed=0
line=$first
while [ "$line" -lt $((first + {chunk})) ] && [ "$line" -le {points} ]; do
	setsid sh -c "$(sed -n "${{line}}p" "$manifest")" &
	child=$!
	wait "$child" || failed=1
	line=$((line + 1))
done
exit "$failed"
"""


@dataclass(frozen=True)
class Queue:
    """A Slurm job array."""

    name: str
    path: Path
    chunk: int
    time: str


def file_check_prefix(point: Point) -> str:
    """Return a shell prefix that fails if files differ from those of this machine."""
    program, *others = point.files
    names = [('"$(command -v approxftl)"', program[1]),
             *((shlex.quote(name), digest) for name, digest in others)]
    return "".join(
        f'{{ [ "$(sha256sum <{name} | cut -c1-64)" = {digest} ] || '
        f'{{ echo {name} is another one >&2; false; }}; }} && ' for name, digest in names)


def store_commands(points: Sequence[Point], store: Store) -> list[str]:
    """Return commands that write each result into the store unless it exists."""
    lines = []
    for point in points:
        place = shlex.quote(str(store.point_directory(point).absolute()))
        lines.append(f"[ -e {place}/result.json ] || {{ {file_check_prefix(point)}"
                     f"mkdir -p {place} && {point.shell_command()} --quiet "
                     f"--json={place}/result.part && "
                     f"mv {place}/result.part {place}/result.json; }}")
    return lines


def command_list_path(queue: Queue) -> Path:
    """Return the path of the command list of a job array."""
    return queue.path.with_name(f"{queue.path.name}.manifest")


def job_array_script(queue: Queue, points: int) -> str:
    """Return the script of a job array that runs this number of commands."""
    return SCRIPT.format(
        name=re.sub(r"[^A-Za-z0-9._-]", "-", queue.name),
        last=max(0, -(-points // queue.chunk) - 1),
        time=queue.time, points=points, chunk=queue.chunk,
        manifest=shlex.quote(str(command_list_path(queue).absolute())))
