# SPDX-License-Identifier: GPL-2.0-only
"""Test policies in shared objects: their compilation, runs, and each reason of refusal."""

import shutil
from pathlib import Path

import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import compile_policy, run_approxftl, run_sim

SOURCE = TOP / "docs/examples/survivors.c"
LOAD = ("--fill", "random", "--workload", "zipf", "--write-share", "100%", "--requests", "20000")


def read_refusal_message(*arguments: str | Path) -> str:
    """Return the error message of a run that must be refused."""
    done = run_approxftl("sim", *arguments, "--requests", "1")
    assert done.code == 2, done.err
    assert len(done.err.splitlines()) == 1
    return done.err


STEADY = ("--workload", "zipf", "--write-share", "100%", "--requests", "20000")


@pytest.mark.parametrize("load", [LOAD, STEADY, (*STEADY, "--raid", "5", "--members", "3")])
def test_a_compiled_policy_gives_the_results_of_the_equal_built_in_policy(
        tmp_path: Path, load: tuple[str, ...]) -> None:
    made = compile_policy(tmp_path, SOURCE.read_text())
    runs = run_sim(*load, "--policy", f"separated,{made}", "--verify")["runs"]
    assert [one.pop("policy") for one in runs] == ["separated", "survivors"]
    assert runs[0]["digest"] == runs[1]["digest"]
    assert runs[0]["counters"] == runs[1]["counters"]
    assert runs[0]["counters"]["gc_blocks"] > 0
    baseline = run_sim(*load, "--policy", "baseline")["runs"][0]
    assert baseline["digest"] != runs[0]["digest"]


def test_a_missing_policy_object_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing.so"
    assert f"cannot read {missing}"[:90] in read_refusal_message("--policy", missing)
    assert "No such file" in read_refusal_message("--policy", "./missing.so")
    assert "Is a directory" in read_refusal_message("--policy", "./")


def test_a_file_that_is_no_shared_object_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "mine.so"
    text.write_text("no object at all\n" * 100)
    assert "invalid ELF header; compile it with" in read_refusal_message("--policy", text)


EDITS = [
    ("AFTL_EXPORT_POLICY(survivors);", "extern int none; int none;\nconst void *use = &survivors;",
     "exports no policy; add AFTL_EXPORT_POLICY()"),
    ('"survivors"', '"vth_b"', "a built-in policy has the name vth_b, too; choose another"),
    ("(void)policy;", "extern int not_there(void *);\n\tnot_there(policy);",
     "undefined symbol: not_there; call only functions of core/policy"),
    ("enum {", "#undef AFTL_POLICY_ABI\n#define AFTL_POLICY_ABI 999\nenum {",
     "it has version 999 of the contract, this program has 1; compile it with"),
    ('.about = "page mapping, relocated data in blocks of its own",', "",
     "the policy is incomplete; set name, about,"),
    (".fill_run = aftl_fill_to_block_end,",
     ".params = { &(const struct aftl_param_group){ .count = 0 } },",
     "only built-in policies can declare parameters"),
    ("AFTL_EXPORT_POLICY(survivors);",
     "extern const struct aftl_policy_object aftl_exported_policy;\n"
     "const struct aftl_policy_object aftl_exported_policy = { .abi = 1, .type = &survivors };",
     "its structures have other sizes"),
]


@pytest.mark.parametrize(("old", "new", "message"), EDITS, ids=[edit[2][:30] for edit in EDITS])
def test_wrong_policy_objects_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str,
                                          new: str,
                                          message: str) -> None:
    text = SOURCE.read_text()
    assert old in text
    compile_policy(tmp_path, text.replace(old, new))
    monkeypatch.chdir(tmp_path)
    assert message in read_refusal_message("--policy", "./mine.so")


def test_two_policies_with_one_name_are_refused(tmp_path: Path) -> None:
    made = compile_policy(tmp_path, SOURCE.read_text())
    copy = shutil.copy(made, tmp_path / "copy.so")
    assert "survivors is there twice" in read_refusal_message("--policy", f"{made},{copy}")


def test_a_device_with_a_policy_object_is_not_saved(tmp_path: Path) -> None:
    made = compile_policy(tmp_path, SOURCE.read_text())
    assert "--dump saves" in read_refusal_message("--policy", made, "--dump", tmp_path / "device")
    assert "--change saves" in read_refusal_message("--policy", made, "--change", "1:gc=9")
    assert not (tmp_path / "device").exists()
