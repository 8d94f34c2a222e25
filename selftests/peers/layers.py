# SPDX-License-Identifier: GPL-2.0-only
"""Run the translation layers of NVMeVirt and FEMU, compiled in userspace, in virtual time.

The user's own checkout gives the sources of a layer, which are compiled as they are. The files
beside this one replace the functions of the kernel or of QEMU, and give the layer a closed queue of
requests in virtual time.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
#: Pages of the host: 80 % of the flash, as NVMeVirt calculates them from 25 % of over-provisioning.
HOST_PAGES = 4 * 256 * 64 * 100 // 125
#: Requests after the first write of each page: of the warm-up, and those that are counted.
WARMUP, COUNTED = 200000, 200000
DEPTH = 16
DEVICE = {"CHANNELS": "2", "WAYS": "2", "BLOCKS": "256", "BLOCK_PAGES": "64", "READ_NS": "40000",
          "PROGRAM_NS": "200000", "ERASE_NS": "2000000"}
OURS = ("--channels", "2", "--chips", "2", "--dies", "1", "--planes", "1", "--blocks", "256",
        "--layers", "1", "--word_lines", "64", "--bits", "1", "--page", "4KiB", "--unit", "4KiB",
        "--op", "20", "--read", "40us", "--program", "200us", "--erase", "2ms", "--bus", "839",
        "--fill", "none", "--errors", "off", "--gc", "0", "--read_limit", "0", "--refresh", "0",
        "--arrival", "closed", "--depth", str(DEPTH), "--warmup", str(HOST_PAGES + WARMUP),
        "--requests", str(COUNTED))
ONE_DIE = {"CHANNELS": "1", "WAYS": "1", "BLOCKS": "1024"}
OUR_DIE = ("--superblock", "0", "--channels", "1", "--chips", "1", "--blocks", "1024")


@dataclass(frozen=True)
class Layer:
    """The translation layer of another emulator, and how it is compiled."""

    name: str
    folder: str
    #: The version that the harness was written for.
    version: str
    sources: tuple[str, ...]
    includes: tuple[str, ...]
    #: Headers of the kernel or of QEMU that are empty, because `stubs` has what they define.
    empty: tuple[str, ...]
    stubs: str
    device: str
    flags: tuple[str, ...]
    settings: dict[str, str]


def define_nvmevirt_drive() -> dict[str, str]:
    """Return the constants of ssd_config.h, which defines none for an unknown BASE_SSD."""
    zero = ("NS_CAPACITY_0", "NS_CAPACITY_1", "BLK_SIZE", "FW_4KB_READ_LATENCY", "FW_READ_LATENCY",
            "FW_WBUF_LATENCY0", "FW_WBUF_LATENCY1", "FW_CH_XFER_LATENCY", "WRITE_EARLY_COMPLETION")
    one = ("NR_NAMESPACES", "NS_SSD_TYPE_0", "NS_SSD_TYPE_1", "CELL_MODE", "SSD_PARTITIONS",
           "PLNS_PER_LUN")
    page = ("FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE", "MAX_CH_XFER_SIZE")
    reads = [f"NAND_{size}READ_LATENCY_{kind}" for size in ("", "4KB_")
             for kind in ("LSB", "MSB", "CSB")]
    return {**dict.fromkeys(zero, "0"), **dict.fromkeys(one, "1"), **dict.fromkeys(page, "4096"),
            **dict.fromkeys(reads, "READ_NS"), "BASE_SSD": "99", "MDTS": "6", "LBA_BITS": "9",
            "LBA_SIZE": "512", "WRITE_UNIT_SIZE": "512", "OP_AREA_PERCENT": "0.25",
            "NAND_CHANNELS": "CHANNELS", "LUNS_PER_NAND_CH": "WAYS", "BLKS_PER_PLN": "BLOCKS",
            "NAND_PROG_LATENCY": "PROGRAM_NS", "NAND_ERASE_LATENCY": "ERASE_NS",
            "NAND_CHANNEL_BANDWIDTH": "800ull", "PCIE_BANDWIDTH": "7000ull",
            "GLOBAL_WB_SIZE": "1048576",
            "FLASH_BYTES": "(4096ull*BLOCK_PAGES*BLOCKS*CHANNELS*WAYS)"}


NVMEVIRT = Layer(
    "NVMeVirt", "nvmevirt", "61c90f7",
    ("conv_ftl.c", "ssd.c", "channel_model.c", "pqueue/pqueue.c"), (".",),
    ("linux/pci.h", "linux/msi.h", "asm/apic.h", "linux/vmalloc.h", "linux/ktime.h",
     "linux/sched/clock.h", "linux/kthread.h", "linux/highmem.h"),
    "kernel-stubs.h", "nvmevirt-device.c", ("-Wl,--wrap=ssd_advance_nand",),
    define_nvmevirt_drive())
FEMU = Layer(
    "FEMU", "FEMU", "99ce4fb",
    tuple(f"hw/femu/{name}.c" for name in (
        "bbssd/ftl", "bbssd/ftl-cache", "bbssd/ftl-datapath", "bbssd/ftl-exp", "bbssd/ftl-geom",
        "bbssd/ftl-line-gc", "bbssd/ftl-map", "bbssd/ftl-map-cmt", "bbssd/ftl-map-fast",
        "bbssd/ftl-map-hybrid", "bbssd/ftl-media", "nand/nand-media", "lib/pqueue")),
    ("include", "hw/femu"), ("qemu/osdep.h",), "qemu-stubs.h", "femu-device.c",
    # The guard of nvme.h, which would include most of QEMU.
    ("-D__FEMU_NVME_H",),
    {"GC_PERCENT": "75", "GC_PERCENT_HIGH": "95", "HOST_PAGES": str(HOST_PAGES)})


@dataclass(frozen=True)
class Step:
    """The changes of one row of a comparison, which also apply to the rows below."""

    cause: str
    settings: dict[str, str]
    ours: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A load on a layer, the results to compare, and changes that make them agree."""

    layer: Layer
    load: str
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        return f"{self.layer.name}: {self.load}"

    @property
    def figures(self) -> tuple[str, ...]:
        times = ("mean_us", "p99_us")
        return times if self.load == "reads" else ("write_amplification", "erases", *times)


