# SPDX-License-Identifier: GPL-2.0-only
"""The documents are correct: their commands are run, their names and links are checked.

In a ```console block a line after "$ " is a command. The lines below it must be found in what it
prints, in that order; lines between them may be left out. Runs of blanks count as one, and "..."
stands for anything within a line. The command must succeed, unless it ends in "# exit status N".

The commands of a document run one after the other in a directory that looks like the top of the
tree, so that they leave nothing behind. A document that says "<!-- runs in a copy of the tree -->"
gets files of its own to change and to build.

A ```sh block below "<!-- runs in the lab -->" is run as it is printed in a virtual machine, each in
a shell of its own, in one directory that looks like the top of the tree. A block below "<!-- runs
in the lab beside its module -->" runs there in a folder with the sources and objects of the module.

When numbers have changed for a reason, run this file as a program: it writes the new ones into the
documents. A line that is gone, or has other words, has to be mended by hand.
"""

import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()
PROGRAM = BUILD / "approxftl"
DOCUMENTS = [TOP / "README.md", TOP / "CHANGELOG.md", *sorted((TOP / "docs").rglob("*.md"))]
#: Documents whose commands write only to build/, so that the source tree stays clean.
TIDY = [TOP / name for name in ("README.md", "docs/getting-started.md", "docs/tutorial.md")]
EXAMPLES = {
    "policy-in-an-hour.md": ("c", "survivors.c", "hotcold.c", "victim-cat.c"),
    "python.md": ("python", "simulate.py", "sweep.py", "policy.py", "step-by-step.py"),
}

COPY = "<!-- runs in a copy of the tree -->"
COPIED = (
    "Makefile",
    "dm-approxftl",
    "docs",
    "packaging",
    "selftests",
    "trace-tools",
    "userspace",
)
LAB = "<!-- runs in the lab -->\n"
IN_LAB = re.compile(re.escape(LAB) + r"```sh\n(.*?)^```$", re.M | re.S)
BESIDE_MODULE = re.compile(r"<!-- runs in the lab beside its module -->\n```sh\n(.*?)^```$",
                           re.M | re.S)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
STATUS = re.compile(r"# exit status (\d+)$")


@dataclass
class Command:
    """A command of a document, and the output that the document shows."""

    text: str
    shown: list[str] = field(default_factory=list)

    def read_expected_exit_status(self) -> int:
        found = STATUS.search(self.text)
        return int(found[1]) if found else 0


def make_path_relative_to_tree(path: Path) -> str:
    return str(path.relative_to(TOP))


def find_fenced_blocks(path: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(path.read_text()) if kind == language]


def remove_fenced_blocks(path: Path) -> str:
    return FENCE.sub("", path.read_text())


def find_code_spans(path: Path) -> list[str]:
    return SPAN.findall(remove_fenced_blocks(path))


def parse_console_commands(text: str) -> Iterator[Command]:
    command: Command | None = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield command
            typed = [line[2:]]
            while typed[-1].endswith("\\"):
                typed.append(next(lines))
            command = Command("\n".join(typed))
        else:
            assert command, f"output without a command: {line}"
            command.shown.append(line)
    if command:
        yield command


def parse_document_commands(path: Path) -> list[Command]:
    return [command for block in find_fenced_blocks(path, "console")
            for command in parse_console_commands(block)]


def make_pattern_of_shown_line(line: str) -> re.Pattern[str]:
    """Return a regular expression for a shown line, in which "..." matches anything."""
    pieces = [r"\s+".join(map(re.escape, piece.split())) for piece in line.split("...")]
    return re.compile(r"\s*" + r"\s*.*\s*".join(pieces) + r"\s*")


def find_first_missing_line(shown: list[str], printed: str) -> str | None:
    """Return the first line of a document that a command did not print in order, or None."""
    lines = iter(printed.splitlines())
    for wanted in shown:
        if wanted.strip() and not any(make_pattern_of_shown_line(wanted).fullmatch(line)
                                      for line in lines):
            return wanted
    return None


RESPONSE = re.compile(r"\w+ response, mean .*\dx$")
TAIL = ("p50", "p99", "p99.9", "max")
CUT = "..."


