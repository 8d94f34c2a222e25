# SPDX-License-Identifier: GPL-2.0-only
"""The messages of `approxftl nvme` about modules and programs that a namespace hides from it."""

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, Done, run_program

NVME = TOP / "userspace/nvme/approxftl-nvme"
#: In a namespace whose /sys and /usr/sbin are empty, prepare them by $1 and run the rest.
LACKING = """
for place in /sys /usr/sbin; do mount -t tmpfs tmpfs "$place" || exit 99; done
mkdir -p /sys/kernel /sys/module
eval "$1"
shift
exec "$@"
"""
MODULES = "mkdir /sys/module/configfs /sys/module/nvmet "
ALL = MODULES + "/sys/module/nvme_loop /sys/module/nvmet_tcp"

needs_namespaces = pytest.mark.skipif(
    subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"],
                   check=False, capture_output=True).returncode != 0,
    reason="unshare cannot make user and mount namespaces here; run as root, or allow them")


def run_nvme(tmp_path: Path, prepare: str, *arguments: str, stubs: tuple[str, ...] = ("nvme",),
             root: str = "--map-root-user") -> Done:
    """Run verb nvme where only device "ssd" exists, and files that the script `prepare` makes."""
    for name in ("approxftl", *stubs):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return run_program(
        "unshare", "--user", root, "--mount", "sh", "-c", LACKING if root.startswith("--map-root")
        else "shift; exec \"$@\"", "sh", prepare, "sh", NVME, "ssd", *arguments,
        environment={"AFTL_BUILD": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"})


@needs_namespaces
@pytest.mark.parametrize(("prepare", "arguments", "said"), [
    ("", (), "the kernel has no module configfs; Debian's kernels, except cloud ones, have it"),
    ("mkdir /sys/module/configfs", (), "the kernel has no module nvmet; "),
    (MODULES, (), "the kernel has no module nvme-loop; "),
    (MODULES, ("--tcp", "127.0.0.1"), "the kernel has no module nvmet-tcp; "),
    (ALL, (), "the kernel has no configfs, by which its NVMe target is configured"),
    (ALL + " /sys/kernel/config", (), "configfs cannot be mounted on /sys/kernel/config"),
    (ALL + " /sys/kernel/config; mount -t tmpfs tmpfs /sys/kernel/config", (),
     "/sys/kernel/config/nvmet is not there: the kernel has no NVMe target"),
    ("mkdir -p /sys/kernel/config/nvmet/subsystems", ("--remove",), "ssd is not exported"),
])
def test_verb_nvme_reports_a_missing_kernel_feature_or_exported_device(
        tmp_path: Path, prepare: str, arguments: tuple[str, ...], said: str) -> None:
    done = run_nvme(tmp_path, prepare, *arguments)
    assert done.err.splitlines()[-1].startswith(f"approxftl nvme: {said}"), done.err
    assert (done.out, done.code) == ("", 3 if "--remove" in arguments else 1)


@needs_namespaces
def test_verb_nvme_reports_missing_nvme_cli_and_missing_root_rights(tmp_path: Path) -> None:
    done = run_nvme(tmp_path, "", stubs=())
    assert (done.err, done.code) == (
        "approxftl nvme: nvme-cli is not installed: apt install nvme-cli\n", 1)
    done = run_nvme(tmp_path, "", root="--map-user=1000")
    assert (done.err, done.code) == ("approxftl nvme: ssd: exporting a device needs root\n", 1)


@pytest.mark.parametrize(("arguments", "said"), [
    ((), "which device?"),
    (("ssd", "more"), '"more" is one word too many'),
    (("ssd", "--queues=x"), "--queues x: a number"),
    (("ssd", "--tcp"), "--tcp wants a value"),
    (("ssd", "--remove", "--queues=2"), "--remove takes neither --tcp nor --queues"),
    (("ssd", "--force"), "--force is for --remove"),
    (("ssd", "--fast"), 'there is no option "--fast"'),
])
def test_wrong_arguments_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = run_program("sh", NVME, *arguments)
    assert (done.out, done.code) == ("", 2)
    assert done.err.startswith(f"approxftl nvme: {said}")
