# SPDX-License-Identifier: GPL-2.0-only
"""Run the simulator once, and print how long its writes waited."""

import approxftl as aftl

run = aftl.simulate(profile="demo", policy="baseline", op="15%", workload="zipf",
                    write_share=0.7, requests=200000, warmup=50000, seed=1)
print("write amplification", run.summary["write_amplification"])
print("p99 of writes", run.measure("write_p99"), "ns")
requests = run.requests
writes = requests.op == aftl.OPERATIONS.index("write")
print(f"{writes.sum()} writes waited for {requests.waiting_ns[writes].mean():.0f} ns on average")
