# SPDX-License-Identifier: GPL-2.0-only
"""Installation on a user's machine: make install, DKMS, Debian packages, shell completion."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP

VERSION = re.findall(r'AFTL_VERSION "(.*)"', (TOP / "dm-approxftl/release.h").read_text())[0]
#: In a Debian version "~" sorts a candidate before the release.
DEBIAN_VERSION = VERSION.replace("-", "~")
MODULE = f"dm-approxftl-{VERSION}"
BEFORE = "0.0.9"
PLUGIN = "nbdkit-approxftl-plugin.so"
#: Runs a shell script whose mounts nobody else sees.
WITH_OWN_MOUNTS = ("unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh",
                   "-euc")
needs_own_mounts = pytest.mark.skipif(
    subprocess.run([*WITH_OWN_MOUNTS, "true"], capture_output=True, check=False).returncode != 0,
    reason="unshare --mount fails here, as in a chroot whose root is not a mount point")
# Without the variables of the outer make: its O= would be removed by the package's clean.
OURS = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}


def run_command_ok(*command: str | Path, where: Path = TOP, **environment: str) -> str:
    """Run a command that must succeed, and return its output."""
    ended = subprocess.run(
        command,
        cwd=where,
        env=OURS | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return ended.stdout


def run_make(target: str, place: Path) -> None:
    run_command_ok("make", target, f"O={BUILD}", f"DESTDIR={place}", "PREFIX=/usr")


@pytest.mark.parametrize("name", ["two words", "tab\tin", "a:b", "it's", "a$b"])
def test_an_unsuitable_source_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    for where, options in ((name, ()), (".", (f"O={tmp_path / name}".replace("$", "$$"),))):
        said = subprocess.run(["make", "-f", TOP / "Makefile", *options], cwd=tmp_path / where,
                              env=OURS, capture_output=True, text=True, check=False)
        assert said.returncode == 2
        assert name in said.stderr and "has a blank, a colon, a quote or a $ in it" in said.stderr


@pytest.mark.parametrize("letter", [*'"`&;|<>\\()#%='])
def test_a_build_directory_with_special_characters_is_refused(tmp_path: Path, letter: str) -> None:
    said = subprocess.run(["make", "help", f"O={tmp_path}/a{letter}b".replace("#", "\\#")], cwd=TOP,
                          env=OURS, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "make cannot build there" in said.stderr


def test_make_leaves_out_a_program_that_lacks_a_header(tmp_path: Path) -> None:
    compiler = tmp_path / "gcc"
    compiler.write_text("""#!/bin/sh
input=$(cat)
case $input in *liburing.h*) exit 1 ;; esac
""")
    compiler.chmod(0o755)
    plan = run_command_ok("make", "-n", "all", f"CC={compiler}", f"O={tmp_path}")
    assert "left out, for lack of packages: approxftl-torture: liburing-dev; " in plan
    assert "approxftl-replay: liburing-dev;" in plan
    assert f"{tmp_path}/approxftl-trace" in plan
    assert not re.search(rf"-o {tmp_path}/approxftl-(replay|torture)", plan)


@needs_own_mounts
@pytest.mark.slow
@pytest.mark.long
def test_a_read_only_source_folder_is_built(tmp_path: Path) -> None:
    tree = copy_release(tmp_path / "Übungen")
    out = tmp_path / "größer"
    script = (f'mount --bind "{tree}" "{tree}" && mount -o remount,bind,ro "{tree}"'
              f' && cd "{tree}" && ! touch new 2>"{tmp_path}/said"'
              f' && make -j2 O="{out}" OPT=-O0 demo-programs')
    run_command_ok(*WITH_OWN_MOUNTS, script)
    assert VERSION in run_command_ok(out / "approxftl", "version")
    assert "Usage: approxftl report" in run_command_ok(out / "approxftl", "report", "--help")


@pytest.fixture(scope="module")
def installed_tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installed tree; at the end, `make uninstall` must remove all files."""
    place = tmp_path_factory.mktemp("installed")
    run_make("install", place)
    yield place
    run_make("uninstall", place)
    assert [found for found in place.rglob("*") if not found.is_dir()] == []


