# SPDX-License-Identifier: GPL-2.0-only
"""Test the verbs for kernel devices, as far as that is possible without device-mapper."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import PROGRAM as BINARY
from selftests.lib.programs import TOP, Done
from selftests.sim.support import run_approxftl

SCHEMA = "userspace/approxftl/verbs-output.fields"
PAGE = TOP / "userspace/approxftl/approxftl-device.8.rst"
DEVICE_VERBS = ("create", "list", "status", "stat", "top", "health", "message", "fault", "remove",
                "doctor")
NAMED = ("status", "stat", "health", "message", "fault", "remove")


def run_verb_as_json(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = run_approxftl(*arguments, "--json")
    assert done.code == code, done.err
    document = parse_document(SCHEMA, done.out)
    assert document["tool"]["argv"][0] == "approxftl"
    return document


def list_names_shown_by_verb(verb: str) -> list[str]:
    return [one["name"] for one in run_verb_as_json(verb)[verb]]


def read_listed_verbs() -> list[str]:
    return re.findall(r"^  (\w+) +\w", run_approxftl("help").out, re.M)


def check_verb_refused(done: Done, code: int, sentence: str) -> None:
    assert (done.code, done.out) == (code, ""), done.out
    assert done.err.count("\n") == 1
    assert sentence in done.err


# Help


@pytest.mark.parametrize("verb", read_listed_verbs())
def test_every_verb_prints_help(verb: str) -> None:
    done = run_approxftl(verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: approxftl {'VERB' if verb == 'help' else verb}" in done.out
    assert run_approxftl("help", verb).out == done.out


def test_old_name_unkind_of_verb_torture_works_with_a_warning() -> None:
    done = run_approxftl("unkind", "--help")
    assert done.code == 0
    assert done.out == run_approxftl("torture", "--help").out
    assert done.err == ("approxftl: the verb unkind is now called torture; "
                        "the old name will be removed\n")


# Usage


@pytest.mark.parametrize("verb", NAMED)
def test_a_missing_device_name_is_refused(verb: str) -> None:
    check_verb_refused(run_approxftl(verb), 2, f'missing; "approxftl {verb} --help" explains it')


USAGE = [
    (["list", "x"], '"x" is one word too many'),
    (["status", "a", "b"], '"b" is one word too many'),
    (["status", "--jason", "a"], 'unknown option "--jason"; did you mean --json?'),
    (["stat", "a", "-x"], 'unknown option "-x"; "approxftl stat --help" lists'),
    (["stat", "a", "--interval"], "--interval needs a value"),
    (["stat", "a", "-i"], "-i needs a value"),
    (["stat", "a", "--interval", "often"], '--interval: "often" is not a duration'),
    (["stat", "a", "--interval", "1ms"], "--interval: 1ms is out of range; it must be 10ms"),
    (["stat", "a", "--count", "3"], "--count needs --interval"),
    (["stat", "a", "-i", "1", "-c", "0"], "--count must be at least 1"),
    (["stat"], 'NAME missing; "approxftl stat --help" explains it'),
    (["stat", "--prometheus", "-i", "1"], "--prometheus excludes --interval and --json"),
    (["stat", "a", "--prometheus", "--json"], "--prometheus excludes --interval and --json"),
    (["top", "-c", "0"], "--count must be at least 1"),
    (["top", "a", "-i", "1ms"], "--interval: 1ms is out of range; it must be 10ms"),
    (["top", "a", "b"], '"b" is one word too many'),
    (["top", "--json"], 'unknown option "--json"'),
    (["fault", "a"], 'a fault is "ACTION NUMBER" or'),
    (["fault", "a", "disk", "5"], '"disk" is not a fault: '),
    (["fault", "a", "unit", "5", "after", "flush", "3"], '"flush" is not a trigger: '),
    (["fault", "a", "unit", "5", "after", "write", "3", "4"], '"4" is one word too many'),
    (["fault", "a", "--list", "b"], '"b" is one word too many'),
    (["fault", "a", "--list", "--clear"], "--script, --file, --list and --clear exclude each"),
    (["fault", "a", "--offset", "4k", "unit", "5"], "--offset and --length need --file"),
    (["fault", "--file", "a"], 'with --file the fault is "uncorrectable" or'),
    (["fault", "--file", "a", "unit", "5"], 'with --file the fault is "uncorrectable" or'),
    (["fault", "--file", "a", "uncorrectable", "after", "x", "5"], '"x" is not a trigger: '),
    (["fault", "a", "--script", "none.toml"], "none.toml: No such file"),
    (["create"], 'NAME missing; "approxftl create --help" explains it'),
    (["create", "a b"], '"a b" cannot be the name of a device'),
    (["create", "a/b"], '"a/b" cannot be the name of a device'),
    (["create", ""], '"" cannot be the name of a device'),
    (["create", "x" * 128], "use up to 127 letters"),
    (["create", "x", "op"], '"op" is not of the form KEY=VALUE'),
    (["create", "x", "--set", "op"], '"op" is not of the form KEY=VALUE'),
    (["create", "x", "--fill-overwrite", "100%"], 'unknown option "--fill_overwrite"; '
     "fill_overwrite is a parameter: write fill_overwrite=VALUE"),
    (["serve", "--gc=5"], "gc is a parameter: write gc=VALUE"),
    (["create", "x", "opp=7"], 'unknown option "opp"; there are profile, policy'),
    (["create", "x", "op=91"], "op: 91 is out of range; it must be 0 to 90"),
    (["create", "x", "--profile", "dmo"], 'unknown profile "dmo"; there are demo'),
    (["create", "x", "--policy", "best"], 'unknown policy "best"; there are baseline'),
    (["create", "x", "--timing", "slow"], 'timing: "slow" is not one of real, off or scale:N'),
    (["create", "x", "--store", "disk"], '"disk" is not a store; there are none, ram and'),
    (["create", "x", "--tag-all", "no"], 'tag_all: "no" is not one of precise or approximate'),
    (["create", "x", "--size", "big"], '--size: "big" is not a size such as'),
    (["create", "x", "--size", "1000"], "--size: 1000 is not a multiple of 512 bytes"),
    (["create", "x", "--size", "512"], "--size: 512 is not a multiple of the mapping unit of 4096"),
    (["create", "x", "--size", "1PiB"], '--size: "1PiB" is not a size such as'),
    (["create", "x", "--size", "2TiB", "op=60"], "1310720 is out of range; it must be 1 to"),
    (["create", "x", "--size", "1GiB", "op=0"], "policy baseline keeps 3 of the 256 blocks"),
    (["create", "x", "--size", "1GiB", "blocks=128"], "is more than the 456339456 bytes"),
    (["create", "x", "blocks=16"], "policy baseline keeps"),
    (["create", "x", "unit=0"], "a mapping unit of 8192 bytes cannot be a sector of the kernel"),
    (["create", "x", "channels=4", "shards=3"], "4 channels cannot be shared out among 3"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE, ids=lambda v: " ".join(v)[:40])
def test_wrong_usage_is_refused(arguments: list[str], sentence: str) -> None:
    done = run_approxftl(*arguments)
    check_verb_refused(done, 2, sentence)
    assert done.err.startswith(f"approxftl {arguments[0]}: ")


# create --dry-run


def read_dry_run_table_line(*arguments: str) -> list[str]:
    """Return the words of the table line that `approxftl create` would load."""
    done = run_approxftl("create", "ssd", "--dry-run", *arguments)
    assert (done.code, done.err) == (0, "")
    command = shlex.split(done.out)
    assert command[:4] == ["dmsetup", "create", "ssd", "--table"]
    assert len(command) == 5
    return command[4].split()


def replan_table_line(table: list[str]) -> list[str]:
    """Return the plan that `create --dry-run` prints for the parameters of a table line."""
    store, count, *pairs = table[3:]
    assert int(count) == len(pairs)
    keys = [f"{key}={value}" for key, value in zip(pairs[::2], pairs[1::2], strict=True)]
    size = f"{int(table[1]) * 512}"
    return read_dry_run_table_line("--store", store, "--size", size, *keys,
                                   f"blocks={get_block_count_of_table_line(pairs)}")


def get_block_count_of_table_line(pairs: list[str]) -> str:
    known = dict(zip(pairs[::2], pairs[1::2], strict=True))
    if "blocks" in known:
        return known["blocks"]
    values = run_verb_as_json("params", "--profile", known["profile"])["parameters"]
    found: str = next(one["value"] for one in values if one["key"] == "blocks")
    return found


def test_create_prints_the_standard_table_line() -> None:
    line = "0 891288 approxftl ram 6 profile demo policy baseline timing real"
    assert " ".join(read_dry_run_table_line()) == line


def test_sim_create_and_format_have_the_same_default_policy(tmp_path: Path) -> None:
    simulated = json.loads(run_approxftl("sim", "--requests=0", "--json").out)["runs"][0]["policy"]
    volume = tmp_path / "volume"
    with volume.open("wb") as file:
        file.truncate(1 << 30)
    assert run_approxftl("format", str(volume), "blocks=40", "layers=2", "op=40").code == 0
    made = json.loads(run_approxftl("dump", str(volume), "--super", "--json").out)
    assert run_verb_as_json("create", "ssd", "-n")["policy"] == simulated
    assert f'"policy": "{simulated}"' in json.dumps(made)
    for page in ("device.8", "serve.1", "volume.8"):
        text = (TOP / f"userspace/approxftl/approxftl-{page}.rst").read_text()
        assert re.search(rf"policy[^*]*\(default \*{simulated}\*\)", text), page


def test_create_prints_the_starting_state_of_a_device_in_memory() -> None:
    """`create -n` prints no fill of a volume: its device starts with the volume's data."""
    for words, state in (((), "empty"), (("fill=random",), "random")):
        assert run_verb_as_json("create", "ssd", "-n", *words)["starting_state"] == state
    assert "starting_state" not in run_verb_as_json("create", "ssd", "-n", "--store", "/dev/null")


