# SPDX-License-Identifier: GPL-2.0-only
"""Every refusal of the command line is one sentence that says what would be right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from selftests.sim.support import run

USAGE = [
    (["--blokcs", "4"], 'unknown option "--blokcs"; did you mean --blocks?'),
    (["--quite"], 'unknown option "--quite"; did you mean --quiet?'),
    (["--writeshare", "4"], "did you mean --write-share?"),
    (["--xyzzyxyzzyxyzzy", "4"], '"approxftl sim --help" lists the options'),
    (["trace.aft"], '"trace.aft" is not an option; a record file is read by --trace FILE'),
    (["--"], '"--" is not an option'),
    (["--profile", "dmo"], 'unknown profile "dmo"; there are demo, tcad18'),
    (["--policy", "best"], 'unknown policy "best"; there are baseline, '),
    (["--policy", ""], "--policy needs a name"),
    (["--policy", "baseline,baseline"], "--policy: baseline is there twice"),
    (["--set", "op"], '--set: "op" is not of the form KEY=VALUE'),
    (["--set", "=7"], '--set: "=7" is not of the form KEY=VALUE'),
    (["--set", "opp=7"], 'unknown parameter "opp"'),
    (["--op", "91"], "op: 91 is out of range; it must be 0 to 90"),
    (["--op"], "--op needs a value"),
    (["--depth"], "--depth needs a value"),
    (["--read", "45"], 'read: "45" is not a duration such as 700us'),
    (["--read", "45 us"], 'read: "45 us" is not a duration'),
    (["--page", "3kB"], 'page: "3kB" is not a size such as 4096'),
    (["--page", "3KiB"], "page: 3072 bytes is not a power of two"),
    (["--fill", "maybe"], 'fill: "maybe" is not one of none, sequential or random'),
    (["--program-reduced", "x"], 'program_reduced: "x" is not a duration'),
    (["--depth", "0"], "--depth: 0 is out of range; it must be 1 to 1048576"),
    (["--depth", "many"], '--depth: "many" is not a whole number'),
    (["--requests", "-1"], '--requests: "-1" is not a whole number'),
    (["--write-share", "101"], "--write-share: 101 is out of range; it must be 0 to 100"),
    (["--write-share", "half"], '--write-share: "half" is not a percentage such as 7'),
    (["--workload", "heavy"], '--workload: "heavy" is not one of uniform, zipf, sequential'),
    (["--size", "0"], "--size: 0 is out of range; it must be 1 to 1GiB"),
    (["--size", "4KiB:0"], '--size: the weight in "4KiB:0" must be 1 to 1000000'),
    (["--size", "4K"], '--size: "4K" is not a size such as 4096 or 16KiB'),
    (["--size", ""], '--size: "" is not a size'),
    (["--size", "1GiB"], "a request of 1073741824 bytes is larger than the"),
    (["--workload", "zipf", "--zipf-skew", "9"], "--zipf-skew: 9 is out of range; it must be 0.01"),
    (["--workload", "zipf", "--zipf-skew", "a"], '"a" is not a number such as 2 or 0.5'),
    (["--zipf-skew", "1"], "--zipf-skew needs --workload zipf"),
    (["--drift-set", "1"], "--drift-set needs --workload drift"),
    (["--burst-on", "1ms"], "--burst-on needs --workload bursts"),
    (["--hot-share", "80"], "--hot-share needs --hot-range"),
    (
        ["--workload", "zipf", "--hot-share", "80", "--hot-range", "20"],
        "--hot-share needs --workload uniform or bursts",
    ),
    (["--approx-run", "4"], "--approx-run needs --approx-share"),
    (["--approx-share", "90", "--approx-run", "2"], "--approx-run 2 is too short"),
    (["--rate", "100", "--depth", "4"], "--depth needs --arrival closed"),
    (["--rate", "100", "--utilisation", "4"], "--rate and --utilisation contradict each other"),
    (["--arrival", "closed", "--rate", "4"], "--rate needs --arrival open"),
    (["--arrival", "open"], "--arrival open needs --rate or --utilisation"),
    (["--arrival", "trace"], "--arrival trace needs --trace"),
    (["--arrival-shape", "fixed"], "--arrival-shape needs --arrival open"),
    (["--repeat", "2"], "--repeat needs --trace"),
    (["--time-scale", "2"], "--time-scale needs --trace"),
    (["--trace", "x.aft", "--workload", "zipf"], "--trace and --workload contradict each other"),
    (["--trace", "x.aft", "--size", "4KiB"], "--trace and --size contradict each other"),
    (["--trace", "-", "--repeat", "2"], "standard input can be read once; --repeat needs a file"),
    (["--trace", "-", "--policy", "baseline,vth_b"], "standard input can be read once"),
    (["--load", "x", "--op", "7"], "--load brings all parameters with it; op cannot be set"),
    (["--load", "x", "--policy", "baseline"], "--load and --policy contradict each other"),
    (["--load", "x", "--profile", "demo"], "--load and --profile contradict each other"),
    (["--dump", "x", "--policy", "baseline,vth_b"], "--dump saves one device; give one policy"),
    (["--record", "x", "--policy", "baseline,vth_b"], "--record writes one run; give one policy"),
    (["--json", "-", "--record", "-"], "--json and --record both want standard output"),
    (["--histogram"], "--histogram needs --json"),
    (["--quiet=yes"], "--quiet takes no value"),
    (["--quiet", "--progress"], "--quiet and --progress contradict each other"),
    (["--channels", "64", "--chips", "64", "--dies", "16", "--blocks", "1048576"], "can be mapped"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE, ids=lambda value: str(value)[:40])
def test_usage(arguments: list[str], sentence: str) -> None:
    done = run("sim", *arguments)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert re.fullmatch(r"approxftl: [^\n]+\n", done.err), "one line"


@pytest.mark.parametrize("spelling", ["--fill-valid=50", "--fill_valid=50", "--set=fill-valid=50"])
def test_spellings_of_a_parameter(spelling: str) -> None:
    done = run("sim", spelling, "--requests", "10", "--json", "-")
    assert json.loads(done.out)["parameters"]["fill_valid"] == "50"


def test_own_options_may_have_underscores() -> None:
    done = run("sim", "--write_share=25%", "--requests=10", "--json", "-")
    assert json.loads(done.out)["stream"]["write_share_percent"] == 25


def test_parameters_win_over_the_profile_wherever_it_stands() -> None:
    done = run("sim", "--blocks", "64", "--profile", "tcad18", "--requests=10", "--json", "-")
    result = json.loads(done.out)
    assert (result["profile"], result["parameters"]["blocks"]) == ("tcad18", "64")


def test_queue_depth_and_command_depth_are_two_things() -> None:
    done = run("sim", "--depth", "4", "--set", "depth=64", "--requests=10", "--json", "-")
    result = json.loads(done.out)
    assert (result["stream"]["queue_depth"], result["parameters"]["depth"]) == (4, "64")


def test_small_percentage_is_remarked() -> None:
    done = run("sim", "--approx-share", "0.5", "--requests", "10")
    assert done.code == 0
    assert "note: --approx-share is a percentage" in done.err


@pytest.mark.parametrize("option", ["--trace", "--load"])
def test_missing_file(option: str, tmp_path: Path) -> None:
    done = run("sim", option, tmp_path / "absent")
    assert done.code == 3
    assert done.err.endswith("absent: cannot open: No such file or directory\n")


@pytest.mark.parametrize("option", ["--json", "--record", "--dump"])
def test_file_that_cannot_be_made(option: str, tmp_path: Path) -> None:
    done = run("sim", "--requests", "10", option, tmp_path / "absent" / "file")
    assert done.code == 1
    assert "cannot create: No such file or directory" in done.err


def test_overload_is_said(tmp_path: Path) -> None:
    done = run("sim", "--rate", "100000000", "--requests", "1100000", "--write-share", "100")
    assert done.code == 1
    assert "the device cannot keep up: 1048576 requests wait after" in done.err


def test_failure_of_a_policy_keeps_the_results_before_it() -> None:
    # So few blocks in each LUN are not enough for the open blocks of ApproxFTL.
    done = run("sim", "--blocks", "8", "--op", "50", "--requests", "100", "--json", "-",
               "--policy", "baseline,approxftl")  # fmt: skip
    assert done.code == 2
    assert "policy approxftl keeps" in done.err
    result = json.loads(done.out)
    assert result["interrupted"] is True
    assert [found["policy"] for found in result["runs"]] == ["baseline"]


def test_unknown_verb() -> None:
    done = run("smi")
    assert (done.code, done.err) == (2, 'approxftl: unknown verb "smi"; did you mean sim?\n')
    assert run("frobnicate").err == (
        'approxftl: unknown verb "frobnicate"; "approxftl help" lists them\n'
    )


def test_no_verb() -> None:
    done = run()
    assert done.code == 2
    assert "Usage: approxftl VERB" in done.err


@pytest.mark.parametrize("verb", ["sim", "params", "profiles", "policies", "version"])
def test_help_of_each_verb(verb: str) -> None:
    by_option = run(verb, "--help")
    assert (by_option.code, by_option.err) == (0, "")
    assert "Usage: approxftl " + verb in by_option.out
    assert run("help", verb).out == by_option.out
    assert max(map(len, by_option.out.splitlines())) <= 100


def test_help_names_every_option() -> None:
    table = (Path(__file__).parents[2] / "userspace/sim/option-table.h").read_text()
    names = re.findall(r"^SIM_OPT\((\w+),", table, re.MULTILINE)
    text = run("sim", "--help").out
    assert len(names) > 30
    assert [name for name in names if f"--{name.replace('_', '-')}" not in text] == []


def test_version() -> None:
    assert re.fullmatch(r"approxftl \S+\n", run("version").out)
    assert run("--version").out == run("version").out
    assert run("version", "x").code == 2


@pytest.mark.parametrize("verb", ["params", "profiles", "policies"])
def test_lists(verb: str) -> None:
    table = run(verb)
    listed = json.loads(run(verb, "--json").out)
    assert listed["approxftl_json_format"] == [1, 0]
    assert listed["tool"]["argv"] == ["approxftl", verb, "--json"]
    rows = listed["parameters" if verb == "params" else verb]
    names = [row.get("key", row.get("name")) for row in rows]
    assert len(names) >= 5
    assert [line.split()[0] for line in table.out.splitlines() if line[:3] != "KEY"] == names
    assert run(verb, "--frob").code == 2


def test_params_of_a_profile() -> None:
    rows = {
        row["key"]: row
        for row in json.loads(run("params", "--json", "--profile", "micro19").out)["parameters"]
    }
    assert rows["page"]["value"] == "16KiB"
    assert rows["page"]["stored_value"] == 16384
    assert rows["suspend"]["words"] == ["off", "program", "erase", "both"]
    assert run("params", "--profile", "none").code == 2
    assert run("params", "--profile").code == 2


def test_printed_values_are_read_back() -> None:
    rows = json.loads(run("params", "--json").out)["parameters"]
    pairs = [f"--set={row['key']}={row['value']}" for row in rows]
    parameters = json.loads(run("sim", "--requests=0", "--json=-", *pairs).out)["parameters"]
    assert parameters == {row["key"]: row["value"] for row in rows}


def test_every_parameter_is_an_option() -> None:
    rows = json.loads(run("params", "--json").out)["parameters"]
    for row in rows:
        done = run("sim", f"--{row['key'].replace('_', '-')}=?")
        assert (done.code, row["key"].replace("_", "-") in done.err.replace("_", "-")) == (2, True)
