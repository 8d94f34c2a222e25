# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the papers that the models must reproduce; all are computed, none is stored."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from aftl_physics import program_time, reprogram_code, tvr


@dataclass(frozen=True)
class Claim:
    """One comparison; `verdict` is "pass" or "fail"."""

    id: str
    what: str
    paper: str
    ours: str
    tolerance: str
    verdict: str

    def as_dict(self) -> dict[str, str]:
        """Return the claim as a JSON object."""
        return asdict(self)


def _claim(id_: str, what: str, paper: str, ours: str, tolerance: str, holds: bool) -> Claim:
    return Claim(id_, what, paper, ours, tolerance, "pass" if holds else "fail")


def _close_claim(ours: Sequence[float], paper: Sequence[float], tolerance: float) -> bool:
    pairs = zip(ours, paper, strict=True)
    return all(abs(a - b) <= tolerance for a, b in pairs)


def _format_list(values: Sequence[float], digits: int) -> str:
    return " ".join(f"{v:.{digits}f}" for v in values)


def check_tvr_margins() -> Claim:
    """Check TVR's margins."""
    paper = (1.40, 0.36, 0.34, 0.34, 0.36, 0.36)
    ours = tvr.half_widths()
    return _claim("TV-1", "TVR half widths D0..D5 in V for sigma 0.4217 / 0.1085",
                  _format_list(paper, 2),
                  _format_list(ours, 4), "+-0.005 V", _close_claim(ours, paper, 0.005))


def check_tvr_steps() -> Claim:
    """Check TVR's step counts."""
    full, bare = tvr.ispp_steps(1.0), tvr.ispp_steps(0.0)
    saving = 1.0 - sum(bare) / sum(full)
    ours = f"{full[0]}/{full[1]} -> {bare[0]}/{bare[1]}, time -{100 * saving:.1f} %"
    holds = full == (22, 16) and bare == (11, 8)
    return _claim("TV-2", "TVR ISPP steps MSB/LSB with and without margins",
                  "22/16 -> 11/8, time -50.0 %", ours, "exact", holds)


def check_tvr_endurance() -> Claim:
    """Check TVR's endurance."""
    full, bare = tvr.endurance_cycles(1.0), tvr.endurance_cycles(0.0)
    gain = 100 * (bare / full - 1)
    paper = 100 * (tvr.PAPER_LIFE[1] / tvr.PAPER_LIFE[0] - 1)
    return _claim("TV-3", "TVR endurance (eq 8) in 1e5 cycles, and gain",
                  f"{tvr.PAPER_LIFE[0]} -> {tvr.PAPER_LIFE[1]}, +{paper:.2f} %",
                  f"{full:.3f} -> {bare:.3f}, +{gain:.2f} %", "+-0.3 points",
                  abs(gain - paper) <= 0.3 and _close_claim((full, bare), tvr.PAPER_LIFE, 0.3))


def check_tvr_program_time() -> Claim:
    """Check TVR's program time by state."""
    times = tvr.state_program_ns()
    ours = [t / times[0] for t in times]
    paper = (1.0, 1.155, 1.23, 1.31)
    return _claim("TV-4", "TVR program time by final state relative to S0", _format_list(paper, 3),
                  _format_list(ours, 3), "exact", _close_claim(ours, paper, 1e-9))


def _decodes_uniquely() -> bool:
    try:
        return len(reprogram_code.decode_table()) == 6
    except ValueError:
        return False


def check_ressd_encodings() -> Claim:
    """Check ReSSD's encodings."""
    paths = reprogram_code.all_cell_histories()
    rising = sum(list(p.states) == sorted(p.states) for p in paths)
    gray = sum(reprogram_code.is_gray(c) for c in reprogram_code.all_encodings().values())
    unique = _decodes_uniquely()
    ours = f"{rising} of {len(paths)} paths rise, {gray} of 7 codes Gray, " + (
        "unique decode" if unique else "ambiguous decode")
    holds = rising == len(paths) == 64 and gray == 7 and unique
    return _claim("RE-1", "ReSSD encodings: 64 paths monotone, Gray, (RPCnt, ID) decodes",
                  "64 of 64 paths rise, 7 of 7 codes Gray, unique decode", ours, "exact", holds)


def check_ressd_metadata() -> Claim:
    """Check the size of ReSSD's metadata."""
    ours = f"{reprogram_code.metadata_bytes() / 2**20:.2f} MiB"
    return _claim("RE-4", "ReSSD metadata of the 576 GiB device", "9.41 MiB", ours, "exact",
                  ours == "9.41 MiB")


def check_cube_loops() -> Claim:
    """Check cubeFTL's loop model."""
    leader = program_time.cube_program_ns(0, False)
    skip = 100 * (1 - program_time.cube_program_ns(0, True) / leader)
    both = 100 * (1 - program_time.cube_program_ns(3, True) / leader)
    holds = abs(leader - 700_000) <= 1 and abs(skip - 16.2) <= 1 and 30.0 <= both <= 34.0
    return _claim("CU-1", "cubeFTL leader tPROG, verify skip alone, and with three loops removed",
                  "700 us, -16.2 %, -31..-33 %",
                  f"{leader / 1000:.1f} us, -{skip:.1f} %, -{both:.1f} %", "+-1 point", holds)


def check_agcr_coupling() -> Claim:
    """Check AGCR's coupling of write and read costs."""
    writes = [ns // 1000 for ns in program_time.AGCR_WRITE_NS]
    reads = [program_time.agcr_read_ns(cost) // 1000 for cost in range(3)]
    holds = writes == [450, 600, 800] and reads == [310, 170, 70]
    return _claim("AG-1", "AGCR L/M/H writes give H/M/L reads, in us", "450 600 800 -> 310 170 70",
                  f"{_format_list(writes, 0)} -> {_format_list(reads, 0)}", "exact", holds)


def evaluate_claims() -> list[Claim]:
    """Return all claims, evaluated."""
    return [check_tvr_margins(), check_tvr_steps(), check_tvr_endurance(), check_tvr_program_time(),
            check_ressd_encodings(), check_ressd_metadata(), check_cube_loops(),
            check_agcr_coupling()]