#: A request after the first write of each page.
LOADS: dict[str, Callable[[random.Random], tuple[str, int]]] = {
    "reads": lambda draw: ("R", draw.randrange(HOST_PAGES)),
    "uniform writes": lambda draw: ("W", draw.randrange(HOST_PAGES)),
    "skewed writes": lambda draw: ("W", draw_skewed_page(draw)),
    "reads and writes": lambda draw: ("RW"[draw.random() < 0.3], draw.randrange(HOST_PAGES)),
}

AS_IS = Step("as configured", {})
LINES = Step("its lines have a block of each die", {}, ("--superblock", "4"))
DIE = Step("its collection begins on all dies at once", ONE_DIE, OUR_DIE)
FCFS = Step("its dies execute commands in order of arrival", {}, ("--order", "fcfs"))
NO_BUS = Step("its pages cross no channel", {}, ("--bus", "100000"))
EAGER = Step("it collects while a quarter of the lines is free",
             {"GC_PERCENT": "99", "GC_PERCENT_HIGH": "99"})
#: FEMU's thresholds are whole percentages: 10 of 1024 blocks, of which we keep one.
FEMU_DIE = Step("its collection begins on all dies at once", ONE_DIE,
                (*OUR_DIE, "--blocks", "1015", "--op", "19.29"))
#: gc_mode=block would wait for a free block of the host, which costs several collections.
OWN_LINES = Step("it relocates data into lines of its own", {},
                 ("--policy", "separated", "--gc_mode", "paced"))
PAIRS = (
    Pair(NVMEVIRT, "reads", (AS_IS,)),
    Pair(NVMEVIRT, "uniform writes", (AS_IS, LINES, DIE)),
    Pair(NVMEVIRT, "skewed writes", (AS_IS, DIE, OWN_LINES)),
    Pair(NVMEVIRT, "reads and writes", (AS_IS, DIE, FCFS)),
    Pair(FEMU, "reads", (AS_IS, NO_BUS)),
    Pair(FEMU, "uniform writes", (AS_IS, EAGER, LINES, NO_BUS, FEMU_DIE)),
    Pair(FEMU, "skewed writes", (AS_IS, EAGER, NO_BUS, FEMU_DIE)),
    Pair(FEMU, "reads and writes", (AS_IS, EAGER, NO_BUS, FEMU_DIE, FCFS)),
)


def draw_skewed_page(draw: random.Random) -> int:
    """Return a page of the first fifth of the host's pages in 80 % of the draws."""
    hot = HOST_PAGES // 5
    return draw.randrange(hot) if draw.random() < 0.8 else draw.randrange(hot, HOST_PAGES)


def generate_requests(load: str) -> Iterator[tuple[str, int]]:
    """Yield the requests of a load: a sequential fill, then those of warm-up and statistics."""
    draw = random.Random(1)
    yield from (("W", page) for page in range(HOST_PAGES))
    for _ in range(WARMUP + COUNTED):
        yield LOADS[load](draw)


def compile_layer(layer: Layer, checkout: Path, settings: dict[str, str], place: Path) -> Path:
    """Compile a layer with these settings into a folder; exit if the checkout does not fit."""
    for source in layer.sources:
        if not (checkout / source).exists():
            sys.exit(f"peers: {checkout} has no {source}; version {layer.version} of {layer.name} "
                     "has it")
    for header in layer.empty:
        (place / header).parent.mkdir(parents=True, exist_ok=True)
        (place / header).touch()
    done = subprocess.run(
        [os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-w", *layer.flags,
         *(f"-D{key}={value}" for key, value in settings.items()), f"-I{place}",
         *(f"-I{checkout / folder}" for folder in layer.includes), f"-I{HERE}", "-include",
         str(HERE / layer.stubs), str(HERE / "closed-queue.c"), str(HERE / layer.device),
         *(str(checkout / source) for source in layer.sources), "-o", str(place / "layer")],
        capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        sys.exit(f"peers: {layer.name} does not compile: {errors[0]}; version {layer.version} does")
    return place / "layer"


def run_layer(program: Path, requests: Iterable[tuple[str, int]],
              warmup: int = HOST_PAGES + WARMUP) -> dict[str, float]:
    """Play requests through a compiled layer and return the results after the warm-up."""
    done = subprocess.run([program, str(DEPTH), str(warmup)], check=False, capture_output=True,
                          text=True, input="".join(f"{kind} {page}\n" for kind, page in requests))
    if done.returncode:
        sys.exit(f"peers: {done.stderr.strip() or done}")
    found: dict[str, float] = json.loads(done.stdout)
    found["write_amplification"] = found["programs"] / (found["writes"] or 1)
    return found


def write_csv_trace(load: str, path: Path) -> tuple[str, ...]:
    """Write the requests of a load; return the options with which approxftl sim reads them."""
    path.write_text("".join(f"0,{kind},{4096 * page},4096\n"
                            for kind, page in generate_requests(load)))
    return ("--trace", str(path), "-F", "csv", "--columns", "time=1,op=2,offset=3,bytes=4",
            "--time-unit", "us", "--offset-unit", "bytes")
