# SPDX-License-Identifier: GPL-2.0-only
"""Decide whether the output of tests in a virtual machine shows that they caught a mutant."""

#: How approxftl-lab ends after its --timeout, and if it cannot build the module or boot.
TIMED_OUT = 124
UNSTARTED = 125
#: How the name of a test's failed point begins if KTAP_POINTS selects no point.
NO_POINT = ": no point has '"
#: The points that each test has at its end
ALWAYS_RUN = (": every device can be removed", ": the kernel's log is clean")


class UntriedError(Exception):
    """Raised for a mutant whose test cannot run on this machine; the message is the reason."""


def judge_kernel_test(status: int, said: str, point: str) -> tuple[bool, str]:
    """Return whether tests caught a mutant, and which tests failed or why the mutant survived.

    Raise UntriedError if the tests skipped every point with POINT in its name.
    """
    lines = said.splitlines()
    failed = [line for line in lines if line.startswith("not ok")]
    passed = [line for line in lines if line.startswith("ok ") and point in line
              and not line.endswith(ALWAYS_RUN)]
    skipped = [line for line in passed if " # SKIP " in line]
    if status == TIMED_OUT and "KTAP version" in said:
        return True, "the test hangs"
    if status == UNSTARTED or not any(word in said for word in ("ok ", "Kernel panic", "BUG:")):
        return False, "no test ran:\n" + said[-2000:]
    if skipped and skipped == passed and all(NO_POINT in line for line in failed):
        raise UntriedError("; ".join(skipped[:2]))
    if NO_POINT in said:
        return False, f"the test has no point with {point!r} in its name"
    if not failed and status == 0:
        return False, "; ".join(["all points passed", *skipped[:2]])
    return True, "; ".join(failed[:2]) or f"the guest died: {status}"
