# SPDX-License-Identifier: GPL-2.0-only
"""Negative controls: for each row that is tested, a falsified setting in which it must fail.

A control appends an argument to each run, assigns a constant in the physics models, or builds the
program with a mutant of selftests/mutants. A row that still holds then would hold whatever the code
did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from selftests.claims.claims import (
    CLAIMS,
    OWN,
    Judged,
    judge_claim_results,
    measure_and_judge_claim,
    measure_claim_without_paper,
)
from selftests.claims.models import measure_falsified_claim
from selftests.claims.register import TESTED, is_verdict_worse_than
from selftests.claims.rows import Claim
from selftests.claims.runs import falsified_settings

HYBRID_OFF = "--hybrid_approx off --hybrid_cube off --hybrid_agcr off --hybrid_tvr off " \
    "--hybrid_ressd off"


@dataclass(frozen=True)
class Control:
    """A falsified setting, and the rows (from 0) of one claim that must fail under the setting."""

    id: str
    rows: tuple[int, ...]
    false: str
    arguments: str = ""
    mutant: str = ""
    constant: str = ""
    #: Options of `approxftl synth`.
    streams: str = ""

    @property
    def describe_falsified_setting(self) -> str:
        return self.arguments or self.constant or self.streams or f"mutant {self.mutant}"

    def measure_claim_under_falsification(self) -> list[Judged] | list[Claim]:
        """Return all rows of the claim under a falsified setting."""
        if self.constant:
            return judge_claim_results(self.id, measure_falsified_claim(self.id, self.constant))
        mutants = (f"core/{self.mutant}",) if self.mutant else ()
        words, made_by = self.arguments.split(), self.streams.split()
        options = zip(words[::2], words[1::2], strict=True)
        with falsified_settings(tuple(f"{key}={value}" for key, value in options), mutants,
                                dict(zip(made_by[::2], made_by[1::2], strict=True))):
            return judge_claim_results(self.id,
                                       CLAIMS[self.id]()) if self.id in CLAIMS else OWN[self.id]()

    def find_claim_rows_held_despite_falsification(self) -> list[Judged | Claim]:
        found = self.measure_claim_under_falsification()
        return [found[i] for i in self.rows if is_claim_row_confirmed(found[i])]


def is_claim_row_confirmed(row: Judged | Claim) -> bool:
    """Tell whether a row passes, or has a verdict at least as good as the register's verdict."""
    if isinstance(row, Claim):
        return row.verdict != "fail"
    return not is_verdict_worse_than(row.verdict, row.entry.verdict)


def format_claim_row(row: Judged | Claim) -> str:
    """Return the statement of a claim's row, and the values that we measured for it."""
    return f"{row.what}: {row.ours}" if isinstance(row, Claim) else (
        f"{row.entry.says}: {row.ours.shown}")


