# SPDX-License-Identifier: GPL-2.0-only
"""Give a simulated device one request at a time, and read its blocks and its L2P table."""

import approxftl as aftl

device = aftl.Device(profile="demo", policy="baseline", fill="none")
print("write", device.write(0, 4), "ns, read", device.read(0, 4), "ns")
device.trim(0)
device.advance(10**9)
blocks, entries = device.blocks(), device.mapping()
mapped = entries[entries["block"] != aftl.NOWHERE]
print(len(mapped), "pages are mapped, in blocks", sorted(set(mapped["block"].tolist())))
print("they count", blocks["valid"].sum(), "valid pages")
print(device.counters()["host_write_units"], "pages were written,", device.now_ns, "ns passed")
