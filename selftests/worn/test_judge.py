# SPDX-License-Identifier: GPL-2.0-only
"""The judge of approxftl worn finds every wrong answer of storage that is broken on purpose."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approxftl_tools import worn_work
from approxftl_tools.worn_judge import (
    SECTOR,
    Answer,
    Finding,
    Ledger,
    Outcome,
    Refused,
    describe_content_of_object,
    identify_sector,
    judge_matrix_cell,
    make_object_value,
    worst_outcome,
)

SECTORS = 4
TRANSACTIONS = 60


class HonestStack:
    """A simulated storage stack with a cache; transactions are durable when write() returns."""

    def __init__(self) -> None:
        self.drive: dict[str, bytes] = {}
        self.bad: set[str] = set()
        self.older: dict[str, bytes] = {}

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Write one transaction to the simulated stack."""
        self.older.update({key: self.drive[key] for key in values if key in self.drive})
        self.drive.update(values)

    def crash(self, torn: Mapping[str, bytes]) -> None:
        """Lose the power while a transaction is under way."""

    def read_object(self, key: str) -> Answer:
        """Read one object; an object with bad data is an error."""
        if key in self.bad:
            return Refused("EIO")
        return self.drive.get(key)


class FsyncLiar(HonestStack):
    """A stack whose fsync returns before data are durable: the last transactions are lost."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[dict[str, bytes]] = []

    def write_transaction(self, values: Mapping[str, bytes]) -> None:
        """Hold the last five transactions in volatile memory only."""
        self.held.append(dict(values))
        if len(self.held) > 5:
            super().write_transaction(self.held.pop(0))


class StaleReader(HonestStack):
    """A stack that returns the last but one version of an object."""

    def read_object(self, key: str) -> Answer:
        """Read an old version of an object."""
        return self.older.get(key, self.drive.get(key))


class ErrorSwallower(HonestStack):
    """A stack that returns zeroes where the drive reported an error."""

    def read_object(self, key: str) -> Answer:
        """Read zeroes instead of reporting an error."""
        found = super().read_object(key)
        return bytes(SECTORS * SECTOR) if isinstance(found, Refused) else found


class MisplacedReader(HonestStack):
    """A stack that returns the data of another object."""

    def read_object(self, key: str) -> Answer:
        """Read the first object, whichever is requested."""
        return self.drive[min(self.drive)]


class BitFlipper(HonestStack):
    """A stack that returns one flipped bit in precise data."""

    def read_object(self, key: str) -> Answer:
        """Flip a bit of the data read."""
        value = self.drive[key]
        return value[:100] + bytes([value[100] ^ 4]) + value[101:]


class TearingStack(HonestStack):
    """A stack that leaves half of a transaction after a crash."""

    def crash(self, torn: Mapping[str, bytes]) -> None:
        """Keep the first object of the transaction that a crash interrupts."""
        key = min(torn)
        self.drive[key] = torn[key]


def run_and_judge_stack(stack: HonestStack, atomic: bool = True) -> tuple[Ledger, list[Finding]]:
    """Write transactions, crash during the last one, and judge all objects."""
    ledger = Ledger(SECTORS, atomic)
    planned = worn_work.Rows().plan_transactions(random.Random(1))
    number = 0
    for number, keys in zip(range(1, TRANSACTIONS), planned, strict=False):
        ledger.begin_transaction(number, dict.fromkeys(keys, number))
        stack.write_transaction({key: make_object_value(key, number, SECTORS) for key in keys})
        ledger.acknowledge_transaction(number)
    keys = ["k000", "k001", "k002"]
    ledger.begin_transaction(number + 1, dict.fromkeys(keys, number + 1))
    stack.crash({key: make_object_value(key, number + 1, SECTORS) for key in keys})
    answers = {key: stack.read_object(key) for key in ledger.object_names()}
    return ledger, ledger.judge_all_reads(answers)


def find_worst_outcome_of_stack(stack: HonestStack) -> Outcome:
    """Return the worst outcome that the judge finds for a stack."""
    return worst_outcome(one.outcome for one in run_and_judge_stack(stack)[1])


def test_judge_finds_a_storage_stack_without_errors_correct() -> None:
    assert find_worst_outcome_of_stack(HonestStack()) == Outcome.CORRECT


@pytest.mark.parametrize(("stack", "outcome"), [
    (FsyncLiar, Outcome.LOST), (StaleReader, Outcome.LOST), (MisplacedReader, Outcome.WRONG),
    (BitFlipper, Outcome.WRONG), (TearingStack, Outcome.WRONG)])
def test_judge_finds_each_kind_of_wrong_answer_of_a_storage_stack(
        stack: type[HonestStack], outcome: Outcome) -> None:
    assert find_worst_outcome_of_stack(stack()) == outcome


def test_an_unreported_error_is_lost_data_and_a_reported_one_a_refusal() -> None:
    for kind, outcome in ((HonestStack, Outcome.REFUSED), (ErrorSwallower, Outcome.LOST)):
        stack = kind()
        stack.bad = {"k007"}
        _, findings = run_and_judge_stack(stack)
        assert {one.key: one.outcome for one in findings}["k007"] == outcome
        assert sum(one.outcome != Outcome.CORRECT for one in findings) == 1


def test_a_transaction_in_flight_may_be_present_or_absent() -> None:
    stack = HonestStack()
    stack.crash = stack.write_transaction  # type: ignore[assignment, method-assign]
    assert find_worst_outcome_of_stack(stack) == Outcome.CORRECT


def test_a_file_write_in_flight_may_be_torn_but_not_contain_another_file() -> None:
    ledger = Ledger(SECTORS, atomic=False)
    old, new = make_object_value("f0.0", 1, SECTORS), make_object_value("f0.0", 2, SECTORS)
    ledger.begin_transaction(1, {"f0.0": 1})
    ledger.acknowledge_transaction(1)
    ledger.begin_transaction(2, {"f0.0": 2})
    torn = new[:SECTOR] + old[SECTOR:]
    assert ledger.judge_read_of_object("f0.0", torn).outcome == Outcome.CORRECT
    foreign = make_object_value("f0.1", 1, SECTORS)[:SECTOR] + old[SECTOR:]
    assert ledger.judge_read_of_object("f0.0", foreign).outcome == Outcome.WRONG
    ledger.acknowledge_transaction(2)
    assert ledger.judge_read_of_object("f0.0", torn).outcome == Outcome.LOST
    assert ledger.judge_read_of_object("f0.0", None).outcome == Outcome.LOST
    assert ledger.judge_read_of_object("f0.0", b"").outcome == Outcome.LOST


def test_a_failed_write_leaves_the_old_or_the_new_version() -> None:
    ledger = Ledger(SECTORS, atomic=True)
    ledger.begin_transaction(1, {"a": 1})
    ledger.acknowledge_transaction(1)
    ledger.begin_transaction(2, {"a": 2})
    ledger.note_failed_transaction(2, "EIO")
    for version in (1, 2):
        found = ledger.judge_all_reads({"a": make_object_value("a", version, SECTORS)})
        assert worst_outcome(one.outcome for one in found) == Outcome.CORRECT
    assert judge_matrix_cell(found, len(ledger.refused_writes), detected=False) == Outcome.REFUSED


def test_approximate_data_may_have_a_few_flipped_bits() -> None:
    ledger = Ledger(SECTORS, atomic=False, approximate=frozenset({"a"}))
    for key in ("a", "b"):
        ledger.begin_transaction(1, {key: 1})
        ledger.acknowledge_transaction(1)
    for key, outcome in (("a", Outcome.CORRECT), ("b", Outcome.WRONG)):
        value = make_object_value(key, 1, SECTORS)
        flipped = bytes(byte ^ (at % 97 == 0) for at, byte in enumerate(value))
        assert ledger.judge_read_of_object(key, flipped).outcome == outcome
    noise = random.Random(1).randbytes(SECTORS * SECTOR)
    assert ledger.judge_read_of_object("a", noise).outcome == Outcome.WRONG


def test_correct_data_after_a_reported_error_count_as_recovered() -> None:
    assert judge_matrix_cell([], 0, detected=False) == Outcome.CORRECT
    assert judge_matrix_cell([], 0, detected=True) == Outcome.RECOVERED
    assert judge_matrix_cell([Finding("a", Outcome.LOST)], 3, detected=True) == Outcome.LOST


def test_transactions_must_be_acknowledged_in_order() -> None:
    ledger = Ledger(SECTORS, atomic=True)
    ledger.begin_transaction(1, {"a": 1})
    with pytest.raises(ValueError, match="transaction 2"):
        ledger.acknowledge_transaction(2)


@given(st.text("abc0.", min_size=1, max_size=12), st.integers(0, 1 << 40), st.integers(1, 8))
def test_each_sector_of_a_value_names_its_object_and_version(key: str, version: int,
                                                             sectors: int) -> None:
    value = make_object_value(key, version, sectors)
    for number in range(sectors):
        sector = value[number * SECTOR:(number + 1) * SECTOR]
        assert identify_sector(sector) == (key, number, version)
        broken = bytes([sector[0] ^ 1]) + sector[1:]
        assert identify_sector(broken) is None
    assert "garbage" in describe_content_of_object(b"\1" * SECTOR)
    assert "zero" in describe_content_of_object(bytes(SECTOR))
