# SPDX-License-Identifier: GPL-2.0-only
"""No verb of any program destroys files that it should not write.

The verbs, and their options that name output files, are read from the programs' own help: a new
verb is tested without a change here, or fails the test until COMMANDS says how to run it.
"""

import errno
import io
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, Done, install_verb_with_module, run_program
from selftests.lib.verbs import Words, list_verbs_and_programs, make_verb_command, run_help_of_verb
from selftests.traces import support as traces

from approxftl_tools import compare, figures, report, synth

#: How to run a verb in a directory made by folder_of_input_files(). "@OUT" is the output file.
COMMANDS: dict[Words, str] = {
    ("sim",): "sim --requests 1000 --quiet",
    ("params",): "params",
    ("profiles",): "profiles",
    ("policies",): "policies",
    ("create",): "create ssd --dry-run",
    ("format",): "format new.volume blocks=40 layers=2 word_lines=4 op=60",
    ("check",): "check a.volume",
    ("dump",): "dump a.volume",
    ("doctor",): "doctor",
    ("help",): "help",
    ("version",): "version",
    ("trace", "info"): "trace info a.aft",
    ("trace", "convert"): "trace convert a.aft @OUT --to aft",
    ("trace", "pair"): "trace pair a.aft",
    ("trace", "tag"): "trace tag --rule approximate:size=4KiB.. a.aft @OUT",
    ("trace", "fix"): "trace fix a.blktrace.0 @OUT",
    ("trace", "formats"): "trace formats",
    ("synth",): "synth --like PRN_0 --requests 500 --output b.aft",
    ("app",): "app mc data --size 4096",
    ("replay",): "replay a.aft target --overwrite --fold --no-stall --buffered",
    ("study", "run"): "study run study.toml",
    ("study", "status"): "study status study.toml",
    ("study", "table"): "study table study.toml",
    ("study", "figure"): "study figure study.toml",
    ("study", "report"): "study report study.toml",
    ("study", "pack"): "study pack study.toml",
    ("study", "verify"): "study verify study.study.tar.gz",
    ("study", "export"): "study export other.toml",
    ("study", "optimise"): "study optimise search.toml",
    ("study", "schema"): "study schema",
    ("drives",): "drives kioxia-xg6 --only random",
    ("calibrate",): "calibrate fio.output",
    ("compare",): "compare a.json",
    ("report",): "report a.json",
    ("figures",): "figures a.json --kind cdf",
    ("approxftl-parquet",): "approxftl-parquet @OUT",
    ("approxftl-embeddings",): "approxftl-embeddings data --vectors 256 --dimensions 8 --draws 8",
    ("approxftl-weights",): "approxftl-weights data --hidden 16 --draws 8",
    ("approxrun",): "approxrun --rules rules --check",
}
#: These need a kernel device or boot one, so only their help is tested.
DEVICE_VERBS: set[Words] = {
    ("lab",), ("demo",), ("worn",), ("serve",), ("nvme",), ("torture",), ("trace", "record"),
    *((verb,) for verb in ("list", "status", "stat", "top", "health", "message", "fault",
                         "remove")),
    *(("tag", verb) for verb in ("add", "del", "list", "model", "query", "scan", "watch")),
    ("approxftl-model",)}
#: Options that name input files, and output directories in which file names are fixed.
INPUTS = {"--trace", "--fault-script", "--config", "--load", "--summarise", "--fit", "--profile",
          "--rules", "--traces", "--mounted", "--reference", "--root", "--tables", "--profiles",
          "--against", "--tls", "--results", "--job-files"}
FOLDERS = {("study figure", "--output"), ("drives", "--save"), ("figures", "--output"),
           ("trace", "--output")}
#: Verbs that may print something on success; all others must be silent.
SILENT = {("approxftl-parquet",), ("approxrun",), ("sim",)}
#: Verbs that need other arguments to print JSON or to run a second time.
WITH_JSON: dict[Words, str] = {("format",): f"{COMMANDS['format',]} --force",
                               ("figures",): "figures --list"}


def list_file_name_options(words: Words) -> list[str]:
    """Return the options that name output files."""
    found = re.findall(r"^ .*?(--[a-z-]+)(?:\[=|[ =])(?:FILE|DIR|DIRECTORY|PATH)\b",
                       run_help_of_verb(words), re.M)
    return [option for option in dict.fromkeys(found) if option not in INPUTS]


def list_output_options() -> list[tuple[Words, str]]:
    """Return every verb and output option; "@OUT" stands for an output argument."""
    found = [(words, option) for words in list_verbs_and_programs() if words not in DEVICE_VERBS
             for option in list_file_name_options(words)
             if not {(words[0], option), (" ".join(words), option)} & FOLDERS
             # The exit status of doctor depends on the machine.
             and words != ("doctor",)]
    return found + [(words, "@OUT") for words, text in COMMANDS.items() if "@OUT" in text]


def make_pytest_parameter_id(value: object) -> str:
    """Return the text by which pytest names a parameter of a test."""
    return "-".join(value) if isinstance(value, tuple) else str(value)


# ---------------------------------------------------------------- the directory of input files

SMALL = ("sim", "--requests", "1000", "--quiet")
#: fio's JSON output for random reads at queue depth 1.
FIO = {"fio version": "fio-3.33", "timestamp": 1, "jobs": [
    {"jobname": "lone", "groupid": 0, "error": 0, "job options": {"rw": "randread", "direct": "1"},
     "read": {"io_bytes": 40960, "total_ios": 10, "iops": 1e4, "clat_ns": {"N": 10, "mean": 1e5}},
     "write": {"io_bytes": 0, "total_ios": 0, "iops": 0.0, "clat_ns": {"N": 0, "mean": 0.0}}}]}


