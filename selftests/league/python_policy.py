# SPDX-License-Identifier: GPL-2.0-only
"""Run approxftl sim with a policy in Python: python_policy.py --policy=FILE.py ARGUMENT...

FILE.py has a variable `policy`, an approxftl.Policy. The output is the JSON of approxftl sim.
"""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "userspace/python"), str(TOP / "trace-tools")]

from approxftl import Policy, simulate  # noqa: E402
from approxftl_tools.study_engine import OWN  # noqa: E402


def load_python_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not spec or not spec.loader:
        raise ImportError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_policy_of_file(path: Path) -> Policy:
    """Return the variable `policy` of a Python file."""
    found = getattr(load_python_file(path), "policy", None)
    if not isinstance(found, Policy):
        raise TypeError(f"{path}: has no variable policy that is an approxftl.Policy")
    return found


def simulate_with_python_policy(arguments: Sequence[str]) -> str:
    """Return the JSON of a run, with the policy that the file of --policy defines."""
    options: dict[str, Any] = {}
    for word in arguments:
        key, is_set, value = word.removeprefix("--").partition("=")
        if word not in OWN:
            options[key.replace("-", "_")] = value if is_set else True
    policy = load_policy_of_file(Path(str(options.pop("policy"))))
    return simulate(keep_requests=False, policy=policy, **options).json


def main() -> int:
    """Print the JSON, or the reason why there is none as one line."""
    try:
        print(simulate_with_python_policy(sys.argv[1:]))
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
