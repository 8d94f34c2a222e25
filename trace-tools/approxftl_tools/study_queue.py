# SPDX-License-Identifier: GPL-2.0-only
"""What is missing of a study, as commands and as a job array of Slurm."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from approxftl_tools.study_plan import Point
from approxftl_tools.study_store import Store

#: A task that gets SIGTERM, a minute before its limit or when others need the machine, is queued
#: again; what it was at is begun anew then, what is done is not.
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
    """A job array."""

    name: str
    path: Path
    chunk: int
    time: str


def same_files(point: Point) -> str:
    """Return the part of a command that ends it where files are others than here."""
    program, *others = point.files
    names = [('"$(command -v approxftl)"', program[1]),
             *((shlex.quote(name), digest) for name, digest in others)]
    return "".join(
        f'{{ [ "$(sha256sum <{name} | cut -c1-64)" = {digest} ] || '
        f'{{ echo {name} is another one >&2; false; }}; }} && ' for name, digest in names)


def commands(points: Sequence[Point], store: Store) -> list[str]:
    """Return commands, each of which leaves a result where a study looks for it, once."""
    lines = []
    for point in points:
        place = shlex.quote(str(store.place(point).absolute()))
        lines.append(f"[ -e {place}/result.json ] || {{ {same_files(point)}mkdir -p {place} && "
                     f"{point.command()} --quiet --json={place}/result.part && "
                     f"mv {place}/result.part {place}/result.json; }}")
    return lines


def manifest(queue: Queue) -> Path:
    """Return where the commands of a job array are."""
    return queue.path.with_name(f"{queue.path.name}.manifest")


def script(queue: Queue, points: int) -> str:
    """Return a job array that runs so many commands."""
    return SCRIPT.format(
        name=re.sub(r"[^A-Za-z0-9._-]", "-", queue.name),
        last=max(0, -(-points // queue.chunk) - 1),
        time=queue.time, points=points, chunk=queue.chunk,
        manifest=shlex.quote(str(manifest(queue).absolute())))