def copy_release(place: Path) -> Path:
    """Copy the files of a release, from a git repository or from an unpacked release."""
    for name in run_command_ok("sh", "-c", ". selftests/lib/sources.sh && sources").split("\n"):
        if (TOP / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, place / name)
    return place


def list_files_of_spec() -> dict[str, list[str]]:
    """Return the paths that each package of the spec file has, with the paths of installed_tree."""
    places = {"module_version": VERSION, "_bindir": "/usr/bin", "_libdir": "/usr/lib",
              "_prefix": "/usr", "_includedir": "/usr/include", "_datadir": "/usr/share",
              "_docdir": "/usr/share/doc", "_mandir": "/usr/share/man"}
    text = (TOP / "packaging/dm-approxftl.spec").read_text()
    # nbdkit's own directory is below Fedora's %{_libdir}; without nbdkit no plugin is installed.
    plugins = subprocess.run(["pkg-config", "--variable=plugindir", "nbdkit"], capture_output=True,
                             text=True, check=False).stdout.strip()
    text = re.sub(r"%{_libdir}/nbdkit/plugins(.*\n)", rf"%{{_root}}{plugins}\1" if plugins else "",
                  text)
    places["_root"] = ""
    return {name: [re.sub(r"%{(\w+)}", lambda macro: places[macro[1]], line)
                   for line in body.splitlines() if line.startswith("%{")]
            for name, body in re.findall(r"^%files (.*)\n((?:.+\n)*)", text, re.M)}


def test_each_installed_file_is_in_one_package_of_the_spec_file(installed_tree: Path) -> None:
    """rpmbuild fails if a file is in no package, or if a package's file does not exist."""
    files = {"/" + str(path.relative_to(installed_tree)) for path in installed_tree.rglob("*")
             if not path.is_dir() or path.is_symlink()}
    packages = list_files_of_spec()
    assert len(packages) == 4
    owners: dict[str, list[str]] = {file: [] for file in files}
    for name, paths in packages.items():
        for path in paths:
            found = [file for file in files if any(
                fnmatch(place, path) for place in (file, *map(str, Path(file).parents)))]
            # The folder of the playground, which %install makes, may be empty.
            assert found or path == "/usr/share/doc/approxftl", f"{name}: {path} is not installed"
            for file in found:
                owners[file].append(name)
    assert {file: names for file, names in owners.items() if len(names) != 1} == {}


def test_the_spec_file_names_the_licenses_of_the_library(installed_tree: Path) -> None:
    text = (TOP / "packaging/dm-approxftl.spec").read_text()
    named = {package: set(license.split(" AND ")) for package, license in re.findall(
        r"^%package -n (libapproxftl\S*)\n(?:.+\n)*?License: (.*)\n", text, re.M)}
    folders = {"libapproxftl": (TOP / "userspace/libapproxftl", "*.[ch]"),
               "libapproxftl-devel": (installed_tree / "usr/include", "*.h*")}
    assert named == {package: {
        license for file in folder.rglob(pattern)
        for license in re.findall("SPDX-License.Identifier: (.*?)(?: [*]/)?$",
                                  file.read_text(), re.M)}
        for package, (folder, pattern) in folders.items()}


@pytest.mark.in_turn
def test_installed_programs_run(installed_tree: Path) -> None:
    programs = sorted((installed_tree / "usr/bin").iterdir())
    assert installed_tree / "usr/bin/approxftl" in programs
    for program in programs:
        assert "sage: " in run_command_ok(program, "--help"), program


def test_installed_manual_pages_are_found(installed_tree: Path) -> None:
    pages = sorted((installed_tree / "usr/share/man").rglob("*.*"))
    assert {"approxftl.1", "aft.5", "approxftl-device.8"} <= {page.name for page in pages}
    for page in pages:
        assert page.parent.name == "man" + page.suffix[1:]
        run_command_ok("mandoc", "-T", "lint", "-W", "error", page)


