# SPDX-License-Identifier: GPL-2.0-only
"""Python programs import the project's own modules, not unrelated ones of the same name."""

import os
import sys
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, Done, install_verb_with_module, run_program

VERBS = ("calibrate", "compare", "drives", "embeddings", "figures", "model", "parquet", "report",
         "study", "synth", "weights", "worn")
NAMES = {"embeddings": "app embeddings", "model": "tag model", "weights": "app weights"}


@pytest.fixture(scope="module")
def folder_of_fake_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one unrelated program named after each module of Python and of the tools."""
    folder = tmp_path_factory.mktemp("homework")
    for name in {*sys.stdlib_module_names, "numpy", "vl_convert", "pyarrow", "approxftl_tools"}:
        (folder / f"{name}.py").write_text(f"raise SystemExit('homework: {name}')\n")
    return folder


def has_printed_help(verb: str, done: Done) -> bool:
    return (done.code, done.err) == (0, "") and (
        f"Usage: approxftl {NAMES.get(verb, verb)}" in done.out)


@pytest.mark.parametrize("verb", VERBS)
def test_modules_of_the_working_directory_are_not_imported(verb: str,
                                                           folder_of_fake_modules: Path) -> None:
    done = run_program(BUILD / "approxftl", verb, "--help", directory=folder_of_fake_modules)
    assert has_printed_help(verb, done), done


@pytest.mark.parametrize(("name", "value"), [
    ("PYTHONPATH", None), ("PYTHONPATH", ""), ("PYTHONHOME", "/nowhere"),
    ("PYTHONSTARTUP", "/nowhere"),
])
def test_pythons_environment_variables_are_ignored(name: str, value: str | None,
                                                   folder_of_fake_modules: Path) -> None:
    setting = {name: str(folder_of_fake_modules) if value is None else value}
    done = run_program(BUILD / "approxftl", "report", "--help", directory=folder_of_fake_modules,
                       environment=setting)
    assert has_printed_help("report", done), done


def test_a_python_environment_without_a_package_is_skipped(tmp_path: Path) -> None:
    """A verb skips a Python environment that lacks a package, and uses one that has all."""
    program = install_verb_with_module(tmp_path, "compare", "unused", "")
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/python3").write_text("#!/bin/sh\nexit 1\n")
    (environment / "bin/python3").chmod(0o755)
    (tmp_path / "bin/python-tools").write_text(f"{tmp_path}/lib/approxftl/python\n{environment}\n")
    done = run_program(program, "--help",
                       environment={"PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"})
    assert (done.code, done.err) == (0, "")


def test_bytecode_is_written_only_to_the_configured_directory(tmp_path: Path) -> None:
    """No bytecode is written beside the package; PYTHONPYCACHEPREFIX is obeyed."""
    verb = install_verb_with_module(tmp_path / "installed", "compare", "unused", "")
    for wanted in ("", str(tmp_path / "wanted")):
        done = run_program(verb, "--help", environment={"PYTHONPYCACHEPREFIX": wanted,
                                                        "PYTHONDONTWRITEBYTECODE": ""})
        assert has_printed_help("compare", done), done
        assert not list((tmp_path / "installed").rglob("*.pyc"))
        assert any((tmp_path / "wanted").rglob("compare*.pyc")) == bool(wanted)


@pytest.mark.parametrize("verb", sorted({*VERBS} - {*NAMES}))
def test_help_does_not_wait_for_numpy(verb: str) -> None:
    """No verb loads numpy to print its help, because numpy doubles the start time."""
    done = run_program(BUILD / f"approxftl-{verb}", "--help",
                       environment={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.code == 0 and " approxftl_tools" in done.err
    assert "numpy" not in done.err
