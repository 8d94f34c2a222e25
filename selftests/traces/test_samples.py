# SPDX-License-Identifier: GPL-2.0-only
"""Test published traces, not in this tree, from the directory that AFTL_TRACE_SAMPLES names."""

import bz2
import lzma
from pathlib import Path

import pytest
from selftests.traces.support import SAMPLES, Json, run_trace_tool_json, write_test_file

pytestmark = pytest.mark.skipif(not SAMPLES, reason="AFTL_TRACE_SAMPLES is not set")
HERE = Path(SAMPLES or "")


@pytest.mark.parametrize(("name", "form", "requests", "writes_per_mille"), [
    ("blktrace_bin/sample.blktrace.0.xz", "blktrace", 963, 0),
    ("mqsim/tpcc-small.trace.xz", "mqsim", 6999, 374),
    ("mqsim/wsrch-small.trace.xz", "mqsim", 24783, 0),
    ("ssdsim_example/example.ascii.xz", "mqsim", 10000, 592),
    ("caffeine_samples/msr-cambridge1-sample.csv.xz", "msr", 1000, 492),
    ("caffeine_samples/systor17-additional-sample.csv.gz", "systor", 999, 299),
    ("caffeine_samples/systor17-traces-sample.csv.gz", "systor", 999, 173),
    ("caffeine_samples/cloud_storage-sample.bz2", "tencent", 50000, 510),
])
def test_published_samples_are_read(tmp_path: Path, name: str, form: str, requests: int,
                                    writes_per_mille: int) -> None:
    data = (HERE / name).read_bytes()
    if name.endswith(".xz"):
        data = lzma.decompress(data)
    elif name.endswith(".bz2"):
        data = bz2.decompress(data)
    result: Json = run_trace_tool_json("info", write_test_file(tmp_path / "sample", data))
    assert result["files"][0]["format"] == form
    assert result["losses"]["dropped_lines"] == result["losses"]["skipped_bytes"] == 0
    assert result["requests"]["all"]["requests"] == requests
    writes = result["requests"]["operations"].get("write", {"requests": 0})["requests"]
    assert round(1000 * writes / requests) == writes_per_mille
