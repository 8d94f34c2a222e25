# SPDX-License-Identifier: GPL-2.0-only
"""Lists of the verbs of approxftl and of other programs, read from the programs' --help."""

import os
import re
from functools import cache

from selftests.lib.programs import BUILD, run_program

Words = tuple[str, ...]


def make_verb_command(words: Words) -> list[str]:
    """Return a command line that begins with the path of its program."""
    own = words[:1] and words[0].startswith("approx")
    return [str(BUILD / words[0]), *words[1:]] if own else [str(BUILD / "approxftl"), *words]


@cache
def run_help_of_verb(words: Words) -> str:
    """Return the output of a verb's --help."""
    done = run_program(*make_verb_command(words), "--help")
    assert (done.code, done.err) == (0, ""), words
    return done.out


def list_verbs_without_subverbs(words: Words = ()) -> list[Words]:
    """Return the verbs that have no subcommands."""
    told = run_help_of_verb(words)
    own = " ".join(("approxftl", *words))
    if not re.search(rf"^Usage: {own} (\[-h\] )?VERB\b", told, re.M):
        return [words]
    verbs = re.findall(r"^ {2,4}([a-z]+) {1,}[A-Za-z\"]", told, re.M)
    assert len(verbs) > 2, told
    return [leaf for verb in dict.fromkeys(verbs)
            for leaf in list_verbs_without_subverbs((*words, verb))]


@cache
def list_verbs_and_programs() -> list[Words]:
    """Return all verbs, and all programs that are no verbs."""
    verbs = list_verbs_without_subverbs()
    found = {path.name for path in BUILD.glob("approx*") if os.access(path, os.X_OK)}
    first = {f"approxftl-{words[0]}" for words in verbs}
    return [*verbs, *((name,) for name in sorted(found - first - {"approxftl"}))]
