# SPDX-License-Identifier: GPL-2.0-only
"""get-kernel unpacks a complete, signed kernel of the requested release, or none."""

import re
import shutil
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, Done, run_program

HEADERS = ("linux-headers-6.1.0-9-amd64", "linux-headers-6.1.0-10-amd64",
           "linux-headers-6.12.9+deb12-amd64", "linux-headers-6.12.9+deb12-cloud-amd64")
DEBIAN_13 = ("linux-headers-6.12.9+deb13-amd64", "linux-headers-6.12.9+deb13.1-amd64",
             "linux-headers-6.12.9+deb13-rt-amd64", "linux-headers-7.3.4+deb13-amd64")
INSTALLING = """0 upgraded, 3 newly installed, 0 to remove and 0 not upgraded.
Need to get 12.3 MB of archives.
Get:1 somewhere one
Setting up one
"""
TOOLS = {
    "dpkg-query": "exit 1",
    "apt-cache": """case $1 in
depends) printf '%s\\n' "$2" "  Depends: linux-headers-common" " |Depends: linux-image-other" \\
    "  Depends: linux-kbuild-6" "  Depends: gcc-12" ;;
*) for headers in ${HEADERS:-""" + " ".join(HEADERS) + """}; do
    echo "$headers"
    [ "$headers" = "${UNSIGNED:-}" ] || echo "linux-image-${headers#linux-headers-}"
done ;;
esac""",
    "apt-get": f"""echo "$@" >>"$CALLS"
case "$*" in
indextargets*'Label: Debian'*) echo "${{MIRROR:-}}" ;;
*' install '*)
    cat <<'END'
{INSTALLING}END
    exit ${{INSTALL_STATUS:-0}} ;;
*' download '*) : >package.deb ;;
esac""",
    # Packages are unpacked from the directory $PACKAGE.
    "dpkg-deb": 'exec tar -c -C "$PACKAGE" .',
    "depmod": "exit 0",
    "id": "echo ${USER_ID:-0}",
}


class Machine:
    """A machine without installed packages; its package tools are fakes."""

    def __init__(self, place: Path) -> None:
        self.calls = place / "calls"
        self.tools = place / "tools"
        self.tools.mkdir()
        for name, text in TOOLS.items():
            (self.tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.tools / name).chmod(0o755)
        for name in ("sh", "env", "grep", "sed", "sort", "uniq", "tail", "head", "awk", "mawk",
                     "dirname", "cat", "sha256sum", "cut", "fold", "xargs", "basename", "flock",
                     "mkdir", "find", "date", "sleep", "touch", "mktemp", "rm", "mv", "ln", "tar"):
            if path := shutil.which(name):
                (self.tools / name).symlink_to(path)

    def run_with_fake_tools(self, program: Path, *arguments: str | Path,
                            **environment: str) -> Done:
        """Run a program with only the machine's fake tools in PATH."""
        return run_program(program, *arguments, environment={
            "PATH": str(self.tools), "CALLS": str(self.calls), "XDG_CACHE_HOME": str(self.tools),
            **environment})


@pytest.fixture
def fake_machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def run_get_kernel_for_release(machine: Machine, tmp_path: Path, release: str,
                               headers: str) -> Done:
    """Run get-kernel with packages that all contain the files of the given kernel release."""
    package = tmp_path / "package"
    source = package / f"usr/src/linux-headers-{release}"
    for folder in (package / "boot", package / f"lib/modules/{release}", source):
        folder.mkdir(parents=True)
    (package / f"boot/vmlinuz-{release}").write_text("kernel")
    (package / f"lib/modules/{release}/build").symlink_to(f"/usr/src/linux-headers-{release}")
    (source / "Makefile").write_text("include /usr/src/linux-headers-common/Makefile\n")
    (package / "usr/src/linux-headers-common").mkdir()
    (package / "usr/src/linux-headers-common/Makefile").write_text("all:\n\t@echo built\n")
    return machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel",
                                       release[:release.index(".", 2)], PACKAGE=str(package),
                                       HEADERS=headers)


@pytest.mark.parametrize(("release", "headers"), [
    ("6.1.0-10-amd64", HEADERS), ("6.12.9+deb12-amd64", HEADERS),
    ("6.12.9+deb13.1-amd64", DEBIAN_13)])