@pytest.fixture(scope="session")
def folder_of_input_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one input file of each kind that the verbs read."""
    folder = tmp_path_factory.mktemp("prepared")

    def run_verb_ok(*words: str, stdin: bytes = b"") -> None:
        done = run_program(*make_verb_command(words), directory=folder, stdin=stdin)
        assert done.code == 0, done.err

    run_verb_ok(*SMALL, "--json=a.json", "--record", "a.aft", "--histogram")
    run_verb_ok("format", "a.volume", *COMMANDS[("format",)].split()[2:])
    traces.write_test_file(folder / "a.blktrace.0", traces.pack_events(
        [traces.make_request_event(1, traces.QUEUE, traces.WRITE, 0, 4096, sequence=1),
         traces.make_request_event(9, traces.COMPLETE, traces.WRITE, 0, 4096, sequence=2)]))
    (folder / "fio.output").write_text(json.dumps(FIO))
    (folder / "rules").write_text("*.dat\n")
    with (folder / "target").open("wb") as target:
        target.truncate(1 << 20)
    (folder / "data").mkdir()
    for name, requests in (("study", 500), ("other", 600)):
        (folder / f"{name}.toml").write_text(
            f'study = 1\n[base]\nrequests = {requests}\n[vary]\npolicy = ["baseline", "vth_b"]\n'
            '[[figure]]\nx = "policy"\ny = "write_response_mean_ns"\n')
    (folder / "search.toml").write_text(
        'study = 1\n[base]\nrequests = 500\n[optimise]\nminimise = "array_erases"\ntrials = 2\n'
        "[optimise.range]\nop = [7, 28]\n")
    run_verb_ok("study", "run", "study.toml")
    run_verb_ok("study", "pack", "study.toml")
    return folder


def find_data_offset(file: int, at: int) -> int | None:
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return None


def copy_sparse_file(source: str, target: str) -> None:
    """Copy only the data extents: volumes are sparse, and the tests make about 700 copies."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        new.truncate(os.fstat(old.fileno()).st_size)
        at = find_data_offset(old.fileno(), 0)
        while at is not None:
            end = os.lseek(old.fileno(), at, os.SEEK_HOLE)
            while at < end:
                at += os.copy_file_range(old.fileno(), new.fileno(), end - at, at, at)
            at = find_data_offset(old.fileno(), end)
    shutil.copymode(source, target)


@pytest.fixture
def copied_inputs(folder_of_input_files: Path, tmp_path: Path) -> Path:
    """A test's own copy of the directory of input files."""
    folder = tmp_path / "place"
    shutil.copytree(folder_of_input_files, folder, copy_function=copy_sparse_file)
    return folder


CSV = b"t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class\n1,write,0,4096,0,0,0,precise\n"


def make_command_with_output(words: Words, what: str, path: str) -> list[str]:
    text = WITH_JSON.get(words, COMMANDS[words]) if what == "--json" else COMMANDS[words]
    text = text.replace("@OUT", path if what == "@OUT" else "fresh.out")
    line = make_verb_command(tuple(text.split(" ")))
    if what == "--json":
        line.append(f"--json={path}")
    elif what.startswith("--"):
        if what in line:
            line[line.index(what) + 1] = path
        else:
            line += [what, path]
    # These verbs overwrite files only with --force.
    if words[:2] in (("trace", "convert"), ("trace", "tag"), ("trace", "fix")):
        line.append("--force")
    return line


def list_contents_meaning_no_output(what: str) -> tuple[bytes, ...]:
    """Return file contents that mean no output; none for --dropped, whose file may be empty."""
    return () if what == "--dropped" else (b"",)


