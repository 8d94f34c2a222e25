/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * List of the options that fill struct reading_options. Define READING(name, letter, kind, member,
 * value, help) before including; the arguments are those of struct command_option. The header has
 * no include guard because it may be included several times.
 */
READING("from", 'F', COMMAND_TEXT, from, "FORMAT",
	"the format of the source, instead of finding out")
READING("time-unit", 0, COMMAND_TEXT, time_unit, "UNIT",
	"of the source's times: s, ms, us, ns or 100ns")
READING("offset-unit", 0, COMMAND_TEXT, offset_unit, "UNIT",
	"of offsets in CSV: bytes, sectors or a number of bytes")
READING("columns", 0, COMMAND_TEXT, columns, "MAP",
	"of CSV, as time=1,op=2,offset=3,bytes=4; of blkparse, the text of its -f")
READING("device", 0, COMMAND_TEXT, device, "MAJ:MIN",
	"of a capture of several devices: the one that counts, or all")
READING("from-issue", 0, COMMAND_SWITCH, from_issue, NULL,
	"requests begin when they are issued (D), not when queued (Q)")
READING("strict", 0, COMMAND_SWITCH, strict, NULL,
	"fail at the first line or byte that is not understood")