def test_kernels_of_this_release_are_unpacked_with_their_headers(
        fake_machine: Machine, tmp_path: Path, release: str,
        headers: tuple[str, ...]) -> None:
    done = run_get_kernel_for_release(fake_machine, tmp_path, release, " ".join(headers))
    kernel = fake_machine.tools / "approxftl/kernels" / release
    assert (done.code, done.out) == (0, f"{kernel}\n"), done
    assert (kernel / f"boot/vmlinuz-{release}").read_text() == "kernel"
    # The unpacked kernel may be moved.
    moved = kernel.rename(tmp_path / "moved")
    built = run_program("make", "-C", moved / f"lib/modules/{release}/build")
    assert "built" in built.out, built
    calls = fake_machine.calls.read_text().splitlines()
    assert [call.split()[call.split().index("download") + 1:] for call in calls] == [
        [f"linux-image-{release}", f"linux-headers-{release}", "linux-headers-common",
         "linux-kbuild-6"]]


def test_kernel_headers_without_a_signed_kernel_are_skipped(fake_machine: Machine) -> None:
    """Headers of a security update are published before its signed kernel."""
    fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "6.1",
                                     UNSIGNED=HEADERS[1])
    assert "linux-image-6.1.0-9-amd64 " in fake_machine.calls.read_text()


def test_kernels_of_another_release_come_signed_from_the_same_mirror(
    fake_machine: Machine) -> None:
    fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "newest",
                                     MIRROR="http://mirror/debian/")
    lists = fake_machine.tools / "approxftl/apt/trixie-backports/sources.list"
    for line in lists.read_text().splitlines():
        assert re.fullmatch(
            r"deb \[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg arch=amd64\]"
            r" http://mirror/debian/ trixie(-backports|-security)? main", line)
    assert "trixie-backports" in lists.read_text()


def test_a_partly_fetched_kernel_is_not_used(fake_machine: Machine) -> None:
    done = fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "newest",
                                            MIRROR="http://mirror/debian/",
                                            HEADERS=DEBIAN_13[3], INSTALL_STATUS="100")
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines()[-1] == "get-kernel: Linux 7.3.4+deb13-amd64 cannot be fetched"
    assert [path.name for path in (fake_machine.tools / "approxftl/kernels").iterdir()] == [
        "foreign.lock"]
    # A kernel of this machine's release, whose packages lack its files.
    done = fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "6.1")
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines()[-1] == (
        "get-kernel: Linux 6.1.0-10-amd64 cannot be fetched: are the lists of packages old? "
        "apt-get update")
    assert len(list((fake_machine.tools / "approxftl/kernels").iterdir())) == 1


def test_a_missing_backports_kernel_is_skipped(fake_machine: Machine) -> None:
    there = fake_machine.tools / "approxftl/kernels/6.1.0-9-amd64"
    there.mkdir(parents=True)
    (there / "own-series").write_text("6.1\n")
    done = fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "--update",
                                            "6.1")
    assert (done.code, done.out) == (0, f"{there}\n")
    assert done.err.splitlines()[-1] == (
        "get-kernel: Linux 6.1.0-10-amd64 cannot be fetched: are the lists of packages old? "
        "apt-get update; going on with 6.1.0-9-amd64")
    # A kernel of another release, whose mirror cannot be reached.
    done = fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "--update",
                                            "6.1", HEADERS=DEBIAN_13[0])
    assert (done.code, done.out) == (0, f"{there}\n")
    assert done.err.splitlines()[-1] == (
        "get-kernel: the package lists of bookworm cannot be fetched; going on with 6.1.0-9-amd64")


def test_unpacking_keeps_existing_folders(fake_machine: Machine,
                                          tmp_path: Path) -> None:
    release = DEBIAN_13[3].removeprefix("linux-headers-")
    package = tmp_path / "package"
    for folder in ("dev", "proc", "tmp", "usr/bin", "boot", f"usr/lib/modules/{release}"):
        (package / folder).mkdir(parents=True)
    (package / f"usr/lib/modules/{release}/vmlinuz").write_text("kernel")
    done = fake_machine.run_with_fake_tools(TOP / "userspace/lab/get-kernel", "newest",
                                            MIRROR="http://mirror/debian/",
                                            PACKAGE=str(package), HEADERS=DEBIAN_13[3])
    assert "cannot be fetched" not in done.err
    kernel = fake_machine.tools / "approxftl/kernels" / release
    assert (kernel / "series").read_text() == "newest\n"
    assert (kernel / f"boot/vmlinuz-{release}").read_text() == "kernel"
    assert {"build", "dev", "proc", "tmp", "lib"} <= {path.name for path in kernel.iterdir()}