def make_writes_fail() -> None:
    """Limit the size of files to 0, so that every write fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run_command_line(line: Sequence[str], place: Path,
                     before: Callable[[], None] | None = None) -> Done:
    done = subprocess.run(line, cwd=place, input=CSV, capture_output=True, check=False,
                          preexec_fn=before)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def check_error_message(done: Done) -> None:
    """Assert that a program failed with a short message and without a traceback."""
    assert done.code not in (0, -signal.SIGXFSZ), done
    assert "Traceback" not in done.err, done.err
    assert re.search(r"^(approx[-a-z ]+|cat): .", done.err, re.M), done.err
    assert done.err.strip().count("\n") <= 3, done.err


def list_temporary_files(place: Path) -> set[str]:
    """Return the names of temporary files that programs left in a directory."""
    return {path.name for path in place.rglob("*") if "part" in path.name
            or path.name.startswith(".")}


# ---------------------------------------------------------------- completeness


def test_every_verb_with_an_output_is_tested() -> None:
    assert set(list_verbs_and_programs()) == set(COMMANDS) | DEVICE_VERBS
    assert len(list_output_options()) > 20 and len(list_commands_with_inputs()) > 30


# ---------------------------------------------------------------- output files


@pytest.mark.parametrize(("words", "what"), list_output_options(), ids=make_pytest_parameter_id)
@pytest.mark.in_turn
class TestOutput:
    """Test output to symbolic links, devices, pipes and standard output."""

    def test_output_through_a_symbolic_link_is_written_to_its_target(self, words: Words, what: str,
                                                                     copied_inputs: Path) -> None:
        (copied_inputs / "sub").mkdir()
        (copied_inputs / "old").write_text("old")
        (copied_inputs / "old").chmod(0o640)
        for link, target in (("to-old", "old"), ("to-none", "sub/none")):
            (copied_inputs / link).symlink_to(target)
            done = run_command_line(make_command_with_output(words, what, link), copied_inputs)
            assert done.code == 0, done
            assert (copied_inputs / link).is_symlink()
            assert (copied_inputs / target).read_bytes() not in (
                b"old", *list_contents_meaning_no_output(what))
        assert stat.S_IMODE((copied_inputs / "old").stat().st_mode) == 0o640
        assert not list_temporary_files(copied_inputs)

    def test_output_is_written_to_a_named_pipe(self, words: Words, what: str,
                                               copied_inputs: Path) -> None:
        line = make_command_with_output(words, what, "pipe")
        os.mkfifo(copied_inputs / "pipe")
        with (copied_inputs / "piped").open("wb") as sink, subprocess.Popen(
                ["cat", copied_inputs / "pipe"], stdout=sink) as reader:
            done = run_command_line(line, copied_inputs)
            if done.code:
                reader.kill()
        assert done.code == 0, done
        assert (copied_inputs / "pipe").is_fifo()
        assert (copied_inputs / "piped").read_bytes() not in list_contents_meaning_no_output(what)

    def test_output_goes_directly_to_a_device(self, words: Words, what: str,
                                              copied_inputs: Path) -> None:
        for name, number, works in (("null", 3, True), ("full", 7, False)):
            # Create a device node for the test, so that the machine's own nodes are safe.
            try:
                os.mknod(copied_inputs / name, stat.S_IFCHR | 0o666, os.makedev(1, number))
            except PermissionError:
                pytest.skip("making devices needs root")
            done = run_command_line(make_command_with_output(words, what, name), copied_inputs)
            if works or what == "--dropped":
                assert done.code == 0, done
            else:
                check_error_message(done)
            there = (copied_inputs / name).lstat()
            assert stat.S_ISCHR(there.st_mode) and there.st_rdev == os.makedev(1, number)
        assert not list_temporary_files(copied_inputs)

    def test_a_dash_writes_to_standard_output(self, words: Words, what: str,
                                              copied_inputs: Path) -> None:
        # A private link: a program that replaces it does not damage the machine's /dev/stdout.
        (copied_inputs / "stdout").symlink_to("/proc/self/fd/1")
        done = subprocess.run(make_command_with_output(words, what, "stdout"), cwd=copied_inputs,
                              input=CSV, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout not in list_contents_meaning_no_output(what)
        assert (copied_inputs / "stdout").is_symlink()
        with (copied_inputs / "redirected").open("wb") as sink:
            sink.write(b"before\n")
            sink.flush()
            subprocess.run(make_command_with_output(words, what, "stdout"), cwd=copied_inputs,
                           input=CSV, stdout=sink, stderr=subprocess.DEVNULL, check=True)
        written = (copied_inputs / "redirected").read_bytes()
        assert written.startswith(b"before\n")
        assert written[len(b"before\n"):] not in list_contents_meaning_no_output(what)

    def test_a_full_disk_keeps_the_old_file(self, words: Words, what: str,
                                            copied_inputs: Path) -> None:
        if what == "--dropped":
            pytest.skip("what is empty has room on a full disk")
        (copied_inputs / "old").write_text("old")
        check_error_message(run_command_line(make_command_with_output(words, what, "old"),
                                             copied_inputs, make_writes_fail))
        assert (copied_inputs / "old").read_text() == "old"
        assert not list_temporary_files(copied_inputs)

    def test_a_missing_folder_is_reported(self, words: Words, what: str,
                                          copied_inputs: Path) -> None:
        done = run_command_line(make_command_with_output(words, what, "nowhere/out"), copied_inputs)
        check_error_message(done)
        assert done.code == 1
        assert "nowhere/out" in done.err
        assert "No such file or directory" in done.err


#: Commands that would overwrite their own input. "LOST" stands for that input's name.
OVER_INPUTS = (
    "report a.json -O LOST", "sim --trace a.aft --json=LOST", "sim --trace a.aft --timeline LOST",
    "sim --trace a.aft --record LOST", "sim --trace a.aft --dump LOST",
    "trace pair a.aft --requests LOST", "trace info a.aft --json=LOST",
    "trace pair a.aft --json=LOST", "trace convert a.aft o.csv --dropped LOST",
    "trace convert a.aft o.csv --json=LOST", "trace convert a.aft LOST --to csv --force",
    "trace tag --rule approximate:size=4KiB.. a.aft LOST --force", "synth --fit a.aft -O LOST",
    "synth --fit a.aft --profile-out LOST",
    "replay a.aft target --overwrite --fold --buffered --record LOST",
    "replay a.aft target --overwrite --fold --buffered --json=LOST",
    "replay a.aft LOST --overwrite --fold --buffered", "replay --simulate a.aft --json=LOST",
    "replay --simulate --speed 2 a.aft --json=LOST",
)
#: Commands that would write two outputs to one file, "same".
SAME_FILE = (
    "sim --requests 1000 --json=same --record same", "sim --requests 1000 --json=same --dump same",
    "sim --requests 1000 --record same --timeline same",
    "sim --requests 1000 --timeline same --dump SAME",
    "trace convert a.aft same --to csv --force --json=same",
    "trace convert a.aft same --to csv --force --dropped SAME",
    "trace pair a.aft --requests same --json=SAME", "trace info a.aft --dropped same --json=same",
    "trace fix a.blktrace.0 same --force --json=SAME",
    "synth --like PRN_0 --requests 500 -O same --profile-out SAME",
    "replay a.aft target --overwrite --fold --json=same --record SAME",
    "replay a.aft same --overwrite --fold --buffered --json=SAME",
)


def read_folder_contents(place: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, by relative path."""
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*")
            if path.is_file()}


WAYS = ("by name", "by another name", "by a link", "by a hard link")


@pytest.mark.parametrize(("line", "way"), [
    *((line, WAYS[at % len(WAYS)]) for at, line in enumerate(OVER_INPUTS)),
    *((OVER_INPUTS[at], way) for at in (0, 1, 10, 14) for way in WAYS if WAYS[at % 4] != way)])
