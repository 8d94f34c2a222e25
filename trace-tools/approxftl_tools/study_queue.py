# SPDX-License-Identifier: GPL-2.0-only
"""Run the missing points of a study by Slurm: a job array, or its commands."""

import contextlib
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from approxftl_tools.command import NOT_FOUND, Refusal, write_file
from approxftl_tools.study_engine import Outcome
from approxftl_tools.study_plan import Point
from approxftl_tools.study_store import DONE, Store

#: The time limit of a task
TIME_LIMIT = re.compile(r"\d{1,3}:[0-5]\d:[0-5]\d")
#: Interval at which the results of a submitted job array are looked for.
LOOKED_S = 0.5
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
    """A Slurm job array to write: its name, path, commands per task, and time limit of a task."""

    name: str
    path: Path
    chunk: int
    time: str


def make_commands_that_check_files(point: Point) -> str:
    """Return commands for a job's machine that fail if files differ from the submitter's files."""
    program, *others = point.files
    names = [('"$(command -v approxftl)"', program[1]),
             *((shlex.quote(name), digest) for name, digest in others)]
    return "".join(
        f'{{ [ "$(sha256sum <{name} | cut -c1-64)" = {digest} ] || '
        f'{{ echo {name} is another one >&2; false; }}; }} && ' for name, digest in names)


def make_commands_that_store_results(points: Sequence[Point], store: Store) -> list[str]:
    """Return one command for each point, which stores the point's result unless it exists."""
    lines = []
    for point in points:
        place = shlex.quote(str(store.point_directory(point).absolute()))
        lines.append(f"[ -e {place}/result.json ] || {{ {make_commands_that_check_files(point)}"
                     f"mkdir -p {place} && {point.shell_command()} --quiet "
                     f"--json={place}/result.part && "
                     f"mv {place}/result.part {place}/result.json; }}")
    return lines


def command_list_path(queue: Queue) -> Path:
    """Return the path of the list of commands that a job array runs."""
    return queue.path.with_name(f"{queue.path.name}.manifest")


def write_job_array(queue: Queue, points: Sequence[Point], store: Store) -> None:
    """Write the script of a job array, and the list of its commands."""
    lines = make_commands_that_store_results(points, store)
    write_file(command_list_path(queue), "".join(f"{line}\n" for line in lines))
    write_file(queue.path, SCRIPT.format(
        name=re.sub(r"[^A-Za-z0-9._-]", "-", queue.name),
        last=max(0, -(-len(lines) // queue.chunk) - 1),
        time=queue.time, points=len(lines), chunk=queue.chunk,
        manifest=shlex.quote(str(command_list_path(queue).absolute()))))


@dataclass
class JobArray:
    """An engine that submits a job array; its tasks write results into the store."""

    queue: Queue
    store: Store
    #: More options of sbatch
    options: Sequence[str] = ()
    job: str = ""
    submitted: subprocess.Popen[str] | None = None

    def run_all_points(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Submit the points, and yield each outcome as its result appears."""
        if not points:
            return
        write_job_array(self.queue, points, self.store)
        try:
            self.submitted = subprocess.Popen(
                ["sbatch", "--parsable", "--wait", *self.options, self.queue.path],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise Refusal(f"sbatch: cannot run: {error.strerror}; Slurm is submitted to from a"
                          " machine that has it", NOT_FOUND) from error
        assert self.submitted.stdout and self.submitted.stderr
        self.job = self.submitted.stdout.readline().strip().partition(";")[0]
        left, ended = list(points), False
        while left and not ended:
            ended = self.submitted.poll() is not None
            for point in [one for one in left if self.store.state_of_point(one) == DONE]:
                left.remove(point)
                yield Outcome(point, self.store.read_result_text(point))
            if not ended:
                time.sleep(LOOKED_S)
        said = self.submitted.stderr.read().strip() if ended else ""
        for point in left:
            yield Outcome(point, None, said or f"job {self.job} of Slurm left no result, see its"
                                               " slurm-*.out")

    def stop_all_points(self) -> None:
        """Cancel the job array unless it has ended."""
        if self.submitted is not None and self.submitted.poll() is None:
            with contextlib.suppress(OSError):
                subprocess.run(["scancel", self.job], check=False)
            self.submitted.terminate()
            self.submitted.wait()
