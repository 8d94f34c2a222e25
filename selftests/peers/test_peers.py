# SPDX-License-Identifier: GPL-2.0-only
"""Test how peers are run and, with PEERS=DIR, that known causes explain each difference."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from selftests.peers import layers, peers

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


#: A translation layer with one page after another, in a checkout that the tests write.
SERVER = r"""
#include "closed-queue.h"
#include <linux/vmalloc.h>
static struct list_head queue = LIST_HEAD_INIT(queue), first, second;
static struct peer_counts counted;
static uint64_t idle;
void peer_init(void)
{
	list_add_tail(&first, &queue);
	list_add_tail(&second, &queue);
	list_del_init(&first);
	BUG_ON(queue.next != &second || second.next != &queue || first.next != &first);
	list_del_init(&second);
	BUG_ON(queue.next != &queue);
}
uint64_t peer_pages(void) { return 10; }
uint64_t peer_submit(bool write, uint64_t page)
{
	counted.programs += 2 * write;
	counted.erases += page == 9;
	return idle = max(idle, cpu_clock(0)) + (page == 8 ? 11 : 1) * SERVICE_NS;
}
struct peer_counts peer_counts(void) { return counted; }
"""
REQUESTS = [("W", 9), ("R", 1)] * 25 + [("W", 8)] + [("W", 9)] * 49


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("server")
    (folder / "device.c").write_text(SERVER)
    (folder / "part.c").write_text("int unused;\n")
    layer = replace(layers.NVMEVIRT, sources=("part.c",), device=str(folder / "device.c"),
                    flags=())
    return layers.compile_layer(layer, folder, {"SERVICE_NS": "1000"}, folder)


def test_closed_queue_measures_a_server_of_known_times(server: Path) -> None:
    """Each of 16 requests waits for 15 others; one that takes 11 us delays those behind it."""
    found = layers.run_layer(server, [("W", 9)] * 16 + REQUESTS, 16)
    assert found == {"pages": 10, "requests": 100, "writes": 75, "programs": 150, "erases": 74,
                     "mean_us": 17.6, "p99_us": 26, "iops": pytest.approx(8e5, rel=1e-4),
                     "write_amplification": 2}


@pytest.mark.parametrize(("requests", "cause"), [
    ([("R", 0), ("X", 1)], 'line 2: no request such as "W 12"'),
    ([("R", 10)], "line 1: the page is beyond the device"),
    ([], "line 0: no request after the warm-up")])
def test_closed_queue_refuses_a_request_by_its_line(server: Path, requests: list[tuple[str, int]],
                                                    cause: str) -> None:
    with pytest.raises(SystemExit, match=cause):
        layers.run_layer(server, requests, 0)


def test_checkout_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"has no conv_ftl\.c; version 61c90f7 of NVMeVirt has"):
        layers.compile_layer(layers.NVMEVIRT, tmp_path, {}, tmp_path)
    (tmp_path / "other.c").touch()
    with pytest.raises(SystemExit, match=r"NVMeVirt does not compile: .*nvmev\.h: No such file"):
        layers.compile_layer(replace(layers.NVMEVIRT, sources=("other.c",)), tmp_path, {}, tmp_path)


def test_missing_peers_are_reported_as_skipped(tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="has no checkout of MQSim, nvmevirt or FEMU"):
        peers.list_comparisons(tmp_path, ("",))
    (tmp_path / "nvmevirt").mkdir()
    (tmp_path / "nvmevirt/conv_ftl.c").touch()
    assert list(peers.list_comparisons(tmp_path, ("NVMeVirt: r", "FEMU"))) == [
        "NVMeVirt: reads", "NVMeVirt: reads and writes"]
    assert capsys.readouterr().err == (f"peers: skipped: {tmp_path} has no MQSim\n"
                                       f"peers: skipped: {tmp_path} has no FEMU\n")
    (tmp_path / "ssdconfig.xml").touch()
    assert peers.find_checkouts(tmp_path) == {"MQSim": tmp_path}


def test_layers_and_sim_get_the_same_requests(tmp_path: Path) -> None:
    for load, share in (("skewed writes", 1), ("reads and writes", 0.3)):
        trace = tmp_path / "trace"
        layers.write_csv_trace(load, trace)
        requests = list(layers.generate_requests(load))
        assert trace.read_text().splitlines() == [
            f"0,{kind},{4096 * page},4096" for kind, page in requests]
        drawn = requests[layers.HOST_PAGES:]
        assert requests[:layers.HOST_PAGES] == [("W", page) for page in range(layers.HOST_PAGES)]
        assert sum(kind == "W" for kind, _ in drawn) / len(drawn) == pytest.approx(share, abs=0.01)
        hot = sum(page < layers.HOST_PAGES // 5 for _, page in drawn) / len(drawn)
        assert hot == pytest.approx(0.8 if load == "skewed writes" else 0.2, abs=0.01)


def test_each_comparison_with_a_peer_is_documented() -> None:
    page = (peers.TOP / "docs/peers.md").read_text()
    rows = [(pair.name, step.cause) for pair in peers.PAIRS for step in pair.steps]
    rows += [(pair.name, step.cause) for pair in layers.PAIRS for step in pair.steps]
    for name, cause in rows:
        assert f"| {name} | {cause} |" in page


def test_listed_causes_explain_each_difference_from_a_peer() -> None:
    if not os.environ.get("PEERS"):
        pytest.skip("PEERS=DIR names no folder with checkouts of MQSim, nvmevirt and FEMU")
    for name, compare in peers.list_comparisons(Path(os.environ["PEERS"]).absolute(),
                                                ("",)).items():
        assert compare(), name


def test_wrong_victim_rule_is_seen_beside_nvmevirt() -> None:
    checkout = Path(os.environ.get("PEERS", "")).absolute() / layers.NVMEVIRT.folder
    if not (checkout / layers.NVMEVIRT.sources[0]).exists():
        pytest.skip("PEERS=DIR names no folder with a checkout nvmevirt")
    pair = next(pair for pair in layers.PAIRS if pair.name == "NVMeVirt: uniform writes")
    wrong = replace(layers.DIE, ours=(*layers.OUR_DIE, "--victim", "fifo"))
    assert not peers.compare_layer_with_approxftl(replace(pair, steps=(wrong,)), checkout)