def test_an_input_is_refused_as_output(line: str, way: str, copied_inputs: Path) -> None:
    source = "a.json" if "a.json" in line else "a.aft"
    name = {"by name": source, "by another name": f"../place/{source}"}.get(way, "other")
    if way == "by a link":
        (copied_inputs / name).symlink_to(source)
    elif way == "by a hard link":
        (copied_inputs / name).hardlink_to(copied_inputs / source)
    before = read_folder_contents(copied_inputs)
    done = run_command_line(make_verb_command(tuple(line.replace("LOST", name).split())),
                            copied_inputs)
    check_error_message(done)
    assert f"{name}: is also read; give " in done.err
    assert read_folder_contents(copied_inputs) == before


@pytest.mark.parametrize(("line", "there"), [
    (line, bool(at % 2)) for at, line in enumerate(SAME_FILE)] + [(SAME_FILE[0], True)])
def test_two_outputs_to_one_file_are_refused(line: str, there: bool, copied_inputs: Path) -> None:
    if there or "replay a.aft same" in line:
        (copied_inputs / "same").write_bytes(bytes(1 << 20))
    (copied_inputs / "link").symlink_to("same")
    before = read_folder_contents(copied_inputs)
    done = run_command_line(make_verb_command(tuple(line.replace("SAME", "link").split())),
                            copied_inputs)
    check_error_message(done)
    assert " is also written by " in done.err
    assert read_folder_contents(copied_inputs) == before


def test_two_outputs_may_go_to_one_device(copied_inputs: Path) -> None:
    line = "sim --requests 1000 --quiet --json=/dev/null --record /dev/null --dump /dev/null"
    assert run_command_line(make_verb_command(tuple(line.split())), copied_inputs).code == 0


def test_a_report_may_be_written_into_a_folder_that_it_reads(copied_inputs: Path) -> None:
    assert run_command_line(make_verb_command(("report", ".", "-O", "all.html")),
                            copied_inputs).code == 0
    done = run_command_line(make_verb_command(("report", ".", "-O", "./study.d/../a.json")),
                            copied_inputs)
    assert "is also read" in done.err


@pytest.mark.parametrize("line", ["report a.json -O -", "synth --like PRN_0 --requests 500 -O -",
                                  "synth --like PRN_0 --profile-out -", "approxftl-parquet -"])
def test_a_dash_as_output_file_name_is_standard_output(line: str, copied_inputs: Path) -> None:
    before = read_folder_contents(copied_inputs)
    done = subprocess.run(make_verb_command(tuple(line.split())), cwd=copied_inputs, input=CSV,
                          capture_output=True, check=True)
    begin = {"report": b"<!", "synth": b"\x89AFT" if " -O " in line else b"{"}
    assert done.stdout.startswith(begin.get(line.split()[0], b"PAR1"))
    assert read_folder_contents(copied_inputs) == before
    run_command_line([word.replace("-", "./-") if word == "-" else word
                      for word in make_verb_command(tuple(line.split()))], copied_inputs)
    assert (copied_inputs / "-").is_file()


def test_verb_format_reports_a_full_disk(copied_inputs: Path) -> None:
    (copied_inputs / "full").mkdir()
    done = run_command_line(["unshare", "--mount", "--map-root-user", "sh", "-c",
                             'mount -t tmpfs -o size=64k none full && "$@"; code=$?; '
                             "ls -A full >&2; exit $code",
                             "sh", *make_verb_command(("format",)), "full/volume"], copied_inputs)
    if "unshare" in done.err or "mount" in done.err:
        pytest.skip("no name spaces here")
    assert (done.code, done.err) == (
        1, "approxftl format: full/volume: the volume could not be written: "
        "No space left on device\n")


def test_format_accepts_only_disks_and_regular_files(copied_inputs: Path) -> None:
    options = COMMANDS[("format",)].split()[2:]
    os.mkfifo(copied_inputs / "pipe")
    (copied_inputs / "link").symlink_to("linked")
    (copied_inputs / "linked").write_bytes(b"old")
    names = ["pipe"]
    with suppress(PermissionError):
        os.mknod(copied_inputs / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        names.append("null")
    for name in names:
        before = (copied_inputs / name).lstat()
        check_error_message(run_command_line([*make_verb_command(("format",)), name, "--force",
                                              *options], copied_inputs))
        assert (copied_inputs / name).lstat().st_mode == before.st_mode
    assert run_command_line([*make_verb_command(("format",)), "link", "--force", *options],
                            copied_inputs).code == 0
    assert (copied_inputs / "link").is_symlink()


def test_folders_are_refused_as_files(copied_inputs: Path) -> None:
    for words, option in ((("study", "run"), "--out"), (("figures",), "--output")):
        done = run_command_line([*make_command_with_output(words, "", ""), option, "a.json"],
                                copied_inputs)
        check_error_message(done)
        assert (copied_inputs / "a.json").read_text().startswith("{")


def skip_test_without_namespaces(*spaces: str) -> None:
    if subprocess.run(["unshare", "--map-root-user", *spaces, "true"], capture_output=True,
                      check=False).returncode:
        pytest.skip("no name spaces here")


def test_temporary_files_of_a_killed_run_do_not_block_the_next(copied_inputs: Path) -> None:
    """Temporary files of a killed process with the same pid do not block the next run."""
    skip_test_without_namespaces("--pid", "--fork")
    alone = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]
    line = make_verb_command(("sim", "--quiet", "--json=out.json", "--requests"))
    process = subprocess.Popen([*alone, *line, "1000000000"], cwd=copied_inputs)
    await_true(lambda: make_file_existence_check(".approxftl-*")(copied_inputs), process)
    process.kill()
    process.wait()
    left = list_temporary_files(copied_inputs)
    assert left
    assert run_command_line([*alone, *line, "1000"], copied_inputs) == Done(0, "", "")
    assert list_temporary_files(copied_inputs) == left