def find_mean_without_percentiles(shown: list[str]) -> str | None:
    """Return a mean response time that a document shows without percentiles, or None."""
    for at, line in enumerate(shown):
        if RESPONSE.match(line):
            rows = itertools.takewhile(
                lambda row: row.startswith(("  ", CUT)), shown[at + 1:])
            if [row.split()[0] for row in rows if row.split()[0] in TAIL] != list(TAIL):
                return line
    return None


def find_row_omitted_without_ellipsis(shown: list[str], printed: str) -> str | None:
    """Return the first table row that a document leaves out without a "...", or None."""
    rows = [row for row in printed.splitlines() if row.strip()]
    at, marked = 0, False
    for line in filter(str.strip, shown):
        if line.strip() == CUT:
            marked = True
            continue
        found = next(i for i in range(at, len(rows))
                     if make_pattern_of_shown_line(line).fullmatch(rows[i]))
        if found > at and not marked:
            return rows[at]
        at, marked = found + 1, False
    return None if marked or at == len(rows) else rows[at]


def execute_command(command: Command, directory: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "AFTL_"))}
    python = os.pathsep.join(str(TOP / folder) for folder in ("userspace/python", "trace-tools"))
    return subprocess.run(
        ["sh", "-c", command.text],
        cwd=directory,
        env=kept | {"LC_ALL": "C.UTF-8", "OPT": "-O1", "PYTHONPATH": python},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def link_build_tree(directory: Path) -> None:
    for path in TOP.iterdir():
        if path.name not in {"build", ".git"}:
            (directory / path.name).symlink_to(path)
    (directory / "build").mkdir()
    (directory / "build/approxftl").symlink_to(PROGRAM)


def copy_tree(directory: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        source = TOP / name
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=ignored)
        else:
            shutil.copy2(source, directory / name)


def prepare_folder_of_document(path: Path, directory: Path) -> None:
    """Context manager: the directory in which the commands of a document run."""
    (copy_tree if COPY in path.read_text() else link_build_tree)(directory)


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
@pytest.mark.in_turn
def test_commands_print_the_documented_output(path: Path, tmp_path: Path) -> None:
    typed = parse_document_commands(path)
    prepare_folder_of_document(path, tmp_path)
    before = {each.name for each in tmp_path.iterdir()}
    for command in typed:
        done = execute_command(command, tmp_path)
        told = f"$ {command.text}\n{done.stdout}"
        assert done.returncode == command.read_expected_exit_status(), told
        lost = find_first_missing_line(command.shown, done.stdout)
        assert lost is None, f"not in the output: {lost}\n{told}"
        if any(RESPONSE.match(line) for line in command.shown):
            cut = find_row_omitted_without_ellipsis(command.shown, done.stdout)
            assert cut is None, f"left out without \"...\": {cut}\n{told}"
    if path in TIDY:
        assert {each.name for each in tmp_path.iterdir()} == before


def test_runs_of_the_readme_reach_a_steady_state(tmp_path: Path) -> None:
    simulated = [command for command in parse_document_commands(TOP / "README.md")
                 if " sim " in command.text]
    assert simulated
    link_build_tree(tmp_path)
    for command in simulated:
        # Without --quiet the simulator warns about runs that did not reach a steady state.
        loud = replace(command, text=command.text.replace(" --quiet", ""))
        done = execute_command(loud, tmp_path)
        assert done.returncode == 0, done.stdout
        assert not re.search("still drifting|puts the mean off", done.stdout), done.stdout


def make_lab_script(sections: list[str]) -> str:
    """Return a script that runs sections of a document in the lab, in a copy of the tree's top."""
    lines = ['set -e; mkdir /run/fresh; cd /run/fresh; ln -s "$AFTL_TOP"/* .',
             'rm -f build; ln -s "$AFTL_BUILD" build']
    for section in sections:
        lines += ["cat >section <<'END OF SECTION'", section.strip(), "END OF SECTION",
                  "sh section </dev/null"]
    lines.append('cp four.json replay.json album.html figures/ratios.pdf "$RESULTS"')
    return "\n".join([*lines, ""])


@pytest.mark.slow
@pytest.mark.in_turn
def test_sections_run_in_the_lab_as_they_are_printed(tmp_path: Path) -> None:
    pages = [TOP / "docs/howto" / name
             for name in ("tag-an-application.md", "replay-your-trace.md")]
    sections = [section for page in pages for section in IN_LAB.findall(page.read_text())]
    assert len(sections) == 2
    script = tmp_path / "script"
    script.write_text(make_lab_script(sections))
    done = subprocess.run([BUILD / "approxftl-lab", "--results", tmp_path, "--script", script],
                          capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert re.search(r"^[1-9]\d* bits have flipped, the library says", told, re.M), told
    assert "O_DIRECT writes stay precise" in told, told
    runs = json.loads((tmp_path / "four.json").read_text())["runs"]
    assert len(runs) == 4
    assert runs[0]["counters"]["host_write_approx_units"] > 0
    assert len({run["energy"]["program_pj"] for run in runs}) == 4
    assert len({run["timing"]["write_response"]["mean_ns"] for run in runs}) == 4
    replayed = json.loads((tmp_path / "replay.json").read_text())["latency"]
    assert any(row["op"] == "write" and row["class"] == "approximate" for row in replayed)
    assert "<svg" in (tmp_path / "album.html").read_text()
    assert (tmp_path / "ratios.pdf").read_bytes().startswith(b"%PDF")


#: In the guest, the headers of the running kernel have the path that the module was built with, so
#: that make finds all objects up to date: the guest's processor is emulated, and slow.
PREPARED = """set -ex
rmmod dm-approxftl
umount "/lib/modules/$RELEASE"
rmdir "/lib/modules/$RELEASE"
ln -s "$MODULES" "/lib/modules/$RELEASE"
cd "$AFTL_BUILD/lab/$RELEASE"
ln -sfn "$AFTL_BUILD" build
export KCFLAGS=-g0 MAKEFLAGS=CONFIG_DEBUG_INFO_BTF_MODULES=
"""


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_module_is_loaded_and_a_file_system_mounted_as_printed(tmp_path: Path) -> None:
    page = TOP / "docs/howto/mount-a-file-system.md"
    (section,) = BESIDE_MODULE.findall(page.read_text())
    script = tmp_path / "script"
    script.write_text(PREPARED + section.replace(
        "build/approxftl stat ssd\n", "build/approxftl stat ssd\nmountpoint /mnt\n"))
    done = subprocess.run([BUILD / "approxftl-lab", "--results", tmp_path, "--script", script],
                          capture_output=True, text=True, check=False,
                          env={k: v for k, v in os.environ.items() if k != "AFTL_STRICT"})
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "/mnt is a mountpoint" in told, told
    assert int(re.findall(r"^host_write_units +(\d+)", told, re.M)[0]) > 0, told


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_documented_outputs_show_no_mean_response_time_without_percentiles(path: Path) -> None:
    assert [line for command in parse_document_commands(path)
            if (line := find_mean_without_percentiles(command.shown))] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_lines_are_at_most_100_columns_wide(path: Path) -> None:
    wide = [line for line in path.read_text().splitlines() if len(line) > 100]
    assert not [line for line in wide if not line.startswith("|")]


def list_heading_anchors(path: Path) -> set[str]:
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.+)$", remove_fenced_blocks(path), re.M)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_linked_files_exist(path: Path) -> None:
    for groups in LINK.findall(remove_fenced_blocks(path)):
        target = groups[0] or groups[1]
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        assert not anchor or anchor in list_heading_anchors(there), target


@pytest.mark.in_turn
def test_the_site_has_every_page_and_no_dead_link(tmp_path: Path) -> None:
    """Sphinx reports a page that no table of contents lists, and broken links between pages."""
    assert shutil.which("sphinx-build"), "apt-get install python3-sphinx python3-myst-parser"
    made = subprocess.run(["make", "-s", "-C", TOP, "site", f"O={tmp_path}"], capture_output=True,
                          text=True, check=False)
    assert made.returncode == 0, made.stderr
    site = tmp_path / "site"
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert not {path.relative_to(TOP / "docs").with_suffix("") for path in DOCUMENTS
                if path.is_relative_to(TOP / "docs")} - pages
    assert "--jobs" in (site / "man/approxftl-sim.1.html").read_text()
    for page in site.rglob("*.html"):
        for file in re.findall(r'(?:href|src)="([^"#:?]+)[#?"]', page.read_text()):
            assert (page.parent / file).exists(), f"{page.relative_to(site)}: {file}"


@cache
def read_help_of_verb(*verb: str) -> str:
    return subprocess.run([PROGRAM, *verb], capture_output=True, text=True, check=True).stdout


@cache
def list_known_parameters() -> set[str]:
    return set(re.findall(r"^([a-z_]+) ", read_help_of_verb("params"), re.M))


@cache
def list_known_options() -> set[str]:
    verbs = re.findall(r"^  ([a-z]+) ", read_help_of_verb("help"), re.M)
    return {o for v in verbs
            for o in re.findall(r"--([a-z][a-z-]*)", read_help_of_verb(v, "--help"))}


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_documented_options_exist(path: Path) -> None:
    for span in find_code_spans(path):
        if found := re.match(r"--([a-z][a-z_-]*)", span):
            name = found[1]
            assert name in list_known_options() or name.replace("-",
                                                                "_") in list_known_parameters(
                ), span
        if found := re.fullmatch(r"([a-z_]+)=\S+", span):
            assert found[1] in list_known_parameters(), span


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_documented_make_targets_exist(path: Path) -> None:
    makefiles = [TOP / "Makefile", TOP / "packaging/install.mk", *TOP.glob("*/*/build.mk")]
    found = (re.findall(r"^([a-z%-]+):", file.read_text(), re.M) for file in makefiles)
    rules = {rule for names in found for rule in names}
    for text in [body for _, body in FENCE.findall(path.read_text())] + find_code_spans(path):
        for target in re.findall(r"\bmake ([a-z][a-z0-9-]*)(?![a-z0-9/-])", text):
            area = TOP / "selftests" / target.removeprefix("check-")
            assert target in rules or (target.startswith("check-") and area.is_dir()), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_mentioned_files_exist(path: Path) -> None:
    tops = "dm-approxftl|userspace|selftests|docs|trace-tools|fio-profiles|LICENSES"
    for span in find_code_spans(path):
        if re.fullmatch(rf"(?:{tops})/[\w./*-]*", span):
            assert list(TOP.glob(span.rstrip("/"))), span


@cache
def read_source_files() -> str:
    places = ("dm-approxftl/**/*.[ch]", "userspace/**/*.[ch]", "userspace/**/*.map",
              "userspace/python/**/*.py", "docs/examples/*.c", "docs/examples/*.py")
    return "\n".join(path.read_text() for place in places for path in sorted(TOP.glob(place)))


@cache
def list_words_of_source_files() -> frozenset[str]:
    return frozenset(re.findall(r"\w+", read_source_files()))


@pytest.mark.parametrize("path", DOCUMENTS, ids=make_path_relative_to_tree)
def test_quoted_identifiers_exist(path: Path) -> None:
    for span in find_code_spans(path):
        name = span.removesuffix("()")
        if re.fullmatch(r"[A-Za-z]+(?:_\w+)+", name) or name != span:
            assert name in list_words_of_source_files() or (
                re.search(r"\W", name) and name in read_source_files()), span


def read_version_in_source(path: str, expression: str) -> str:
    """Return the version whose three numbers a regular expression finds in a source file."""
    return ".".join(re.findall(expression, (TOP / path).read_text())[:3])


def test_documented_interface_versions_are_current() -> None:
    told = re.findall(r"^\| .* \| ([\d.]+) \|", (TOP / "CHANGELOG.md").read_text(), re.M)
    target = re.findall(r"AFTL_TARGET_VERSION \{ (\d+), (\d+), (\d+) \}",
                        (TOP / "dm-approxftl/release.h").read_text())[0]
    core = "dm-approxftl/core"
    assert told == [
        ".".join(target),
        read_version_in_source("dm-approxftl/uapi/linux/approxftl.h",
                               r"#define APPROXFTL_VERSION (\d+)"),
        read_version_in_source(f"{core}/persist/volume-format.h",
                               r"#define AFTL_VOLUME_M(?:AJOR|INOR) (\d+)"),
        read_version_in_source(f"{core}/persist/record.h",
                               r"#define AFTL_RECORD_VERSION_M\w+ (\d+)"),
        read_version_in_source("userspace/lib/json-envelope.h", r"#define JSON_FORMAT_M\w+ (\d+)"),
    ]
    history = (TOP / "docs/dm-approxftl.rst").read_text().split("Version history\n")[1]
    assert re.findall(r"^(\d\S*)$", history, re.M)[-1] == ".".join(target)


def test_the_status_line_is_documented() -> None:
    page = (TOP / "docs/dm-approxftl.rst").read_text()
    page = page[page.index("Status\n===="):page.index("Messages\n====")]
    table = (TOP / "dm-approxftl/target/status-table.h").read_text()
    words = [name.replace(", ", "/") for name in re.findall(r"^STATUS_\w+\((\w+(?:, \w+)?),",
                                                            table, re.M)]
    assert len(words) == 20
    assert re.findall(r"``([\w/]+)``", "\n".join(re.findall(r"^``.*", page, re.M))) == words


def test_the_documented_layout_lists_every_folder() -> None:
    layout = find_fenced_blocks(TOP / "docs/README.md", "text")[0]
    told = set(re.findall(r"(?:^|, )([\w/-]+)/(?=,|  )", layout, re.M))
    folders = [*TOP.glob("[a-z]*/"), *TOP.glob("userspace/[a-z]*/")]
    there = {make_path_relative_to_tree(path) for path in folders} - {"build", "userspace"}
    assert there <= told
    assert all((TOP / name).is_dir() for name in told)


def test_the_readme_lists_all_areas_and_kernel_tests() -> None:
    rows = re.findall(r"^\|([^|]*)\|", (TOP / "selftests/README.md").read_text(), re.M)
    told = {span for row in rows for span in SPAN.findall(row)}
    helpers = {"lib", "__pycache__"}
    areas = {path.name for path in (TOP / "selftests").iterdir() if path.is_dir()} - helpers
    assert areas <= told
    script = (TOP / "selftests/kernel/run-in-kernel").read_text()
    lists = re.findall(r"^(?:contract|alone|programs)='([^']*)'", script, re.M)
    tests = {word for words in lists for word in words.split()}
    assert {"load", "faults", "messages"} <= tests
    assert tests <= told


@pytest.mark.parametrize("page", EXAMPLES)
def test_documents_contain_their_example_programs_verbatim(page: str) -> None:
    language, *names = EXAMPLES[page]
    sources = [(TOP / "docs/examples" / name).read_text() for name in names]
    assert all(source.count("\n") < 60 for source in sources)
    quoted = find_fenced_blocks(TOP / "docs" / page, language)
    assert quoted
    for block in quoted:
        for piece in block.split("...\n"):
            assert any(piece.strip("\n") in source for source in sources), piece


def test_policy_tutorial_names_every_method_of_a_policy() -> None:
    methods = set[str]()
    for file, struct in (("ftl-policy.h", "ftl_policy"), ("policy-type.h", "policy_type")):
        header = (TOP / "dm-approxftl/core/policy" / file).read_text()
        body = header.split(f"struct aftl_{struct} {{")[1].split("\n};")[0]
        methods |= set(re.findall(r"\(\*(\w+)\)", body))
    page = "\n".join(find_code_spans(TOP / "docs/policy-in-an-hour.md"))
    assert not [m for m in sorted(methods) if not re.search(rf"\b{m}\(\)", page)]


def test_architecture_document_names_every_array_of_struct_aftl_media() -> None:
    header = (TOP / "dm-approxftl/core/nand/media.h").read_text()
    body = header.split("struct aftl_media {")[1].split("\n};")[0]
    arrays = set(re.findall(r"\*(\w+);", body)) - {"geo"}
    assert arrays <= set(find_code_spans(TOP / "docs/architecture.md"))


REFUSAL = re.compile(r'aftl_fail\([\w>&.-]+,\s*-(?:EINVAL|EROFS),\s*"((?:[^"\\]|\\.)*)"')
#: Refusals of one value or of a size, which are no refusals of a combination.
OF_ONE_VALUE = re.compile(
    r"(page|unit|op|zone_capacity|--change): |the geometry|one program|zoned: (\.\.\.|the device)|"
    r"shards: (an FTL|each)|policy \.\.\. has an array|--(\.\.\.|hot-share|arrival \S+) needs")


def list_refusals(*places: str) -> set[str]:
    """Return the messages by which C files refuse parameters, with "..." for each value."""
    texts = (path.read_text() for place in places for path in TOP.glob(place))
    return {re.sub(r"(%[-.\d*]*l*[sudx])+", "...", message)
            for text in texts for message in REFUSAL.findall(text)}


def test_controller_document_lists_all_refused_combinations_of_parameters() -> None:
    section = (TOP / "docs/controller.md").read_text().split("## What cannot be combined")[1]
    rows = [[SPAN.findall(cell) for cell in line.split("|")[1:3]]
            for line in section.splitlines() if line.startswith("| ")]
    told = tuple(span for row in rows for span in row[1])
    known = list_refusals("dm-approxftl/**/*.[ch]", "userspace/**/*.c")
    assert not [span for span in told if not any(m.startswith(span) for m in known)]
    combined = list_refusals("dm-approxftl/core/base/[gs]*.c", "dm-approxftl/core/ftl/*.c",
                             "userspace/sim/option-rules.c")
    assert not [m for m in combined if not m.startswith(told) and not OF_ONE_VALUE.match(m)]
    rules = (TOP / "userspace/sim/option-rules.c").read_text().split("excludes[] = {")[1]
    pairs = [{f"--{one}", f"--{other}"} for one, other in re.findall(
        r'\{ "([\w-]+)", "([\w-]+)" \}', rules.split("};")[0])]
    assert len(pairs) > 40
    assert not [pair for pair in pairs if not any(pair <= {*row[0]} for row in rows)]


@pytest.mark.parametrize(("row", "options"), [
    ("`passes=2` with `delta_b`", "--passes=2 --bits=4 --one-shot=on --buffer=4MiB"),
    ("`rain` with `ressd`", "--superblock=2 --rain=on"),
    ("`cubeftl`, `cubeftl_minus` with", "--bits=3 --one-shot=off"),
])
def test_controller_document_lists_every_policy_refused_in_a_combination(
        row: str, options: str) -> None:
    page = (TOP / "docs/controller.md").read_text()
    told = SPAN.findall(re.findall(rf"^\| ({re.escape(row)}[^|]*)", page, re.M)[0])
    names = [one["name"] for one in json.loads(read_help_of_verb("policies", "--json"))["policies"]]
    sim = [str(PROGRAM), "sim", "--requests=0", "--fill=none", "--op=50%", *options.split()]
    refused = [name for name in names if subprocess.run(
        [*sim, "--policy", name], capture_output=True, check=False).returncode]
    assert refused == sorted({*told} & {*names}, key=names.index)


def test_the_generated_reference_is_current(tmp_path: Path) -> None:
    script = TOP / "docs/generate-reference.py"
    fresh = tmp_path / "reference.md"
    subprocess.run([sys.executable, script, "--program", PROGRAM, "--out", fresh], check=True)
    told = "run docs/generate-reference.py"
    assert fresh.read_text() == (TOP / "docs/reference.md").read_text(), told


def test_generated_reference_lists_every_counter() -> None:
    spec = importlib.util.spec_from_file_location("reference", TOP / "docs/generate-reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    listed = [name for _, group in module.list_macros_by_heading(module.COUNTERS, "COUNTER")
              for name, _ in group]
    assert listed == re.findall(r"^COUNTER\((\w+)", module.COUNTERS.read_text(), re.M)


def replace_numbers_in_line(shown: str, printed: str) -> str | None:
    """Return a document's line with the numbers of a command's line; None if words differ."""
    line = NUMBER.sub("0", shown)
    words = make_pattern_of_shown_line(line).pattern.replace("0", r"(\d+(?:\.\d+)?)")
    found = re.fullmatch(words, printed)
    if not found:
        return None
    numbers = iter(found.groups())
    return NUMBER.sub(lambda _: next(numbers), shown)


def update_shown_lines(shown: list[str], printed: str) -> list[str]:
    """Return a document's lines with the numbers that their command now prints in like lines."""
    lines = printed.splitlines()
    result = []
    for wanted in shown:
        exact = [i for i, line in enumerate(lines)
                 if make_pattern_of_shown_line(wanted).fullmatch(line)]
        alike = [i for i, line in enumerate(lines) if replace_numbers_in_line(wanted, line)]
        at = next(iter(exact or alike), None)
        new = wanted if at is None or exact else replace_numbers_in_line(wanted, lines[at])
        lines = lines[0 if at is None else at + 1 :]
        result.append(new or wanted)
    return result


def update_document_numbers(path: Path, directory: Path) -> None:
    """Replace the numbers in a document by the numbers that the document's commands print now."""
    prepare_folder_of_document(path, directory)
    text = path.read_text()
    for command in parse_document_commands(path):
        before = "\n".join([command.text, *command.shown])
        shown = update_shown_lines(command.shown, execute_command(command, directory).stdout)
        text = text.replace(before, "\n".join([command.text, *shown]))
    path.write_text(text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory() as scratch:
            update_document_numbers(document, Path(scratch))
