# SPDX-License-Identifier: GPL-2.0-only
"""A volume that nbdkit serves keeps its data when the server ends or is killed."""

import json
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from selftests.lib.processes import await_true
from selftests.lib.programs import PROGRAM, Done, run_program
from selftests.nbdkit.support import PLUGIN, SHELL, needs_nbdkit, run_plugin, run_server

pytestmark = needs_nbdkit
#: A device so small that the writes below overwrite it several times.
SMALL = ("blocks=48", "op=45%", "layers=4", "word_lines=2", "timing=off")

#: Random writes; the model is what the last flush covers, and the pages written since. With an odd
#: seed a flush is the last request.
WRITES = """
import random
rng = random.Random(SEED)
size = h.get_size()
pages = size // 4096
model = [0] * pages
since = {}
for stamp in range(1, COUNT):
    page = rng.randrange(pages)
    fua = rng.random() < 0.02
    if rng.random() < 0.05:
        h.trim(4096, page * 4096)
        value = 0
    else:
        value = stamp
        h.pwrite(stamp.to_bytes(4, "little") * 1024, page * 4096, nbd.CMD_FLAG_FUA * fua)
    since.setdefault(page, []).append(value)
    if fua:
        model[page] = since.pop(page)[-1]
    if rng.random() < 0.01 or (stamp == COUNT - 1 and SEED % 2):
        h.flush()
        model = [since[at][-1] if at in since else old for at, old in enumerate(model)]
        since = {}
print(json.dumps([model, since]))
"""

#: A client that writes every other page until the server ends. The output is as that of WRITES, and
#: the page of the write that failed, which may have reached the device.
WRITES_UNTIL_THE_END = """
import json, pathlib, random
rng = random.Random(NUMBER)
pages = range(NUMBER, h.get_size() // 4096, 2)
model = dict.fromkeys(pages, 0)
since = {}
try:
    for stamp in range(1, 1 << 32):
        page = rng.choice(pages)
        since.setdefault(page, []).append(stamp)
        h.pwrite(stamp.to_bytes(4, "little") * 1024, page * 4096)
        if stamp % 50 == 0:
            h.flush()
            model |= {at: values[-1] for at, values in since.items()}
            since = {}
        if stamp == 400:
            pathlib.Path("FILE").touch()
except nbd.Error:
    print(json.dumps([model, since, page]))
"""

READ = """
pages = h.get_size() // 4096
found = []
for page in range(pages):
    data = h.pread(4096, page * 4096)
    assert data == data[:4] * 1024, page
    found.append(int.from_bytes(data[:4], "little"))
print(json.dumps(found))
"""


def make_random_write_script(seed: int, count: int = 4000) -> str:
    return WRITES.replace("SEED", str(seed)).replace("COUNT", str(count))


def check_volume_contents(volume: Path) -> str:
    done = run_program(PROGRAM, "check", volume)
    assert done.code == 0, done.out + done.err
    return done.out


def format_volume(volume: Path, *parameters: str) -> Done:
    done = run_program(PROGRAM, "format", volume, *parameters)
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize(("seed", "more", "keeps_all"), [
    (1, (), False), (2, ("unit=512", "op=55%"), False),
    (3, ("buffer=256KiB", "buffer_safe=on"), True),
    (4, ("policy=baseline", "superblock=4", "rain=on"), False)])
@pytest.mark.in_turn
def test_random_flushed_writes_survive_a_kill_of_the_server(tmp_path: Path, seed: int,
                                                            more: tuple[str, ...],
                                                            keeps_all: bool) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, *SMALL, *more) as server:
        model, since = server.run_nbdsh_json(make_random_write_script(seed))
        server.kill_nbdkit()
    assert "was not closed, which is no damage" in check_volume_contents(volume)
    with run_server("--store", volume, "timing=off") as server:
        found = server.run_nbdsh_json(READ)
    for page, value in enumerate(found):
        later = since.get(str(page), [])
        allowed = later[-1:] or [model[page]] if keeps_all else [model[page], *later]
        assert value in allowed, (page, value, allowed)
    assert "was closed in order" in check_volume_contents(volume)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_writes_of_two_clients_survive_the_end_of_the_server(tmp_path: Path, number: int) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, *SMALL) as server:
        clients = []
        for i in range(2):
            script = WRITES_UNTIL_THE_END.replace("NUMBER", str(i)).replace(
                "FILE", str(tmp_path / f"{i}"))
            clients.append(subprocess.Popen([*SHELL, "-u", server.uri, "-c", script],
                                            stdout=subprocess.PIPE, text=True))
        for i, client in enumerate(clients):
            await_true((tmp_path / f"{i}").exists, client)
        os.kill(server.nbdkit_process_id, number)
        assert server.process.wait() == (number == signal.SIGKILL)
        told = [json.loads(client.communicate()[0]) for client in clients]
    expected = "was closed in order" if number == signal.SIGTERM else "was not closed"
    assert expected in check_volume_contents(volume)
    with run_server("--store", volume, "timing=off") as server:
        found = server.run_nbdsh_json(READ)
    for model, since, last in told:
        for page, flushed in model.items():
            values = [flushed, *since.get(page, [])]
            if number == signal.SIGTERM:
                values = values[-2:] if int(page) == last else values[-1:]
            assert found[int(page)] in values, (page, found[int(page)], values)