#: Verbs that write files, one for each implementation.
WRITERS: tuple[tuple[Words, str], ...] = (
    (("sim",), "--json"), (("sim",), "--record"), (("sim",), "--dump"), (("replay",), "--record"),
    (("trace", "convert"), "@OUT"), (("trace", "pair"), "--requests"), (("report",), "--output"),
    (("synth",), "--output"))
#: Drop root's capabilities to override the permissions and owners of files.
ANYBODY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown"]
NOBODY = 65534


def check_output_overwritten_in_place(old: Path, done: Done, number: int) -> None:
    """Assert that an output file was overwritten in place: same inode, new contents."""
    assert done.code == 0, done
    assert old.stat().st_ino == number
    assert b"~before~" not in old.read_bytes()
    assert len(old.read_bytes()) > 100
    assert not list_temporary_files(old.parent)


@pytest.mark.parametrize("mode", [0o1777, 0o755], ids=["sticky", "of another"])
@pytest.mark.parametrize(("words", "what"), WRITERS, ids=make_pytest_parameter_id)
def test_output_overwrites_files_of_another_user_in_place(words: Words, what: str, mode: int,
                                                          copied_inputs: Path) -> None:
    if os.geteuid():
        pytest.skip("files of others need root")
    folder = copied_inputs / "strange"
    folder.mkdir()
    (folder / "old").write_text("~before~" * 100000)
    for path, bits in ((folder / "old", 0o666), (folder, mode)):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(bits)
    old = folder / "old"
    number = old.stat().st_ino
    done = run_command_line([*ANYBODY, *make_command_with_output(words, what, "strange/old")],
                            copied_inputs)
    check_output_overwritten_in_place(old, done, number)
    if what == "--record" and words == ("replay",):
        read = run_command_line(make_verb_command(("replay", "--summarise", "strange/old")),
                                copied_inputs)
        assert read.code == 0 and "interrupted" not in read.err, read
    new = run_command_line([*ANYBODY, *make_command_with_output(words, what, "strange/new")],
                           copied_inputs)
    assert new.code == (0 if mode == 0o1777 else 1)
    assert not list_temporary_files(copied_inputs / "strange")


@pytest.mark.parametrize(("words", "what"), WRITERS, ids=make_pytest_parameter_id)
def test_an_output_file_that_is_a_mount_point_is_written_in_place(words: Words, what: str,
                                                                  copied_inputs: Path) -> None:
    skip_test_without_namespaces("--mount")
    (copied_inputs / "old").write_text("~before~" * 100000)
    (copied_inputs / "mounted").touch()
    number = (copied_inputs / "old").stat().st_ino
    script = 'mount --bind old mounted && exec "$@"'
    done = run_command_line(["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh",
                             *make_command_with_output(words, what, "mounted")], copied_inputs)
    check_output_overwritten_in_place(copied_inputs / "old", done, number)
    assert not (copied_inputs / "mounted").read_bytes()


def test_output_is_kept_in_another_file_if_its_file_cannot_be_replaced(copied_inputs: Path) -> None:
    skip_test_without_namespaces("--mount")
    script = ('mkdir full && mount -t tmpfs -o size=64k none full && echo old >full/old && '
              'touch mounted && mount --bind full/old mounted && '
              'head -c 1000000 /dev/zero >full/filler 2>/dev/null; exec "$@"')
    done = run_command_line(["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh",
                             *make_command_with_output(("sim",), "--json", "mounted")],
                            copied_inputs)
    assert done.code == 1
    told = re.search(r": mounted: can be neither replaced nor written: No space left on device; "
                     r"its new content is in (.*)$", done.err, re.M)
    assert told, done.err
    assert json.loads((copied_inputs / told[1]).read_text())["runs"]


# ---------------------------------------------------------------- inputs

#: Names of input files in the prepared directory; "data" is a directory.
READ = r"(a|study|other|search|fio|rules)(\.[a-z0-9.]+)?"
#: Command lines with options that name input files.
READING = ("sim --quiet --requests 9 --trace a.aft", "sim --quiet --requests 9 --load a.device",
           "sim --quiet --raid 5 --members 4 --trace a.aft",
           "sim --quiet --requests 9 --trace a.csv --from csv", "synth --fit a.aft --output b.aft",
           "synth --profile a.profile --output b.aft", "study figure study.toml --style a.toml",
           "drives kioxia-xg6 --only random --tables data", "replay --summarise a.log")


#: Input files that may be empty, and those whose errors are usage errors.
MAY_BE_EMPTY = {"a.blktrace.0", "a.toml", "rules"}
WORDS = {"rules"}


def list_commands_with_inputs() -> list[tuple[str, str]]:
    lines = [*(text.replace("@OUT", "fresh.out") for text in COMMANDS.values()), *READING]
    return [(line, name) for line in lines for name in line.split()[1:]
            if re.fullmatch(READ, name) and name != line.split()[0]]


def check_command_refused(line: str, code: int, place: Path) -> None:
    done = run_command_line(make_verb_command(tuple(line.split())), place)
    check_error_message(done)
    assert (done.code, done.out) == (code, ""), done


@pytest.mark.parametrize(("line", "name"), list_commands_with_inputs())
@pytest.mark.in_turn
def test_exit_status_is_3_for_missing_and_1_for_invalid_inputs(line: str, name: str,
                                                               copied_inputs: Path) -> None:
    (copied_inputs / name).unlink(missing_ok=True)
    check_command_refused(line, 3, copied_inputs)
    (copied_inputs / name).mkdir()
    check_command_refused(line, 3, copied_inputs)
    (copied_inputs / name).rmdir()
    for content in (b"", b"\x8f\x01nothing of ours\n\xff" * 300):
        if content or name not in MAY_BE_EMPTY:
            (copied_inputs / name).write_bytes(content)
            check_command_refused(line, 2 if name in WORDS else 1, copied_inputs)



# ---------------------------------------------------------------- standard output


