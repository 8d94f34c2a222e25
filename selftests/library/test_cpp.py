# SPDX-License-Identifier: GPL-2.0-only
"""approx.hpp: correct programs compile, and misuse does not."""

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP
from selftests.library.support import DOUBLE, HEADERS, run_program_with_library

GOOD = {
    "precise into approximate": "approx<int> a = 3; (void)a;",
    "arithmetic stays approximate": "approx<int> a = 3, b = a + 4; (void)b;",
    "endorse": "approx<int> a = 3; int b = a.endorse(); (void)b;",
    "an endorsed condition": "approx<int> a = 3; if ((a < 4).endorse()) return 1;",
    "an endorsed index": "int t[4] = {}; approx<int> a = 3; return t[a.endorse()];",
    "select": "approx<int> a = select(approx<int>(1) < 2, a, a); (void)a;",
    "from one type into another": "approx<double> d = approx<int>(1); (void)d;",
}

BAD = {
    "approximate into precise": "approx<int> a = 3; int b = a; (void)b;",
    "approximate into a wider type": "approx<int> a = 3; long b = a; (void)b;",
    "a sum into precise": "approx<int> a = 3; int b = a + 1; (void)b;",
    "a cast": "approx<int> a = 3; int b = static_cast<int>(a); (void)b;",
    "a condition": "approx<int> a = 3; if (a < 4) return 1;",
    "an approximate truth": "approx<bool> a = true; while (a) return 1;",
    "a conditional operator": "approx<bool> a = true; int b = a ? 1 : 2; (void)b;",
    "and": "approx<bool> a = true; bool b = a && true; (void)b;",
    "an index": "int t[4] = {}; approx<int> a = 3; return t[a];",
    "an argument": "struct f { static void g(int) {} }; f::g(approx<int>(3));",
    "a compound assignment": "int b = 1; b += approx<int>(3);",
    "a pointer": "int x = 0; approx<int *> p = &x; (void)p;",
    "a string": 'approx<const char *> s = "x"; (void)s;',
    "a bare allocator": "approxftl::allocator<int> *a = nullptr; a->allocate(1);",
    "a list, whose pointers are not approximate":
        "approxftl::device d; approxftl::arena m(d, 0);"
        "approxftl::allocator<approx<int>> a(m);"
        "std::list<approx<int>, approxftl::allocator<approx<int>>> l(a); l.push_back(1);",
    "ignoring what was endorsed": "approx<int> a = 3; a.endorse();",
}

COMPILERS = ("g++", "clang++")


def compile_snippet(compiler: str, snippet: str) -> subprocess.CompletedProcess[str]:
    program = ("#include <list>\n#include <approx.hpp>\nusing approxftl::approx;\n"
               f"int main() {{ {snippet} return 0; }}\n")
    return subprocess.run(
        [compiler, "-std=c++17", "-Wall", "-Werror", "-Wno-uninitialized", "-fsyntax-only",
         f"-I{HEADERS}", "-xc++", "-"],
        input=program, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", GOOD)
@pytest.mark.in_turn
def test_valid_programs_compile(name: str, compiler: str) -> None:
    done = compile_snippet(compiler, GOOD[name])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", BAD)
@pytest.mark.in_turn
def test_invalid_programs_do_not_compile(name: str, compiler: str) -> None:
    done = compile_snippet(compiler, BAD[name])
    assert done.returncode == 1, "it was taken"
    assert "No such file" not in done.stderr


@pytest.fixture(scope="module")
def compiled_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cpp") / "program"
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HEADERS}",
         str(TOP / "selftests/library/cpp-program.cpp"), "-o", str(made), f"-L{DOUBLE}",
         "-lapproxftl"], check=True)
    return made


def test_the_cpp_program_tags_its_data(compiled_program: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    log = tmp_path / "log"
    done = run_program_with_library(compiled_program, file, log=log)
    assert (done.code, done.out) == (0, "")
    assert log.exists()


def test_the_cpp_program_runs_without_a_device(compiled_program: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = run_program_with_library(compiled_program, file, library=BUILD)
    assert (done.code, done.out) == (0, "")
