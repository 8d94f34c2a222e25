# SPDX-License-Identifier: GPL-2.0-only
"""The C library of the simulator, libapproxftl-sim.so, called by ctypes."""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from approxftl.absent import Library

NAME = "libapproxftl-sim.so"
INTERRUPTED = 130
USAGE = 2
NO_INPUT = 3
#: Seconds between two calls of a progress callback.
TICK = 0.2

_P, _I, _B, _T = ctypes.c_void_p, ctypes.c_int, ctypes.c_bool, ctypes.c_char_p
_U32, _U64, _S64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64


class RequestLog(ctypes.Structure):
    """The C structure struct request_log."""

    _fields_ = (("count", _U64), ("room", _U64), ("unit_bytes", _U32), ("base_ns", _U64),
                *((name, _P) for name in ("arrival_ns", "response_ns", "waiting_ns", "offset",
                                          "bytes", "lpn", "op", "class", "queue", "failed",
                                          "reason")))


class Facts(ctypes.Structure):
    """The geometry of a device, struct simlib_facts."""

    page_bytes: int
    logical_pages: int
    blocks: int
    block_pages: int
    luns: int
    ppn_bits: int
    _fields_ = tuple((name, _U64) for name in ("page_bytes", "logical_pages", "blocks",
                                               "block_pages", "luns", "ppn_bits"))


#: Result and argument types of each function.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "version": (_T,),
    "job_create": (_P,),
    "job_destroy": (None, _P),
    "job_stop": (None, _P),
    "job_progress": (_U64, _P),
    "job_messages": (_T, _P),
    "job_json": (_T, _P),
    "job_requests": (ctypes.POINTER(RequestLog), _P),
    "option_kind": (_I, _T),
    "job_offer_policy": (None, _P, _P),
    "policy_create": (_I, _T, _P, _U32, _U32, _P, _P),
    "policy_destroy": (None, _P),
    "simulate": (_I, _P, _I, _P, _B),
    "write_requests": (_I, _P, _T, _U64, _P, _P, _P, _P),
    "device_create": (_I, _P, _I, _P, _P),
    "device_destroy": (None, _P),
    "device_do": (_S64, _P, _I, _S64, _S64),
    "device_busy": (_B, _P),
    "device_batch": (_I, _P, _P, _I, _U64, _P, _P, _U32, _P),
    "device_advance": (_B, _P, _U64, _U32),
    "device_fault": (_I, _P, _I, _U64),
    "device_now": (_U64, _P),
    "device_get_geometry": (None, _P, _P),
    "device_blocks": (_P, _P),
    "device_l2p": (_P, _P),
    "describe_block_field": (_T, _U32, _P, _P),
    "counter_name": (_T, _U32),
    "wait_reason_name": (_T, _U32),
    "block_kind_name": (_T, _P, _U32),
    "device_counters": (None, _P, _P),
    "device_digest": (_U64, _P),
    "device_audit": (_I, _P, _P),
}


class SimulationError(RuntimeError):
    """The simulator refused its input or failed; the text is the command's error message."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        #: Exit code of the command approxftl sim.
        self.exit_code = exit_code


class SimulationWarning(UserWarning):
    """The simulator's results may mislead, for example because the device was not full."""


class OptionError(SimulationError, ValueError):
    """An option or a parameter is unknown or has a wrong value."""


class InputError(SimulationError, OSError):
    """The simulator cannot read an input file."""


def error_of_exit_code(text: str, code: int) -> SimulationError:
    """Return the exception for an exit code of "approxftl sim"."""
    return {USAGE: OptionError, NO_INPUT: InputError}.get(code, SimulationError)(text, code)


def library_search_paths() -> list[Path]:
    """Return the paths where the library may be: beside this Python file, or in the build tree."""
    here = Path(__file__).resolve()
    build = os.environ.get("AFTL_BUILD", here.parents[3] / "build")
    return [here.with_name(NAME), Path(build) / NAME]


def load_library() -> Library:
    """Load the simulator's library."""
    found = next((place for place in library_search_paths() if place.exists()), None)
    try:
        # Policies in shared objects call its functions.
        library = ctypes.CDLL(str(found or NAME), ctypes.RTLD_GLOBAL)
        return Library(library, "simlib", FUNCTIONS)
    except OSError as error:
        raise ImportError(f"{NAME} cannot be loaded: {error}; install the package by pip, or build"
                          " the library by make and name its directory in AFTL_BUILD") from error


lib = load_library()


def option_as_text(value: object) -> str:
    """Return the value of a command-line option as text."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return ",".join(f"{option_as_text(key)}:{option_as_text(weight)}"
                        for key, weight in value.items())
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(option_as_text, value))
    if isinstance(value, float):
        return format(Decimal(repr(float(value))), "f")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


UNKNOWN, SWITCH, VALUE = 0, 1, 2


def option_arguments(name: str, value: object) -> list[str]:
    """Return the words of one keyword argument on the command line."""
    dashed = name.replace("_", "-")
    kind = lib.option_kind(dashed.encode())
    if value is None or (kind == SWITCH and value is False):
        return []
    if kind == SWITCH and value is True:
        return [f"--{dashed}"]
    return [f"--{dashed}={option_as_text(value)}"]


def make_command_line(options: Mapping[str, object]) -> list[str]:
    """Return the command line of "approxftl sim" that equals the keyword arguments."""
    words = [word for name, value in options.items() for word in option_arguments(name, value)]
    return ["approxftl", "sim", *words, "--json=-"]


def command_line_for_c(line: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Return a command line as an array of strings for C."""
    for word in line:
        if "\0" in word:
            raise ValueError(f"{word.split(chr(0))[0]}: a zero byte in an argument")
    return (_T * (len(line) + 1))(*(os.fsencode(word) for word in line), None)


class Job:
    """A long call of the simulator's library, in a thread of its own so that Ctrl-C ends it."""

    def __init__(self) -> None:
        self.handle = lib.job_create()
        if not self.handle:
            raise MemoryError
        weakref.finalize(self, lib.job_destroy, self.handle)

    def stop_library_call(self) -> None:
        """End the library's call soon; any thread may do this."""
        lib.job_stop(self.handle)

    @property
    def messages_of_library_call(self) -> list[str]:
        """Return the messages that the finished call of the library wrote."""
        return str(lib.job_messages(self.handle).decode(errors="replace")).splitlines()

    def raise_for_exit_code(self, code: int) -> None:
        """Raise an exception if the call ended with an exit code other than 0."""
        if not code:
            return
        if code == INTERRUPTED:
            raise SimulationError("stopped", code)
        said = [line for line in self.messages_of_library_call
                if not line.startswith(("note: ", "warning: "))]
        raise error_of_exit_code(
            said[-1] if said else f"the simulator ended with exit code {code}", code)

    def run_library_call(self, call: Callable[[], int],
                         progress: Callable[[int], object] | None = None) -> None:
        """Call a function in another thread; raise an exception unless it returns 0."""
        codes: list[int] = []
        done = threading.Event()

        def call_function_in_thread() -> None:
            try:
                codes.append(call())
            finally:
                done.set()

        thread = threading.Thread(target=call_function_in_thread, name="approxftl")
        try:
            thread.start()
            while not done.wait(TICK if progress else None):
                if progress:
                    progress(lib.job_progress(self.handle))
        except BaseException:
            self.stop_library_call()
            # Ctrl-C may come before the thread has begun, which then ends by itself.
            if thread.ident is not None:
                thread.join()
            raise
        thread.join()
        self.raise_for_exit_code(codes[0])
