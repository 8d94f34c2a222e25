# SPDX-License-Identifier: GPL-2.0-only
"""Physical models behind dm-approxftl, and the generator of its fixed-point tables.

The FTL core computes with integers only; the papers' models need exp, erfc and convolutions. Each
module holds one model after the formulas of its paper; ``tables`` turns them into C arrays.
"""