@pytest.mark.parametrize("script", [
    "h.pwrite(data, 0); h.flush()", "h.pwrite(data, 0, nbd.CMD_FLAG_FUA)",
    "h.pwrite(b'b' * 4096, 0); h.flush(); h.pwrite(data, 0); h.trim(4096, 4096, nbd.CMD_FLAG_FUA)"])
def test_the_last_flushed_or_fua_write_survives_a_kill_of_the_server(tmp_path: Path,
                                                                     script: str) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, *SMALL) as server:
        server.run_nbdsh(f"data = b'a' * 4096\n{script}")
        server.kill_nbdkit()
    with run_server("--store", volume, "timing=off") as server:
        server.run_nbdsh("assert h.pread(4096, 0) == b'a' * 4096")


def test_a_normal_shutdown_of_the_nbd_server_keeps_all_data(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, *SMALL) as server:
        model, since = server.run_nbdsh_json(make_random_write_script(5))
    with run_server("--store", volume, "policy=baseline", "timing=real") as server:
        found = server.run_nbdsh_json(READ)
        done = run_program("nbdinfo", "--map", "--json", server.uri)
    expected = [since[str(page)][-1] if str(page) in since else value
                for page, value in enumerate(model)]
    assert found == expected
    holes = {page for one in json.loads(done.out) if one["type"] == 3
             for page in range(one["offset"] // 4096, (one["offset"] + one["length"]) // 4096)}
    assert holes == {page for page, value in enumerate(expected) if not value}


def test_approximate_data_keep_their_errors(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    script = "print(json.dumps([h.pread(1 << 20, 0).hex()]))"
    with run_server("--store", volume, "--size", "16MiB", "tag_all=approximate",
                    "policy=approxftl", "rber_approx=1e-3", "timing=off") as server:
        server.run_nbdsh("h.pwrite(bytes(8 << 20), 0); h.flush()")
        before = server.run_nbdsh_json(script)
    with run_server("--store", volume, "timing=off") as server:
        after = server.run_nbdsh_json(script)
    assert bytes.fromhex(before[0]).count(0) < 1 << 20
    assert after == before


def test_only_one_server_at_a_time_opens_a_volume(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, *SMALL):
        for verb in ("check", "dump"):
            done = run_program(PROGRAM, verb, volume)
            assert done.code != 0
            assert f"{volume} is in use" in done.err
        assert f"{volume} is in use" in run_plugin(str(volume)).err
        assert f"{volume} is in use" in run_program(PROGRAM, "format", "-f", volume).err


def test_a_file_with_other_data_is_refused_and_kept(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"x" * 4096 * 200)
    assert "to make a volume: approxftl format" in run_plugin(str(precious)).err
    assert run_program(PROGRAM, "serve", "--store", precious).code == 1
    assert precious.read_bytes() == b"x" * 4096 * 200


def test_a_server_that_cannot_start_leaves_no_file(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    done = run_program(PROGRAM, "serve", "--store", volume, "fill=random")
    assert (done.code, done.out) == (1, "")
    assert "approxftl serve: " in done.err
    assert not volume.exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (("profile=tcad18",), "profile: the volume determines it; leave it out"),
    (("seed=99",), "seed"), (("blocks=64",), "blocks"), (("unit=512",), "unit")])
def test_options_that_would_change_the_geometry_of_a_volume_are_refused(tmp_path: Path,
                                                                        arguments: tuple[str, ...],
                                                                        message: str) -> None:
    volume = tmp_path / "volume"
    format_volume(volume, *(word for word in SMALL if "timing" not in word))
    before = volume.read_bytes()
    done = run_plugin(str(volume), *arguments)
    assert done.code == 1
    assert re.search(f"^nbdkit: error: .*{message}", done.err, re.M), done.err
    assert volume.read_bytes() == before


def test_after_a_full_disk_the_device_can_still_be_read(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    format_volume(volume, *(word for word in SMALL if "timing" not in word))
    limit = volume.stat().st_size // 2

    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    script = """
h.pwrite(b"a" * 4096, 0)
errors = []
for page in range(1, h.get_size() // 4096):
    try:
        h.pwrite(b"b" * 4096, page * 4096)
        h.flush()
    except nbd.Error as error:
        errors.append(error.errno)
assert errors and set(errors) == {"EIO"}, errors
for what in (h.flush, lambda: h.trim(4096, 0), lambda: h.pwrite(bytes(4096), 0)):
    try:
        what()
        raise SystemExit("not refused")
    except nbd.Error as error:
        assert error.errno == "EIO", error
h.pread(4096, 4096)
"""
    done = subprocess.run(["nbdkit", "-U", "-", PLUGIN, volume, "timing=off", "--run",
                           f"/usr/bin/python3 -m nbd -u $uri -c '{script}'"], text=True,
                          preexec_fn=limit_file_size, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"nbdkit: {volume}: File too large; only reads succeed from now on" in done.stderr
    assert "no damage" in check_volume_contents(volume)
