# SPDX-License-Identifier: GPL-2.0-only
"""Build the simulator, as a library and a program, into the package; CC and CFLAGS are used."""

import os
import re
import shlex
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

TOP = Path(__file__).resolve().parent
SOURCES = ("dm-approxftl/core/*/*.c", "userspace/lib/*.c", "userspace/sim/*.c",
           "userspace/libsim/*.c")
INCLUDES = ("dm-approxftl", "userspace/host", "userspace/lib", "userspace/sim",
            "trace-tools/reader")
VERSION = re.findall(r'AFTL_VERSION "(.*)"', (TOP / "dm-approxftl/release.h").read_text())[0]


WORK = TOP / "build/wheel"
OPTIONS = {"build": {"build_base": str(WORK)}, "egg_info": {"egg_base": str(WORK)}}


def build_simulator(package: Path, folder: Path) -> None:
    """Compile library and program; userspace/libsim/build.mk builds the same library with make."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=gnu11", "-O3", "-fPIC", "-fno-semantic-interposition",
             *shlex.split(os.environ.get("CFLAGS", "")),
             *(word for name in INCLUDES for word in ("-I", str(TOP / name)))]
    sources = [TOP / "userspace/python/program.c",
               *sorted(path for pattern in SOURCES for path in TOP.glob(pattern))]
    objects = [folder / f"{number}-{path.stem}.o" for number, path in enumerate(sources)]
    folder.mkdir(parents=True, exist_ok=True)

    def compile_source(source: Path, made: Path) -> None:
        subprocess.run([*compiler, *flags, "-flto", "-c", "-o", made, source], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_source, sources, objects))
    libraries = ("-lm", "-ldl", "-pthread")
    subprocess.run([*compiler, *flags, "-flto", "-shared", "-Wl,-z,defs,-Bsymbolic-functions",
                    f"-Wl,--version-script={TOP / 'userspace/libsim/libsim.map'}",
                    "-o", package / "libapproxftl-sim.so", *objects[1:], *libraries], check=True)
    subprocess.run([*compiler, *flags, "-flto",
                    f"-Wl,--dynamic-list={TOP / 'userspace/sim/policy-services.list'}",
                    "-o", package / "approxftl-sim", *objects, *libraries], check=True)


class BuildWithSimulator(build_py):
    """Build step that adds the simulator to the package approxftl."""

    def run(self) -> None:
        """Copy the Python modules, then build the simulator beside the modules."""
        super().run()
        if self.editable_mode:
            return
        temporary = Path(self.get_finalized_command("build").build_temp) / "libsim"
        build_simulator(Path(self.build_lib) / "approxftl", temporary)


class PlatformWheel(bdist_wheel):
    """Make a wheel that runs with every Python 3 on machines like this one."""

    def finalize_options(self) -> None:
        """Declare that the wheel contains machine code."""
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        """Return the wheel's tags: any Python 3, no binary interface, this platform."""
        return "py3", "none", re.sub(r"[-.]", "_", sysconfig.get_platform())


class WithLibrary(Distribution):
    """Tell setuptools that the package has machine code, so that it goes to platlib."""

    def has_ext_modules(self) -> bool:
        """Return True, as the wheel contains the library."""
        return True


WORK.mkdir(parents=True, exist_ok=True)
setup(version=VERSION, distclass=WithLibrary, options=OPTIONS,
      cmdclass={"build_py": BuildWithSimulator, "bdist_wheel": PlatformWheel})
