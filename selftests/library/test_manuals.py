# SPDX-License-Identifier: GPL-2.0-only
"""The library's manual pages name every function, and their examples compile."""

import re
import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP
from selftests.library.support import DOUBLE, HEADERS, run_program_with_library

PAGES = sorted(HEADERS.glob("*.rst"))
FUNCTIONS = re.findall(r"\t(approxftl_\w+);", (HEADERS / "libapproxftl.map").read_text())
HEADER = (HEADERS / "approxftl.h").read_text()
PRELUDE = """
#include <approxftl.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int example(struct approxftl *a, int fd, const void *frame, size_t bytes, off_t offset);
int example(struct approxftl *a, int fd, const void *frame, size_t bytes, off_t offset)
{
	(void)a, (void)fd, (void)frame, (void)bytes, (void)offset;
	{
"""


def read_code_below_heading(page: Path, title: str) -> str:
    found = re.search(rf"^{title}\n=+\n\n::\n\n((?:    .*\n|\n)+)", page.read_text(), re.M)
    assert found, f"{page.name} has no {title}"
    return re.sub("^    ", "", found[1], flags=re.M)


def compile_c_text(text: str) -> None:
    done = subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Wno-shadow", "-Werror", "-fsyntax-only",
         f"-I{HEADERS}", "-xc", "-"], input=text, capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_manual_pages_are_well_formed(page: Path) -> None:
    done = run_program_with_library("rst2man", "--strict", page)
    assert done.code == 0, done.err
    assert done.out.startswith(".")


@pytest.mark.parametrize("page", [p for p in PAGES if "_" in p.name], ids=lambda page: page.name)
def test_examples_of_the_manual_pages_compile(page: Path) -> None:
    compile_c_text(f"{PRELUDE}{read_code_below_heading(page, 'EXAMPLE')}\n\t}}\n\treturn 0;\n}}\n")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_one_manual_page(name: str) -> None:
    """Each function is in exactly one page, with the prototype of the header."""
    pages = [p for p in PAGES if "_" in p.name
             and re.search(rf"\b{name}\(", read_code_below_heading(p, "SYNOPSIS"))]
    assert len(pages) == 1
    assert f"**{name}**" in pages[0].read_text()
    assert f"**{name}**" in (HEADERS / "approxftl.3.rst").read_text()
    compile_c_text(read_code_below_heading(pages[0], "SYNOPSIS"))


def test_make_install_installs_a_manual_page_of_every_library_function() -> None:
    done = subprocess.run(["make", "-n", "install", f"O={BUILD}"], cwd=TOP, capture_output=True,
                          text=True, check=True)
    for name in FUNCTIONS:
        assert re.search(rf"/man3/{name}\.3'?$", done.stdout, re.M), name


def test_example_rules_of_the_manual_page_are_valid(tmp_path: Path) -> None:
    page = TOP / "userspace/preload/approxrun.1.rst"
    rules = re.search(r"blanks::\n\n((?:    .*\n)+)", page.read_text())
    assert rules
    file = tmp_path / "rules"
    file.write_text(rules[1])
    done = run_program_with_library(DOUBLE / "approxrun", "-c", "-r", file)
    assert (done.code, done.err) == (0, "")
    options = re.findall(r"^  -\w, --(\w+)",
                         run_program_with_library(DOUBLE / "approxrun", "--help").out,
                         re.M)
    for option in options:
        assert f"--{option}" in page.read_text()
