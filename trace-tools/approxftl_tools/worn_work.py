# SPDX-License-Identifier: GPL-2.0-only
"""Workloads of approxftl worn: they write self-identifying values, and read them.

    python3 -m approxftl_tools.worn_work write KIND PLACE SEED NUMBERS
    python3 -m approxftl_tools.worn_work read KIND PLACE KEY...

KIND is the workload, PLACE its directory, NUMBERS are the transactions. Before each transaction the
writer waits for a line on standard input; it prints "begin N KEY ...", then "done N" after fsync or
commit has returned success, or "fail N ERROR". The reader prints "value KEY HEX", "absent KEY",
"error KEY ERROR" or "crashed KEY ERROR". Both run in the guest with Debian's Python.
"""

import ctypes
import ctypes.util
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol

from approxftl_tools.worn_judge import SECTOR, Answer, Refused, make_object_value
from approxftl_tools.worn_table import parse_number_ranges

#: A writer gives up after so many failed transactions in a row.
PATIENCE = 4
PAGE_SECTORS = 8
ROW_SECTORS = 4
FILES, BLOCKS, REPLACED, ROWS = 12, 16, 24, 96
#: Files whose data are tagged as approximate, where the device has them.
APPROXIMATE_FILES = 4
APPROXIMATE = frozenset(f"a{file}.{block}" for file in range(APPROXIMATE_FILES)
                        for block in range(BLOCKS))


class FailedError(Exception):
    """Raised when the file system or database reports an error."""


class CrashedError(FailedError):
    """Raised when a signal has killed a program of the storage stack."""


class Work(Protocol):
    """A workload on a mounted file system."""

    sectors: int
    atomic: bool

    def plan_transactions(self, draw: random.Random) -> Iterator[list[str]]:
        """Yield the objects that each transaction writes; the first transactions create them."""

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Write the values of a transaction durably."""

    def read_object(self, key: str) -> Answer:
        """Read one object back from the file system or database."""

    def close_workload_storage(self) -> None:
        """Close the files, or the database, of the workload."""


@contextmanager
def raise_stack_errors_as_failed_error(*kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of the file system or database into FailedError."""
    try:
        yield
    except FailedError:
        raise
    except Exception as error:
        if not isinstance(error, (OSError, *kinds)):
            raise
        raise FailedError(f"{type(error).__name__}: {error}") from error


