"""gate.py CPU WHEEL: fails where the wheel would not run on every system of
manylinux_2_28, have other bits there, or be too large."""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from elftools.elf.elffile import ELFFile

# glibc's, which Zig's own would replace unseen, with other bits.
FROM_GLIBC = {"cos", "exp", "expf", "logf", "memcpy", "sin"}
# What a library of the wheel exports; and what the plugin, which has no use for
# most of the above, takes from glibc.
MODULE = {"PyInit__engine"}
PLUGIN = {"infeed_rpc_plugin", "infeed_rpc_version"}
PLUGIN_FROM_GLIBC = {"memcpy"}
# Systems have them.
LIBRARIES = r"(?:ld-linux-[\w-]+|lib(?:c|dl|m|pthread|rt))\.so\.\d"
# Products and sums that are rounded once, which not every CPU does; and AVX-VNNI,
# which Highway does not look for.
UNWANTED = r"\t(?:vf?n?m(?:add|sub)|fn?m(?:add|sub|la|ls)\b|\{vex\})[^\n]*"
MAX_BYTES = 12_000_000
# It calls std::fma.
FUSES = "pillow_ops.cc.o"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def symbols_of(path):
    """The dynamic symbols: those that are defined, those that are not."""
    with open(path, "rb") as file:
        section = ELFFile(file).get_section_by_name(".dynsym")
        found = {(symbol.name, symbol["st_shndx"] == "SHN_UNDEF")
                 for symbol in section.iter_symbols()}
    return ({name for name, undefined in found if not undefined},
            {name for name, undefined in found if undefined})


def libraries_of(path):
    with open(path, "rb") as file:
        tags = ELFFile(file).get_section_by_name(".dynamic").iter_tags()
        return {tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"}


def check_file(path, exports, imports):
    exported, imported = symbols_of(path)
    if not imports <= imported:
        sys.exit(f"{path.name} has its own {imports - imported}")
    if exports is not None and exported != exports:
        sys.exit(f"{path.name} exports {exported}")
    for library in libraries_of(path):
        if not re.fullmatch(LIBRARIES, library):
            sys.exit(f"{path.name} needs {library}")


def check_files(root):
    package = root / "infeed"
    check_file(next(package.glob("_engine*.so")), MODULE, FROM_GLIBC)
    check_file(package / "libinfeed_workers.so", PLUGIN, PLUGIN_FROM_GLIBC)
    check_file(package / "bin/package_programs", None, FROM_GLIBC)
    if list(root.glob("*.libs")):
        sys.exit("the wheel brings libraries along")


def check_instructions(cpu):
    build = pathlib.Path("build/wheel", cpu, "build")
    for path in build.glob("*/libinfeed_*.a"):
        code = run(f"{cpu}-linux-gnu-objdump", "-d", path)
        for part in re.split(r"\n(?=\S+: +file format)", code):
            found = re.search(UNWANTED, part)
            if found and not part.startswith(FUSES):
                sys.exit(f"{path}: {part.split(':')[0]} has{found[0]}")


def check_platform(cpu, wheel):
    """No symbol of a later glibc, and no library that a system may lack."""
    auditwheel = pathlib.Path(sys.executable).parent / "auditwheel"
    shown = " ".join(run(auditwheel, "show", wheel).split())
    print(shown)
    version = re.search(rf'platform tag: "manylinux_2_(\d+)_{cpu}"', shown)
    if not version or int(version[1]) > 28:
        sys.exit(f"{wheel} is not for manylinux_2_28")


def main():
    cpu, wheel = sys.argv[1:]
    size = pathlib.Path(wheel).stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"{wheel} has {size} bytes")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        check_files(pathlib.Path(folder))
    check_instructions(cpu)
    check_platform(cpu, wheel)


main()