@pytest.mark.parametrize("words", list_verbs_and_programs(), ids=make_pytest_parameter_id)
@pytest.mark.in_turn
def test_printing_help_to_a_full_disk_fails(words: Words) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*make_verb_command(words), "--help"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    check_error_message(Done(done.returncode, "", done.stderr))
    assert done.returncode == 1
    closed = subprocess.run(["sh", "-c", '"$@" --help >&-', "sh", *make_verb_command(words)],
                            stderr=subprocess.PIPE, text=True, check=False)
    check_error_message(Done(closed.returncode, "", closed.stderr))
    assert closed.returncode == 1


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in SILENT],
                         ids=make_pytest_parameter_id)
@pytest.mark.in_turn
def test_writing_results_to_a_full_disk_fails(words: Words, copied_inputs: Path) -> None:
    line = make_command_with_output(words, "", "")
    if words == ("trace", "convert") or words[:2] in (("trace", "tag"), ("trace", "fix")):
        line = make_command_with_output(words, "@OUT", "-")
    for way in (">/dev/full", ">&-"):
        done = run_command_line(["sh", "-c", f'"$@" {way}', "sh", *line], copied_inputs)
        check_error_message(done)
        assert done.code == 1


def test_closed_standard_output_is_not_reused_for_files(copied_inputs: Path) -> None:
    shell = ["sh", "-c", '"$@" >&- 2>&-', "sh", str(BUILD / "approxftl")]
    assert run_command_line([*shell, "sim", "--requests", "1000", "--json=x.json"],
                            copied_inputs).code == 1
    assert (copied_inputs / "x.json").read_bytes()[:1] == b"{"
    assert (copied_inputs / "x.json").read_bytes().rstrip()[-1:] == b"}"


@pytest.mark.parametrize("words", list(COMMANDS), ids=make_pytest_parameter_id)
@pytest.mark.in_turn
def test_verbs_work_in_the_c_locale(words: Words, copied_inputs: Path) -> None:
    """Verbs work in the C locale without UTF-8 mode, since file names are bytes."""
    name = b"\xc3\x9cbung \xff".decode(errors="surrogateescape")
    try:
        moved = copied_inputs.rename(copied_inputs.with_name(name))
    except OSError:
        pytest.skip("this file system does not take such names")
    line = [word if not (moved / word).exists() or word in ("", ".") else str(moved / word)
            for word in make_command_with_output(words, "", "")]
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(line, cwd=moved, input=CSV, env=os.environ | environment,
                          capture_output=True, check=False)
    assert done.returncode == 0 or words == ("doctor",), done.stderr
    assert b"Traceback" not in done.stderr


# ---------------------------------------------------------------- signals

MARK = "AFTL_TEST_OF_HARM"


