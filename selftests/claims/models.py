# SPDX-License-Identifier: GPL-2.0-only
"""Claims about the physics models."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from selftests.claims.rows import Claim

TOP = Path(__file__).resolve().parents[2]
PHYSICS = TOP / "userspace/physics"
PHYSICS_IDS = ("AG-1", "CU-1", "RE-1", "RE-4", "TV-1", "TV-2", "TV-3", "TV-4")
MODELS = """
import sys
from aftl_physics import __main__, program_time, reprogram_code, tvr
exec(sys.argv.pop(1))
sys.exit(__main__.main())
"""


@functools.cache
def physics(false: str = "") -> dict[str, Claim]:
    """Run the claims of the physics models, after an assignment that falsifies them if given."""
    done = subprocess.run(
        [sys.executable, "-c", MODELS, false, "claims", "--json"],
        env=os.environ | {"PYTHONPATH": str(PHYSICS)},
        capture_output=True, text=True, check=False,
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return {item["id"]: Claim(**item) for item in json.loads(done.stdout)}


#: Claims that hold by construction: the models return their inputs.
INPUTS = ("AG-1", "TV-4")


def model(id_: str, false: str = "") -> Claim:
    """Return one claim of the physics models."""
    found = physics(false)[id_]
    given = id_ in INPUTS and found.verdict == "pass"
    return replace(found, verdict="identity") if given else found


def of_physics(id_: str) -> Callable[[], list[Claim]]:
    """Return the claim function for one claim of the physics models."""
    return lambda: [model(id_)]