@pytest.mark.parametrize("profile", list_names_shown_by_verb("profiles"))
def test_every_profile_is_restored_from_its_table_line(profile: str) -> None:
    table = read_dry_run_table_line("--profile", profile, "--policy", "baseline")
    assert replan_table_line(table) == table


@pytest.mark.parametrize("policy", list_names_shown_by_verb("policies"))
def test_a_dry_run_accepts_or_refuses_every_policy(policy: str) -> None:
    done = run_approxftl("create", "ssd", "-n", "--policy", policy)
    if done.code:
        check_verb_refused(done, 2, f"policy {policy} ")
    else:
        assert f" policy {policy} " in done.out


def test_the_profile_is_applied_before_other_options() -> None:
    assert read_dry_run_table_line("op=20", "--profile",
                                   "tcad18") == read_dry_run_table_line("--profile", "tcad18",
                                                                        "op=20")


def test_misspelt_values_are_corrected_in_messages() -> None:
    table = read_dry_run_table_line("--set", "wear-gap=50", "--tag-all=approximate", "read=50000ns")
    line = "ram 12 profile demo policy baseline timing real"
    assert " ".join(table[3:]) == f"{line} tag_all approximate read 50us wear_gap 50"


@settings(max_examples=25)
@given(mib=st.integers(1, 1 << 20), op=st.integers(5, 60))
def test_a_device_has_the_requested_size(mib: int, op: int) -> None:
    document = run_verb_as_json("create", "ssd", "--dry-run", "--size", f"{mib}MiB", f"op={op}")
    assert document["size_bytes"] == mib << 20
    assert document["room_bytes"] >= mib << 20
    assert document["table"].split()[1] == str(mib << 11)


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_shards_have_the_requested_size(shards: int) -> None:
    document = run_verb_as_json("create", "ssd", "--dry-run", "--size", "1000004KiB", "channels=4",
                                f"shards={shards}")
    assert document["size_bytes"] == 1000004 << 10
    assert document["room_bytes"] >= 1000004 << 10
    assert document["room_bytes"] * 115 < document["physical_bytes"] * 100
    assert (f" shards {shards}" in document["table"]) == (shards > 1)


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_zones_have_the_requested_size(shards: int) -> None:
    document = run_verb_as_json("create", "ssd", "--dry-run", "--size", "300MiB", "channels=4",
                                "chips=1", "zoned=4MiB", "buffer=32MiB", "buffer_safe=on",
                                f"shards={shards}")
    assert document["size_bytes"] == 300 << 20
    assert 300 << 20 <= document["room_bytes"] < 330 << 20


