/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of the status line, in order. The target that prints the line and the tool that
 * parses it both include this list:
 *
 * STATUS_TEXT(name, help)         a string without blanks
 * STATUS_NUMBER(name, help)       an integer; the unit is in the name
 * STATUS_PAIR(part, whole, help)  two integers, written part/whole
 *
 * New fields are appended, and none is ever removed: parsers skip fields that they do not know.
 * Counters start at the last message "reset". There is no include guard, because users include
 * this file several times with different macros.
 */

STATUS_TEXT(mode, "rw; ro: too few good blocks to write on; fail: the block device takes no writes")
STATUS_TEXT(policy, "policy of the FTL")
STATUS_PAIR(valid_units, units, "mapping units that hold data / that the device has")
STATUS_PAIR(free_blocks, blocks, "free / all blocks")
STATUS_NUMBER(pending_requests, "requests under way")
STATUS_NUMBER(host_read_units, "units read by the host")
STATUS_NUMBER(host_write_units, "units written by the host")
STATUS_NUMBER(programmed_units, "units programmed, whatever for")
STATUS_NUMBER(array_erases, "blocks erased")
STATUS_NUMBER(retired_blocks, "blocks that went bad in use")
STATUS_NUMBER(read_flipped_bits, "bits flipped in data returned to the host")
STATUS_NUMBER(device_ns, "device time")
STATUS_NUMBER(late_p50_ns, "median lateness of completions, in host time")
STATUS_NUMBER(late_p99_ns, "99th percentile of the lateness")
STATUS_NUMBER(late_max_ns, "largest lateness")
STATUS_NUMBER(ftl_bytes, "memory of the FTL and of its store, but for the data")
STATUS_NUMBER(data_bytes, "memory of the data")
STATUS_NUMBER(dead_luns, "LUNs without a good block; what they held is lost, or rebuilt")
STATUS_NUMBER(collecting_luns, "LUNs that still collect garbage because message gc asked for it")
STATUS_NUMBER(lost_units, "units lost to the block device below or a fault, until written")
