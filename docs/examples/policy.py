# SPDX-License-Identifier: GPL-2.0-only
"""Compare two policies written in Python with the built-in greedy policy, on a full drive."""

import numpy as np

import approxftl as aftl

oldest = aftl.Policy("oldest", select_victim=lambda blocks: np.where(
    blocks.valid <= np.quantile(blocks.valid, 0.1), blocks.age_ns, -1).argmax())
apart = aftl.Policy("apart", stream=lambda page: page.relocated, streams=["fresh", "moved"],
                    moved=1)
runs = aftl.sweep(policy=["baseline", oldest, apart], seeds=8, jobs=2, profile="demo", op="10%",
                  workload="zipf", write_share=1.0, requests=50000, warmup=30000)
for name in ("write_amplification", "write_mean"):
    for policy, found in runs.interval(name, by="policy", relative_to="baseline").items():
        print(f"{name} {policy} {found.mean:.3f} +- {found.half:.3f}")
