# SPDX-License-Identifier: GPL-2.0-only
"""Each error on the command line is reported in one sentence that names the remedy."""

import json
import re
from pathlib import Path

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

HOT = ("--hot-share", "80%", "--hot-range", "20%")
SIGN = "--{}: {} is more than the whole; write {} or {}\n"

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
    (["--page", "3kiBB"], 'page: "3kiBB" is not a size such as 4096'),
    (["--page", "3KiB"], "page: 3072 bytes is not a power of two"),
    (["--fill", "maybe"], 'fill: "maybe" is not one of none, sequential or random'),
    (["--program-reduced", "x"], 'program_reduced: "x" is not a duration'),
    (["--depth", "0"], "--depth: 0 is out of range; it must be 1 to 1048576"),
    (["--depth", "many"], '--depth: "many" is not a whole number'),
    (["--requests", "-1"], '--requests: "-1" is not a whole number'),
    (["--write-share", "half"], '--write-share: "half" is not a share such as 0.5 or 50%'),
    (["--write-share", ""], '--write-share: "" is not a share such as 0.5 or 50%'),
    (["--write-share", ".5"], '--write-share: ".5" is not a share such as 0.5 or 50%'),
    (["--approx-share", "50"], SIGN.format("approx-share", "50", "50%", "0.5")),
    (["--write-share", "101"], "--write-share: 101 is out of range; it must be 0 to 1\n"),
    (["--write-share", "101%"], "--write-share: 101% is out of range; it must be 0% to 100%\n"),
    (["--write-share", "9" * 30 + "%"], "9% is out of range; it must be 0% to 100%\n"),
    (["--footprint", "0%"], "--footprint: 0% is out of range; it must be 0.01% to 100%\n"),
    (["--utilisation", "1001%"], "1001% is out of range; it must be 0.01% to 1000%\n"),
    (
        ["--write-share", "0.00001"],
        "--write-share: 0.00001 is finer than shares can be; the smallest step is 0.0001\n",
    ),
    (
        ["--write-share", "12.345%"],
        "--write-share: 12.345% is finer than shares can be; the smallest step is 0.01%\n",
    ),
    (["--workload", "heavy"], '--workload: "heavy" is not one of uniform, zipf, sequential'),
    (["--size", "0"], "--size: 0 is out of range; it must be 1 to 1GiB"),
    (["--size", "4KiB:0"], '--size: the weight in "4KiB:0" must be 1 to 1000000'),
    (["--size", ""], '--size: "" is not a size'),
    (["--size", "1GiB"], "a request of 1073741824 bytes is larger than the"),
    (["--workload", "zipf", "--zipf-skew", "9"], "--zipf-skew: 9 is out of range; it must be 0.01"),
    (["--workload", "zipf", "--zipf-skew", "a"], '"a" is not a number such as 2 or 0.5'),
    (["--zipf-skew", "1"], "--zipf-skew needs --workload zipf"),
    (["--drift-set", "0.01"], "--drift-set needs --workload drift"),
    (["--stride", "8KiB"], "--stride needs --workload sequential"),
    (["--workload", "sequential", "--stride", "5000"], "--stride 5000 is not a multiple of the"),
    (["--workload", "sequential", "--stride", "1TiB"], "--stride 1099511627776 leads out of the"),
    (["--active-set", "0.01"], "--active-set needs --workload active"),
    (["--zone-size", "1MiB"], "--zone-size needs --workload zones"),
    (["--open-zones", "2"], "--open-zones needs --workload zones"),
    (["--scatter"], "--scatter needs --hot-share or --workload sequential"),
    (["--scatter", "--workload", "sequential", "--stride", "64KiB"],
     "--scatter and --stride contradict each other"),
    (["--zipf-order", "sorted"], "--zipf-order needs --workload zipf"),
    (["--beside-size", "4KiB"], "--beside-size needs --beside-rate"),
    (["--raid", "5", "--beside-rate", "9"], "--raid and --beside-rate contradict each other"),
    (["--host-fill-size", "4KiB"], "--host-fill-size needs --host-fill"),
    (["--host-fill", "4"], "--host-fill needs --fill none"),
    (["--host-fill", "4", "--fill", "none", "--zoned", "16MiB"],
     "--host-fill: the device has zones; set zoned 0"),
    (["--host-fill", "4", "--fill", "none", "--shards", "2"], "--host-fill: it fills one FTL"),
    (["--host-fill", "4", "--raid", "5"], "--raid and --host-fill contradict each other"),
    (["--rate", "9", "--rate-between", "1"], "--rate-between needs --burst-off"),
    (["--burst-off", "1ms", "--rate-between", "1"], "--rate-between needs --arrival open"),
    (["--trace", "x", "--burst-on", "1ms"], "--trace and --burst-on contradict each other"),
    (["--hot-share", "0.8"], "--hot-share needs --hot-range"),
    (
        ["--hot-size", "4KiB"],
        "--hot-size needs --hot-share; the parameter of the same name is set by --set\n",
    ),
    (["--hot-size", "4KiB:0"], '--hot-size: the weight in "4KiB:0" must be 1 to 1000000'),
    (["--hot-size", ",".join(["4KiB"] * 17)], "--hot-size: at most 16 sizes"),
    ([*HOT, "--hot-size", "1GiB"], "lower --hot-size or raise --footprint"),
    ([*HOT, "--hot-size", "4KiB", "--size", "1GiB"], "lower --size or raise --footprint"),
    (
        ["--workload", "zipf", *HOT],
        "--hot-share needs --workload uniform or bursts",
    ),
    (["--approx-run", "4"], "--approx-run needs --approx-share"),
    (["--approx-share", "0.9", "--approx-run", "2"], "--approx-run 2 is too short"),
    (["--rate", "100", "--depth", "4"], "--depth needs --arrival closed"),
    (["--rate", "100", "--utilisation", "0.4"], "--rate and --utilisation contradict each other"),
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
    (["--dump", "x", "--policy", "baseline,vth_b"], "--dump saves one device; give one policy and"),
    (["--record", "x", "--policy", "baseline,vth_b"], "--record writes one run; give one"),
    (["--dump", "x", "--seed", "1,2"], "--dump saves one device; give one policy and one seed"),
    (["--record", "x", "--seed", "1,2"], "--record writes one run; give one policy and one seed"),
    (["--trace", "-", "--seed", "1,2"], "standard input can be read once; give one policy and one"),
    (["--timeline", "x", "--seed", "1,2"], "by their policies; give one seed"),
    (["--timeline", "x", "--jobs", "2"], "--jobs and --timeline contradict each other"),
    (["--jobs", "0"], "--jobs: 0 is out of range; it must be 1 to 4096"),
    (["--policy", "all,vth_b"], "--policy: vth_b is there twice"),
    (["--load", "x", "--seed", "1..3"], "--load brings all parameters with it; seed cannot be set"),
    *((["--seed", seed], f'--seed: "{seed}" is not a number, nor a range such as 1..8')
      for seed in ("", "x", "1..", "..3", "3..1", "1...3", "-1", "9" * 20)),
    (["--set", "seed=x"], '--seed: "x" is not a number, nor a range such as 1..8'),
    (["--seed", "1..3,2"], "--seed: 2 is there twice"),
    (["--seed", "1..65"], "--seed: at most 64 seeds"),
    (["--seed", "0..18446744073709551615"], "--seed: at most 64 seeds"),
    (["--from", "spc"], "--from needs --trace"),
    (["--strict"], "--strict needs --trace"),
    (["--json", "--record", "-"], "--json and --record both want standard output"),
    (["--requests", "1.5"], '"1.5" is not a whole number'),
    (["--requests", "M"], '"M" is not a whole number'),
    (["--requests", "1e20"], '"1e20" is not a whole number'),
    (["--requests", "20000000000G"], "20000000000G is out of range"),
    (["--raid", "5k"], "5k is out of range; it must be 5 to 5"),
    (["--burst-on", "5M"], "--burst-on"),
    (["--histogram"], "--histogram needs --json"),
    (["--series"], "--series needs --json"),
    (["--block-table"], "--block-table needs --json"),
    (["--page-map", "auto"], "--page-map needs --json"),
    (["--page-map", "x", "--json"], '--page-map: "x" is not a block number; write auto or'),
    (["--page-map", "1,,2", "--json"], '--page-map: "" is not a block number'),
    (["--page-map", "512", "--json"], "--page-map: there is no block 512; the last is 511"),
    (["--page-map", ",".join(["1"] * 17), "--json"], "--page-map: at most 16 blocks"),
    (["--raid", "5", "--timeline", "x"], "--raid and --timeline contradict each other"),
    (["--raid", "5", "--change", "5:age=1h"], "--raid and --change contradict each other"),
    (["--timeline", "x", "--change", "5:age=1h"], "--change and --timeline contradict each other"),
    *((["--change", change], f'--change: "{change}" is not of the form N:KEY=VALUE, such as')
      for change in ("", "x", "policy=vth_b")),
    *((["--change", f"{at}:age=1h"], f'--change: "{at}" is not of the form N:KEY=VALUE, such as')
      for at in ("", "x", "-1", "1.5", "9" * 20)),
    (["--change", "5:age"], '--change: "age" is not of the form KEY=VALUE'),
    (["--change", "5:gc=" + "0" * 40], '--change: "gc=000'),
    (["--change", "5:policy=nix"], '--change: there is no policy "nix"'),
    (["--change", "5:nix=1"], '--change: unknown parameter "nix"'),
    (["--change", "5:age=37000d"], "--change: age: 37000d is out of range"),
    (["--change", "6:age=1h,5:age=1h"], "--change: 5 follows 6; sort the changes"),
    (["--change", ",".join(["5:age=1h"] * 65)], "--change: at most 64 changes"),
    (["--requests", "9", "--change", "10:age=1h"], "--change: 10 is beyond the last request"),
    (["--requests", "9", "--warmup", "5", "--change", "15:age=1h"], "15 is beyond the last"),
    (["--quiet=yes"], "--quiet takes no value"),
    (["--quiet", "--progress"], "--quiet and --progress contradict each other"),
    (["--channels", "64", "--chips", "64", "--dies", "16", "--blocks", "1048576"], "can be mapped"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE, ids=lambda value: str(value)[:40])
