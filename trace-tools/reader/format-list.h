/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * List of trace formats. Define FORMAT(name) before including; it stands for trace_format_name.
 * The header has no include guard because it may be included several times.
 */
FORMAT(blktrace)
FORMAT(blkparse)
FORMAT(aft)
FORMAT(iolog)
FORMAT(msr)
FORMAT(spc)
FORMAT(systor)
FORMAT(alibaba)
FORMAT(tencent)
FORMAT(mqsim)
FORMAT(oracle)
FORMAT(csv)
FORMAT(parquet)
FORMAT(vscsi)
