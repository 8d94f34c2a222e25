# SPDX-License-Identifier: GPL-2.0-only
"""Test an emulated SSD behind nbdkit as the clients of NBD see the SSD."""

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import termios
from pathlib import Path

import numpy as np
import pytest
from selftests.claims import classifiers
from selftests.lib.processes import await_true
from selftests.lib.programs import PROGRAM, Done, run_program
from selftests.nbdkit.support import PLUGIN, Server, needs_nbdkit, run_plugin, run_server

pytestmark = needs_nbdkit
MIB = 1 << 20

#: Random requests in sectors, against a model.
AGAINST_A_MODEL = """
import random
rng = random.Random(SEED)
size = 2 << 20
model = bytearray(h.pread(size, 0))
for _ in range(COUNT):
    offset = rng.randrange(0, size, 512)
    count = min(rng.choice([512, 4096, 12800, 1 << 17]), size - offset)
    part = slice(offset, offset + count)
    fua = rng.choice([0, nbd.CMD_FLAG_FUA])
    kind = rng.choice(["read", "write", "write", "zero", "allocate", "trim", "flush"])
    if kind == "read":
        assert h.pread(count, offset) == model[part], (offset, count)
    elif kind == "write":
        model[part] = rng.randbytes(count)
        h.pwrite(model[part], offset, fua)
    elif kind == "flush":
        h.flush()
    elif kind == "trim":
        # Whole pages only; the rest of the range may be kept.
        offset, count = offset & ~4095, (count + 4095) & ~4095
        h.trim(count, offset, fua)
        model[offset:offset + count] = bytes(count)
    else:
        model[part] = bytes(count)
        h.zero(count, offset, fua | (nbd.CMD_FLAG_NO_HOLE if kind == "allocate" else 0))
assert h.pread(size, 0) == model
"""


def check_device_against_model(server: Server, seed: int, count: int = 400) -> None:
    server.run_nbdsh(AGAINST_A_MODEL.replace("SEED", str(seed)).replace("COUNT", str(count)))


@pytest.mark.parametrize("options", [("timing=off",), ("timing=real",), ("timing=off", "unit=512"),
                                     ("timing=scale:2", "policy=baseline")])
def test_nbd_reads_match_a_reference_model_after_random_requests(options: tuple[str, ...]) -> None:
    with run_server(*options) as server:
        check_device_against_model(server, 1)


def test_each_connection_reads_the_latest_write() -> None:
    with run_server("timing=real") as server:
        server.run_nbdsh("""
import threading
def write_and_read_back_pages(first):
    own = nbd.NBD()
    own.connect_uri(URI)
    for i in range(200):
        offset = (first + 2 * (i % 40)) * 4096
        data = bytes([first + i % 200]) * 4096
        own.pwrite(data, offset)
        assert own.pread(4096, offset) == data
    own.flush()
threads = [threading.Thread(target=write_and_read_back_pages, args=(n,)) for n in range(2)]
[one.start() for one in threads]
[one.join() for one in threads]
for first in range(2):
    for i in range(160, 200):
        data = bytes([first + i]) * 512
        assert h.pread(512, (first + 2 * (i % 40)) * 4096) == data, (first, i)
""".replace("URI", repr(server.uri)))


def test_the_server_announces_size_and_abilities() -> None:
    with run_server("timing=off", "--size", "10MiB") as server:
        done = run_program("nbdinfo", "--json", server.uri)
        told = json.loads(done.out)["exports"][0]
    assert told["export-size"] == 10 * MIB
    assert (told["block_size_minimum"], told["block_size_preferred"]) == (512, 4096)
    assert all(told[key] for key in ("can_flush", "can_fua", "can_trim", "can_zero",
                                     "can_multi_conn"))
    assert not told["is_rotational"]


def test_without_timing_a_connection_has_a_thread_for_each_processor() -> None:
    for timing, threads in (("off", min(max(os.cpu_count() or 1, 2), 32)), ("real", 32)):
        with run_server(f"timing={timing}", "--size", "1MiB") as server:
            words = Path(f"/proc/{server.nbdkit_process_id}/cmdline").read_text().split("\0")
        assert f"--threads={threads}" in words


