# SPDX-License-Identifier: GPL-2.0-only
"""Test the lab's refusals, messages, QEMU arguments and exit status, and boot two real guests."""

import os
import pty
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, TOP, Done, run_program

LAB = BUILD / "approxftl-lab"
RELEASE = "1.2.3-none"

# A fake QEMU that records its arguments and runs $DO in the shared folder.
DOUBLE = """#!/bin/sh
[ "$1" != --version ] || exec echo double
printf '%s\\n' "$@" >"$PLACE/words"
share=$(sed -n 's/^local,id=share,path=\\(.*\\),security.*/\\1/p' "$PLACE/words" | sed 's/,,/,/g')
mkdir -p "$share/results"
eval "$DO"
"""


class Stage:
    """A folder with a fake QEMU and a kernel with all drivers built in."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "bin").mkdir()
        (place / "bin/qemu-system-x86_64").write_text(DOUBLE)
        (place / "bin/qemu-system-x86_64").chmod(0o755)
        self.kernel = place / "kernel"
        self.make_fake_kernel(RELEASE, "virtio_pci", "9pnet_virtio", "9p", "overlay")
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self.environment = {
            "PATH": f"{place}/bin:{os.environ['PATH']}", "PLACE": str(place), "AFTL_KVM": "no",
            "XDG_CACHE_HOME": str(place / "cache"), "TMPDIR": str(self.temporary)}

    def make_fake_kernel(self, release: str, *builtin: str) -> Path:
        modules = self.kernel / "lib/modules" / release
        modules.mkdir(parents=True)
        (modules / "modules.builtin").write_text("".join(f"kernel/{n}.ko\n" for n in builtin))
        subprocess.run(["depmod", "-b", self.kernel, release], check=True,
                       env={"PATH": "/usr/sbin:/sbin"})
        image = self.kernel / f"boot/vmlinuz-{release}"
        image.parent.mkdir(exist_ok=True)
        image.write_text("")
        return image

    def read_qemu_arguments(self) -> list[str]:
        return (self.place / "words").read_text().splitlines()

    def make_lab_command(self, *options: str | Path) -> list[str | Path]:
        # A small memory makes the boot image quick to build.
        return [LAB, "--no-module", "--kernel", self.kernel, "--memory", "256", "--cmd", "true",
                *options]

    def run_lab(self, *options: str | Path, do: str = 'echo 0 >"$share/status"',
                **more: str) -> Done:
        done = run_program(*self.make_lab_command(*options), directory=self.place,
                           environment={**self.environment, "DO": do, **more})
        assert [*self.temporary.iterdir()] == []
        return done


@pytest.fixture
def fake_qemu(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.mark.parametrize(("options", "text"), [
    (["--cpu", "2"], 'there is no option "--cpu"'),
    (["uname"], '"uname" is no option; what is to run there comes after --cmd'),
    (["--cmd"], "--cmd wants a value"),
    (["--append"], "--append wants a value"),
    (["--cmd", "a", "--script", "b"], "--cmd and --script contradict each other"),
    (["--script", "none"], "--script none: no such file"),
    (["--cmd", "a", "--cpus", "two"], "--cpus two: a number is wanted"),
    (["--cmd", "a", "--cpus", "0"], "--cpus 0: 1 to 255"),
    (["--cmd", "a", "--memory", "1TiB"], "--memory 1TiB: a number is wanted"),
    (["--cmd", "a", "--memory", "1"], "--memory 1: at least 128 MiB"),
    (["--cmd", "a", "--timeout", "-1"], "--timeout -1: a number is wanted"),
    (["--cmd", "a", "--disk", "none"], '"truncate -s 1G none" makes one'),
    (["--cmd", "a", "--disk", "/dev/null"], "/dev/null: not a regular file"),
    (["--cmd", "a", "--disk", "."], ".: not a regular file"),
    (["--cmd", "a", "--results", "/dev/null"], "--results /dev/null: cannot be made"),
    ([], "a shell wants a terminal"),
])
def test_invalid_options_are_refused(options: list[str], text: str, fake_qemu: Stage) -> None:
    done = run_program(LAB, "--no-module", "--kernel", fake_qemu.kernel, *options,
                       directory=fake_qemu.place,
                       environment={**fake_qemu.environment, "DO": "exit 3"})
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert done.err.startswith("approxftl lab: ")
    assert done.err.endswith("approxftl lab --help\n")


def test_a_terminal_shows_how_long_the_guest_has_been_starting(fake_qemu: Stage) -> None:
    leader, follower = pty.openpty()
    do = 'sleep 0.5; : >"$share/started"; echo 0 >"$share/status"'
    done = subprocess.run(fake_qemu.make_lab_command(), cwd=fake_qemu.place, stdout=subprocess.PIPE,
                          stderr=follower, env={**os.environ, **fake_qemu.environment, "DO": do},
                          check=False)
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.search(rf"approxftl lab: Linux {re.escape(RELEASE)} is starting, \d+ s", shown)
    assert shown.endswith("\r\x1b[K")


def test_missing_programs_are_named(fake_qemu: Stage) -> None:
    for folder in ("/usr/bin", "/usr/sbin"):
        for program in Path(folder).iterdir():
            if not (fake_qemu.place / "bin" / program.name).exists():
                (fake_qemu.place / "bin" / program.name).symlink_to(program)
    (fake_qemu.place / "bin/qemu-system-x86_64").unlink()
    done = fake_qemu.run_lab(PATH=f"{fake_qemu.place}/bin")
    assert done.code == 125
    assert done.err == ("approxftl lab: needed, and not installed: "
                        "apt install qemu-system-x86\n")


def test_missing_build_tools_are_named(fake_qemu: Stage) -> None:
    """The lab's script kbuild names missing packages that unpacked kernel headers need."""
    build = fake_qemu.kernel.rename(fake_qemu.place / RELEASE) / f"lib/modules/{RELEASE}/build"
    (build / "tools/objtool").mkdir(parents=True)
    (build / "Makefile").write_text("modules:\n\t@echo built in $(M)\n")
    kbuild = (TOP / "userspace/lab/kbuild", fake_qemu.place / RELEASE, fake_qemu.place, "modules")
    assert f"built in {fake_qemu.place}" in run_program(*kbuild).out
    objtool = build / "tools/objtool/objtool"
    # 127 is the dynamic linker's exit status when a library is missing.
    objtool.write_text("#!/bin/sh\nexit 127\n")
    objtool.chmod(0o755)
    tools = fake_qemu.place / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "basename", "nproc"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = run_program(*kbuild, environment={"PATH": str(tools)})
    assert (done.code, done.err) == (
        1, "kbuild: needed for a module, and not installed: apt install gcc make libelf-dev\n")
    done = run_program(*kbuild)
    assert done.err.endswith("apt install libelf-dev\n")


