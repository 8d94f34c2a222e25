# SPDX-License-Identifier: GPL-2.0-only
"""Policies in Python, for prototypes: victim selection and streams."""

from __future__ import annotations

import copy
import ctypes
import errno
import operator
import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from approxftl.simlib import Facts, Job, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
STREAMS_MAX = 8
#: Answer for the candidate with the least valid data
FEWEST_VALID = 2**32 - 1

_U32, _U64, _S64, _BOOL = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool
_BEGIN = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Facts))
_SELECT_VICTIM = ctypes.CFUNCTYPE(_U32, _U32, _U32, _U64)
_STREAM = ctypes.CFUNCTYPE(_U32, _U32, _U64, _BOOL, _BOOL, _U32, _U32, _S64, _S64)


class _Functions(ctypes.Structure):
    """The C structure struct simlib_policy_functions."""

    _fields_ = (("begin", _BEGIN), ("select_victim", _SELECT_VICTIM), ("stream", _STREAM))


class Blocks:
    """The closed blocks of a LUN that may be collected now, an array element for each.

    The arrays are views, valid during the call: copy what you keep.
    """

    #: The columns, as in enum simlib_candidate_column
    COLUMNS = ("block", "valid", "age_ns", "data_age_ns", "rest_ns", "erases", "reads", "stream")

    #: Number of the block in the device
    block: NDArray[np.int64]
    #: Pages with current data; a block has room for `block_pages`
    valid: NDArray[np.int64]
    #: Time since the block was opened
    age_ns: NDArray[np.int64]
    #: Mean time since the host wrote the data
    data_age_ns: NDArray[np.int64]
    #: Time since a page of the block became invalid
    rest_ns: NDArray[np.int64]
    erases: NDArray[np.int64]
    #: Reads of its pages since the erase
    reads: NDArray[np.int64]
    #: Index in the streams of the policy
    stream: NDArray[np.int64]

    def __init__(self, columns: NDArray[np.int64], count: int, lun: int, now_ns: int,
                 block_pages: int) -> None:
        self._columns, self._count = columns, count
        self.lun, self.now_ns, self.block_pages = lun, now_ns, block_pages

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> NDArray[np.int64]:
        if name not in Blocks.COLUMNS:
            raise AttributeError(f"blocks have no {name}; there are {', '.join(Blocks.COLUMNS)}")
        return self._columns[Blocks.COLUMNS.index(name), :self._count]


class Page(NamedTuple):
    """A logical page that is about to be written."""

    lpn: int
    now_ns: int
    #: The device moves the page, by garbage collection for example; else the host writes it.
    relocated: bool
    approximate: bool
    #: Hints of the host about life time and placement; 0: none
    life: int
    placement: int
    #: Stream of the block that has the present version of the page; -1: there is none
    stream: int
    #: Mean age of the data in that block; -1: there is none
    age_ns: int


class Policy:
    """A flash translation policy whose decisions are Python functions.

    `select_victim` gets Blocks and returns the index of the block to collect, or None for the block
    with the least valid data, which is also the default. `stream` gets a Page and returns an index
    in `streams`, the names of streams, whose data go to separate blocks. `moved` is the largest
    number of streams that the valid data of one block may go to, all by default; each takes a free
    block in every LUN.

    A subclass may define these as methods and attributes, and start(), which gets the geometry.
    Each run uses a copy of the object, so that state which start() creates belongs to the run.
    """

    name: str = ""
    streams: Sequence[str] = ("data",)
    moved: int | None = None
    select_victim: Callable[[Blocks], SupportsIndex | None] | None = None
    stream: Callable[[Page], SupportsIndex] | None = None

    def __init__(self, name: str | None = None, *,
                 select_victim: Callable[[Blocks], SupportsIndex | None] | None = None,
                 stream: Callable[[Page], SupportsIndex] | None = None,
                 streams: Sequence[str] | None = None, moved: int | None = None) -> None:
        given = {"name": name, "select_victim": select_victim, "stream": stream,
                 "streams": streams, "moved": moved}
        for key, value in given.items():
            if value is not None:
                setattr(self, key, value)
        if not self.name:
            self.name = "python" if type(self) is Policy else type(self).__name__.lower()
        self._check_policy_arguments()

    def _check_policy_arguments(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name: {self.name!r} is not made of at most 60 letters, digits and"
                             " underscores")
        for name in self.streams:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ValueError(f"streams: {name!r} is not made of at most 60 letters, digits and"
                                 " underscores")
        if not 1 <= len(self.streams) <= STREAMS_MAX or len({*self.streams}) < len(self.streams):
            raise ValueError(f"streams: give 1 to {STREAMS_MAX} different names")
        if self.moved is not None and not 1 <= self.moved <= len(self.streams):
            raise ValueError(f"moved: {self.moved} is not within 1 and the number of streams,"
                             f" {len(self.streams)}")
        if self.stream is None and len(self.streams) > 1:
            raise ValueError("streams: the policy has no function `stream` that chooses one")
        for what, function in (("select_victim", self.select_victim), ("stream", self.stream)):
            if function is not None and not callable(function):
                raise TypeError(f"{what}: {function!r} is no function")

    def start(self, device: Facts) -> None:
        """Prepare the policy for a device; the fields of `device` are its geometry."""

    def __repr__(self) -> str:
        return f"<Policy {self.name}>"