def test_block_status_follows_writes_and_trims() -> None:
    with run_server("timing=off", "--size", "1MiB") as server:
        server.run_nbdsh("""
h.pwrite(bytes(65536), 65536)
h.pwrite(bytes(512), 512)
h.trim(4096, 65536 + 4096)
""")
        done = run_program("nbdinfo", "--map", "--json", server.uri)
    runs = [(one["offset"], one["length"], one["type"]) for one in json.loads(done.out)]
    assert runs == [(0, 4096, 0), (4096, 61440, 3), (65536, 4096, 0), (69632, 4096, 3),
                    (73728, 57344, 0), (131072, MIB - 131072, 3)]


def test_a_preconditioned_device_holds_data_that_read_as_zeroes() -> None:
    with run_server("timing=off", "--size", "8MiB", "fill=sequential") as server:
        assert server.run_nbdsh_json("print(json.dumps(sum(h.pread(1 << 20, 0))))") == 0
        done = run_program("nbdinfo", "--map", "--totals", "--json", server.uri)
    totals = {one["type"]: one["size"] for one in json.loads(done.out)}
    assert totals == {0: 8 * MIB}


def test_nbdcopy_copies_an_image_there_and_back(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(Path(PROGRAM).read_bytes()[:MIB] + bytes(MIB) + b"end" * 12345)
    image.write_bytes(image.read_bytes().ljust(3 * MIB, b"\0"))
    with run_server("timing=real", "--size", "3MiB") as server:
        assert run_program("nbdcopy", image, server.uri).code == 0
        done = run_program("nbdcopy", server.uri, tmp_path / "back")
        assert done.code == 0, done.err
    assert (tmp_path / "back").read_bytes() == image.read_bytes()


@pytest.mark.skipif(not shutil.which("qemu-io"), reason="qemu-utils is not installed")
def test_qemu_reads_and_writes_the_device() -> None:
    with run_server("timing=off") as server:
        done = run_program("qemu-io", "-f", "raw", server.uri, "-c", "write -P 0x5a 1000 5000",
                           "-c", "read -P 0x5a 1000 5000", "-c", "write -z -u 0 64k",
                           "-c", "read -P 0 0 64k", "-c", "discard 0 1M", "-c", "flush")
    assert done.code == 0, done.out + done.err
    assert "failed" not in done.out + done.err


def test_fio_verifies_what_it_wrote() -> None:
    if "nbd" not in run_program("fio", "--enghelp").out.split():
        pytest.skip("this fio has no engine for NBD")
    with run_server("timing=off", "--size", "16MiB") as server:
        done = run_program("fio", "--name=verify", "--ioengine=nbd", f"--uri={server.uri}",
                           "--rw=randrw", "--bs=4k", "--iodepth=32", "--size=16M",
                           "--verify=crc32c", "--verify_state_save=0", "--randseed=7")
    assert done.code == 0, done.out + done.err


# Flash: bit errors and lost data

WRITE_AND_COUNT = """
for i in range(65):
    h.pwrite(bytes(1 << 20), i << 20)
h.flush()
print(json.dumps(sum(one.bit_count() for one in h.pread(1 << 20, 0))))
"""


def test_approximate_data_come_back_with_their_bit_errors() -> None:
    with run_server("timing=off", "policy=approxftl", "tag_all=approximate",
                    "rber_approx=1e-3") as server:
        flipped = server.run_nbdsh_json(WRITE_AND_COUNT)
        again = server.run_nbdsh_json("print(json.dumps([sum(one.bit_count() for one in "
                                      "h.pread(1 << 19, at)) for at in (0, 1 << 19)]))")
    assert 0.9e-3 < flipped / (8 * MIB) < 1.1e-3
    assert sum(again) == flipped


#: Write a file with client data, then more than the write buffer holds, then read the data back.
STORE_AND_READ = """
data = open("DATA", "rb").read()
h.pwrite(data, 0)
for i in range(65):
    h.pwrite(bytes(1 << 20), (8 + i) << 20)
h.flush()
open("DATA", "wb").write(h.pread(len(data), 0))
"""


@pytest.mark.in_turn
def test_classifiers_stay_accurate_on_approximate_data(tmp_path: Path) -> None:
    trained, stored = [*classifiers.train_classifiers()], tmp_path / "data"
    data = b"".join(kept.tobytes() * classifiers.DRAWS for _, kept, _ in trained)

    def measure_losses(*options: str) -> list[float]:
        stored.write_bytes(data + bytes(-len(data) % MIB))
        with run_server("timing=off", "policy=approxftl", "tag_all=approximate",
                        *options) as server:
            server.run_nbdsh(STORE_AND_READ.replace("DATA", str(stored)))
        read, losses, at = np.frombuffer(stored.read_bytes(), np.uint8), [], 0
        for model, kept, wanted in trained:
            copies = read[at:at + classifiers.DRAWS * kept.size].reshape(-1, *kept.shape)
            losses.append(classifiers.compute_accuracy_loss(model, kept, wanted, copies))
            at += copies.size
        return losses

    # A small loss is within the standard error of the accuracy on so many samples.
    rights = [(model.score(kept, wanted), len(wanted)) for model, kept, wanted in trained]
    errors = [100 * (right * (1 - right) / count) ** 0.5 for right, count in rights]
    losses = measure_losses("rber_approx=7.2e-4")
    assert all(0 < abs(loss) < error for loss, error in zip(losses, errors, strict=True)), losses
    losses = measure_losses("rber_approx=0.072")
    assert all(loss > error for loss, error in zip(losses, errors, strict=True)), losses


def test_precise_data_have_no_bit_errors() -> None:
    with run_server("timing=off") as server:
        assert server.run_nbdsh_json(WRITE_AND_COUNT) == 0


def test_reading_a_page_with_too_many_errors_gives_eio() -> None:
    with run_server("timing=off", "rber=1e-2", "ecc_bits=1", "ecc_levels=0") as server:
        server.run_nbdsh("""
for i in range(65):
    h.pwrite(bytes(1 << 20), i << 20)
h.flush()
try:
    h.pread(4096, 0)
    raise SystemExit("read")
except nbd.Error as error:
    assert error.errno == "EIO", error
""")


# Options and requests that no device has

@pytest.mark.parametrize(("argument", "message"), [
    ("profile=none", 'unknown profile "none"; there are demo,'),
    ("policy=none", 'unknown policy "none"; there are '),
    ("timing=slow", 'timing: "slow" is not one of real, off or scale:N'),
    ("timing=scale:0", 'timing: "scale:0" is not one of'),
    ("nonsense=1", 'unknown option "nonsense"; there are profile,'),
    ("tag_all=maybe", "tag_all: "),
    ("ioprio_hint=1", "ioprio_hint: NBD requests have no I/O priority"),
    ("blocks=0", "blocks: 0 is out of range"),
    ("op=101%", "op: "),
    ("shards=2", "shards: nbdkit serves one shard"),
    ("buffer_safe=on buffer=4MiB zoned=4MiB", "zoned: NBD has no zones"),
    ("unit=8KiB", "a mapping unit of 8192 bytes cannot be a sector"),
    ("size=0", "size: 0 is not a multiple of 512 bytes"),
    ("size=1000", "size: 1000 is not a multiple of 512 bytes"),
    ("size=99999TiB", "blocks: "),
    ("size=", "size: "),
])
def test_invalid_device_options_of_the_plugin_are_refused(argument: str, message: str) -> None:
    done = run_plugin(*argument.split())
    assert done.code == 1
    assert f"nbdkit: error: {message}" in done.err


def test_nbdkit_plugin_reports_how_late_its_requests_completed() -> None:
    script = "for i in range(20): h.pwrite(bytes(4096), 4096 * i)"
    done = run_program("nbdkit", "-v", "-U", "-", PLUGIN, "--run",
                       f"/usr/bin/python3 -m nbd -u $uri -c '{script}'")
    assert done.code == 0, done.err
    told = re.search(r"(\d+) requests waited for device time; half of them ended at most (\d+) ns "
                     r"late, 99 % at most (\d+) ns", done.err)
    assert told, done.err
    assert int(told[1]) == 20 and 0 < int(told[2]) <= int(told[3])


def test_an_option_given_twice_is_refused() -> None:
    assert "nbdkit: error: op is given twice" in run_plugin("op=10", "op=20").err


def test_nbdkit_plugin_refuses_a_size_above_the_flash_capacity() -> None:
    assert "size: these blocks have room for " in run_plugin("blocks=128", "size=1GiB").err


def test_nbd_requests_of_wrong_size_or_address_are_refused() -> None:
    with run_server("timing=off", "--size", "1MiB") as server:
        server.run_nbdsh("""
h.set_strict_mode(0)
def expect_nbd_error(what, errno):
    try:
        what()
    except nbd.Error as error:
        assert error.errno == errno, error
        return
    raise SystemExit("not refused")
expect_nbd_error(lambda: h.pread(100, 0), "EINVAL")
expect_nbd_error(lambda: h.pread(512, 100), "EINVAL")
expect_nbd_error(lambda: h.pwrite(bytes(100), 0), "EINVAL")
expect_nbd_error(lambda: h.trim(512, 1), "EINVAL")
expect_nbd_error(lambda: h.pread(512, 1 << 20), "EINVAL")
expect_nbd_error(lambda: h.pread(1024, (1 << 20) - 512), "EINVAL")
expect_nbd_error(lambda: h.pwrite(bytes(512), 1 << 20), "ENOSPC")
expect_nbd_error(lambda: h.pread(512, (1 << 63) - 512), "EINVAL")
assert h.pread(512, (1 << 20) - 512) == bytes(512)
""")


def connect_to_export(path: Path) -> socket.socket:
    """Return a connection to the default export, opened without a client library."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    client.recv(18, socket.MSG_WAITALL)
    client.sendall(struct.pack(">I8sIIIH", 3, b"IHAVEOPT", 7, 6, 0, 0))
    kind = 0
    while kind != 1:  # the acknowledgement is last
        _, _, kind, length = struct.unpack(">QIII", client.recv(20, socket.MSG_WAITALL))
        client.recv(length, socket.MSG_WAITALL)
    return client


def test_the_server_survives_clients_that_vanish(capfd: pytest.CaptureFixture[str]) -> None:
    request = struct.Struct(">IHHQQI")
    with run_server("timing=real", "--size", "2MiB") as server:
        for length in (0, 10, request.size, request.size + 100, request.size + 4096):
            client = connect_to_export(server.socket)
            whole = request.pack(0x25609513, 0, 1, 7, 0, 4096) + b"x" * 4096
            client.sendall(whole[:length])
            client.close()
        client = connect_to_export(server.socket)
        client.sendall(b"".join(request.pack(0x25609513, 0, 0, i, 0, 4096) for i in range(64)))
        client.close()
        try:
            client = connect_to_export(server.socket)
            client.sendall(b"nonsense" * 100)
            client.close()
            check_device_against_model(server, 2, 100)
        except (AssertionError, OSError):
            server.process.wait()
            if "raw_send_socket: Assertion" in capfd.readouterr().err:
                pytest.skip("this nbdkit aborted itself: a client vanished during a reply")
            raise


# The verb

def list_leftover_paths(server: Server) -> list[Path]:
    return [path for path in (server.socket, server.socket.parent) if path.exists()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_approxftl_serve_leaves_no_files_when_a_signal_ends_it(number: int) -> None:
    server = Server("timing=off")
    assert server.end_server_by_signal(number) == 0
    assert list_leftover_paths(server) == []


def test_approxftl_serve_reports_that_its_nbdkit_process_was_killed(
        capfd: pytest.CaptureFixture[str]) -> None:
    server = Server("timing=off")
    server.kill_nbdkit()
    assert server.process.returncode == 1
    assert capfd.readouterr().err == "approxftl serve: nbdkit was ended by signal 9\n"
    assert list_leftover_paths(server) == []


def test_repeated_signals_end_a_server_with_a_client_that_hangs(
        capfd: pytest.CaptureFixture[str]) -> None:
    server = Server("timing=off")
    with connect_to_export(server.socket) as client:
        client.sendall(struct.pack(">IHHQQI", 0x25609513, 0, 1, 7, 0, 4096) + b"x" * 100)

        def has_server_read_all() -> bool:
            return fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)) == bytes(4)

        await_true(has_server_read_all)

        def has_ended_after_signal() -> bool:
            server.process.send_signal(signal.SIGTERM)
            return server.process.poll() is not None

        await_true(has_ended_after_signal)
    assert server.process.returncode == 1
    assert capfd.readouterr().err == "approxftl serve: nbdkit was ended by signal 9\n"
    assert list_leftover_paths(server) == []


def test_nbdkit_process_ends_when_approxftl_serve_is_killed() -> None:
    server = Server("timing=off")
    child = Path(f"/proc/{server.nbdkit_process_id}")
    server.process.kill()
    server.process.wait()
    await_true(lambda: not child.exists() or "State:\tZ" in (child / "status").read_text())
    shutil.rmtree(server.socket.parent)


def test_serve_uses_the_given_socket_unless_another_server_has_it(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with run_server("timing=off", "--socket", path) as server:
        assert server.uri == f"nbd+unix:///?socket={path}"
        done = run_program(PROGRAM, "serve", "--socket", path)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"approxftl serve: {path}: Address already in use\n"
        assert path.is_socket()
    # The socket of a server that was killed is replaced; no other file is.
    gone = socket.socket(socket.AF_UNIX)
    gone.bind(str(path))
    gone.close()
    with run_server("timing=off", "--socket", path) as server:
        server.run_nbdsh("h.flush()")
    path.write_text("precious")
    assert run_program(PROGRAM, "serve", "--socket", path).code == 1
    assert path.read_text() == "precious"


def test_a_socket_with_a_long_path_is_refused(tmp_path: Path) -> None:
    done = run_program(PROGRAM, "serve", "--socket", tmp_path / ("x" * 120))
    assert "a socket's path has at most 107 characters" in done.err
    assert done.code == 1


@pytest.mark.parametrize(("argument", "message"), [
    ("profile=none", 'unknown profile "none"'), ("--size=1", "--size: 1 is not a multiple"),
    ("policy", '"policy" is not of the form KEY=VALUE')])
def test_wrong_arguments_of_serve_are_refused(argument: str, message: str) -> None:
    done = run_program(PROGRAM, "serve", argument)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"approxftl serve: {re.escape(message)}.*\n", done.err)


def test_a_missing_nbdkit_is_reported(tmp_path: Path) -> None:
    done = run_program(PROGRAM, "serve", environment={"PATH": str(tmp_path)})
    assert (done.code, done.out) == (1, "")
    assert done.err == ("approxftl serve: nbdkit is not installed; "
                        "on Debian: apt-get install nbdkit\n")


def test_help_of_the_plugin_names_each_option() -> None:
    said = run_program("nbdkit", PLUGIN, "--help").out
    for option in ("store", "profile", "policy", "timing", "tag_all", "control", "size"):
        assert re.search(rf"^{option}=", said, re.M)


# Tags

def run_tag_verb(verb: str, server: Server, *arguments: str) -> Done:
    return run_program(PROGRAM, "tag", verb, server.uri, *arguments)


def list_tagged_server_ranges(server: Server) -> list[tuple[int, int, int]]:
    done = run_tag_verb("list", server, "--json")
    assert done.code == 0, done.err
    return [(one["offset_bytes"], one["length_bytes"], one["level"])
            for one in json.loads(done.out)["files"][0]["ranges"]]


def test_tags_apply_to_later_writes_of_their_range() -> None:
    with run_server("timing=off", "--size", "16MiB", "policy=levels", "rber_approx=1e-3") as server:
        write = "h.pwrite(bytes(8 << 20), 0); h.flush()"
        flips = """
print(json.dumps([sum(map(int.bit_count, h.pread(1 << 20, at << 20))) for at in range(8)]))
"""
        assert server.run_nbdsh_json(write + flips) == [0] * 8
        assert run_tag_verb("add", server, "1MiB+2MiB").code == 0
        assert run_tag_verb("add", server, "6MiB+1MiB", "--level", "3").code == 0
        assert list_tagged_server_ranges(server) == [(1 << 20, 2 << 20, 1), (6 << 20, 1 << 20, 3)]
        assert server.run_nbdsh_json(flips) == [0] * 8, "stored data stay precise"
        assert [count > 0 for count in server.run_nbdsh_json(write + flips)] == [
            False, True, True, False, False, False, True, False]
        assert run_tag_verb("add", server, "1MiB+1MiB", "--precise").code == 0
        assert run_tag_verb("del", server, "6MiB+").code == 0
        assert list_tagged_server_ranges(server) == [(2 << 20, 1 << 20, 1)]
        assert [count > 0 for count in server.run_nbdsh_json(write + flips)] == [
            False, False, True, *[False] * 5]
        assert run_tag_verb("add", server).code == 0
        assert list_tagged_server_ranges(server) == [(0, 16 << 20, 1)]


def test_units_that_an_approximate_tag_covers_only_in_part_are_precise() -> None:
    with run_server("timing=off", "--size", "1MiB") as server:
        assert run_tag_verb("add", server, "1000+20000").code == 0
        assert list_tagged_server_ranges(server) == [(4096, 16384, 1)]
        assert run_tag_verb("add", server, "8191+2", "--precise").code == 0
        assert list_tagged_server_ranges(server) == [(12288, 8192, 1)]
        assert run_tag_verb("add", server, "0+100").code == 0
        assert list_tagged_server_ranges(server) == [(12288, 8192, 1)]
    with run_server("timing=off", "--size", "1MiB", "tag_all=approximate") as server:
        assert list_tagged_server_ranges(server) == [(0, 1 << 20, 1)]
        assert run_tag_verb("add", server, "4096+1", "--precise").code == 0
        assert list_tagged_server_ranges(server) == [(0, 4096, 1), (8192, (1 << 20) - 8192, 1)]
        assert run_tag_verb("del", server).code == 0
        assert list_tagged_server_ranges(server) == [(0, 1 << 20, 1)]


def test_tag_socket_of_a_server_is_private_and_tags_only_its_device() -> None:
    with run_server("timing=off", "--size", "1MiB") as server, \
            run_server("timing=off", "--size", "1MiB") as other:
        control = Path(f"{server.socket}.tags")
        assert stat.S_IMODE(control.stat().st_mode) == 0o600
        assert run_tag_verb("add", server).code == 0
        assert list_tagged_server_ranges(other) == []
    assert not control.exists()
    done = run_tag_verb("add", server)
    assert (done.code, done.out) == (1, "")
    assert "No such file" in done.err


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("add", "4MiB+1"), 1, "byte 4194304 is beyond the device's 1048576"),
    (("add", "--level", "4"), 2, "level"), (("add", "--remember"), 2, "without --remember"),
    (("query",), 2, "use tag add, del or list"), (("add", "x"), 2, '"x" is no range'),
    (("list", "/"), 2, "list files and served devices apart")])
def test_wrong_arguments_of_tag_for_a_server_are_refused(arguments: tuple[str, ...], code: int,
                                                         message: str) -> None:
    with run_server("timing=off", "--size", "1MiB") as server:
        done = run_tag_verb(arguments[0], server, *arguments[1:])
        assert (done.code, message in done.err) == (code, True), done.err
        assert list_tagged_server_ranges(server) == []


def test_the_control_socket_survives_hostile_clients() -> None:
    with run_server("timing=off", "--size", "1MiB") as server:
        for request in (b"", b"\n", b"tag\n", b"tag 1 0\n", b"tag 1 -1 5x\n", b"tag 9 0 1\n",
                        b"tag 1 99999999999999999999999 1\n", b"x" * 5000, b"\0" * 200,
                        b"tag " + b"9" * 70 + b" 0 1\n", b"list more\n"):
            client = socket.socket(socket.AF_UNIX)
            client.connect(f"{server.socket}.tags")
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(200)
            assert answer == b"" or answer.startswith(b"error: "), (request, answer)
            client.close()
        idle = socket.socket(socket.AF_UNIX)
        idle.connect(f"{server.socket}.tags")
        assert list_tagged_server_ranges(server) == []
