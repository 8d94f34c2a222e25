#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Approximate data have exactly the flipped bits that the device reports; precise data have none.

Data of a device, of files with quality levels, of a machine-learning model and of annotated
programs are read back after a remount and ageing.
"""

import json
import math
import os
import random
import struct
import sys
import tempfile
from errno import EINVAL
from functools import partial
from pathlib import Path
from typing import Any

import approx_control
from approx_control import (
    APPROXIMATE,
    LEVEL_2,
    LEVEL_3,
    NONE,
    PRECISE,
    STATS,
    STATS_FORMAT_OLD,
    Control,
)
from ktap import (
    APPROXFTL,
    SMALL,
    UNIT,
    Mount,
    count_flipped_bits,
    create_device,
    finish_test,
    read_counters,
    reload_device,
    require,
    run_check,
    run_command,
    run_dmsetup,
    run_selected_check,
    send_dm_message,
    table_line,
    temporary_device,
)

Json = dict[str, Any]
MIB = 1 << 20
NAME = "aftl-approximate"
scratch = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="aftl-"))


def check_count_near_expected_value(found: float, wanted: float, what: str) -> None:
    """Require that a count is within four standard deviations of its expected value."""
    require(abs(found - wanted) < 4 * math.sqrt(wanted), f"{found} {what}, {wanted:.0f} expected")


# A device without a file system


def read_device_back(path: Path, size: int) -> tuple[bytes, int]:
    """Read from the device; return the data and the number of flipped bits that it reports."""
    send_dm_message(NAME, "reset")
    run_command("dd", f"if={path}", f"of={scratch}/back", "bs=256k", f"count={size >> 18}",
                "iflag=direct")
    return (scratch / "back").read_bytes(), read_counters(NAME)["read_flipped_bits"]


def check_errors_of_approximate_device() -> None:
    """Check that two reads of approximate data agree, with bit errors at a rate of 7.2e-4."""
    written = random.Random(1).randbytes(8 * MIB)
    (scratch / "written").write_bytes(written)
    for keys, rate in ((f"{SMALL} tag_all approximate", 7.2e-4), (SMALL, 0.0)):
        with temporary_device(NAME, keys) as path:
            run_command("dd", f"if={scratch}/written", f"of={path}", "bs=1M", "oflag=direct")
            (first, told), (second, _) = (read_device_back(path, len(written)) for _ in range(2))
        require(first == second, "two reads differ")
        require(count_flipped_bits(written, first) == told, f"{told} are reported")
        if rate:
            check_count_near_expected_value(told, rate * 8 * len(written), "flipped bits")
        require(rate or first == written, "precise data have errors")


# Quality levels

LEVELS = f"{SMALL} cell_model voltage policy levels refresh 0"
#: Bits of struct approxftl_unit.flags.
LEVEL_BITS = (0, 0, 0x4, 0x8)
#: Regions of the file: the class of their tag (None: untagged) and the expected level. The last
#: one is written by APPROXFTL_PWRITEV.
REGIONS: tuple[tuple[int | None, int], ...] = (
    (None, 0), (APPROXIMATE, 1), (LEVEL_2, 2), (LEVEL_3, 3), (PRECISE, 0), (LEVEL_3, 3))


def make_region_content(region: int) -> bytearray:
    return bytearray(random.Random(region).randbytes(MIB))


def write_regions_of_quality_levels(path: Path) -> None:
    """Write a file with regions of all quality levels; check the counters of each level."""
    control = Control()
    before = control.read_counters()
    with path.open("w+b") as file:
        for region, (said, _level) in enumerate(REGIONS[:-1]):
            if said is not None:
                control.tag_range(file.fileno(), region * MIB, MIB, said)
            file.write(make_region_content(region))
        file.flush()
        last = len(REGIONS) - 1
        control.write_with_class(file.fileno(), make_region_content(last), last * MIB, LEVEL_3)
        os.fsync(file.fileno())
    grown = {name: count - before[name] for name, count in control.read_counters().items()}
    units = MIB // UNIT
    require((grown["level_2"], grown["level_3"]) == (units, 2 * units), f"stats: {grown}")
    old = control.call_ioctl(STATS, STATS_FORMAT_OLD, *[0] * 16)
    require(old[6] >= 4 * units, f"{old[6]} units by file in the older structure")


def check_unit_levels(path: Path) -> None:
    """Check each unit's class and level; a tag query that asks for no levels returns classes."""
    with path.open("rb") as file:
        for unit in Control().list_stored_units(file.fileno()):
            level = REGIONS[unit.offset // MIB][1]
            require(unit.kind == (APPROXIMATE if level else PRECISE), f"{unit} of level {level}")
            require(unit.flags == LEVEL_BITS[level], f"{unit} of level {level}")
        said = {extent.kind for extent in Control().query_tags(file.fileno())}
    require(said <= {PRECISE, APPROXIMATE}, f"the tags are of classes {said}")


def check_levels_after_remount(system: Mount) -> None:
    """Write a file of regions with quality levels, remount, and check the levels of its units."""
    write_regions_of_quality_levels(system.place / "levels")
    system.remount_file_system()
    check_unit_levels(system.place / "levels")


def check_levels_after_policy_change(system: Mount) -> None:
    """Check that a change to another policy and back keeps the quality levels."""
    sectors = int(run_command("blockdev", "--getsz", system.path))
    for policy in ("vth_b", "levels"):
        reload_device(NAME, table_line("ram", sectors,
                                       LEVELS.replace("policy levels", f"policy {policy}")))
        check_unit_levels(system.place / "levels")


def check_flips_of_aged_levels(system: Mount) -> None:
    """Check that a region's flipped bits equal the device's report and grow with its level."""
    send_dm_message(NAME, "age", "2000h")
    system.remount_file_system()
    path = system.place / "levels"
    data = path.read_bytes()
    found = [count_flipped_bits(data[at * MIB:(at + 1) * MIB], make_region_content(at))
             for at in range(len(REGIONS))]
    with path.open("rb") as file:
        told = [sum(unit.flips
                    for unit in Control().list_stored_units(file.fileno(), at * MIB, MIB))
                for at in range(len(REGIONS))]
    print(f"# flipped bits by region: {found}")
    require(found == told, f"the device reports {told}")
    require(found[0] == found[4] == 0, "precise data have errors")
    require(found[1] * 100 < found[2] < found[3] * 3 // 4, "levels do not differ")
    require(found[3] * 2 // 3 < found[5] < found[3] * 3 // 2, "level 3 has two error rates")


def check_invalid_levels(system: Mount) -> None:
    control = Control()
    with (system.place / "levels").open("r+b") as file:
        fd, data = file.fileno(), bytearray(UNIT)
        for kind in (5, 6, 0x100, 2**32 - 1):
            approx_control.expect_refused_ioctl(EINVAL, 0, control.tag_range, fd, 0, UNIT, kind)
            approx_control.expect_refused_ioctl(EINVAL, 0, control.set_class_scope,
                                                approx_control.THREAD,
                                                kind)
            approx_control.expect_refused_ioctl(EINVAL, 0, control.write_with_class, fd, data, 0,
                                                kind)
        approx_control.expect_refused_ioctl(EINVAL, 0, control.write_with_class, fd, data, 0, NONE)


def count_units_by_level(found: Json) -> list[int]:
    return [found[f"host_write_level_{level}_units"] for level in (1, 2, 3)]


def check_traced_levels(system: Mount) -> None:
    """Check that replays, on a device and simulated, use the quality levels of a block trace."""
    recorded, trace = scratch / "recorded", scratch / "levels.aft"
    send_dm_message(NAME, "reset")
    run_command(APPROXFTL, "trace", "record", "-O", recorded, system.place, "--", "python3",
                __file__, system.place / "again")
    written = count_units_by_level(read_counters(NAME))
    require(written == [256, 256, 512], f"units of each level: {written}")
    run_command(APPROXFTL, "trace", "convert", "--quiet", recorded, trace)
    with temporary_device("aftl-played", LEVELS) as path:
        run_command(APPROXFTL, "replay", "--quiet", "--overwrite", trace, path)
        require(count_units_by_level(read_counters("aftl-played")) == written,
                "the other device has others")
    simulated = json.loads(run_command(APPROXFTL, "sim", "--quiet", "--fill", "none", "--json",
                                       "--trace", trace, "--policy", "levels"))
    require(count_units_by_level(simulated["runs"][0]["counters"]) == written,
            "the simulator has others")


# A machine-learning model

NUMBERS = 1 << 17
#: Tensors: name, type, bytes per number.
TENSORS = (("a.weight", "BF16", 2), ("a.codes", "I8", 1), ("a.bias", "F32", 4))
MANTISSA = 7


def make_random_safetensors_model() -> bytes:
    """Return a safetensors model of random numbers."""
    entries, data, chance = {}, b"", random.Random(1)
    for name, kind, size in TENSORS:
        shape = [NUMBERS] if name.endswith("bias") else [NUMBERS // 512, 512]
        entries[name] = {"dtype": kind, "shape": shape,
                         "data_offsets": [len(data), len(data) + NUMBERS * size]}
        data += chance.randbytes(NUMBERS * size)
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def split_model_file(model: bytes) -> list[bytes]:
    """Return the header and the tensors of a safetensors model."""
    parts = [model[:-7 * NUMBERS]]
    for _name, _kind, size in TENSORS:
        at = sum(map(len, parts))
        parts.append(model[at:at + NUMBERS * size])
    return parts


def run_tag_model_verb(*words: str | Path) -> Json:
    said: Json = json.loads(run_command(APPROXFTL, "tag", "model", *words, "--json"))
    return said


def count_reported_flips_of_model(made: Json, stored: Path, model: bytes, back: bytes) -> list[int]:
    """Compare a model's flipped bits with the device's report; count them for each tensor."""
    told = json.loads(run_command(APPROXFTL, "tag", "query", stored, "--json"))["errors"]
    require(told["approximate_units"] * told["unit_bytes"] == made["approximate_bytes"] > 0,
            f"{told['approximate_units']} units are approximate, {made['approximate_bytes']} bytes "
            "were announced")
    counts = [count_flipped_bits(*pair)
              for pair in zip(split_model_file(model), split_model_file(back), strict=True)]
    print(f"# flipped bits of header and tensors: {counts}")
    require(sum(counts) == told["flipped_bits"] > 0, f"{told['flipped_bits']} are reported")
    require(counts[0] == counts[3] == 0, "the header or the precise tensor has errors")
    return counts


def check_model_stored_by_bit_plane() -> None:
    """Check that a model stored by bit plane has errors only in bits of small weight."""
    model = make_random_safetensors_model()
    (scratch / "model").write_bytes(model)
    with temporary_device(NAME) as path:
        system = Mount(path)
        with system as place:
            made = run_tag_model_verb(scratch / "model", "--to-planes", place / "planes")
            system.remount_file_system()
            found = run_tag_model_verb(place / "planes", "--from-planes", scratch / "back")
            back = (scratch / "back").read_bytes()
            count_reported_flips_of_model(made, place / "planes", model, back)
    for spared, written, read in zip((0xFF80, 0xF0F0), split_model_file(model)[1:],
                                     split_model_file(back)[1:], strict=False):
        pairs = zip(struct.iter_unpack("<H", written), struct.iter_unpack("<H", read), strict=True)
        require(not any((a ^ b) & spared for (a,), (b,) in pairs), "a bit of weight has flipped")
    require({one["name"] for one in found["changed"]} == {"a.weight", "a.codes"},
            f"changed: {found['changed']}")
    bits = {bit for one in found["changed"] for bit in one["bits"]}
    require(bits <= set(range(MANTISSA)), f"bits {bits} are said to have changed")


def check_quality_level_of_each_tensor() -> None:
    """Check the quality level of each tensor in a tagged safetensors file of unchanged format."""
    model = make_random_safetensors_model()
    with temporary_device(NAME, LEVELS) as path:
        system = Mount(path)
        with system as place:
            (place / "model").write_bytes(model)
            os.sync()
            made = run_tag_model_verb(place / "model", "--type", "bf16,i8", "--level", "3",
                                      "--level", "1:*codes", "--rewrite")
            send_dm_message(NAME, "age", "2000h")
            system.remount_file_system()
            back = (place / "model").read_bytes()
            _, most, least, _ = count_reported_flips_of_model(made, place / "model", model, back)
    ranges = {(one["level"], one["length_bytes"]) for one in made["ranges"]}
    require(ranges == {(3, 2 * NUMBERS), (1, NUMBERS)}, f"the ranges are {ranges}")
    require(most > 100 * (least + 1), "levels do not differ")


# Annotated programs

#: Sums of the squares and of the fourth powers of a pixel's bit weights, 1 to 128.
SQUARES = sum(4**bit for bit in range(8))
FOURTH_POWERS = sum(16**bit for bit in range(8))
#: Allowance for several errors in one value, as a part of a prediction; see approxftl-app(1).
COINCIDENCES = 0.04
#: Arguments of the annotated programs; together they use direct, buffered and mmap I/O.
PROGRAMS = """fft direct --size 65536
smm buffered --size 4096
lu mmap --size 192
sor direct --size 128 --rounds 256
mc mmap --size 65536
vid direct --width 128 --height 128 --frames 16 --segment 4
img direct --width 512 --height 512 --scans 9
vid mmap --width 256 --height 192 --frames 16 --group 4
log buffered --size 262144"""


def run_annotated_program(name: str, place: Path, *options: str) -> Json:
    """Run an annotated program with options such as --phase read; return its JSON report."""
    run_command(f"{APPROXFTL}-app", name, place, "--require", "--reference", scratch,
                f"--json={scratch}/report", *options)
    report: Json = json.loads((scratch / "report").read_text())
    return report


def check_flips_of_annotated_program(report: Json) -> int:
    """Require that a program found as many flipped bits as the device, in approximate data only."""
    inputs, reported = report["inputs"], report["reported"]
    flipped: int = inputs["flipped_bits"]
    require(flipped == reported["flipped_bits"] > 0, f"{flipped} bits differ, "
            f"{reported['flipped_bits']} are reported")
    require(inputs["damaged_precise_bits"] == 0, "headers or indices are damaged")
    require(reported["approximate_units"] * UNIT == inputs["approximate_bytes"],
            f"{reported['approximate_units']} units are approximate")
    require(report.get("check", {"passed": True})["passed"], "the precise run is wrong")
    return flipped


def check_quality_of_program_result(report: Json) -> None:
    """Compare the quality of an annotated program's result with the program's prediction."""
    quality = report["quality"]
    for measure in ("mean_square_error", "mean_absolute_error"):
        if f"expected_{measure}" in quality:
            found, wanted = quality[measure], quality[f"expected_{measure}"]
            band = 4 * quality["expected_deviation"] + COINCIDENCES * wanted
            print(f"# {report['app']}: {measure} {found:.3f}, predicted {wanted:.3f} +- {band:.3f}")
            require(abs(found - wanted) < band, "the quality is not what the flipped bits predict")


def check_annotated_programs() -> None:
    """Run every annotated program on a device, and check its report."""
    with temporary_device(NAME) as path:
        system = Mount(path)
        with system as place:
            for name, how, *options in map(str.split, PROGRAMS.splitlines()):
                run_annotated_program(name, place, "--phase", "write", "--io", how, *options)
                system.remount_file_system()
                report = run_annotated_program(name, place, "--phase", "compute", "--io", how)
                check_count_near_expected_value(check_flips_of_annotated_program(report),
                                                7.2e-4 * 8 * report["inputs"]["approximate_bytes"],
                                                "flipped bits")
                check_quality_of_program_result(report)
                run_command("find", place, "-type", "f", "-delete")


def check_psnr_of_aged_image() -> None:
    """Compare an image's PSNR with the PSNR that its rate of flipped bits predicts.

    A bit of a pixel weighs 1 to 128 grey levels and flips with probability r. A pixel's squared
    error has the mean r times the sum of the squared weights, and the variance r times the sum of
    their fourth powers; the mean over n pixels has an n-th of this variance.
    """
    with temporary_device(NAME, f"{SMALL} cell_model voltage cycles 2000") as path:
        system = Mount(path)
        with system as place:
            run_annotated_program("img", place, "--phase", "write", "--width", "512",
                                  "--height", "512")
            system.remount_file_system()
            fresh = check_flips_of_annotated_program(run_annotated_program("img", place, "--phase",
                                                                           "read"))
            send_dm_message(NAME, "age", "1000h")
            system.remount_file_system()
            report = run_annotated_program("img", place, "--phase", "read")
    aged, pixels = check_flips_of_annotated_program(report), report["inputs"]["approximate_bytes"]
    mean = aged / (8 * pixels) * SQUARES
    spread = 4 * math.sqrt(aged / (8 * pixels) * FOURTH_POWERS / pixels)
    low, high = (10 * math.log10(255**2 / value) for value in (mean + spread, mean - spread))
    found = report["quality"]["psnr_db"]
    print(f"# {fresh} flipped bits, aged {aged}; PSNR {found:.2f} dB, predicted {low:.2f} to "
          f"{high:.2f} dB")
    require(fresh < aged, "ageing has added no error")
    require(low <= found <= high, "the quality is not what the flipped bits predict")


def main() -> None:
    """Run all test points."""
    if not os.path.ismount("/sys/kernel/debug"):
        run_command("mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
    run_selected_check("approximate data of a device have the reported errors",
                       check_errors_of_approximate_device)
    system = Mount(create_device(NAME, LEVELS))
    with system:
        run_check("each quality level is stored as it was tagged", check_levels_after_remount,
                  system)
        for name, action in (("levels survive a change of policy",
                              check_levels_after_policy_change),
                             ("flipped bits match the report and grow with the level",
                              check_flips_of_aged_levels),
                             ("invalid levels are refused", check_invalid_levels),
                             ("levels survive a trace and its replay", check_traced_levels)):
            run_selected_check(name, partial(action, system))
    run_command("e2fsck", "-fn", system.path)
    run_dmsetup("remove", NAME)
    run_selected_check("a model by bit plane has errors in its low bits only",
                       check_model_stored_by_bit_plane)
    run_selected_check("a model has a quality level for each tensor",
                       check_quality_level_of_each_tensor)
    run_selected_check("each annotated program finds the reported flipped bits",
                       check_annotated_programs)
    run_selected_check("an aged image has the predicted quality", check_psnr_of_aged_image)
    run_command("rm", "-r", scratch)
    finish_test()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_regions_of_quality_levels(Path(sys.argv[1]))
    else:
        main()
