# SPDX-License-Identifier: GPL-2.0-only
"""The examples of each manual page work when they are run in sequence as printed.

Those that need root and a device run in a virtual machine, by selftests/kernel.
"""

import json
import re
from pathlib import Path

import pytest
from selftests.lib.manual_examples import parse_examples_of_page
from selftests.lib.programs import BUILD, TOP, run_program

PAGES = sorted(page for folder in ("userspace", "trace-tools")
               for page in (TOP / folder).rglob("*.[1-8].rst"))
WITH_EXAMPLES = [page for page in PAGES if parse_examples_of_page(page)]
IN_THE_MACHINE = "".join((TOP / "selftests/kernel" / name).read_text()
                         for name in ("replay-capture.sh", "nvme.sh"))


def get_manual_page_name(page: Path) -> str:
    return page.name


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=get_manual_page_name)
@pytest.mark.in_turn
def test_examples_work_as_printed(page: Path, tmp_path: Path) -> None:
    path = f"{BUILD}:/usr/local/bin:/usr/bin:/bin"
    for example in parse_examples_of_page(page):
        if example.root:
            continue
        done = run_program("sh", "-c", example.format_as_shell_command(), directory=tmp_path,
                           environment={"PATH": path})
        assert done.code == 0, f"{example.text}\n{done.err}"
        # Notes, and warnings about warm-up, GC or steady state, are no errors. Of a log that fio
        # has just written, the pauses of requests, and so the padding, depend on the machine.
        complaints = re.sub(r"^approxftl (?:(?:replay|sim): note|sim: warning): "
                            r".*(?:starts filled|warm-?up|collection in idle|padding is|steady "
                            r"state).*\n", "", done.err, flags=re.M)
        assert not re.search("^approxftl", complaints, re.M), f"{example.text}\n{done.err}"


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=get_manual_page_name)
def test_examples_for_root_are_run_in_the_lab(page: Path) -> None:
    if any(example.root for example in parse_examples_of_page(page)):
        assert re.search(rf"examples_of {page.relative_to(TOP)}\s", IN_THE_MACHINE)


@pytest.mark.parametrize("page", [page for page in PAGES if ".1." in page.name],
                         ids=get_manual_page_name)
def test_manual_pages_of_programs_have_examples(page: Path) -> None:
    assert page in WITH_EXAMPLES


def test_manual_page_of_verb_figures_lists_every_kind_of_figure() -> None:
    page = next(page for page in PAGES if page.name == "approxftl-figures.1.rst").read_text()
    listed = re.findall(r"^([a-z-]+)\n    ", page.split("KINDS OF FIGURE\n=")[1], re.M)
    found = json.loads(run_program(BUILD / "approxftl-figures", "--list", "--json").out)
    assert listed == [one["name"] for one in found["rows"]]
