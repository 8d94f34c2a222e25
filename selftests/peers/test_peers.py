# SPDX-License-Identifier: GPL-2.0-only
"""Test how MQSim's files are read and, with PEERS=DIR, that known causes explain differences."""

import os
from pathlib import Path

import pytest
from selftests.peers import peers

RESULT = """<Write_Request_Count>30</Write_Request_Count>
<SSDDevice.FTL Issued_Flash_Program_CMD="50" Issued_Flash_Multiplane_Program_CMD="4"
 Issued_Flash_Erase_CMD="3" Average_Page_Movement_For_GC="-nan"/>"""
LOG = "Time Response Delay\n" + "".join(f"{1000 + 10 * i} {i + 1} 0\n" for i in range(100))


def test_results_of_mqsim_are_read() -> None:
    assert peers.read_mqsim_results(RESULT, LOG) == {
        "writes": 30, "programs": 58, "erases": 3, "mean_us": 50.5, "p99_us": 100,
        "iops": pytest.approx(100 / 991e-6)}


def test_xml_elements_are_changed_or_reported_missing() -> None:
    assert peers.set_xml_elements("<A>1</A><B> 2 </B>", {"B": 3}) == "<A>1</A><B>3</B>"
    with pytest.raises(SystemExit, match="has no C"):
        peers.set_xml_elements("<A>1</A>", {"C": 3})


def test_each_comparison_with_mqsim_is_documented() -> None:
    page = (peers.TOP / "docs/peers.md").read_text()
    for pair in peers.PAIRS:
        for step in pair.steps:
            assert f"| {pair.name} | {step.cause} |" in page


def test_listed_causes_explain_each_difference_from_mqsim() -> None:
    if not os.environ.get("PEERS"):
        pytest.skip("PEERS=DIR names no checkout of MQSim")
    for pair in peers.PAIRS:
        assert peers.compare_mqsim_with_approxftl(Path(os.environ["PEERS"]).absolute(),
                                                  pair), pair.name