class Files:
    """Files that are overwritten in place, and files that are replaced by rename."""

    sectors = PAGE_SECTORS
    atomic = False

    def __init__(self, place: Path, approximate: bool = False) -> None:
        self.place = place
        self.names = [f"f{file}" for file in range(FILES)]
        if approximate:
            self.names += [f"a{file}" for file in range(APPROXIMATE_FILES)]

    def plan_transactions(self, draw: random.Random) -> Iterator[list[str]]:
        """Yield the objects of each transaction: first new files, then random ones to rewrite."""
        for name in self.names:
            yield [f"{name}.{block}" for block in range(BLOCKS)]
        for file in range(REPLACED):
            yield [f"r{file}"]
        while True:
            if draw.random() < 0.4:
                yield [f"r{draw.randrange(REPLACED)}"]
            else:
                name = draw.choice(self.names)
                first = draw.randrange(BLOCKS)
                yield [f"{name}.{block}"
                       for block in range(first, min(BLOCKS, first + draw.randint(1, 4)))]

    def path_of_object(self, key: str) -> Path:
        """Return the path of the file that holds an object."""
        return self.place / f"worn-{key.split('.')[0]}"

    def sync_directory(self) -> None:
        """Sync a directory, so that the names in it are durable."""
        fd = os.open(self.place, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def tag_object_file(self, path: Path) -> None:
        """Declare the data of a new file as approximate."""
        program = os.environ.get("APPROXFTL", "approxftl")
        # btrfs has checksums of all other files; file systems without this attribute refuse it.
        subprocess.run(["chattr", "+C", str(path)], capture_output=True, check=False)
        done = subprocess.run([program, "tag", "add", str(path), "0+65536"], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise FailedError(f"approxftl tag: {done.stderr.strip()}")

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Write a file and fsync it; a replaced file gets its name after its data are durable."""
        with raise_stack_errors_as_failed_error():
            first = next(iter(values))
            path = self.path_of_object(first)
            target = path.with_suffix(".new") if first.startswith("r") else path
            is_new = not path.exists()
            fd = os.open(target, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                if is_new and first.startswith("a"):
                    self.tag_object_file(target)
                for key, value in values.items():
                    block = int(key.partition(".")[2] or 0)
                    if os.pwrite(fd, value, block * len(value)) != len(value):
                        raise FailedError("short write")
                os.fsync(fd)
            finally:
                os.close(fd)
            if target != path:
                target.rename(path)
            if target != path or is_new:
                self.sync_directory()

    def read_object(self, key: str) -> Answer:
        """Read one block of a file overwritten in place, or the whole of a replaced file."""
        size = self.sectors * SECTOR
        try:
            with self.path_of_object(key).open("rb", buffering=0) as file:
                return os.pread(file.fileno(), size, int(key.partition(".")[2] or 0) * size)
        except FileNotFoundError:
            return None

    def close_workload_storage(self) -> None:
        """Do nothing, as this workload keeps no file open."""


class Rows:
    """Rows of a database; after all rows exist, a transaction changes one to four rows."""

    sectors = ROW_SECTORS
    atomic = True

    def plan_transactions(self, draw: random.Random) -> Iterator[list[str]]:
        """Yield the rows of each transaction: first eight new rows, later one to four old rows."""
        keys = [f"k{row:03d}" for row in range(ROWS)]
        for first in range(0, ROWS, 8):
            yield keys[first:first + 8]
        while True:
            yield draw.sample(keys, draw.randint(1, 4))

    def close_workload_storage(self) -> None:
        """Do nothing, as this workload keeps no file open."""


class Sqlite(Rows):
    """SQLite with a given journal mode and a given value of "PRAGMA synchronous"."""

    def __init__(self, place: Path, mode: str, synchronous: str = "FULL") -> None:
        with raise_stack_errors_as_failed_error(sqlite3.Error):
            self.base = sqlite3.connect(place / "worn.sqlite", isolation_level=None, timeout=0)
            self.base.execute(f"PRAGMA journal_mode={mode}")
            self.base.execute(f"PRAGMA synchronous={synchronous}")
            self.base.execute("CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY, v BLOB)")

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        with raise_stack_errors_as_failed_error(sqlite3.Error):
            try:
                self.base.execute("BEGIN IMMEDIATE")
                self.base.executemany("INSERT OR REPLACE INTO t VALUES (?, ?)", values.items())
                self.base.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):
                    self.base.execute("ROLLBACK")
                raise

    def read_object(self, key: str) -> Answer:
        """Read one row of the database."""
        with raise_stack_errors_as_failed_error(sqlite3.Error):
            row = self.base.execute("SELECT v FROM t WHERE k = ?", (key,)).fetchone()
        return row and bytes(row[0])

    def close_workload_storage(self) -> None:
        with suppress(sqlite3.Error):
            self.base.close()


class Lmdb(Rows):
    """LMDB with its default durability."""

    def __init__(self, place: Path) -> None:
        import lmdb  # type: ignore[import-not-found]

        self.error: type[Exception] = lmdb.Error
        with raise_stack_errors_as_failed_error(self.error):
            self.base: Any = lmdb.open(str(place / "worn.lmdb"), map_size=32 << 20)

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        with raise_stack_errors_as_failed_error(self.error), \
                self.base.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key.encode(), value)

    def read_object(self, key: str) -> Answer:
        """Read one value of the database."""
        with raise_stack_errors_as_failed_error(self.error), self.base.begin() as transaction:
            value: bytes | None = transaction.get(key.encode())
            return value


class Leveldb(Rows):
    """LevelDB with synchronous writes; reads verify checksums if `checked` is true."""

    def __init__(self, place: Path, checked: bool) -> None:
        import plyvel  # type: ignore[import-not-found]

        self.error: type[Exception] = plyvel.Error
        self.checked = checked
        with raise_stack_errors_as_failed_error(self.error):
            self.base: Any = plyvel.DB(str(place / "worn.leveldb"), create_if_missing=True,
                                       write_buffer_size=65536, compression=None,
                                       paranoid_checks=checked)

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Write one synchronous batch of values."""
        with (raise_stack_errors_as_failed_error(self.error),
              self.base.write_batch(sync=True, transaction=True) as batch):
            for key, value in values.items():
                batch.put(key.encode(), value)

    def read_object(self, key: str) -> Answer:
        """Read one value of the database."""
        with raise_stack_errors_as_failed_error(self.error):
            value: bytes | None = self.base.get(key.encode(), verify_checksums=self.checked)
        return value

    def close_workload_storage(self) -> None:
        self.base.close()


class Rocksdb(Rows):
    """RocksDB with synchronous writes, through its C interface."""

    def __init__(self, place: Path) -> None:
        self.library = ctypes.CDLL(ctypes.util.find_library("rocksdb") or "librocksdb.so")
        options = self.call_rocksdb("options_create")
        self.call_rocksdb("options_set_create_if_missing", options, 1)
        self.call_rocksdb("options_set_write_buffer_size", options, ctypes.c_size_t(65536))
        self.call_rocksdb("options_set_compression", options, 0)
        self.base = self.check_rocksdb_call("open", options, str(place / "worn.rocksdb").encode())
        self.how_to_read = self.call_rocksdb("readoptions_create")
        self.how_to_write = self.call_rocksdb("writeoptions_create")
        self.call_rocksdb("writeoptions_set_sync", self.how_to_write, 1)

    def call_rocksdb(self, name: str, *words: object) -> ctypes.c_void_p:
        """Call a function of RocksDB that cannot fail."""
        function = self.library[f"rocksdb_{name}"]
        function.restype = ctypes.c_void_p
        return ctypes.c_void_p(function(*words))

    def check_rocksdb_call(self, name: str, *words: object) -> ctypes.c_void_p:
        """Call a function of RocksDB that may fail."""
        error = ctypes.c_char_p()
        found = self.call_rocksdb(name, *words, ctypes.byref(error))
        if error.value:
            raise FailedError(error.value.decode(errors="replace"))
        return found

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Write one synchronous batch of values."""
        batch = self.call_rocksdb("writebatch_create")
        for key, value in values.items():
            self.call_rocksdb("writebatch_put", batch, key.encode(), ctypes.c_size_t(len(key)),
                              value, ctypes.c_size_t(len(value)))
        self.check_rocksdb_call("write", self.base, self.how_to_write, batch)

    def read_object(self, key: str) -> Answer:
        """Read one value of the database."""
        size = ctypes.c_size_t()
        found = self.check_rocksdb_call("get", self.base, self.how_to_read, key.encode(),
                                        ctypes.c_size_t(len(key)), ctypes.byref(size))
        return ctypes.string_at(found, size.value) if found else None

    def close_workload_storage(self) -> None:
        self.call_rocksdb("close", self.base)


def run_stack_command_for_output(command: Sequence[str]) -> bytes:
    """Run a command and return its output; its failure counts as an error of the storage stack."""
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode < 0:
        raise CrashedError(f"{command[0]} was killed by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise FailedError(f"{Path(command[0]).name} exited with {done.returncode}: {last[0]}")
    return done.stdout


class Conversation:
    """A child program that answers requests on its standard input; the first request starts it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None

    def query_child_process(self, request: str,
                            read_answer: Callable[[IO[bytes]], bytes | None]) -> bytes:
        """Return the answer to a request; the exit of the child counts as an error of the stack."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):
            self.process.stdin.write(request.encode())
            self.process.stdin.flush()
        answer = read_answer(self.process.stdout)
        if answer is None:
            self.end_child_program()
            raise FailedError(f"{Path(self.command[0]).name} ended")
        return answer

    def end_child_program(self) -> None:
        if self.process:
            with suppress(BrokenPipeError):
                self.process.communicate()
            self.process = None


class Git(Rows):
    """A git repository; a transaction is a commit."""

    def __init__(self, place: Path, fsync: str) -> None:
        self.tree = place / "worn.git"
        self.base = ["git", "-c", f"core.fsync={fsync}", "-c", "user.name=worn", "-c",
                     "user.email=worn@localhost", "-c", "gc.auto=0", "-c", "core.compression=0",
                     "-C", str(self.tree)]
        self.blobs = Conversation([*self.base, "cat-file", "--batch"])
        if not self.tree.exists():
            self.tree.mkdir()
            run_stack_command_for_output([*self.base, "init", "-q"])

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Commit the changed files to the repository."""
        with raise_stack_errors_as_failed_error():
            for key, value in values.items():
                (self.tree / key).write_bytes(value)
        run_stack_command_for_output([*self.base, "add", *values])
        run_stack_command_for_output([*self.base, "commit", "-q", "-m", "worn"])

    @staticmethod
    def read_git_blob(stream: IO[bytes]) -> bytes | None:
        """Return the content of the next object that git prints; None if git prints none."""
        words = stream.readline().split()
        if len(words) != 3 or words[1] != b"blob":
            return None
        content = stream.read(int(words[2]))
        return content if stream.readline() == b"\n" else None

    def read_object(self, key: str) -> Answer:
        """Read a file of the last commit; if that fails, let "git cat-file" tell the reason."""
        with suppress(FailedError):
            return self.blobs.query_child_process(f"HEAD:{key}\n", self.read_git_blob)
        try:
            return run_stack_command_for_output([*self.base, "cat-file", "blob", f"HEAD:{key}"])
        except FailedError as error:
            if "does not exist in 'HEAD'" in str(error):
                return None
            raise

    def close_workload_storage(self) -> None:
        self.blobs.end_child_program()


class Postgres(Rows):
    """A PostgreSQL cluster; the server runs while the workload is open."""

    def __init__(self, place: Path, checksums: bool) -> None:
        self.folder = place / "worn.postgres"
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=str)
        self.socket = Path("/run/worn-postgres")
        self.socket.mkdir(exist_ok=True)
        self.session = Conversation(["psql", "-h", str(self.socket), "-U", "postgres", "-d",
                                     "postgres", "-qAtX"])
        run_stack_command_for_output(["chown", "postgres", str(self.socket)])
        if not self.folder.exists():
            self.folder.mkdir()
            run_stack_command_for_output(["chown", "postgres", str(self.folder)])
            words = ["-k"] if checksums else []
            self.run_program("initdb", "-D", str(self.folder), "--wal-segsize=1", "-A", "trust",
                             "--locale=C", *words)
            self.start_postgres_server()
            self.run_postgres_query("CREATE TABLE t (k text PRIMARY KEY, v bytea); "
                                    "ALTER TABLE t ALTER v SET STORAGE PLAIN;")
        else:
            self.start_postgres_server()

    def run_program(self, name: str, *words: str) -> bytes:
        """Run a program of PostgreSQL as the user "postgres"."""
        return run_stack_command_for_output(["setpriv", "--reuid=postgres", "--regid=postgres",
                                             "--clear-groups",
                                             str(self.programs / name), *words])

    def start_postgres_server(self) -> None:
        options = (f"-c listen_addresses= -c unix_socket_directories={self.socket} "
                   "-c shared_buffers=1MB -c min_wal_size=2MB -c max_wal_size=4MB "
                   "-c autovacuum=off -c max_connections=10 -c checkpoint_timeout=30s")
        self.run_program("pg_ctl", "-D", str(self.folder), "-w", "-o", options, "-l",
                         str(self.socket / "log"), "start")

    @staticmethod
    def read_psql_query_result(stream: IO[bytes]) -> bytes | None:
        """Return the lines that PostgreSQL's client prints before the mark behind each query."""
        lines: list[bytes] = []
        for line in stream:
            if line == b"answered\n":
                return b"".join(lines)
            lines.append(line)
        return None

    def run_postgres_query(self, text: str) -> str:
        """Run a query of PostgreSQL and return its output."""
        answer = self.session.query_child_process(f"{text}\n\\echo answered\n",
                                                  self.read_psql_query_result).decode().strip()
        if re.search("^(ERROR|FATAL|PANIC|psql|server closed)", answer, re.MULTILINE):
            raise FailedError(answer)
        return answer

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        rows = ", ".join(f"('{key}', '\\x{value.hex()}')" for key, value in values.items())
        self.run_postgres_query(f"BEGIN; INSERT INTO t VALUES {rows} ON CONFLICT (k) DO UPDATE "
                                "SET v = EXCLUDED.v; COMMIT;")

    def read_object(self, key: str) -> Answer:
        """Read one row of the database."""
        text = self.run_postgres_query(f"SELECT encode(v, 'hex') FROM t WHERE k = '{key}';")
        return bytes.fromhex(text) if text else None

    def close_workload_storage(self) -> None:
        self.session.end_child_program()
        with suppress(FailedError):
            self.run_program("pg_ctl", "-D", str(self.folder), "-w", "-m", "fast", "stop")


KINDS: dict[str, Callable[[Path], Work]] = {
    "files": Files,
    "files-approximate": lambda place: Files(place, approximate=True),
    "sqlite-rollback": lambda place: Sqlite(place, "DELETE"),
    "sqlite-extra": lambda place: Sqlite(place, "DELETE", "EXTRA"),
    "sqlite-wal": lambda place: Sqlite(place, "WAL"),
    "lmdb": Lmdb,
    "leveldb": lambda place: Leveldb(place, checked=False),
    "leveldb-checked": lambda place: Leveldb(place, checked=True),
    "rocksdb": Rocksdb,
    "git": lambda place: Git(place, "default"),
    "git-fsync": lambda place: Git(place, "all"),
    "postgres": lambda place: Postgres(place, checksums=False),
    "postgres-checksums": lambda place: Postgres(place, checksums=True),
}


def print_line_to_runner(*words: object) -> None:
    """Print a line to approxftl_tools.worn_guest at once, before the next request to the device."""
    print(*(str(word).replace("\n", " ") for word in words), flush=True)


def run_writer(work: Work, seed: int, numbers: Sequence[int]) -> None:
    """Write transaction after transaction, each after a line on standard input; report each."""
    failed = 0
    planned = work.plan_transactions(random.Random(seed))
    for number, keys in zip(range(1, numbers[-1] + 1), planned, strict=False):
        if number not in numbers:
            continue
        if not sys.stdin.readline():
            return
        print_line_to_runner("begin", number, *keys)
        try:
            work.write_transaction({key: make_object_value(key, number, work.sectors)
                                    for key in keys})
        except FailedError as error:
            print_line_to_runner("fail", number, error)
            failed += 1
            if failed == PATIENCE:
                return
        else:
            print_line_to_runner("done", number)
            failed = 0


def run_reader(work: Work, keys: Sequence[str]) -> None:
    """Read objects and report each answer."""
    for key in keys:
        try:
            with raise_stack_errors_as_failed_error():
                answer = work.read_object(key)
        except CrashedError as error:
            print_line_to_runner("crashed", key, error)
            continue
        except FailedError as error:
            answer = Refused(str(error))
        if isinstance(answer, Refused):
            print_line_to_runner("error", key, answer.why)
        elif answer is None:
            print_line_to_runner("absent", key)
        else:
            print_line_to_runner("value", key, answer.hex())


def main() -> None:
    """Run the writer or the reader of a workload."""
    verb, kind, place, *rest = sys.argv[1:]
    try:
        with raise_stack_errors_as_failed_error():
            work = KINDS[kind](Path(place))
    except FailedError as error:
        print_line_to_runner("closed", error)
        return
    try:
        if verb == "write":
            run_writer(work, int(rest[0]), parse_number_ranges(rest[1]))
        else:
            run_reader(work, rest)
    finally:
        work.close_workload_storage()


if __name__ == "__main__":
    main()