def test_dry_run_writes_json() -> None:
    document = run_verb_as_json("create", "ssd", "--dry-run", "--policy", "vth_b", "--store",
                                "none")
    assert document["table"] == " ".join(read_dry_run_table_line("--policy", "vth_b", "--store",
                                                                 "none"))
    assert (document["name"], document["created"]) == ("ssd", False)
    assert (document["policy"], document["store"]) == ("vth_b", "none")
    assert document["room_bytes"] == document["size_bytes"] == 891288 * 512
    assert 0 < document["ftl_bytes"] < 1 << 23


# The status line


def test_the_manual_page_explains_the_status_line() -> None:
    table = (TOP / "dm-approxftl/target/status-table.h").read_text()
    words = [
        "/".join(re.findall(r"\w+", found))
        for found in re.findall(r"^STATUS_\w+\(([\w, ]+), \"", table, re.M)
    ]
    assert len(words) > 10
    listed = re.findall(r"^(\d+) +\*([\w/]+)\*", PAGE.read_text(), re.M)
    assert listed == [(str(at), word) for at, word in enumerate(words, 1)]


# doctor

RELEASE = "6.1.0-99-amd64"


class Machine:
    """A fake root directory of a machine that supports our devices."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write_file_in_fake_root("proc/modules", "dm_mod 1 0 - Live 0x0\n")
        self.write_file_in_fake_root("proc/cmdline", "root=/dev/sda1 quiet\n")
        self.write_file_in_fake_root("proc/sys/kernel/modules_disabled", "0\n")
        self.write_file_in_fake_root("proc/misc", "236 device-mapper\n")
        self.write_file_in_fake_root("proc/meminfo",
                                     "MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n")
        self.write_file_in_fake_root("dev/mapper/control", "")
        self.write_file_in_fake_root("sys/kernel/security/lockdown",
                                     "[none] integrity confidentiality\n")
        self.write_file_in_fake_root("sys/module/module/parameters/sig_enforce", "N\n")
        self.write_file_in_fake_root(f"lib/modules/{RELEASE}/build/Makefile", "")
        self.write_file_in_fake_root(f"lib/modules/{RELEASE}/modules.dep",
                                     "updates/dkms/dm-approxftl.ko.xz:\n")
        for tool in ("dmsetup", "fio", "blktrace", "mdadm", "qemu-system-x86_64", "busybox", "cpio",
                     "modprobe", "gcc", "make"):
            self.write_file_in_fake_root(f"tools/{tool}", "")
        for package in ("numpy", "jinja2"):
            self.write_file_in_fake_root(f"usr/lib/python3/dist-packages/{package}", "")

    def write_file_in_fake_root(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def remove_file_in_fake_root(self, name: str) -> None:
        (self.root / name).unlink()

    def list_files_in_fake_root(self) -> list[tuple[str, bytes]]:
        return sorted((str(p), p.read_bytes()) for p in self.root.rglob("*") if p.is_file())

    def run_doctor(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BINARY, "doctor", "--root", self.root, "--kernel", RELEASE, *arguments],
            env={**os.environ, "PATH": "/tools", "HOME": "/user"},
            capture_output=True,
            text=True,
            check=False,
        )

    def run_doctor_for_json(self) -> tuple[int, dict[str, Any]]:
        done = self.run_doctor("--json")
        assert done.stderr == ""
        return done.returncode, parse_document(SCHEMA, done.stdout)

    def list_failed_doctor_checks(self) -> dict[str, str | None]:
        _, document = self.run_doctor_for_json()
        return {
            one["name"]: one["remedy"]
            for one in document["checks"]
            if one["finding"] == "missing" and one["name"] != "user"
        }


@pytest.fixture
def fake_machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_doctor_reports_no_fault_on_a_good_machine(fake_machine: Machine) -> None:
    code, document = fake_machine.run_doctor_for_json()
    is_root = os.geteuid() == 0
    assert fake_machine.list_failed_doctor_checks() == {}
    assert (code, document["kernel"]) == (0 if is_root else 1, RELEASE)
    assert document["usable"] == {"native": is_root, "helpful": True, "virtual": True}


def test_doctor_changes_nothing(fake_machine: Machine) -> None:
    before = fake_machine.list_files_in_fake_root()
    fake_machine.run_doctor()
    assert fake_machine.list_files_in_fake_root() == before


FAULTS = [
    ("proc/modules", None, "module loading", "virtual machine"),
    ("proc/cmdline", "quiet nomodule\n", "module loading", "reboot"),
    ("proc/sys/kernel/modules_disabled", "1\n", "module loading", "reboot"),
    ("proc/misc", "237 loop-control\n", "device-mapper", "modprobe dm-mod"),
    ("dev/mapper/control", None, "control node", "modprobe dm-mod"),
    ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n", "module signature",
     "mokutil --import"),
    ("sys/module/module/parameters/sig_enforce", "Y\n", "module signature", "mokutil --import"),
    ("proc/meminfo", "MemAvailable: 200000 kB\n", "memory", "--store none"),
    ("tools/fio", None, "fio", "apt-get install fio"),
    ("tools/dmsetup", None, "dmsetup", "apt-get install dmsetup"),
    ("tools/qemu-system-x86_64", None, "qemu", "apt-get install qemu-system-x86"),
    ("tools/busybox", None, "busybox", "apt-get install busybox-static"),
    ("tools/modprobe", None, "modprobe", "apt-get install kmod"),
    ("tools/mdadm", None, "mdadm, for RAID", "apt-get install mdadm"),
    ("usr/lib/python3/dist-packages/numpy", None, "numpy, for reports",
     "apt-get install python3-numpy"),
    ("usr/lib/python3/dist-packages/jinja2", None, "Jinja2, for pages",
     "apt-get install python3-jinja2"),
    ("tools/gcc", None, "compiler, for their module", "apt-get install gcc"),
    ("tools/make", None, "make, for their module", "apt-get install make"),
]


@pytest.mark.parametrize(("name", "text", "check", "remedy"), FAULTS)
def test_doctor_finds_each_fault(
    fake_machine: Machine, name: str, text: str | None, check: str, remedy: str
) -> None:
    if text is None:
        fake_machine.remove_file_in_fake_root(name)
    else:
        fake_machine.write_file_in_fake_root(name, text)
    lacking = fake_machine.list_failed_doctor_checks()
    assert list(lacking) == [check]
    assert remedy in (lacking[check] or "")
    code, document = fake_machine.run_doctor_for_json()
    group = next(one["group"] for one in document["checks"] if one["name"] == check)
    assert not document["usable"][group]
    assert group != "native" or code == 1
    assert remedy in fake_machine.run_doctor().stdout


def test_doctor_reports_a_missing_module(fake_machine: Machine) -> None:
    fake_machine.write_file_in_fake_root(f"lib/modules/{RELEASE}/modules.dep",
                                         "kernel/drivers/md/dm-mod.ko:\n")
    lacking = fake_machine.list_failed_doctor_checks()
    assert list(lacking) == ["module", "module loaded"]
    assert f"/lib/modules/{RELEASE}/build" in (lacking["module"] or "")
    fake_machine.remove_file_in_fake_root(f"lib/modules/{RELEASE}/build/Makefile")
    assert fake_machine.list_failed_doctor_checks()["kernel headers"] \
        == f"apt-get install linux-headers-{RELEASE}"


def test_doctor_accepts_a_loaded_module(fake_machine: Machine) -> None:
    fake_machine.remove_file_in_fake_root(f"lib/modules/{RELEASE}/modules.dep")
    fake_machine.remove_file_in_fake_root(f"lib/modules/{RELEASE}/build/Makefile")
    fake_machine.write_file_in_fake_root("sys/module/dm_approxftl/version", "")
    fake_machine.write_file_in_fake_root("sys/module/module/parameters/sig_enforce", "Y\n")
    fake_machine.write_file_in_fake_root("dev/approxftl", "")
    assert fake_machine.list_failed_doctor_checks() == {}
    fake_machine.remove_file_in_fake_root("dev/approxftl")
    assert fake_machine.list_failed_doctor_checks() == {
        "tags": "udevadm trigger --subsystem-match=misc"}


def test_doctor_accepts_the_python_environment_that_make_deps_installs(
        fake_machine: Machine) -> None:
    fake_machine.remove_file_in_fake_root("usr/lib/python3/dist-packages/numpy")
    fake_machine.write_file_in_fake_root("user/.cache/approxftl/venv-0123/bin/python3", "")
    assert fake_machine.list_failed_doctor_checks() == {}


def test_doctor_works_without_a_source_tree(tmp_path: Path) -> None:
    done = run_approxftl("doctor", "--root", tmp_path, "--json")
    assert done.code == 1
    assert parse_document(SCHEMA, done.out)["usable"]["native"] is False


# A kernel without device-mapper


@pytest.mark.skipif(
    "device-mapper" in Path("/proc/misc").read_text() or Path("/sys/module/dm_mod").exists(),
    reason="this kernel has device-mapper: selftests/kernel/cli.sh tests the verbs there",
)
@pytest.mark.parametrize("verb", [v for v in DEVICE_VERBS if v != "doctor"])
def test_a_missing_device_mapper_is_reported(verb: str) -> None:
    words = {"list": [], "message": ["x", "stats"], "fault": ["x", "--list"]}.get(verb, ["x"])
    check_verb_refused(run_approxftl(verb, *words), 1,
                       "the kernel has no device-mapper; try: modprobe dm-mod")
