# SPDX-License-Identifier: GPL-2.0-only
"""Static checkers check changed source files again, and no unchanged file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from selftests.lib.programs import run_program

SOURCES = Path(__file__).resolve().parents[1] / "lib" / "sources.sh"
ASKED = f"""
. {SOURCES}
checker() {{ shift; echo "$*" >>asked; grep -h bad "$@"; [ ! -e broken ]; }}
printf '%s\\n' a b | anew "$@"
"""


@pytest.fixture
def run_cached_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[...,
                                                                                    tuple[str,
                                                                                          int]]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a").write_text("fine")
    (tmp_path / "b").write_text("fine")

    def run_checker_and_list_files(identity: str = "1", option: str = "x") -> tuple[str, int]:
        done = run_program("sh", "-uc", ASKED, "sh", identity, "checker", option,
                           directory=tmp_path)
        about = tmp_path / "asked"
        said = about.read_text().strip() if about.exists() else ""
        about.unlink(missing_ok=True)
        return said, done.code

    return run_checker_and_list_files


def test_source_files_that_passed_a_style_check_are_not_checked_again(
        run_cached_checker: Callable[..., tuple[str, int]], tmp_path: Path) -> None:
    assert run_cached_checker() == ("a b", 0)
    assert run_cached_checker() == ("", 0)
    assert run_cached_checker("2") == ("a b", 0)
    assert run_cached_checker(option="y") == ("a b", 0)
    (tmp_path / "b").write_text("better")
    assert run_cached_checker() == ("b", 0)
    (tmp_path / "b").write_text("fine")
    assert run_cached_checker() == ("", 0)


def test_source_files_that_failed_a_style_check_are_checked_again(
        run_cached_checker: Callable[..., tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "a").write_text("bad")
    assert [run_cached_checker(), run_cached_checker()] == [("a b", 1)] * 2
    (tmp_path / "a").write_text("good")
    (tmp_path / "broken").write_text("")
    assert [run_cached_checker(), run_cached_checker()] == [("a b", 1)] * 2