def find_processes_of_command(mark: str) -> list[int]:
    """Return the processes of one command, found by a variable of their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes() and \
                    b"\nState:\tZ" not in (path / "status").read_bytes():
                found.append(int(path.name))
    return found


@dataclass(frozen=True)
class Long:
    """A command that runs for long, and a predicate that tells whether the command has begun."""

    line: str
    begun: Callable[[Path], bool]
    kept: Callable[[Path], bool] = lambda place: True


def make_file_existence_check(pattern: str) -> Callable[[Path], bool]:
    def has_output_begun(place: Path) -> bool:
        with suppress(FileNotFoundError):  # Directories may be removed during the search.
            return any(place.rglob(pattern))
        return False

    return has_output_begun


LONG: dict[Words, Long] = {
    ("sim",): Long("sim --requests 1000000000 --json=out.json --timeline lanes.json",
                   make_file_existence_check(".approxftl-*"),
                   lambda place: '"interrupted": true' in (place / "out.json").read_text()),
    ("trace", "info"): Long("trace info --from spc endless",
                            make_file_existence_check("endless.read")),
    ("trace", "convert"): Long("trace convert --from spc endless out.aft",
                               make_file_existence_check(".approxftl-*")),
    ("trace", "pair"): Long("trace pair --from spc endless --requests out.csv",
                            make_file_existence_check(".approxftl-*")),
    ("trace", "tag"): Long("trace tag --from spc --rule approximate:size=4KiB.. endless out.aft",
                           make_file_existence_check(".approxftl-*")),
    ("synth",): Long("synth --like PRN_0 --requests 3000000 --output out.aft",
                     make_file_existence_check(".approxftl-*")),
    ("app",): Long("app sor data --size 2048 --rounds 100000 --json=out.json",
                   make_file_existence_check(".approxftl-*")),
    ("replay",): Long("replay a.aft target --overwrite --fold --speed 0.000001 --buffered "
                      "--json=out.json --record out.log", make_file_existence_check("out.log"),
                      lambda place: '"interrupted": true' in (place / "out.json").read_text()),
    ("study", "run"): Long("study run long.toml --jobs 2", make_file_existence_check("running")),
    ("figures",): Long("figures --papers approxftl-05 --output papers",
                       make_file_existence_check("papers/*")),
}


SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.mark.parametrize(("words", "number"), [
    *((words, SIGNALS[at % len(SIGNALS)]) for at, words in enumerate(LONG)),
    (("sim",), signal.SIGINT), (("sim",), signal.SIGHUP), (("study", "run"), signal.SIGHUP),
    (("replay",), signal.SIGTERM)], ids=make_pytest_parameter_id)
@pytest.mark.in_turn
def test_signals_leave_no_temporary_file(words: Words, number: signal.Signals,
                                         copied_inputs: Path) -> None:
    long = LONG[words]
    mark = f"{os.getpid()}-{'-'.join(words)}-{number}"
    (copied_inputs / "long.toml").write_text(
        'study = 1\n[base]\nrequests = 1000000000\n[vary]\nop = [7, 10, 20]\n')
    endless = None
    if "endless" in long.line:
        os.mkfifo(copied_inputs / "endless")
        endless = subprocess.Popen(
            ["sh", "-c", 'exec 3>endless; touch endless.read; yes "0,0,512,w,1.0" >&3'],
            cwd=copied_inputs,
stderr=subprocess.DEVNULL)
    # A shell may start the tests in the background with SIGINT ignored.
    process = subprocess.Popen(
        ["env", "--default-signal=INT,HUP,TERM", *make_verb_command(tuple(long.line.split()))],
                               cwd=copied_inputs,
        env=os.environ | {MARK: mark}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        await_true(lambda: len(find_processes_of_command(mark)) > 2 if words == ("study", "run")
                   else long.begun(copied_inputs), process)
        time.sleep(0.2)
        process.send_signal(number)
        _, err = process.communicate()
    finally:
        process.kill()
        if endless:
            endless.kill()
            endless.wait()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    await_true(lambda: not find_processes_of_command(mark))
    assert not list_temporary_files(copied_inputs)
    assert long.kept(copied_inputs)


@pytest.mark.in_turn
def test_outputs_of_an_interrupted_run_are_marked(copied_inputs: Path) -> None:
    """All output of an interrupted run says that it was interrupted; so do its reports."""
    line = ("sim --requests 1000000000 --quiet --json=i.json --timeline t.json --record i.aft "
            "--warmup 10")
    process = subprocess.Popen(make_verb_command(tuple(line.split())), cwd=copied_inputs)
    await_true(lambda: len(list_temporary_files(copied_inputs)) >= 3, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 130
    assert json.loads((copied_inputs / "t.json").read_text())["interrupted"] is True
    told = run_command_line(make_verb_command(("trace", "convert", "i.aft", "copy.aft")),
                            copied_inputs).err
    assert "; of a run that was interrupted" in told
    for name in ("i.aft", "copy.aft"):
        assert f"{name} (interrupted)" in run_command_line(make_verb_command(("compare", name)),
                                                           copied_inputs).out
    for name, mark in (("t.json", "timeline (interrupted)"), ("i.aft", "i.aft (interrupted)"),
                       ("t.json", "The run was interrupted.")):
        assert run_command_line(make_verb_command(("report", name)), copied_inputs).code == 0
        assert mark in (copied_inputs / "report.html").read_text()
    for name in ("a.aft", "a.json"):
        run_command_line(make_verb_command(("report", name)), copied_inputs)
        assert "(interrupted" not in (copied_inputs / "report.html").read_text()


def test_writing_the_summary_of_a_replay_log_over_the_log_is_refused(copied_inputs: Path) -> None:
    line = "replay a.aft target --overwrite --fold --buffered --no-stall --record log"
    assert run_command_line(make_verb_command(tuple(line.split())), copied_inputs).code == 0
    before = read_folder_contents(copied_inputs)
    done = run_command_line(make_verb_command(("replay", "--summarise", "log", "--json=log")),
                            copied_inputs)
    assert "log: is also read; give --json another name" in done.err
    assert read_folder_contents(copied_inputs) == before


def test_verb_compare_marks_the_log_of_an_interrupted_replay(copied_inputs: Path) -> None:
    line = "replay a.aft target --overwrite --fold --buffered --no-stall --record log"
    whole = run_command_line(make_verb_command(tuple(line.split())), copied_inputs)
    assert whole.code == 0
    assert "(interrupted" not in run_command_line(make_verb_command(("compare", "log")),
                                                  copied_inputs).out
    # A killed replay leaves no record count and a truncated last entry.
    content = (copied_inputs / "log").read_bytes()
    (copied_inputs / "log").write_bytes(content[:4096 + 6000])
    told = run_command_line(make_verb_command(("compare", "log")), copied_inputs).out
    assert re.search(r"log \(interrupted after \d+ of 1000 requests\)", told), told


#: A module imported before our own that pauses where the test sends the signal.
SLOW_PYTHON = '''
import atexit, pathlib, sys, time

def wait_until_file_named_go_exists():
    pathlib.Path("paused").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "WHERE":
            wait_until_file_named_go_exists()

if "-m" in sys.orig_argv:
    sys.meta_path.insert(0, Finder())
    if "WHERE" == "exit":
        atexit.register(wait_until_file_named_go_exists)
'''


@pytest.mark.parametrize(("words", "where"), [
    *((("report",), where)
      for where in ("approxftl_tools", "difflib", "approxftl_tools.command", "exit")),
    (("compare",), "approxftl_tools"), (("study", "status"), "approxftl_tools.command"),
    (("synth",), "exit")], ids=make_pytest_parameter_id)
def test_python_verbs_are_interrupted_without_a_traceback(words: Words, where: str,
                                                          copied_inputs: Path) -> None:
    """SIGINT ends Python verbs cleanly before and after their signal handler is active."""
    (copied_inputs / "own").mkdir()
    program = install_verb_with_module(copied_inputs / "own", words[0], "sitecustomize",
                                       SLOW_PYTHON.replace("WHERE", where))
    arguments = make_command_with_output(words, "", "")[2:]
    process = subprocess.Popen(
        ["env", "--default-signal=INT", str(program), *arguments], cwd=copied_inputs, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    await_true((copied_inputs / "paused").exists, process)
    process.send_signal(signal.SIGINT)
    # The signal arrives before the package is imported.
    (copied_inputs / "go").touch()
    _, err = process.communicate()
    assert "Traceback" not in err
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("pause", [0, 0.2, 1])
def test_a_second_signal_leaves_no_temporary_file(pause: float, copied_inputs: Path) -> None:
    """Killed by two signals, `trace convert` leaves no file, even if its child lives on."""
    os.mkfifo(copied_inputs / "endless")
    mark = f"{os.getpid()}-second-{pause}"
    with subprocess.Popen(["sh", "-c", 'yes "0,0,512,w,1.0" >endless'], cwd=copied_inputs,
                          stderr=subprocess.DEVNULL, start_new_session=True) as source:
        process = subprocess.Popen(
            [*make_verb_command(("trace", "convert")), "--from", "spc", "endless", "out.parquet"],
                                   cwd=copied_inputs,
            env=os.environ | {MARK: mark}, stderr=subprocess.DEVNULL)
        await_true(lambda: make_file_existence_check(".approxftl-*.part")(copied_inputs), process)
        time.sleep(pause)
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        assert process.wait() in (130, -signal.SIGTERM)
        os.killpg(source.pid, signal.SIGKILL)
    await_true(lambda: not find_processes_of_command(mark))
    assert not list_temporary_files(copied_inputs)


# ---------------------------------------------------------------- hostile inputs

HOSTILE = {
    "deep": "[" * 100_000, "deep-object": '{"a":' * 100_000, "zeroes": "\0" * 100,
    "list": "[]", "number": "7", "no-run": '{"geometry": {}, "runs": [7]}',
    "empty-run": '{"geometry": {}, "runs": [{}]}', "cut": '{"runs": [',
    "huge": '{"devices": [{"name": "x", "size_bytes": 1e999}]}',
    "wrong": '{"devices": [{"name": "x", "counters": 7, "blocks": []}]}',
    "events": '{"traceEvents": [{"ph": "X", "pid": "x", "tid": [], "ts": "y", "dur": {}, '
              '"name": 1, "cat": 2, "args": {"block": 0, "page": 0}}]}',
}


MAINS: dict[str, Callable[[Sequence[str]], int]] = {
    "compare": compare.main, "report": report.main, "figures": figures.main, "synth": synth.main}


def run_verb_in_process(place: Path, line: str) -> None:
    """Run a Python verb in the test's process; the verb must succeed or print an error message."""
    verb, *words = line.split()
    told = io.StringIO()
    with redirect_stderr(told), redirect_stdout(io.StringIO()), chdir(place):
        status = MAINS[verb](words)
    assert status == 0 or told.getvalue().startswith(f"approxftl {verb}: "), line