CONTROLS = (
    Control("AX-1", (1,), "used phase-2 blocks are no checkerboards",
            mutant="approx-phase-2-stays-phase-2"),
    Control("AX-2", (0,), "precise data goes to any place of a checkerboard",
            mutant="approx-checkerboard-of-precise"),
    Control("AX-3", (0,), "coarse steps save less", "--program_coarse 500us"),
    Control("AX-3", (1,), "a lower top voltage saves less", "--program_reduced 490us"),
    Control("AX-3", (2,), "phase 2 saves nothing", "--program_after 700us"),
    Control("AX-3", (3,), "tags come in runs", "--approx-run 64"),
    Control("AX-3", (4,), "tags come in short runs", "--approx-run 8"),
    Control("AX-4", (0, 1, 2), "placement makes no precise page faster",
            "--program_between 700us --program_after 700us"),
    Control("AX-5", (0, 1), "no program is faster",
            "--program_reduced 700us --program_between 700us --program_after 700us"),
    Control("AX-5", (4,), "a die serves requests in turn", "--order fcfs"),
    Control("AX-5", (2,), "what skips ECC is read sooner", "--ecc 20us"),
    Control("AX-6", (1,), "a gentle erase wears as others", "--wear_low 100%"),
    Control("AX-7", (2, 3, 4, 5), "approximate programs take as long",
            "--program_reduced 700us --program_between 700us --program_after 700us"),
    Control("AX-8", (1,), "the threshold is not heard", "--promote 4"),
    Control("AX-9", (1, 2), "open blocks are a tenth of a LUN", "--blocks 128"),
    Control("AX-10", (0, 2), "a hundred times as many bits flip", "--rber_approx 0.072"),
    Control("AX-11", (0,), "approximate neighbours disturb as others",
            constant="cell.VMAX_APPROX_V = 8.0"),
    Control("AX-11", (2,), "4 bits of 1080 bytes are corrected",
            constant="sys.modules[find_corrected_rber.__module__].MLC_CODE = (4, 8640)"),
    Control("AX-11", (3,), "80 bits of 1 KB are corrected",
            constant="sys.modules[find_corrected_rber.__module__].MLC_CODE = (80, 8192)"),
    Control("AX-12", (0,), "most writes go to a twentieth of a small device",
            "--hot-share 95% --hot-range 5% --blocks 128 --channels 1 --word_lines 4"),
    Control("AX-13", (0, 1), "approximate programs take as long", "--program_reduced 700us"),
    Control("AX-14", (1,), "a lower top voltage saves less", "--program_reduced 490us"),
    Control("AX-14", (3,), "programs save little",
            "--program_reduced 600us --program_between 700us --program_after 700us"),
    Control("AX-14", (2,), "a gentle erase wears as others", "--wear_low 100%"),
    Control("AX-15", (0, 1), "precise data goes to any place of a checkerboard",
            mutant="approx-checkerboard-of-precise"),
    Control("AX-15", (2, 3, 4), "a block has one layer", "--layers 1"),
    Control("AX-16", (0,), "nothing is approximate", "--approx-share 0"),
    Control("AX-17", (0, 1, 2, 3, 5, 10, 11, 14, 15), "no program is faster",
            "--program_reduced 700us --program_between 700us --program_after 700us"),
    Control("AX-17", (7,), "placement makes no precise page faster",
            "--program_between 700us --program_after 700us"),
    Control("AX-17", (8, 9), "a gentle erase wears as others", "--wear_low 100%"),
    Control("AX-18", (0,), "first pages keep their class", mutant="approx-flip-stays"),
    Control("AX-18", (1,), "copies are not counted", mutant="approx-copies-not-counted"),
    Control("AX-18", (2,), "a block has one layer", "--layers 1"),
    Control("AX-T", (0, 1, 2, 5, 6), "no program is faster",
            "--program_reduced 700us --program_between 700us --program_after 700us"),
    Control("AX-T", (3,), "a gentle erase wears as others", "--wear_low 100%"),
    Control("AX-A", (4,), "the wear rule does nothing", mutant="approx-no-wear-rule"),
    Control("AX-A", (5,), "approximate data is copied last", mutant="approx-precise-copied-first"),
    Control("AG-2", tuple(range(8)), "all costs are the medium one",
            "--program 600us --read 170us"),
    Control("AG-2", (5, 7), "what is worn has no more errors", "--cycles 2000"),
    Control("AG-4", (1, 3, 4), "coarse steps are slow", "--program_coarse 900us"),
    Control("AG-4", (0, 2), "nothing is written again", "--rewrite off"),
    Control("AG-5", (0,), "data is read 20 times, not 200", streams="reads-of-a-place 20"),
    Control("AG-5", (1,), "the rule is the other one, and data is read 20 times",
            "--rewrite any", streams="reads-of-a-place 20"),
    Control("AG-6", (0,), "the window is one, always", "--history 1"),
    Control("AG-7", (0,), "both devices have the policy", "--policy agcr"),
    Control("AG-8", (1,), "coarse steps are read at once", "--read_coarse 70us"),
    Control("AG-8", (2,), "li writes at low cost unless there is a queue", mutant="li-inverted"),
    Control("AG-9", (1,), "a low-cost write is slower", "--program_coarse 900us"),
    Control("AG-9", (2, 4), "high-cost writes make no read faster", "--read_fine 170us"),
    Control("AG-9", (5,), "data is read 20 times, not 200", streams="reads-of-a-place 20"),
    Control("CU-1", (2,), "a program has forty loops", constant="program_time.CUBE_LOOPS = 40"),
    Control("CU-2", (0, 1), "followers come before their leader", mutant="cube-follower-too-early"),
    Control("CU-3", (1,), "followers save a fifth", "--program_follower 560us"),
    Control("CU-4", (0, 1, 2), "the buffer never asks for followers", "--burst 100%"),
    Control("CU-6", (0, 3), "baseline reads old data at once", mutant="reads-free-without-a-table"),
    Control("CU-5", (1,), "vertFTL lowers no voltage", mutant="cube-vert-as-others"),
    Control("CU-6", (2, 5), "a block has one reference", mutant="cube-references-by-block"),
    Control("CU-7", (0,), "the device is old, always", "--cycles 2000 --age 365d"),
    Control("CU-7", (1,), "the device is new, always", "--cycles 0 --age 0"),
    Control("CU-7", (2,), "followers save nothing", "--program_follower 700us"),
    Control("CU-8", (0,), "the buffer never asks for followers", "--burst 100%"),
    Control("CU-9", (0, 1), "followers save nothing", "--program_follower 700us"),
    Control("CU-11", (1,), "followers save nothing", "--program_follower 700us"),
    Control("CU-12", (0, 4), "followers save nothing", "--program_follower 700us"),
    Control("CU-12", (1,), "vertFTL lowers no voltage", mutant="cube-vert-as-others"),
    Control("CU-12", (2, 3), "the device is new, always", "--cycles 0 --age 0"),
    Control("CU-13", (0,), "followers are programmed as soon as they can be", "--burst 0%"),
    Control("CU-10", (0,), "three times as many are bad", "--misprograms 0.003"),
    Control("TV-1", (0, 1, 2), "a tenth more spread", constant="tvr.SIGMA_PROGRAMMED_V = 0.12"),
    Control("TV-2", (0, 1), "larger steps", constant="tvr.STEP_V = 0.25"),
    Control("TV-2", (2,), "a wide erased state", constant="tvr.SIGMA_ERASED_V = 0.6"),
    Control("TV-3", (0, 1), "a smaller budget of errors", constant="tvr.ERROR_BUDGET = 5"),
    Control("TV-3", (3,), "the states are in the opposite order",
            constant="tvr.MEANS_V = (-1.67, 4.62, 3.23, 1.86)"),
    Control("TV-9", (0,), "half as many bits are corrected",
            constant="sys.modules[find_corrected_rber.__module__].MLC_CODE = (12, 8640)"),
    Control("TV-4", (3,), "the rest of the life changes nothing",
            constant="tvr.LATE_PROGRAM_DROP = 0"),
    Control("TV-4", (4,), "the states have unequal distances",
            constant="tvr.MEANS_V = (-1.67, 1.86, 2.9, 4.62)"),
    Control("TV-10", (2,), "wear adds no noise", constant="cell.LAPLACE_PER_SQRT_CYCLE_V = 0"),
    Control("TV-11", (0,), "the data of the states are no Gray code",
            constant="sys.modules[find_corrected_rber.__module__].TVR_DATA = (3, 2, 1, 0)"),
    Control("TV-5", (0, 1, 2, 3), "all margins are kept", "--tvr_margin 100%"),
    Control("TV-6", (3, 4), "all margins are kept", "--tvr_margin 100%"),
    Control("TV-8", (0, 1), "both pages take as long", "--program_fast 0"),
    Control("TV-8", (2,), "the slow page is slower", "--program 1300us"),
    Control("RE-1", (0, 1, 3, 5, 6, 7, 8), "cells may move back",
            constant="reprogram_code.highest_state_before_bit_update = lambda old, bit, target: 0"),
    Control("RE-1", (2, 4), "the first code is no Gray code",
            constant="reprogram_code.encodings_by_update_order = lambda codes=reprogram_code."
            "encodings_by_update_order(): codes | {reprogram_code.Code.INITIAL: (0, 1, 2, 3)}"),
    Control("RE-2", (0,), "a super layer is left early", mutant="ressd-advances-early"),
    Control("RE-4", (0,), "a byte for the state of a word line",
            constant="reprogram_code.WORD_LINE_STATUS_BITS = 8"),
    Control("RE-18", (0,), "30 bits of 1 KB are corrected",
            constant="sys.modules[find_corrected_rber.__module__].TLC_CODE = (30, 8192)"),
    Control("RE-21", (0,), "all layers are alike",
            constant="layers.layer_factors_q8 = lambda: [layers.UNIT] * layers.POINTS"),
    Control("RE-22", (0, 2, 3, 4, 5, 6, 7, 8), "super layers have four layers",
            "--super_layers 4"),
    Control("RE-22", (1,), "host data are programmed alone", mutant="ressd-moves-all-alone"),
    Control("RE-5", (0,), "14 % of spare space", "--op 14%"),
    Control("RE-5", (1,), "sixteen candidates", "--candidates 16"),
    Control("RE-6", (0, 1, 2, 3, 7, 8), "one candidate", "--candidates 1"),
    Control("RE-6", (10,), "one candidate", "--candidates 1"),
    Control("RE-6", (9,), "collection has much space", "--op 40%"),
    Control("RE-7", (0, 1), "neighbours are not hot together", "--active-extent 1"),
    Control("RE-8", (0, 1, 2, 3, 4, 5), "no super layer is virtual, ever", "--virtual_layers off"),
    Control("RE-9", (0,), "an hour is soon", "--zone3 7200s"),
    Control("RE-10", (0, 1), "one candidate", "--candidates 1"),
    Control("RE-11", (0,), "rows are held for ten seconds", "--stripe-hold 10s"),
    Control("RE-11", (1,), "rows are never held longer", "--stripe-hold 30ms"),
    Control("RE-12", (0,), "two bits take as long", "--program 3000us"),
    Control("RE-12", (2,), "three bits, always", "--bits 3"),
    Control("RE-12", (3,), "one candidate", "--candidates 1"),
    Control("RE-12", (4,), "two bits take as long", "--program 3000us --read 66us"),
    Control("RE-16", (0, 1, 2, 4), "super layers have two layers, always", "--super_layers 2"),
    Control("RE-16", (3, 5), "no super layer is virtual, ever", "--virtual_layers off"),
    Control("RE-17", (1,), "a twentieth of the writes is cold", "--active-others 5%"),
    Control("RE-17", (2, 3, 4, 5, 7), "one candidate", "--candidates 1"),
    Control("RE-17", (6,), "collection has much space", "--op 50%"),
    Control("RE-19", (0,), "collection has much space", "--op 40%"),
    Control("RE-19", (1, 2, 3, 4, 5, 6), "one candidate", "--candidates 1"),
    Control("RE-20", (0, 1, 2, 3), "one candidate", "--candidates 1"),
    Control("RE-20", (5, 6), "reads and writes of two bits take as long",
            "--read_mlc 132us --program_mlc 3400us --reprogram 3400us"),
    Control("RE-20", (10, 11, 12, 15), "an update is cold after a microsecond",
            "--zone1 1us --zone2 2us --zone3 3us"),
    Control("RE-15", (1,), "all reads take as long", "--read_mlc 66us --program_mlc 3400us"),
    Control("RE-13", (0, 1), "hot data lives for long", "--active-set 30%"),
    Control("DE-A", (1,), "no block is sparse", "--density_share 0"),
    Control("DE-A", (2,), "ApproxFTL is off, always", "--density_approx off"),
    Control("DE-A", (3,), "three bits, always", "--density_bits 3"),
    Control("PL-A", (1, 2), "nothing is lent, ever", "--ecc_lent 0"),
    Control("IP-A", (1,), "no word line is switched", "--ips_blocks 0"),
    Control("IP-A", (2,), "idle time moves nothing", "--ips_idle 0"),
    Control("IP-A", (3,), "idle time moves what is little", "--ips_idle 50%"),
    Control("IP-A", (6,), "ApproxFTL is off, always", "--ips_approx off"),
    Control("UP-1", (1,), "no program is faster, and ECC corrects all",
            "--program_reduced 1999us --program_between 2ms --program_after 2ms --ecc_bits 1000"),
    Control("UP-1", (2,), "nothing is lent, ever", "--ecc_lent 0"),
    Control("UP-1", (3,), "no block is sparse", "--density_share 0"),
    Control("UP-1", (4, 6), "ApproxFTL is off, always", "--density_approx off --ips_approx off"),
    Control("UP-1", (5,), "no word line is switched", "--ips_blocks 0"),
    Control("UP-2", (1,), "ECC corrects all at once", "--ecc_bits 1000"),
    Control("UP-2", (2, 5), "a lower top voltage saves nothing", "--program_reduced 1999us"),
    Control("UP-2", (3,), "coarse steps save nothing more", "--program_coarse 1999us"),
    Control("UP-2", (4,), "nothing is of level 2 or 3", "--level-2-share 0% --level-3-share 0%"),
    Control("HY-1", (0,), "data without margins, always", "--hybrid_tvr on"),
    Control("HY-1", (1,), "ApproxFTL is off, always", "--hybrid_approx off"),
    Control("HY-1", (2,), "cubeFTL is off, always", "--hybrid_cube off"),
    Control("HY-1", (3,), "AGCR is off, always", "--hybrid_agcr off"),
    Control("HY-1", (4,), "TVR is off, always", "--hybrid_tvr off"),
    Control("HY-1", (5,), "ReSSD is off, always", "--hybrid_ressd off"),
    Control("HY-2", (0,), "all parts are off, always", HYBRID_OFF),
    Control("HY-2", (1,), "ApproxFTL is off, always", "--hybrid_approx off"),
    Control("HY-2", (2,), "cubeFTL is off, always", "--hybrid_cube off"),
    Control("HY-2", (3,), "only ApproxFTL may be beside it",
            "--hybrid_cube off --hybrid_tvr off --hybrid_ressd off"),
    Control("HY-2", (4,), "TVR is off, always", "--hybrid_tvr off"),
    Control("HY-2", (5,), "ReSSD is off, always", "--hybrid_ressd off"),
    Control("HY-3", (5,), "cubeFTL is off, always: fewer parts are as good", "--hybrid_cube off"),
)


