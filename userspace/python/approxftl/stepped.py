# SPDX-License-Identifier: GPL-2.0-only
"""A simulated device that a program drives request by request."""

from __future__ import annotations

import ctypes
import operator
import os
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from approxftl import MountedDevice
from approxftl.policy import Running, extract_policy_option
from approxftl.simlib import Facts, Job, SimulationError, command_line_for_c, lib, make_command_line

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

READ, WRITE, FLUSH, DISCARD = range(4)
#: Numbers of enum simlib_fault.
FAULTS = {"block": 0, "die": 1, "unit": 2, "age": 3}
_NAMES = {"read": READ, "write": WRITE, "trim": DISCARD}
BEYOND_END, STOPPED, BUSY = range(-2**63, -2**63 + 3)
#: Events between two chances for Ctrl-C.
EVENTS = 1 << 20

def _numpy_type_of_block() -> np.dtype[Any]:
    names: list[str] = []
    formats, offsets = [], []
    offset, size = ctypes.c_uint32(), ctypes.c_uint32()
    while name := lib.describe_block_field(len(names), ctypes.byref(offset), ctypes.byref(size)):
        names.append(name.decode())
        formats.append("i8" if names[-1] == "opened_ns" else f"u{size.value}")
        offsets.append(offset.value)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets,
                     "itemsize": size.value})


#: An erase block, as the device has it; the fields are those of struct aftl_block.
BLOCK = _numpy_type_of_block()
#: The place of a logical page; ppn and block are NOWHERE if it is not on flash.
MAPPING = np.dtype([("ppn", "u4"), ("block", "u4"), ("level", "u4")])
NOWHERE = 2**32 - 1