def test_wrong_arguments_of_sim_are_refused_in_one_line(arguments: list[str],
                                                        sentence: str) -> None:
    done = run_approxftl("sim", *arguments)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err
    assert re.fullmatch(r"approxftl sim: [^\n]+\n", done.err), "one line"


def test_parameter_files_apply_at_their_position_on_the_command_line(tmp_path: Path) -> None:
    """A file given by --set @FILE counts at its position; the last value of a parameter wins."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("# a drive\n\n  blocks=64\t\r\nop=20\n # not determined:\nread-first=9us\n")
    second.write_text("op=30")
    shape = "sim", "--requests=10", "--json=-"
    done = run_approxftl(*shape, "--set", f"@{first}", "--set=layers=2", "--set", f"@{second}")
    words = run_approxftl(*shape, "--blocks=64", "--op=30", "--read_first=9us", "--layers=2")
    assert done.code == 0, done.err
    ours, theirs = (json.loads(one.out) for one in (done, words))
    assert ours["parameters"] == theirs["parameters"]
    assert (ours["parameters"]["op_percent"], ours["parameters"]["blocks"]) == (30, 64)


@pytest.mark.parametrize(("content", "sentence"), [
    (b"op", '--set: "op" is not of the form KEY=VALUE'), (b"opp=7", 'unknown parameter "opp"'),
    (b"op=91\n", "op: 91 is out of range"), (b"op=20\0", "is not a file of parameters"),
    (b"#" * 70000, "is not a file of parameters"), (None, "No such file or directory")])
def test_invalid_parameter_files_are_refused(
        tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "given"
    if content is not None:
        path.write_bytes(content)
    done = run_approxftl("sim", "--set", f"@{path}", "--requests", "1")
    assert done.code == 2
    assert sentence in done.err and done.err.count("\n") == 1
    assert run_approxftl("create", "ssd", "--dry-run", "--set", f"@{path}").code == 2


def test_output_does_not_overwrite_the_parameter_file(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_text("op=20\n")
    done = run_approxftl("sim", "--set", f"@{path}", "--requests=10", f"--json={path}")
    assert (done.code, path.read_text()) == (1, "op=20\n")
    assert "is also read" in done.err


@pytest.mark.parametrize("spelling", ["--fill-valid=50", "--fill_valid=50", "--set=fill-valid=50"])
def test_a_parameter_name_may_be_spelled_in_several_ways(spelling: str) -> None:
    done = run_approxftl("sim", spelling, "--requests", "10", "--json")
    assert json.loads(done.out)["parameters"]["fill_valid_percent"] == 50


def test_parameters_override_the_profile_in_any_order() -> None:
    done = run_approxftl("sim", "--blocks", "64", "--profile", "tcad18", "--requests=10", "--json")
    result = json.loads(done.out)
    assert (result["profile"], result["parameters"]["blocks"]) == ("tcad18", 64)


def test_counts_accept_suffixes() -> None:
    for text, count in (("3M", "3000000"), ("18G", "18000000000")):
        done = [run_approxftl("sim", "--warmup", each, "--requests", "0", "--dry-run")
                for each in (text, count)]
        assert done[0] == done[1] and done[0].code == 0
    million = run_approxftl("sim", "--flush-every", "1M", "--requests", "9", "--json", "-q")
    assert json.loads(million.out)["stream"]["flush_every_requests"] == 1000000


def test_queue_depth_and_command_depth_are_independent() -> None:
    done = run_approxftl("sim", "--depth", "4", "--set", "depth=64", "--requests=10", "--json")
    result = json.loads(done.out)
    assert (result["stream"]["queue_depth"], result["parameters"]["depth"]) == (4, 64)


SAME_SHARES = [
    ("--write-share", "0.5", "50%"),
    ("--approx-share", "0.125", "12.5%"),
    ("--approx-share", "0.00010", "0.01%"),
    ("--utilisation", "1.2", "120%"),
    ("--utilisation", "10.0", "1000%"),
]


@pytest.mark.parametrize(("option", "fraction", "percentage"), SAME_SHARES)
def test_a_share_as_fraction_equals_its_percentage(
    option: str, fraction: str, percentage: str
) -> None:
    texts = (fraction, percentage)
    done = [run_approxftl("sim", option, text, "--requests", "200", "--json") for text in texts]
    assert [each.code for each in done] == [0, 0]
    assert done[0].err == done[1].err
    results = [json.loads(each.out) for each in done]
    key = option[2:].replace("-", "_") + "_percent"
    assert results[0]["stream"][key] == pytest.approx(float(fraction) * 100)
    for result in results:
        del result["tool"]
    assert results[0] == results[1]


def test_every_share_is_read_as_fraction_and_as_percentage() -> None:
    table = (Path(__file__).parents[2] / "userspace/sim/option-table.h").read_text()
    names = re.findall(r"^SIM_OPT\((\w+), SHARE,", table, re.MULTILINE)
    assert len(names) == 13
    for name in names:
        option = "--" + name.replace("_", "-")
        assert "is more than the whole; write 50% or 0.5\n" in run_approxftl("sim", option,
                                                                             "50").err
        for text in ("0.5", "50%"):
            assert run_approxftl("sim", option, text, "--help").code == 0


def test_percentage_parameters_are_given_without_a_percent_sign() -> None:
    done = run_approxftl("sim", "--op", "7", "--requests", "10", "--json")
    assert json.loads(done.out)["parameters"]["op_percent"] == 7


UNCLEAR = "{}: {} may mean {}% or {}; write one of these\n"


def list_percentage_options() -> list[str]:
    """Return the names of all options and parameters that are shares or percentages."""
    options = json.loads(run_approxftl("sim", "--help=json").out)
    shares = [one["name"] for one in options["options"] if one.get("value") == "SHARE"]
    params = json.loads(run_approxftl("params", "--json").out)["parameters"]
    percentages = [one["key"] for one in params if one["type"] == "percentage"]
    assert len(shares) == 13 and len(percentages) > 10
    return [*shares, *percentages]


def test_numbers_that_may_be_shares_or_percentages_are_refused(tmp_path: Path) -> None:
    """The value 1 may mean 1 % or 100 %: all shares and percentages refuse it."""
    for option in list_percentage_options():
        done = run_approxftl("sim", f"--{option}", "1", "--dry-run")
        assert done.code == 2 and done.err.endswith(UNCLEAR.format(option, 1, 1, "100%")), done
    (tmp_path / "own").write_text("op=0.3\n")
    for verb in (("sim", "--op=0.3"), ("sim", "--set=op=0.3"), ("sim", f"--set=@{tmp_path}/own"),
                 ("create", "ssd", "--dry-run", "op=0.3"), ("format", "file", "op=0.3"),
                 ("sim", "--change=5:op=0.3")):
        done = run_approxftl(*verb)
        assert done.code == 2 and done.err.endswith(UNCLEAR.format("op", 0.3, 0.3, "30%")), done
    for other in ("5", "1"):
        assert UNCLEAR.format("utilisation", other, other, f"{other}00%") in run_approxftl(
            "sim", "--utilisation", other).err


def test_unambiguous_shares_and_percentages_are_accepted() -> None:
    clear = ("--write-share=1.0", "--approx-share=0.5", "--op=7", "--gc=1.5", "--wear_gap=1")
    assert run_approxftl("sim", *clear, "--footprint=100%", "--discard-share=0", "--gc_pace=1",
                         "--tvr_margin=0.5%", "--dry-run").err == ""


SUFFIXES = [
    ("--size", [{"bytes": 4096, "weight": 1}], "sizes",
     ("4096", "4k", "4K", "4kb", "4KB", "4kib", "4KiB", "0.00390625m", "4096b")),
    ("--size", [{"bytes": 1 << 20, "weight": 1}], "sizes",
     ("1m", "1M", "1MB", "1mib", "1024k", "0.0009765625G")),
    ("--requests", 100000, "", ("100000", "100k", "100K", "0.1M", "1e5", "1E5", "0.0001G")),
]


@pytest.mark.parametrize(("option", "wanted", "key", "texts"), SUFFIXES)
def test_size_suffixes_are_those_of_fio(option: str, wanted: object, key: str,
                                        texts: tuple[str, ...]) -> None:
    for text in texts:
        given = () if option == "--requests" else ("--requests=10",)
        result = run_sim(option, text, *given)
        assert (result["stream"][key] if key else get_only_run(result)["requests"]) == wanted, text


def test_workload_option_hot_size_and_device_parameter_hot_size_are_independent() -> None:
    done = run_approxftl("sim", *HOT, "--hot-size", "16KiB", "--set", "hot_size=4KiB",
                         "--requests=10",
                         "--json")  # fmt: skip
    result = json.loads(done.out)
    assert result["stream"]["hot_sizes"] == [{"bytes": 16384, "weight": 1}]
    assert result["parameters"]["hot_size_bytes"] == 4096


@pytest.mark.parametrize("option", ["--json", "--record", "--dump"])
def test_an_output_that_cannot_be_created_fails_before_the_run(option: str, tmp_path: Path) -> None:
    # The file must be created before the simulation, which would take many minutes.
    done = run_approxftl("sim", "--requests", "1000000000", f"{option}={tmp_path}/absent/file")
    assert done.code == 1
    assert "cannot create: No such file or directory" in done.err


def test_failure_of_a_policy_keeps_the_results_of_earlier_ones() -> None:
    # With 8 blocks in each LUN there are too few for the open blocks of ApproxFTL.
    done = run_approxftl("sim", "--blocks", "8", "--op", "50", "--requests", "100", "--json",
                         "--policy", "baseline,approxftl")  # fmt: skip
    assert done.code == 2
    assert "policy approxftl keeps" in done.err
    result = json.loads(done.out)
    assert result["interrupted"] is True
    assert [found["policy"] for found in result["runs"]] == ["baseline"]


def test_an_unknown_verb_is_refused_with_a_suggestion() -> None:
    done = run_approxftl("smi")
    assert (done.code, done.err) == (2, 'approxftl: unknown verb "smi"; did you mean sim?\n')
    assert run_approxftl("frobnicate").err == (
        'approxftl: unknown verb "frobnicate"; "approxftl help" lists them\n'
    )


def test_a_program_in_path_is_run_as_a_verb(tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "approxftl-frobnicate"
    other.write_text('#!/bin/sh\necho "$# $1 $2"\nexit 7\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    done = run_approxftl("frobnicate", "a b", "--help")
    assert (done.code, done.out) == (7, "2 a b --help\n")
    other.chmod(0o644)
    assert run_approxftl("frobnicate").code in {1, 2}
    assert run_approxftl("../frobnicate").code == 2


def test_a_missing_verb_prints_the_usage() -> None:
    done = run_approxftl()
    assert done.code == 2
    assert "Usage: approxftl VERB" in done.err


def test_help_explains_fractions_and_percentages() -> None:
    text = run_approxftl("sim", "--help").out
    assert "Shares are fractions like 0.5 or percentages like 50%." in text
    assert re.search(r"--write-share SHARE +writes among reads and writes \(default 50%\)", text)
    assert "PCT" not in text


def test_params_shows_the_values_of_a_profile() -> None:
    rows = {
        row["key"]: row
        for row in json.loads(run_approxftl("params", "--json", "--profile",
                                            "micro19").out)["parameters"]
    }
    assert rows["page"]["value"] == "16KiB"
    assert rows["page"]["stored_value"] == 16384
    assert rows["suspend"]["words"] == ["off", "program", "erase", "both"]
    assert run_approxftl("params", "--profile", "none").code == 2
    assert run_approxftl("params", "--profile").code == 2


SCALES = {"1e-2 percent": 100, "1e-12": 1e12}
UNITS = {"time": "_ns", "size": "_bytes", "percentage": "_percent"}
OF_KEYS = {"bus": "_mb_per_second", "link": "_mb_per_second", "energy": "_microwatt"}


def read_parameter_number(row: Json) -> tuple[str, object]:
    """Return the JSON key and number of a parameter in results, from its `params --json` row."""
    value, type_ = row["stored_value"], row["type"]
    if type_ == "word":
        value = row["value"]
    elif type_ == "weights":
        value = [] if row["value"] == "0" else [*map(int, row["value"].split(":"))]
    elif row["stored_unit"] in SCALES:
        value /= SCALES[row["stored_unit"]]
    return row["key"] + OF_KEYS.get(row["key"], UNITS.get(type_, "")), value


@pytest.mark.parametrize("more", [(), ("--set=queue_weights=3:1", "--set=rber=1e-7",
                                       "--set=op=12.34")])
def test_printed_parameter_values_are_accepted_as_options(more: tuple[str, ...]) -> None:
    """Results have parameters as numbers; the unit is part of the key."""
    rows = json.loads(run_approxftl("params", "--json").out)["parameters"]
    given = dict(word.removeprefix("--set=").split("=") for word in more)
    pairs = [f"--set={row['key']}={given.get(row['key'], row['value'])}" for row in rows]
    found = run_sim("--requests=0", *pairs)["parameters"]
    wanted = dict(map(read_parameter_number, rows))
    if more:
        wanted |= {"queue_weights": [3, 1], "rber": 1e-7, "op_percent": 12.34}
    assert found == wanted


@pytest.mark.parametrize(("verb", "names"), [
    ("params", ["op", "read-first"]), ("profiles", ["demo"]), ("policies", ["agcr", "baseline"])])
def test_list_commands_print_only_the_names_given_as_arguments(verb: str, names: list[str]) -> None:
    done = run_approxftl(verb, *names, "--no-head")
    assert [line.split()[0].replace("_", "-") for line in done.out.splitlines()] == sorted(
        names, key=run_approxftl(verb).out.replace("_", "-").find)
    rows = json.loads(run_approxftl(verb, *names,
                                    "--json").out)["parameters" if verb == "params" else verb]
    assert len(rows) == len(names)
    wrong = run_approxftl(verb, f"{names[0]}x")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == (f'approxftl {verb}: there is no "{names[0]}x"; '
                         f"did you mean {names[0]}?\n")


def test_every_parameter_is_an_option() -> None:
    rows = json.loads(run_approxftl("params", "--json").out)["parameters"]
    for row in rows:
        done = run_approxftl("sim", f"--{row['key'].replace('_', '-')}=?")
        assert (done.code, row["key"].replace("_", "-") in done.err.replace("_", "-")) == (2, True)