@pytest.fixture
def restore_handlers_and_streams() -> Iterator[None]:
    """Restore the signal handlers and standard streams that a verb changes."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    streams = (sys.stdin, sys.stdout, sys.stderr)
    yield
    sys.stdin, sys.stdout, sys.stderr = streams
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("restore_handlers_and_streams")
@pytest.mark.parametrize("name", HOSTILE)
def test_malformed_json_documents_are_refused(name: str, copied_inputs: Path) -> None:
    (copied_inputs / "hostile").write_text(HOSTILE[name])
    for line in ("compare hostile", "report hostile", "figures hostile", "synth --fit hostile -O x",
                 "synth --profile hostile -O x"):
        run_verb_in_process(copied_inputs, line)


@pytest.mark.parametrize("name", ["deep", "number", "no-run"])
def test_malformed_studies_are_refused(name: str, copied_inputs: Path) -> None:
    (copied_inputs / "hostile.toml").write_text(f"study = 1\n[base]\nx = {HOSTILE[name]}")
    done = run_command_line(make_verb_command(("study", "status", "hostile.toml")), copied_inputs)
    check_error_message(done)


@pytest.mark.usefixtures("restore_handlers_and_streams")
@pytest.mark.parametrize("value", [None, 7, -1, 1e308, "x", [], [7], {}, True])
def test_values_of_wrong_types_are_refused(value: object, copied_inputs: Path) -> None:
    """Replace one field of a simulator's result at a time by a value of another type."""
    document = json.loads((copied_inputs / "a.json").read_text())
    path = copied_inputs / "changed.json"
    for key in ("timing", "counters", "energy", "write_amplification", "blocks", "block_kinds",
                "mode_pages", "luns", "policy", "interrupted", "requests"):
        run = {**document["runs"][0], key: value}
        path.write_text(json.dumps({**document, "runs": [run]}))
        run_verb_in_process(copied_inputs, "compare changed.json")
        run_verb_in_process(copied_inputs, "report changed.json")


def test_an_endless_input_is_refused(copied_inputs: Path) -> None:
    def limit_address_space() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    done = run_command_line([*make_verb_command(("compare",)), "/dev/zero"], copied_inputs,
                            limit_address_space)
    check_error_message(done)


@pytest.mark.parametrize("verb", ["trace info a.aft", "trace convert a.aft b.csv --to csv",
                                  "replay a.aft --simulate", "sim --quiet --trace a.csv"])
@pytest.mark.parametrize("words", ["--from msx", "--time-unit x", "--offset-unit x", "--device 9"])
def test_options_for_reading_a_trace_are_checked_before_the_trace_is_read(
        verb: str, words: str, copied_inputs: Path) -> None:
    check_command_refused(f"{verb} {words}", 2, copied_inputs)


def test_numbers_out_of_range_are_refused(copied_inputs: Path) -> None:
    for line in ("synth --like PRN_0 --seed -1 -O x", "synth --like PRN_0 --requests 0 -O x",
                 "synth --like PRN_0 --seed 99999999999999999999 -O x",
                 "study run study.toml --jobs 0", "figures --papers --seed x"):
        done = run_command_line(make_verb_command(tuple(line.split())), copied_inputs)
        assert done.code == 2, done
        assert done.err.count("\n") == 1
    # The address-space limit is less than the command needs.
    many = make_verb_command(("synth", "--like", "PRN_0", "--requests", "1000000000", "-O", "x"))
    check_error_message(run_command_line(["sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", *many],
                                         copied_inputs))
    assert not list_temporary_files(copied_inputs)


if __name__ == "__main__":
    sys.exit("\n".join(map(make_pytest_parameter_id, list_verbs_and_programs())))