class Device:
    """An SSD in simulated time; arguments are device parameters, profile, policy, seed, set and
    load.

    Addresses and lengths are in logical pages. write(), read(), trim() and flush() submit a request
    now, let time pass until it is complete, and return the response time in ns. Several threads may
    use a device, one at a time.
    """

    def __new__(cls, *path: Any, **options: Any) -> Any:
        """Return a MountedDevice, the former Device, for the arguments of that class."""
        if not path and "path" not in options and "require" not in options:
            return super().__new__(cls)
        warnings.warn("a path is an argument of approxftl.MountedDevice", DeprecationWarning, 2)
        return MountedDevice(*path, **options)

    def __init__(self, **options: Any) -> None:
        options, policy = extract_policy_option(options)
        line = make_command_line(options)[:-1]
        words = command_line_for_c(line)
        handle = ctypes.c_void_p()
        job = Job()
        try:
            with policy.offer_policy_to_job(job) if policy else nullcontext():
                job.run_library_call(lambda: lib.device_create(job.handle, len(line), words,
                                                               ctypes.byref(handle)))
        finally:
            if handle:
                self._end = weakref.finalize(self, _destroy_device, handle.value, policy)
        self._handle = handle.value
        self._policy = policy
        self._do: Callable[[Any, int, int, int], int] = self._execute_request if policy else \
            lib.device_do
        facts = Facts()
        lib.device_get_geometry(self._handle, ctypes.byref(facts))
        #: Bytes of a logical page
        self.page_bytes = int(facts.page_bytes)
        #: Capacity in logical pages
        self.logical_pages = int(facts.logical_pages)
        #: Number of erase blocks
        self.block_count = int(facts.blocks)
        #: Logical pages that an erase block can hold
        self.block_pages = int(facts.block_pages)
        #: Number of dies, times planes that work on their own
        self.luns = int(facts.luns)
        #: Bits of an entry of l2p() below its quality level; they are 0 or the ppn plus 1
        self.ppn_bits = int(facts.ppn_bits)

    def _execute_request(self, *arguments: Any) -> int:
        """Execute a request on the device; raise the exception of the policy if there is one."""
        assert self._policy
        is_idle = not lib.device_busy(self._handle)
        with self._policy.offer_policy_to_job(None) if is_idle else nullcontext():
            return int(lib.device_do(*arguments))

    @contextmanager
    def _require_working_device(self, job: Job | None = None) -> Iterator[None]:
        """Reserve the device for a long call of the library; `job` uses the device's policy."""
        if not self._policy:
            yield
            return
        if lib.device_busy(self._handle):
            raise self._exception_for_result(BUSY, 0, 0)
        with self._policy.offer_policy_to_job(job):
            yield

    def _exception_for_result(self, result: int, lpn: int,
                              pages: int) -> SimulationError | OSError | ValueError:
        if result == BEYOND_END:
            return ValueError(f"{pages} pages at {lpn} are not within the device's"
                              f" {self.logical_pages} pages")
        if result == BUSY:
            return SimulationError("a policy cannot use its own device, only look at it", 1)
        if result == STOPPED:
            return SimulationError("the device has stopped with requests under way", 1)
        return OSError(-result, os.strerror(-result))

    def write(self, lpn: int, pages: int = 1) -> int:
        """Write a range of logical pages."""
        result = self._do(self._handle, WRITE, lpn, pages)
        if result < 0:
            raise self._exception_for_result(result, lpn, pages)
        return result

    def read(self, lpn: int, pages: int = 1) -> int:
        """Read a range of logical pages."""
        result = self._do(self._handle, READ, lpn, pages)
        if result < 0:
            raise self._exception_for_result(result, lpn, pages)
        return result

    def trim(self, lpn: int, pages: int = 1) -> int:
        """Discard a range of logical pages."""
        result = self._do(self._handle, DISCARD, lpn, pages)
        if result < 0:
            raise self._exception_for_result(result, lpn, pages)
        return result

    def flush(self) -> int:
        """Program all buffered writes."""
        result = self._do(self._handle, FLUSH, 0, 0)
        if result < 0:
            raise self._exception_for_result(result, 0, 0)
        return result

    def submit(self, op: str, lpns: ArrayLike, pages: ArrayLike = 1, depth: int = 32,
               progress: Callable[[int], object] | None = None) -> NDArray[np.int64]:
        """Submit many reads, writes or trims through a closed queue; return the response times.

        A request that fails has a negative error number instead.
        """
        if op not in _NAMES:
            raise ValueError(f"{op!r} is no operation; there are {', '.join(_NAMES)}")
        where = np.ascontiguousarray(lpns, np.int64).reshape(-1)
        many = np.ascontiguousarray(np.broadcast_to(np.asarray(pages, np.int64), where.shape))
        times = np.zeros(len(where), np.int64)
        job = Job()
        with self._require_working_device(job):
            job.run_library_call(lambda: lib.device_batch(job.handle, self._handle, _NAMES[op],
                                                          len(where),
                                                          where.ctypes.data, many.ctypes.data,
                                                          operator.index(depth), times.ctypes.data),
                                 progress)
        return times

    def advance(self, ns: int) -> int:
        """Let device time pass, with the device's background work; return the new time."""
        if ns < 0:
            raise ValueError("time does not go back")
        until = self.now_ns + operator.index(ns)
        with self._require_working_device():
            while not lib.device_advance(self._handle, until, EVENTS):
                pass
        return self.now_ns

    def fault(self, kind: str, number: int) -> None:
        """Let a "block", a "die" or the flash copy of a logical page ("unit") fail; `number`
        selects it. With "age", age all cells by `number` ns without device time passing.
        """
        if kind not in FAULTS:
            raise ValueError(f"{kind!r} is not a fault; there are {', '.join(FAULTS)}")
        if number < 0:
            raise ValueError(f"{number} is negative")
        result = lib.device_fault(self._handle, FAULTS[kind], operator.index(number))
        if result:
            raise OSError(-result, f"{kind} {number}: {os.strerror(-result)}")

    @property
    def now_ns(self) -> int:
        """The device's simulated time in ns."""
        return int(lib.device_now(self._handle))

    def _view_of_device_table(self, address: int, dtype: Any, count: int) -> NDArray[Any]:
        """Return a table of the device as an array, which keeps the device's memory alive."""
        memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
        memory._device = self
        view = np.frombuffer(memory, dtype)
        view.flags.writeable = False
        return view

    def blocks(self) -> NDArray[Any]:
        """Return a view of all erase blocks, LUN by LUN, of dtype BLOCK; it shows later changes."""
        return self._view_of_device_table(lib.device_blocks(self._handle), BLOCK, self.block_count)

    def l2p(self) -> NDArray[np.uint32]:
        """Return a view of the L2P table that shows later changes; mapping() decodes it."""
        address = lib.device_l2p(self._handle)
        if address is None:
            raise SimulationError("the L2P table of so large a device is in several parts", 1)
        return self._view_of_device_table(address, np.uint32, self.logical_pages)

    def mapping(self) -> NDArray[Any]:
        """Return a copy of the L2P table, of dtype MAPPING."""
        entries = self.l2p()
        found = np.empty(self.logical_pages, MAPPING)
        found["ppn"] = (entries & (2**self.ppn_bits - 1)) - np.uint32(1)
        found["block"] = np.where(found["ppn"] == NOWHERE, NOWHERE,
                                  found["ppn"] // self.block_pages)
        found["level"] = entries >> self.ppn_bits
        return found

    @property
    def kinds(self) -> list[str]:
        """Names for the field "kind" of blocks(), which the policy defines."""
        return _list_library_names(lambda i: lib.block_kind_name(self._handle, i))

    def counters(self) -> dict[str, int]:
        """Return the device's counters since its creation."""
        names = _list_library_names(lib.counter_name)
        values = np.zeros(len(names), np.uint64)
        lib.device_counters(self._handle, values.ctypes.data)
        return dict(zip(names, values.tolist(), strict=True))

    def digest(self) -> str:
        """Return the hash of L2P table, flash array and wear that approxftl sim calls digest."""
        return f"{lib.device_digest(self._handle):016x}"

    def check(self) -> None:
        """Check all invariants of the device; raise SimulationError if one is violated."""
        job = Job()
        with self._require_working_device(job):
            job.run_library_call(lambda: lib.device_audit(job.handle, self._handle))


def _destroy_device(handle: int | None, policy: Running | None) -> None:
    """Destroy a device, and then its policy unless another object still uses the policy."""
    lib.device_destroy(handle)
    del policy


def _list_library_names(name_of: Callable[[int], bytes | None]) -> list[str]:
    names: list[str] = []
    while (name := name_of(len(names))) is not None:
        names.append(name.decode())
    return names