@needs_own_mounts
@pytest.mark.slow
@pytest.mark.in_turn("prefix")
def test_programs_installed_under_a_prefix_need_no_source_tree(tmp_path: Path) -> None:
    """The verbs lab, demo and report work without the source tree and with an empty /usr/src."""
    prefix = tmp_path / "Übungen"
    run_command_ok("make", "install", f"O={BUILD}", f"PREFIX={prefix}")
    assert (prefix / "src" / MODULE / "dkms.conf").is_file()
    for rest in ("bin", "lib/approxftl"):
        for file in (prefix / rest).rglob("*"):
            assert not file.is_symlink(), file
    hidden = f"mount -t tmpfs none '{TOP}' && ! [ -e '{TOP}/Makefile' ] && exec \"$@\""
    said = run_command_ok(*WITH_OWN_MOUNTS, hidden, "sh", prefix / "bin/approxftl", "demo",
                          "--output", "shown", where=tmp_path,
                          PATH=f"{prefix}/bin:{os.environ['PATH']}", AFTL_BUILD="",
                          AFTL_STRICT="", APPROXFTL="")
    assert "no difference" in said
    assert re.search(r"^energy +[0-9.]+ mJ +[0-9.]+ mJ +0\.[0-9]+x$", said, re.M)
    page = (tmp_path / "shown/report.html").read_text()
    assert "The demonstration" in page
    assert len(list((tmp_path / "shown").glob("*.stat.json"))) == 4
    run_command_ok("make", "uninstall", f"O={BUILD}", f"PREFIX={prefix}")
    assert [found for found in prefix.rglob("*") if not found.is_dir()] == []


def test_installed_schemas_are_those_that_the_manual_names(installed_tree: Path) -> None:
    manual = (TOP / "userspace/approxftl/approxftl.1.rst").read_text()
    schemas = (installed_tree / "usr/share/approxftl/schemas").iterdir()
    assert sorted(re.findall(r"\*([a-z]+-output)\*", manual)) == sorted(
        schema.name.removesuffix(".schema.json") for schema in schemas)


def test_the_playground_is_installed(installed_tree: Path) -> None:
    """The playground is installed as documentation if it was built."""
    made = BUILD / "playground.html"
    page = installed_tree / "usr/share/doc/approxftl/playground.html"
    assert page.exists() == made.exists()
    assert not made.exists() or page.read_bytes() == made.read_bytes()


@needs_own_mounts
@pytest.mark.skipif(not shutil.which("nbdkit") or not (BUILD / PLUGIN).exists(),
                    reason="nbdkit and nbdkit-plugin-dev are not installed")
def test_nbdkit_finds_the_installed_plugin_by_its_short_name(installed_tree: Path) -> None:
    script = ('mount -t overlay overlay -o "lowerdir=$0:/usr/lib" /usr/lib && nbdkit -U - approxftl'
              " size=64MiB policy=baseline timing=off --run 'nbdinfo --size \"$uri\"'")
    assert run_command_ok(*WITH_OWN_MOUNTS, script, installed_tree / "usr/lib") == "67108864\n"


def test_installed_module_sources_are_complete(installed_tree: Path) -> None:
    ours = installed_tree / "usr/src" / MODULE
    names = re.findall(r"[a-z0-9-]+\.o", (TOP / "Kbuild").read_text())
    found = {path.stem for path in ours.rglob("*.c")}
    assert {Path(name).stem for name in names} - found == {"dm-approxftl"}
    assert f'"{VERSION}"' in (ours / "dkms.conf").read_text()