def _check_policy_index(answer: Any, count: int, call: str, things: str) -> int:
    """Return a policy's decision as a number; raise an exception that explains a wrong one."""
    try:
        number = operator.index(answer)
    except TypeError:
        raise TypeError(f"{call} returned {answer!r}, which is no index of {things}") from None
    if not 0 <= number < count:
        raise ValueError(f"{call} returned {number}; there are {things} 0 to {count - 1}")
    return number


class Running:
    """A policy in one run or device: the functions that the simulator calls.

    The policy's first exception is stored, and stops the run of `job`; later decisions are
    defaults.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = copy.copy(policy)
        self.error: BaseException | None = None
        self.job: Job | None = None
        self._columns = np.zeros((0, 0), np.int64)
        self._block_pages = 0
        self._functions = _Functions(
            _BEGIN(self._prepare_policy_for_device),
            _SELECT_VICTIM(self._select_victim) if policy.select_victim else _SELECT_VICTIM(),
            _STREAM(self._select_stream) if policy.stream else _STREAM())
        names = policy.streams
        handle = ctypes.c_void_p()
        code = lib.policy_create(policy.name.encode(),
                                 (ctypes.c_char_p * len(names))(*(n.encode() for n in names)),
                                 len(names), policy.moved or len(names),
                                 ctypes.byref(self._functions), ctypes.byref(handle))
        if code:
            raise (MemoryError() if code != -errno.EEXIST else ValueError(
                f"a built-in policy has the name {policy.name}, too; choose another one"))
        self.handle = handle.value
        weakref.finalize(self, lib.policy_destroy, self.handle)

    def _get_decision_or_default(self, default: Any, decide: Callable[[], Any]) -> Any:
        if self.error is not None:
            return default
        try:
            return decide()
        except BaseException as error:
            self.error = error
            if self.job:
                self.job.stop_library_call()
            return default

    def _prepare_policy_for_device(self, device: Any) -> int | None:
        def allocate_candidate_columns() -> int:
            facts = Facts.from_buffer_copy(device.contents)
            self._columns = np.zeros((len(Blocks.COLUMNS), facts.blocks // facts.luns), np.int64)
            self._block_pages = facts.block_pages
            self.policy.start(facts)
            return self._columns.ctypes.data
        found: int | None = self._get_decision_or_default(None, allocate_candidate_columns)
        return found

    def _select_victim(self, count: int, lun: int, now_ns: int) -> int:
        def call_select_victim() -> int:
            assert self.policy.select_victim
            columns = self._columns.view()
            columns.flags.writeable = False
            answer = self.policy.select_victim(Blocks(columns, count, lun, now_ns,
                                                      self._block_pages))
            return FEWEST_VALID if answer is None else _check_policy_index(
                answer, count, "select_victim()", "blocks")
        found: int = self._get_decision_or_default(FEWEST_VALID, call_select_victim)
        return found

    def _select_stream(self, *page: Any) -> int:
        # Called for each page: _get_decision_or_default() would take as long as all the rest.
        if self.error is None:
            try:
                assert self.policy.stream
                answer = self.policy.stream(Page(*page))
                return _check_policy_index(answer, len(self.policy.streams), "stream()", "streams")
            except BaseException as error:
                self.error = error
                if self.job:
                    self.job.stop_library_call()
        return 0

    @contextmanager
    def offer_policy_to_job(self, job: Job | None) -> Iterator[None]:
        """Let a call of the simulator use the policy; at the end raise the policy's exception."""
        self.job = job
        if job:
            lib.job_offer_policy(job.handle, self.handle)
        try:
            yield
        except Exception:
            self.raise_policy_exception()
            raise
        finally:
            self.job = None
        self.raise_policy_exception()

    def raise_policy_exception(self) -> None:
        """Raise the exception that the policy caused, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error


def extract_policy_option(options: Mapping[str, object]) -> tuple[dict[str, Any], Running | None]:
    """Replace a Python policy in the options by its name; return options and policy (or None)."""
    policy = options.get("policy")
    if isinstance(policy, Policy):
        return {**options, "policy": policy.name}, Running(policy)
    if isinstance(policy, os.PathLike):
        return {**options, "policy": Path(policy).absolute()}, None
    return dict(options), None
