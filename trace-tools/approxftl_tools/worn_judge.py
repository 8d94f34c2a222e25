# SPDX-License-Identifier: GPL-2.0-only
"""The judge of approxftl worn: which bytes a file system or database may return.

A workload writes self-identifying values in transactions. The ledger records when each transaction
began, was acknowledged (fsync or commit returned success) or failed. After the device has failed,
each object is read and the answer is compared with the versions that the ledger allows.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SECTOR = 512
HEADER = struct.Struct("<8s16sIIQ")
MAGIC = b"AFTLWORN"
#: Largest share of flipped bits in approximate data.
FLIPPED_SHARE = 0.02


class Outcome(StrEnum):
    """The outcomes of reading an object through a storage stack, from good to bad."""

    CORRECT = "correct"
    RECOVERED = "detected and recovered"
    REFUSED = "detected and refused"
    LOST = "data lost after a successful fsync"
    WRONG = "wrong data returned"
    HUNG = "hung"
    CRASHED = "crashed"

    @property
    def rank_of_outcome(self) -> int:
        """Return the rank of the outcome, from good to bad."""
        return list(Outcome).index(self)


@dataclass(frozen=True)
class Refused:
    """The answer to a read for which the storage stack returned an error."""

    why: str


#: What a read returned: bytes, an error, or None if the stack says that there is no such object.
Answer = bytes | Refused | None


def make_object_value(key: str, version: int, sectors: int) -> bytes:
    """Return the content of an object's version: each sector has object, number and version."""
    value = b""
    for number in range(sectors):
        head = HEADER.pack(MAGIC, key.encode(), number, sectors, version)
        filler = zlib.crc32(head).to_bytes(4, "little") * (SECTOR // 4)
        body = head + filler[:SECTOR - len(head) - 4]
        value += body + zlib.crc32(body).to_bytes(4, "little")
    return value


def identify_sector(sector: bytes) -> tuple[str, int, int] | None:
    """Return object key, sector number and version that an intact sector stores."""
    if len(sector) != SECTOR or zlib.crc32(sector[:-4]).to_bytes(4, "little") != sector[-4:]:
        return None
    magic, key, number, _, version = HEADER.unpack_from(sector)
    return (key.rstrip(b"\0").decode(), number, version) if magic == MAGIC else None


def describe_content_of_object(value: bytes) -> str:
    """Describe the content of an object's value in a message."""
    if not value.strip(b"\0"):
        return f"{len(value)} zero bytes"
    found = [identify_sector(value[at:at + SECTOR]) for at in range(0, len(value), SECTOR)]
    named = Counter(f"version {one[2]} of {one[0]} (sector {one[1]})" if one else "garbage"
                    for one in found)
    return ", ".join(list(named)[:3])


def count_flipped_bits(left: bytes, right: bytes) -> int:
    """Return the number of bits in which two values of equal length differ."""
    return (int.from_bytes(left, "little") ^ int.from_bytes(right, "little")).bit_count()


@dataclass
class Transaction:
    """Versions of objects that one transaction writes, and the transaction's last status."""

    number: int
    versions: Mapping[str, int]
    status: str = "begun"


@dataclass(frozen=True)
class Finding:
    """The outcome of one read of an object, with a description of what the read returned."""

    key: str
    outcome: Outcome
    detail: str = ""


@dataclass
class Ledger:
    """The ledger of what the workload wrote, and which transactions were acknowledged as durable.

    With `atomic` a transaction that was not acknowledged must be there as a whole or not at all.
    """

    sectors: int
    atomic: bool
    approximate: frozenset[str] = frozenset()
    transactions: list[Transaction] = field(default_factory=list)
    refused_writes: list[str] = field(default_factory=list)

    def begin_transaction(self, number: int, versions: Mapping[str, int]) -> None:
        """Record that the workload is about to write versions of objects."""
        self.transactions.append(Transaction(number, dict(versions)))

    def _get_running_transaction(self, number: int) -> Transaction:
        last = self.transactions[-1] if self.transactions else None
        if last is None or last.number != number:
            raise ValueError(f"transaction {number} ended and is not the last one")
        return last

    def acknowledge_transaction(self, number: int) -> None:
        """Record that fsync or commit returned success."""
        self._get_running_transaction(number).status = "durable"

    def note_failed_transaction(self, number: int, why: str) -> None:
        """Record that the stack reported an error to the writer."""
        self._get_running_transaction(number).status = "failed"
        self.refused_writes.append(f"transaction {number}: {why}")

    def object_names(self) -> list[str]:
        """Return all objects that the workload wrote or attempted to write."""
        return list(dict.fromkeys(key for one in self.transactions for key in one.versions))

    def count_acknowledged_transactions(self) -> int:
        """Return the number of acknowledged transactions."""
        return sum(one.status == "durable" for one in self.transactions)

    def find_acknowledged_version(self, key: str) -> int | None:
        """Return the last acknowledged version of an object."""
        return next((one.versions[key] for one in reversed(self.transactions)
                     if one.status == "durable" and key in one.versions), None)

    def list_allowed_versions_of_object(self, key: str) -> list[int | None]:
        """Return the versions of an object that a read may return; None if it may be absent."""
        allowed: list[int | None] = []
        for one in reversed(self.transactions):
            if key not in one.versions:
                continue
            allowed.append(one.versions[key])
            if one.status == "durable":
                return allowed
        return [*allowed, None]

    def _judge_content_of_object(self, key: str, value: bytes) -> Finding:
        allowed = self.list_allowed_versions_of_object(key)
        known = [one for one in allowed if one is not None]
        expected = [make_object_value(key, one, self.sectors) for one in known]
        if value in expected:
            return Finding(key, Outcome.CORRECT)
        if key in self.approximate and len(value) == self.sectors * SECTOR:
            flips = min(count_flipped_bits(value, one) for one in expected)
            if flips <= FLIPPED_SHARE * 8 * len(value):
                return Finding(key, Outcome.CORRECT, f"{flips} flipped bits, as the tag allows")
        found = [identify_sector(value[at:at + SECTOR]) for at in range(0, len(value), SECTOR)]
        ours = [one for at, one in enumerate(found) if one and one[:2] == (key, at)]
        told = describe_content_of_object(value)
        wanted = " or ".join("absent" if one is None else f"version {one}" for one in allowed)
        if len(ours) == len(found) == self.sectors:
            if not self.atomic and all(one[2] in allowed for one in ours):
                return Finding(key, Outcome.CORRECT, f"torn write in flight: {told}")
            newest = self.find_acknowledged_version(key)
            if newest is not None and any(one[2] < newest for one in ours):
                return Finding(key, Outcome.LOST, f"stale: {told}; allowed: {wanted}")
        if not value.strip(b"\0"):
            if not self.atomic and None in allowed:
                return Finding(key, Outcome.CORRECT, "never acknowledged")
            if len(value) in (0, self.sectors * SECTOR):
                return Finding(key, Outcome.LOST, f"{told}; allowed: {wanted}")
        return Finding(key, Outcome.WRONG, f"{told}; allowed: {wanted}")

    def judge_read_of_object(self, key: str, answer: Answer) -> Finding:
        """Judge the answer to the read of one object."""
        if isinstance(answer, Refused):
            return Finding(key, Outcome.REFUSED, answer.why)
        if answer is not None:
            return self._judge_content_of_object(key, answer)
        allowed = self.list_allowed_versions_of_object(key)
        if None in allowed:
            return Finding(key, Outcome.CORRECT, "never acknowledged")
        return Finding(key, Outcome.LOST, f"absent; acknowledged: version {allowed[-1]}")

    def _judge_atomicity(self, answers: Mapping[str, Answer]) -> Iterable[Finding]:
        """Yield a finding if a transaction that was not acknowledged was stored in part."""
        for position, one in enumerate(self.transactions):
            later = {key for other in self.transactions[position + 1:] for key in other.versions}
            values = [answers.get(key) for key in one.versions if key not in later]
            if one.status == "durable" or any(isinstance(value, Refused) for value in values):
                continue
            present = {value == make_object_value(key, one.versions[key], self.sectors)
                       for key, value in answers.items()
                       if key in one.versions and key not in later}
            if len(present) > 1:
                yield Finding(f"transaction {one.number}", Outcome.WRONG,
                              "a transaction that was not acknowledged is there in part")

    def judge_all_reads(self, answers: Mapping[str, Answer]) -> list[Finding]:
        """Judge a read of all objects; an object without an answer counts as absent."""
        findings = [self.judge_read_of_object(key, answers.get(key)) for key in self.object_names()]
        return findings + (list(self._judge_atomicity(answers)) if self.atomic else [])


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of several outcomes of reads; "correct" if there are none."""
    return max(outcomes, key=lambda one: one.rank_of_outcome, default=Outcome.CORRECT)


def judge_matrix_cell(findings: Iterable[Finding], refused_writes: int, detected: bool) -> Outcome:
    """Return the outcome of a cell (a storage stack with a fault scenario) from all its reads.

    `detected` is true if the kernel log or the storage stack's counters show an error.
    """
    worst = worst_outcome(one.outcome for one in findings)
    if worst == Outcome.CORRECT and refused_writes:
        return Outcome.REFUSED
    if worst == Outcome.CORRECT and detected:
        return Outcome.RECOVERED
    return worst