def test_a_program_is_built_with_the_installed_library(installed_tree: Path,
                                                       tmp_path: Path) -> None:
    here = {"PKG_CONFIG_PATH": str(installed_tree / "usr/lib/pkgconfig"),
            "PKG_CONFIG_SYSROOT_DIR": str(installed_tree)}
    flags = run_command_ok("pkg-config", "--cflags", "--libs", "approxftl", where=TOP,
                           **here).split()
    assert run_command_ok("pkg-config", "--modversion", "approxftl", where=TOP,
                          **here).strip() == VERSION
    program = tmp_path / "annotated"
    run_command_ok("gcc", "-Wall", "-Werror", "docs/examples/annotated.c", "-o", program, *flags)
    assert "[libapproxftl.so.1]" in run_command_ok("readelf", "-d", program)
    # ldconfig makes the link that the soname asks for, as on a real system.
    libraries = tmp_path / "lib"
    libraries.mkdir()
    shutil.copy(installed_tree / "usr/lib/libapproxftl.so.1", libraries / "libapproxftl.so.1.0")
    run_command_ok("ldconfig", "-n", libraries, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    # Without a device the library's calls succeed and do nothing; the second run reads the file.
    for said in ("", "0 bits have flipped, the library says 0; the header is intact\n"):
        assert run_command_ok(program, tmp_path / "picture",
                              LD_LIBRARY_PATH=str(libraries)) == said


def test_the_librarys_binary_interface_is_unchanged() -> None:
    """libapproxftl's ABI stays compatible, or its symbols get a new version."""
    run_command_ok("gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                   "-Iuserspace/libapproxftl", "selftests/packaging/binary-interface.c")
    exported = run_command_ok("nm", "-D", "--defined-only", "--with-symbol-versions",
                              BUILD / "libapproxftl.so.1")
    mapped = (TOP / "userspace/libapproxftl/libapproxftl.map").read_text()
    names = re.findall(r" T (\w+)@@APPROXFTL_[12]\n", exported)
    assert names == sorted(re.findall(r"\t(\w+);", mapped))


def test_sysusers_creates_the_tag_group(installed_tree: Path, tmp_path: Path) -> None:
    """sysusers.d creates the group that the udev rule names."""
    rule = (installed_tree / "usr/lib/udev/rules.d/60-approxftl.rules").read_text()
    assert re.findall('GROUP="(.*?)"', rule) == ["approxftl"]
    (tmp_path / "etc").mkdir()
    run_command_ok("systemd-sysusers", "--root", tmp_path,
                   installed_tree / "usr/lib/sysusers.d/approxftl.conf")
    assert re.search("^approxftl:", (tmp_path / "etc/group").read_text(), re.M)


def unpacked_kernels() -> Path:
    """Return the directory of the kernels that the lab has unpacked."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "approxftl/kernels"


@pytest.mark.slow
@pytest.mark.in_turn("DKMS")
def test_dkms_builds_the_module(installed_tree: Path, tmp_path: Path) -> None:
    """DKMS builds the module for one kernel; the tests kernel-build cover all kernels."""
    known = next((mark.parent for mark in unpacked_kernels().glob("*/own-series")), None)
    assert known, "no kernel of this release is unpacked: make deps does that"
    shutil.copytree(installed_tree / "usr/src", tmp_path / "src")
    (tmp_path / "tree").mkdir()
    tree = ("--sourcetree", tmp_path / "src", "--dkmstree", tmp_path / "tree")
    run_command_ok("dkms", "build", *tree, "-k", known.name, "--kernelsourcedir",
                   known / f"usr/src/linux-headers-{known.name}", f"dm-approxftl/{VERSION}",
                   # Skip debug information and BTF, which would need pahole.
                   KCFLAGS="-g0", MAKEFLAGS=" -- CONFIG_DEBUG_INFO_BTF_MODULES=")
    built = list((tmp_path / "tree").rglob("dm-approxftl.ko*"))
    assert len(built) == 1
    assert known.name in run_command_ok("modinfo", "-F", "vermagic", built[0])
    assert run_command_ok("modinfo", "-F", "version", built[0]) == f"{VERSION}\n"


# A stand-in for clang that copies the objects of `make install` above, because the playground's
# objects are half of the compile time.
AGAIN = """#!/bin/sh
object=
for word; do
    case $word in build/wasm/obj/*.o) object={build}/${{word#build/}} ;; esac
done
case " $* " in
*' -c '*) [ ! -e "$object" ] || exec cp "$object" "build/${{object#{build}/}}" ;;
esac
exec clang "$@"
"""


@pytest.fixture(scope="module")
def built_packages(installed_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str,
                                                                                           Path]:
    assert installed_tree
    place = tmp_path_factory.mktemp("packages")
    tree = copy_release(place / "dm-approxftl")
    compiler = place / "clang"
    compiler.write_text(AGAIN.format(build=BUILD))
    compiler.chmod(0o755)
    run_command_ok("dpkg-buildpackage", "-us", "-uc", "-b", where=tree,
                   DEB_BUILD_OPTIONS="noddebs noopt", OPT="-O0", CLANG=str(compiler))
    return {path.name.split("_")[0]: path for path in place.glob("*.deb")}


@pytest.mark.slow
@pytest.mark.in_turn("packages")
def test_debian_packages_install_and_remove(built_packages: dict[str, Path],
                                            tmp_path: Path) -> None:
    assert set(built_packages) == {
        "approxftl",
        "dm-approxftl-dkms",
        "libapproxftl1",
        "libapproxftl-dev",
    }
    content = run_command_ok("dpkg", "-c", built_packages["approxftl"])
    assert "./usr/bin/approxftl\n" in content
    assert "./usr/share/doc/approxftl/playground.html\n" in content
    assert "libapproxftl.so.1" in run_command_ok("dpkg", "-c", built_packages["libapproxftl1"])
    run_command_ok("dpkg", "-e", built_packages["libapproxftl1"], tmp_path / "library")
    assert "approxftl_open@APPROXFTL_1 " in (tmp_path / "library/symbols").read_text()
    # The package creates the group of its udev rule.
    run_command_ok("dpkg", "-e", built_packages["approxftl"], tmp_path / "tools")
    assert "systemd-sysusers" in (tmp_path / "tools/postinst").read_text()
    assert f"/{MODULE}/dkms.conf" in run_command_ok("dpkg", "-c",
                                                    built_packages["dm-approxftl-dkms"])
    # The maintainer's address is filled in before an upload.
    ours = "bogus-mail-host,bogus-mail-host-in-debian-changelog"
    run_command_ok("lintian", "--allow-root", "--fail-on", "error", "--suppress-tags", ours,
                   *built_packages.values())


def make_package_of_older_version(package: Path, place: Path) -> Path:
    """Return a package with an older version number and otherwise the same content."""
    content = place / package.stem
    run_command_ok("dpkg-deb", "-R", package, content)
    for folder in content.glob(f"usr/src/*-{VERSION}"):
        folder.rename(folder.with_name(f"dm-approxftl-{BEFORE}"))
    for file in (*content.glob("DEBIAN/*"), *content.glob("usr/src/*/dkms.conf")):
        file.write_text(file.read_text().replace(VERSION, BEFORE).replace(DEBIAN_VERSION, BEFORE))
    run_command_ok("dpkg-deb", "--root-owner-group", "-b", content, place / package.name)
    return place / package.name


# An overlay over this machine's root directory, into which the packages are installed.
LAYERED = """
mkdir {place}/layers
mount -t tmpfs none {place}/layers
cd {place}/layers
mkdir upper work root
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work root root
mount --rbind /proc root/proc
mount --rbind /dev root/dev
mount --bind {place} root/mnt
# No kernel is here: that DKMS can build it is a test of its own.
mkdir -p root/usr/lib/modules
mount -t tmpfs none root/usr/lib/modules
rm -f root/var/lib/man-db/auto-update
exec chroot root sh -eu /mnt/inside
"""

UPGRADED = """
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
state() {{ dpkg-query -W -f '${{Package}} ${{Version}} ${{db:Status-Status}}\n' {names}; }}
mine() {{ getent group approxftl; cat /etc/udev/rules.d/60-approxftl.rules; }}
dpkg --force-unsafe-io -i /mnt/old/*.deb
state | sed 's/^/old: /'
usermod -a -G approxftl nobody
mkdir -p /etc/udev/rules.d
echo '# an administrator has decided' >/etc/udev/rules.d/60-approxftl.rules
mine >/mine
dpkg --force-unsafe-io -i /mnt/new/*.deb
state | sed 's/^/new: /'
dkms status | sed 's/^/dkms: /'
mine | diff /mine -
echo "program: $(cd / && approxftl version)"
dpkg --force-unsafe-io -P {names}
mine | diff /mine -
! command -v approxftl
"""


@needs_own_mounts
@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root may install packages")
@pytest.mark.in_turn("packages")
def test_an_upgrade_keeps_the_administrators_settings(built_packages: dict[str, Path],
                                                      tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    for package in built_packages.values():
        make_package_of_older_version(package, tmp_path / "old")
        shutil.copy(package, tmp_path / "new")
    (tmp_path / "inside").write_text(UPGRADED.format(names=" ".join(built_packages)))
    said = run_command_ok("unshare", "--mount", "sh", "-euc", LAYERED.format(place=tmp_path))
    for name in built_packages:
        assert f"old: {name} {BEFORE} installed\n" in said
        assert f"new: {name} {DEBIAN_VERSION} installed\n" in said
    assert f"program: approxftl {VERSION}\n" in said
    assert f"dkms: dm-approxftl/{VERSION}" in said
    assert f"dkms: dm-approxftl/{BEFORE}" not in said


@pytest.mark.slow
@pytest.mark.in_turn
def test_pip_installs_the_python_packages(tmp_path: Path) -> None:
    tree = copy_release(tmp_path / "tree")
    place = tmp_path / "place"
    # Dependencies and build tools are installed for the tests, so that no network is needed.
    run_command_ok(sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
                   "--prefix", place, tree)
    packages = next(place.glob("lib/python3*/site-packages"))
    scripts = re.findall("^approxftl-(.*) = ", (TOP / "pyproject.toml").read_text(), re.M)
    assert len(scripts) > 5
    for verb in scripts:
        said = run_command_ok(place / f"bin/approxftl-{verb}", "--help", PYTHONPATH=str(packages))
        assert re.match(f"Usage: approxftl (app |tag )?{verb} ", said)
    # The simulator is found by PATH; libapproxftl is absent.
    (tmp_path / "study.toml").write_text(
        'study = 1\n[base]\nrequests = 100\n[vary]\npolicy = ["baseline"]\n')
    path = os.pathsep.join((str(BUILD), os.environ["PATH"]))
    said = run_command_ok(place / "bin/approxftl-study", "run", "study.toml", where=tmp_path,
                          PATH=path, PYTHONPATH=str(packages))
    assert "baseline" in said
    made = run_command_ok(place / "bin/approxftl-synth", "--like", "PRN_0", "--requests", "1000",
                          "-O", "x.aft", where=tmp_path, PATH=path, PYTHONPATH=str(packages))
    assert "x.aft: 1000 synthetic requests" in made
    run_command_ok(sys.executable, "-c", "import approxftl, sys\n"
                   "with approxftl.open('data', 'wb') as f:\n"
                   "    f.write(b'x')\n    sys.exit(f.device.active)", where=tmp_path,
                   PYTHONPATH=str(packages))
    # The library with the simulator is in the package.
    simulated = run_command_ok(sys.executable, "-c", "import approxftl\nprint(approxftl.simulate("
                               "profile='demo', requests=100).json, end='')", where=tmp_path,
                               PYTHONPATH=str(packages), AFTL_BUILD="/nowhere")
    assert simulated == run_command_ok(BUILD / "approxftl", "sim", "--profile=demo",
                                       "--requests=100", "--json=-")
    assert (packages / f"approxftl-{VERSION.replace('-', '')}.dist-info").is_dir()
    installed = {found.name for found in packages.rglob("*.*")}
    assert {"page.css", "page.js", "approxftl-quality.toml"} <= installed


def test_all_files_have_the_same_version() -> None:
    number, _, candidate = VERSION.partition("-")
    for name, pattern, expected in (
            ("CITATION.cff", "^version: (.*)", VERSION),
            ("CHANGELOG.md", "^## (\\S*)", VERSION),
            ("debian/changelog", r"\A\S+ \((.*)\)", DEBIAN_VERSION),
            ("packaging/dm-approxftl.spec", "^Version: (.*)", DEBIAN_VERSION),
            ("docs/dm-approxftl.rst", r"^(\d+\.\d+\.\d+)$", number),
            ("dm-approxftl/release.h", "AFTL_TARGET_VERSION { (.*) }",
             number.replace(".", ", "))):
        found = re.findall(pattern, (TOP / name).read_text(), re.M)
        assert found[-1 if name.endswith("rst") else 0] == expected, name
    assert re.fullmatch("|rc[1-9]", candidate)


def test_all_programs_print_the_same_version(installed_tree: Path) -> None:
    for line in ("approxftl version", "approxftl sim --version", "approxftl trace --version",
                 "approxftl study --version", "approxftl lab --version", "approxrun --version"):
        program, *words = line.split()
        said = run_command_ok(installed_tree / "usr/bin" / program, *words)
        assert said == f"{program} {VERSION}\n", line
    shown = run_command_ok("nbdkit", "--dump-plugin",
                           next(installed_tree.rglob("nbdkit-approxftl-plugin.so")))
    assert f"\nversion={VERSION}\n" in shown
    described = run_command_ok("pkg-config", "--modversion",
                               next(installed_tree.rglob("approxftl.pc")))
    assert described == f"{VERSION}\n"
    for page in (installed_tree / "usr/share/man").rglob("*.*"):
        assert f'"approxftl {VERSION}"' in page.read_text(), page


BASH = """
PATH={path}:$PATH
. packaging/completion/approxftl.bash
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_approxftl
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# Record the completions that zsh would show.
ZSH_SETUP = """
PATH={path}:$PATH
fpath=({top}/packaging/completion $fpath)
autoload -Uz compinit && compinit -u -d {place}/../completions
compadd() {{
	local -a hits options
	options=(${{argv[1,(i)--]}})
	if [[ -z ${{options[(r)-[OAD]]}} ]]; then
		builtin compadd -O hits "$@"
		print -rl -- $hits >>{place}/hits
	fi
	builtin compadd "$@"
}}
look() {{ zle complete-word; exit }}
zle -N look
bindkey '^T' look
"""

ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source {place}/setup"
zpty -w -n shell "{words}"$'\\C-t'
while zpty -r shell line; do :; done
cat {place}/hits
"""

COMPLETIONS = [
    ("approxftl he", {"health", "help"}),
    ("approxftl help heal", {"health"}),
    ("approxftl sim --polic", {"--policy"}),
    ("approxftl sim --policy vth", {"vth_b"}),
    ("approxftl create x --profile tc", {"tcad18"}),
    ("approxftl tag qu", {"query"}),
    ("approxftl tag add --pre", {"--precise"}),
    ("approxftl trace conv", {"convert"}),
    ("approxftl list --sh", {"--show"}),
    ("approxftl list -o late", {"late_p99_ns"}),
    ("approxftl trace formats -S un", {"units"}),
    ("approxftl fault ssd un", {"uncorrectable", "unit"}),
    ("approxftl figures --li", {"--list"}),
]


@pytest.mark.parametrize(("words", "expected"), COMPLETIONS)
def test_bash_completes_verbs_and_options(words: str, expected: set[str]) -> None:
    script = BASH.format(path=BUILD, words=words)
    assert set(run_command_ok("bash", "-c", script).split()) == expected


@pytest.mark.parametrize(("words", "expected"), COMPLETIONS)
def test_zsh_completes_verbs_and_options(tmp_path: Path, words: str, expected: set[str]) -> None:
    (tmp_path / "setup").write_text(ZSH_SETUP.format(path=BUILD, top=TOP, place=tmp_path))
    script = ZSH.format(place=tmp_path, words=words)
    assert set(run_command_ok("zsh", "-f", "-c", script, TERM="xterm").split()) == expected
