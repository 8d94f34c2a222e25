# SPDX-License-Identifier: GPL-2.0-only
"""The simulator as a WASI command prints the same bytes as the native program."""

import re
from pathlib import Path

import pytest
import wasmtime
from selftests.lib.programs import run_program
from selftests.playground.support import COMMAND, PROGRAM, needs_page

pytestmark = needs_page

#: The memory differs, because WASM has 32-bit pointers.
MEMORY = re.compile(rb'"memory_bytes": \d+')

RUNS = {
    "experiment": ("--policy", "baseline,delta_b,vth_b,approxftl", "--approx-share", "0.5",
                   "--write-share", "100%", "--utilisation", "0.3", "--size", "8KiB",
                   "--requests", "4000"),
    "others": ("--policy", "pageftl,vertftl,cubeftl,cubeftl_minus,traditional,li,agcr,tvr,tlc,"
               "ressd,hybrid,separated,density,lending,ips",
               "--requests", "1500", "--fill", "random"),
    "streams": ("--policy", "streams", "--requests", "1500", "--workload", "zipf",
                "--discard-share", "5%", "--flush-every", "50"),
    "worn": ("--policy", "vth_b", "--cell_model", "voltage", "--cycles", "3000", "--age", "365d",
             "--bits", "2", "--op", "40", "--fill", "sequential", "--fill_approx", "50%",
             "--requests", "3000", "--histogram", "--block-table"),
    "qlc": ("--profile", "qlc", "--blocks", "64", "--policy", "baseline", "--op", "25%",
            "--slc_static", "10%", "--requests", "1500",
            "--write-share", "100%", "--size", "16KiB", "--verify"),
    "shards": ("--shards", "2", "--utilisation", "0.5", "--requests", "1500", "--policy",
               "baseline,approxftl", "--size", "256KiB", "--fill", "random"),
    "refused": ("--policy", "none"),
}


@pytest.fixture(scope="module")
def wasm_command() -> tuple[wasmtime.Engine, wasmtime.Module]:
    engine = wasmtime.Engine()
    return engine, wasmtime.Module.from_file(engine, str(COMMAND))


def run_wasm(command: tuple[wasmtime.Engine, wasmtime.Module], place: Path,
             *arguments: str) -> tuple[int, bytes, bytes]:
    """Run the WASI command in a directory; return exit status, standard output and error."""
    engine, module = command
    config = wasmtime.WasiConfig()
    config.argv = ["approxftl", "sim", *arguments]
    config.stdout_file, config.stderr_file = str(place / "out"), str(place / "err")
    config.preopen_dir(str(place), "/")
    store = wasmtime.Store(engine)
    store.set_wasi(config)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    code = 0
    try:
        start = linker.instantiate(store, module).exports(store)["_start"]
        assert isinstance(start, wasmtime.Func)
        start(store)
    except wasmtime.ExitTrap as end:
        code = end.code
    return code, (place / "out").read_bytes(), (place / "err").read_bytes()


@pytest.mark.parametrize("name", RUNS)
def test_wasm_output_equals_native_output(name: str,
                                          wasm_command: tuple[wasmtime.Engine, wasmtime.Module],
                                          tmp_path: Path) -> None:
    arguments = (*RUNS[name], "--json")
    code, out, err = run_wasm(wasm_command, tmp_path, *arguments)
    done = run_program(PROGRAM, "sim", *arguments)
    assert (code, err.decode()) == (done.code, done.err)
    assert MEMORY.sub(b"", out) == MEMORY.sub(b"", done.out.encode())
    assert (code == 0) == (name != "refused")


def test_wasm_tables_and_files_equal_native_ones(wasm_command: tuple[wasmtime.Engine,
                                                                     wasmtime.Module],
                                                 tmp_path: Path) -> None:
    arguments = ("--requests", "500", "--write-share", "100%", "--policy", "approxftl")
    code, out, err = run_wasm(wasm_command, tmp_path, *arguments, "--record", "/a.aft", "--dump",
                              "/a.snap")
    done = run_program(PROGRAM, "sim", *arguments, "--record", str(tmp_path / "n.aft"), "--dump",
                       str(tmp_path / "n.snap"))
    assert (code, err.decode()) == (done.code, done.err) == (0, "")
    memory = re.compile("memory.*")
    assert memory.sub("", out.decode()) == memory.sub("", done.out)
    for kind in ("aft", "snap"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"n.{kind}").read_bytes()
    again = run_wasm(wasm_command, tmp_path, "--load", "/a.snap", "--trace", "/a.aft", "--json")
    assert again[0] == 0, again[2]