#: Claims whose rows compare a rule with its absence; they fail if both sides are equal.
SELF_CONTROLLED = ("AX-A", "AG-A", "CU-A", "TV-A", "RE-A")
#: Claims whose runs take 5 s of processor time or more.
LONG = ("AX-12", "AX-17", "AX-A", "CU-12", "CU-A", "TV-A", "RE-6", "RE-7", "RE-8", "RE-10",
        "RE-11", "RE-12", "RE-15", "RE-16", "RE-17", "RE-19", "RE-20", "HY-3")


def find_claim_rows_without_negative_control(id_: str) -> list[str]:
    """Return the tested rows of a claim for which no falsified setting is known."""
    have = {i for control in CONTROLS if control.id == id_ for i in control.rows}
    rows: list[Judged | Claim] = [*measure_and_judge_claim(id_)] if id_ in CLAIMS else [
        *measure_claim_without_paper(id_)]
    return [] if id_ in SELF_CONTROLLED else [
        format_claim_row(row) for i, row in enumerate(rows)
        if row.verdict in ("pass", *TESTED) and i not in have]


def choose_rotating_negative_controls(size: int, turn: int) -> list[Control]:
    """Return SIZE quick negative controls, which rotate as TURN, the number of commits, grows."""
    short = [control for control in CONTROLS if control.id not in LONG]
    return [short[(turn * size + i) % len(short)] for i in range(size)]


def run_negative_controls(ids: Sequence[str]) -> int:
    """Run claims under falsified settings; return 1 if a row holds or lacks such a setting."""
    held = 0
    for control in (control for control in CONTROLS if control.id in ids):
        still = control.find_claim_rows_held_despite_falsification()
        held += bool(still)
        rows = " ".join(str(i + 1) for i in control.rows)
        print(f"{control.id:6}{'HOLDS' if still else 'misses':8}row {rows:18}{control.false}: "
              f"{control.describe_falsified_setting}",
              *(f"\n{'':14}{format_claim_row(row)}" for row in still), flush=True)
    missing = [(id_, what) for id_ in ids for what in find_claim_rows_without_negative_control(id_)]
    for id_, what in missing:
        print(f"{id_:6}no control for: {what}")
    return 1 if held or missing else 0
