/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats there are, one line each: FORMAT(name) stands for trace_format_name. Include
 * with FORMAT defined; no include guard on purpose.
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