@pytest.mark.parametrize(("break_it", "text"), [
    (lambda k: (k / f"boot/vmlinuz-{RELEASE}").unlink(), "no boot/vmlinuz-RELEASE there with"),
    (lambda k: k.rename(k.with_name("other")), "there is no such folder"),
    (lambda k: (k / f"lib/modules/{RELEASE}/modules.builtin.bin").unlink(), "has no virtio_pci"),
])
def test_an_unsuitable_kernel_is_refused(break_it: Callable[[Path], object], text: str,
                                         fake_qemu: Stage) -> None:
    break_it(fake_qemu.kernel)
    done = fake_qemu.run_lab()
    assert done.code == 125
    assert text in done.err


def test_a_missing_kernel_is_refused(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab("--kernel", "2.6")
    assert done.code == 125
    assert "6.1" in done.err
    assert "there is no kernel 2.6" in done.err


def test_option_list_names_the_kernels(fake_qemu: Stage) -> None:
    kernels = fake_qemu.place / "cache/approxftl/kernels"
    kernels.mkdir(parents=True)
    for release in ("6.12.9+deb12-amd64", "6.12.10+deb12-amd64"):
        shutil.copytree(fake_qemu.kernel, kernels / release)
        for file in ("boot/vmlinuz-", "lib/modules/"):
            (kernels / release / f"{file}{RELEASE}").rename(kernels / release / f"{file}{release}")
    done = fake_qemu.run_lab("--kernel", "6.12.9+deb12-amd64")
    assert done.code == 0, done.err
    said = run_program(LAB, "--list", environment=fake_qemu.environment)
    assert (said.code, said.err) == (0, "")
    told = [line.split(maxsplit=2) for line in said.out.splitlines()]
    assert told[:9] == [["6.1", "-", "is fetched when asked for"],
                        ["6.12", "6.12.10+deb12-amd64", str(kernels / "6.12.10+deb12-amd64")],
                        ["newest", "-", "is fetched when asked for"],
                        ["debug", "-", "is built when asked for"],
                        ["races", "-", "is built when asked for"],
                        ["uml", "-", "is built when asked for"],
                        ["uml-debug", "-", "is built when asked for"],
                        ["uml-6.1", "-", "is built when asked for"],
                        ["uml-newest", "-", "is built when asked for"]]


def test_user_mode_linux_is_run_as_a_program(fake_qemu: Stage) -> None:
    shutil.rmtree(fake_qemu.kernel)
    image = fake_qemu.make_fake_kernel("1.2.3-uml", "overlay")
    image.write_text(DOUBLE.replace("local,id=share,path=", "share=").replace(",security.*", ""))
    image.chmod(0o755)
    for options, text in ([], "needs --real-time"), (["--parallel", "--disk", "1MiB"], "--disk"):
        done = fake_qemu.run_lab(*options)
        assert (done.code, done.out) == (2, "")
        assert text in done.err
    done = fake_qemu.run_lab("--real-time", do='echo "$@"; echo 7 >"$share/status"')
    assert done.code == 7, done.err
    assert {"mem=256M", "ssl1=null,fd:1"} <= {*done.out.split()}
    done = fake_qemu.run_lab("--real-time", do="echo Oops: 1 >&2; exit 134")
    assert done.code == 98
    assert done.err == ("Oops: 1\n"
                        "approxftl lab: the guest died; above is what its kernel said last\n")


HOMELESS = ("env", "-u", "HOME", "-u", "XDG_CACHE_HOME")


def test_options_help_and_list_need_no_home_directory() -> None:
    said = run_program(*HOMELESS, LAB, "--help")
    assert (said.code, said.err) == (0, "")
    said = run_program(*HOMELESS, LAB, "--list")
    assert (said.code, said.err) == (0, "")
    assert "6.12 " in said.out


def test_a_missing_home_directory_is_reported() -> None:
    done = run_program(*HOMELESS, LAB, "--cmd", "true")
    assert (done.code, done.out) == (125, "")
    assert done.err == (
        "approxftl lab: neither HOME nor XDG_CACHE_HOME is set, one of which says where kernels "
        "are kept: XDG_CACHE_HOME=/var/tmp is such a place\n")


def test_a_list_of_kernels_that_cannot_be_printed_is_reported_once() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([LAB, "--list"], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(": No space left on device\n")
    assert done.stderr.count("\n") == 1


def test_lab_reports_a_full_disk_for_temporary_files(fake_qemu: Stage) -> None:
    command = [str(word) for word in fake_qemu.make_lab_command()]
    done = run_program(
        "unshare", "--mount", "--map-root-user", "sh", "-c",
        'mount -t tmpfs -o size=64k none "$TMPDIR" && '
        'head -c 1000000 /dev/zero >"$TMPDIR/filler" 2>/dev/null; "$@"; code=$?; '
        'ls -A "$TMPDIR"; exit $code', "sh", *command, environment=fake_qemu.environment)
    if "unshare" in done.err or "mount" in done.err:
        pytest.skip("no name spaces here")
    assert (done.code, done.out) == (125, "filler\n")
    assert done.err == (f"approxftl lab: {fake_qemu.temporary}: No space left on device; "
                        "TMPDIR=FOLDER names another place\n")


@pytest.mark.parametrize("status", [0, 3, 97])
def test_the_lab_exits_with_the_commands_status(status: int, fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab(do=f'echo words; echo {status} >"$share/status"')
    assert (done.code, done.out, done.err) == (status, "words\n", "")


def test_kernel_warnings_are_printed(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab(do='echo "BUG: x" >"$share/complaints"; echo 97 >"$share/status"')
    assert (done.code, done.err) == (97, "BUG: x\n")


@pytest.mark.parametrize(("said", "ours"), [
    ("BUG: KCSAN: data-race in tag_add [dm_approxftl] / filemap_read", True),
    ("BUG: KCSAN: data-race in xas_find / xas_store", False),
    ("BUG: KASAN: slab-use-after-free in tag_add", True),
    ("BUG: unable to handle page fault", True),
])
def test_data_races_outside_the_module_are_ignored(said: str, ours: bool) -> None:
    script = '. userspace/lab/complaints.sh; grep -qE "$complaints"'
    done = subprocess.run(["sh", "-c", script], input=said, text=True, cwd=TOP, check=False)
    assert (done.returncode == 0) is ours


def test_a_crashed_guest_leaves_results_and_log(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab(
        "--results", fake_qemu.place / "new/results",
        do='echo a >"$share/results/file"; echo panic: x >"${share%/share}/console"')
    assert done.code == 98
    assert done.err.splitlines()[0] == "panic: x"
    assert (fake_qemu.place / "new/results/file").read_text() == "a\n"


@pytest.mark.parametrize(("said", "first"), [
    ("BUG: KASAN: here", "BUG: KASAN: here"), ("Oops: here", "Oops: here"),
    ("------------[ cut here ]------------", "------------[ cut here ]------------"),
    ("nothing", "21")])
def test_the_warnings_of_a_crashing_guest_are_shown(
        fake_qemu: Stage, said: str, first: str) -> None:
    """The lab prints a log from its first warning on; if it has no warning, the last 40 lines."""
    done = fake_qemu.run_lab(
        do=f'{{ echo before; echo "{said}"; seq 60; }} >"${{share%/share}}/console"')
    lines = done.err.splitlines()
    assert (done.code, lines[0]) == (98, first)
    assert "60" in lines and "before" not in lines


@pytest.mark.parametrize(("status", "code"), [(0, 99), (3, 3)])
def test_a_run_fails_if_results_cannot_be_kept(status: int, code: int, fake_qemu: Stage) -> None:
    (fake_qemu.place / "results/file").mkdir(parents=True)
    done = fake_qemu.run_lab("--results", "results",
                             do=f'echo a >"$share/results/file"; echo {status} >"$share/status"')
    assert done.code == code
    assert "approxftl lab: --results results: not all could be copied\n" in done.err


def test_result_files_of_the_guest_are_complete_or_absent(fake_qemu: Stage) -> None:
    """Result files are complete or absent, even on a full disk and through a link."""
    tried = ["unshare", "--mount", "--map-root-user", "true"]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here")
    script = ('mount -t tmpfs -o size=64k none results && echo old >results/big && '
              'mkdir results/in && echo far >linked && ln -s ../linked results/link; '
              '"$@"; code=$?; cat results/big linked results/in/small; find results -type f; '
              'exit $code')
    (fake_qemu.place / "results").mkdir()
    done = run_program(
        "unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh",
        *fake_qemu.make_lab_command("--results", "results"), directory=fake_qemu.place,
        environment={**fake_qemu.environment, "DO": """cd "$share/results" && mkdir in empty &&
            head -c 1000000 /dev/zero | tee big >new; echo a >in/small; echo b >link
            echo 0 >"$share/status" """})
    assert done.code == 99, done
    assert "No space left on device" in done.err
    assert done.out.splitlines()[:3] == ["old", "b", "a"]
    assert sorted(done.out.splitlines()[3:]) == ["results/big", "results/in/small"]


def test_a_failure_of_qemu_is_reported(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab(do="echo no such machine >&2; exit 1")
    assert done.code == 125
    assert done.err.startswith("no such machine\napproxftl lab: QEMU ended with 1")


def test_a_guest_is_stopped_at_its_time_limit(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab("--timeout", "1", do="exec sleep infinity")
    assert done.code == 124
    assert "time is up after 1 s" in done.err


def is_process_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(("number", "status"), [
    (signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGKILL, -9)])
def test_a_signal_leaves_no_process(number: signal.Signals, status: int, fake_qemu: Stage) -> None:
    results = fake_qemu.place / "results"
    # A shell ignores Ctrl-C in background jobs; the child would inherit that.
    child = subprocess.Popen(
        ["env", "--default-signal=INT,HUP", *fake_qemu.make_lab_command("--results", results)],
        start_new_session=True,
        env={**os.environ, **fake_qemu.environment,
             "DO": 'echo a >"$share/results/a"; echo $$ >"$PLACE/pid"; exec sleep infinity'})
    pid = fake_qemu.place / "pid"
    await_true(lambda: pid.exists() and pid.read_text(), child)
    qemu = int(pid.read_text())
    assert is_process_alive(qemu)
    child.send_signal(number)
    assert child.wait() == status
    await_true(lambda: not is_process_alive(qemu))
    if number != signal.SIGKILL:
        assert [*fake_qemu.temporary.iterdir()] == []
        assert (results / "a").read_text() == "a\n"


def test_qemu_gets_the_requested_options(fake_qemu: Stage) -> None:
    (fake_qemu.place / "a, b").write_text("")
    done = fake_qemu.run_lab("--disk", "a, b", "--disk=1GiB", "--memory", "1GiB")
    assert done.code == 0, done.err
    words = fake_qemu.read_qemu_arguments()
    assert f"id=disk1,file={fake_qemu.place}/a,, b,if=none,format=raw,cache=writeback" in words
    assert "nvme,serial=aftl2,drive=disk2" in words
    assert words[words.index("-smp") + 1] == "1"
    assert words[words.index("-m") + 1] == "1024"
    assert words[words.index("-icount") + 1] == "shift=0,sleep=off"
    assert words[words.index("-machine") + 1] == "q35"
    assert "tsc=reliable" in words[words.index("-append") + 1]
    assert not (fake_qemu.place / "1GiB").exists()
    fake_qemu.run_lab("--cpus", "4")
    assert {"4", "shift=0,sleep=off", "tcg,thread=single"} <= {*fake_qemu.read_qemu_arguments()}
    for options, threads in ((["--real-time"], "single"), (["--parallel"], "multi")):
        fake_qemu.run_lab(*options, "--cpus", "3", AFTL_KVM="no")
        words = fake_qemu.read_qemu_arguments()
        assert "-icount" not in words
        assert "tsc=reliable" not in words[words.index("-append") + 1]
        assert f"tcg,thread={threads}" in words
        assert words[words.index("-smp") + 1] == "3"


def test_guest_memory_may_be_a_file(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab("--memory", "48GiB", "--memory-on-disk")
    assert done.code == 0, done.err
    words = fake_qemu.read_qemu_arguments()
    assert words[words.index("-m") + 1] == "49152"
    assert words[words.index("-machine") + 1] == "q35,memory-backend=memory"
    memory = words[words.index("-object") + 1]
    assert memory.startswith("memory-backend-file,id=memory,size=49152M,share=on,mem-path=")
    assert Path(memory.split("mem-path=")[1]).resolve().is_relative_to(fake_qemu.temporary)


def test_lab_reports_a_disk_too_full_for_the_memory_of_the_guest(fake_qemu: Stage) -> None:
    done = fake_qemu.run_lab("--memory-on-disk", do="ulimit -c 0; kill -s BUS $$")
    assert done.code == 125
    assert re.search(
        rf"^approxftl lab: {fake_qemu.temporary} has \d+ bytes left: what the guest touches of its "
        r"256 MiB does not fit \(--memory-on-disk\); TMPDIR=FOLDER names another place$",
        done.err, re.M)
    assert "QEMU ended with 135" in fake_qemu.run_lab(do="ulimit -c 0; kill -s BUS $$").err


MAKE_INITRAMFS = TOP / "userspace/lab/make-initramfs"


def unpack_initramfs(initramfs: Path, place: Path) -> Path:
    place.mkdir()
    subprocess.run(["cpio", "-idm", "--quiet"], cwd=place, stdin=initramfs.open("rb"), check=True)
    return place / "near"


def make_initramfs(stage: Stage, *words: str) -> Path:
    done = run_program("sh", "-c", 'umask 077; exec "$0" "$@"', MAKE_INITRAMFS, stage.kernel,
                       *words, environment=stage.environment, directory=stage.place)
    assert (done.code, done.err) == (0, "")
    return Path(done.out.strip())


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_initramfs_has_copies_of_this_machines_files(fake_qemu: Stage) -> None:
    """An initramfs copies host files, links and parent folders, unless it is built without them."""
    fake_qemu.kernel = fake_qemu.kernel.rename(fake_qemu.kernel.with_name(RELEASE))
    near = unpack_initramfs(make_initramfs(fake_qemu), fake_qemu.place / "unpacked")
    files = [near, *near.rglob("*")]
    assert {"usr/bin/python3", "usr/bin/dash"} <= {str(f.relative_to(near)) for f in files}
    for file in files:
        there = Path("/") / file.relative_to(near)
        assert there.parent.resolve() == there.parent
        assert file.lstat().st_mode == there.lstat().st_mode
        if file.is_symlink():
            assert file.readlink() == there.readlink()
        elif file.is_file():
            assert file.read_bytes() == there.read_bytes()
            assert file.stat().st_mtime_ns // 10**9 == there.stat().st_mtime_ns // 10**9
    assert [*unpack_initramfs(make_initramfs(fake_qemu, "bare"),
                              fake_qemu.place / "bare").iterdir()] == []


@pytest.mark.slow
@pytest.mark.in_turn
def test_changed_host_files_are_copied_into_the_initramfs_again(fake_qemu: Stage) -> None:
    fake_qemu.kernel = fake_qemu.kernel.rename(fake_qemu.kernel.with_name(RELEASE))
    initramfs = make_initramfs(fake_qemu)
    first = initramfs.stat().st_ino
    assert make_initramfs(fake_qemu).stat().st_ino == first
    program = fake_qemu.place / "program"
    program.write_text("old")
    state = Path(f"{initramfs}.near")
    with state.open("a") as file:
        subprocess.run(["stat", "-c", "%s %Y %Z %n", program], stdout=file, check=True)
    assert make_initramfs(fake_qemu).stat().st_ino == first
    program.write_text("newer")
    for name, age in (("gone.cpio", 9 * 86400), ("other.cpio", 0)):
        (initramfs.parent / name).write_text("")
        os.utime(initramfs.parent / name, (time.time() - age,) * 2)
    assert make_initramfs(fake_qemu).stat().st_ino != first
    assert str(program) not in state.read_text()
    assert not (initramfs.parent / "gone.cpio").exists()
    assert (initramfs.parent / "other.cpio").exists()


def test_a_shared_folder_may_have_any_name(fake_qemu: Stage) -> None:
    """The guest gets the path of its folder, even if a shell or QEMU could interpret the name."""
    odd = fake_qemu.place / "Übung, it's \"$HOME\""
    (odd / "tmp").mkdir(parents=True)
    done = run_program(
        *fake_qemu.make_lab_command(), directory=odd,
        environment={**fake_qemu.environment, "TMPDIR": str(odd / "tmp"),
                     "DO": '. "$share/environment"; echo "$LAB_FOLDER"; echo 0 >"$share/status"'})
    assert (done.code, done.out) == (0, f"{odd}\n"), done.err
    assert [*(odd / "tmp").iterdir()] == []


def test_missing_kvm_is_reported_once(fake_qemu: Stage) -> None:
    first = fake_qemu.run_lab("--real-time", AFTL_KVM="")
    assert "approxftl lab: no KVM" in first.err
    assert fake_qemu.run_lab("--real-time", AFTL_KVM="").err == ""
    words = fake_qemu.read_qemu_arguments()
    assert "tcg,thread=single" in words
    assert words[words.index("-cpu") + 1] == "max,erms=off,fsrm=off,la57=off"


COUNTED = """#!/usr/bin/python3
import os, subprocess, sys
def print_command_output(*command):
    print(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip())
print_command_output("uname", "-r")
print_command_output("nproc")
print_command_output("blockdev", "--getsize64", "/dev/nvme0n1", "/dev/nvme1n1")
print_command_output("approxftl", "create", "ssd", "--size", "64MiB")
print_command_output("dmsetup", "ls", "--target", "approxftl")
print(open("/dev/nvme0n1", "rb").read(5))
print_command_output("stat", "-c", "%a", "/", "/etc", "/usr", "/usr/bin")
os.pwrite(os.open("/dev/nvme0n1", os.O_WRONLY | os.O_SYNC), b"there", 0)
open(os.environ["RESULTS"] + "/x", "w").write(os.getcwd())
sys.exit(42)
"""


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_guest_that_counts_instructions_boots(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(COUNTED)
    (tmp_path / "drive").write_bytes(b"here." + bytes((2 << 20) - 5))
    done = run_program(BUILD / "approxftl", "lab", "--script", "script", "--disk", "drive",
                       "--disk", "3MiB", "--results", "results", directory=tmp_path)
    # QEMU prints this for requests that its NVMe drive still had at power-off.
    cancelled = "qemu-system-x86_64: aio failed: Operation canceled\n"
    assert (done.code, done.err.replace(cancelled, "")) == (42, "")
    said = done.out.splitlines()
    assert said[0].startswith("6.12.")
    assert said[1:4] == ["1", str(2 << 20), str(3 << 20)]
    assert said[-6].split()[0] == "ssd"
    assert said[-5] == "b'here.'"
    assert said[-4:] == [f"{Path(f).stat().st_mode & 0o7777:o}"
                         for f in ("/", "/etc", "/usr", "/usr/bin")]
    assert (tmp_path / "drive").read_bytes()[:5] == b"there"
    assert (tmp_path / "results/x").read_text() == str(tmp_path)


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_real_time_guest_runs_udev(tmp_path: Path) -> None:
    """With --udev, programs in the guest can wait for udev, which makes links by device name."""
    done = run_program(
        LAB, "--real-time", "--cpus", "3", "--memory", "1GiB", "--udev", "--kernel", "6.1",
        "--append", "init_on_alloc=0 a=b", "--append=c", "--cmd",
        "nproc; uname -r; approxftl create ssd --size 64MiB >/dev/null;"
        " udevadm settle --timeout 60 && udevadm wait --timeout 60 /dev/mapper/ssd && echo waited;"
        " readlink /dev/mapper/ssd; udevadm info -q property /dev/dm-0 | grep ^DM_NAME;"
        " approxftl remove ssd; cat /proc/cmdline; kill -9 $$", directory=tmp_path)
    assert done.code == 128 + 9, done.err
    said = done.out.splitlines()
    assert said[0] == "3"
    assert said[1].startswith("6.1.")
    assert said[2:5] == ["waited", "../dm-0", "DM_NAME=ssd"]
    assert said[5].endswith(" init_on_alloc=0 a=b c")
