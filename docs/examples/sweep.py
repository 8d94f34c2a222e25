# SPDX-License-Identifier: GPL-2.0-only
"""Compare three victim selectors on a full drive, with confidence intervals over eight seeds."""

import approxftl as aftl

runs = aftl.sweep(victim=["greedy", "fifo", "cost_benefit"], seeds=8, jobs=2, profile="demo",
                  op="10%", workload="zipf", write_share=1.0, requests=100000, warmup=150000)
for name in ("write_amplification", "write_p99"):
    for victim, found in runs.interval(name, by="victim", relative_to="greedy").items():
        print(f"{name} {victim} {found.mean:.2f} +- {found.half:.2f}")
