"""gate.py CPU WHEEL: fails where the wheel would not run on every system of
manylinux_2_28, or have other bits there."""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from elftools.elf.elffile import ELFFile

# glibc's, which Zig's own would replace unseen, with other bits.
FROM_GLIBC = {"cos", "exp", "expf", "logf", "memcpy", "sin"}
# Products and sums that are rounded once, which not every CPU does; and AVX-VNNI,
# which Highway does not look for.
UNWANTED = r"\t(?:vf?n?m(?:add|sub)|fn?m(?:add|sub|la|ls)\b|\{vex\})[^\n]*"
# It calls std::fma.
FUSES = "torchvision_policy.cc.o"


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


def check_symbols(root):
    for path in [*root.glob("infeed/_engine*.so"), *root.glob("infeed/bin/*")]:
        exported, imported = symbols_of(path)
        if not FROM_GLIBC <= imported:
            sys.exit(f"{path.name} has its own {FROM_GLIBC - imported}")
        if path.suffix == ".so" and exported != {"PyInit__engine"}:
            sys.exit(f"{path.name} exports {exported}")


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
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        check_symbols(pathlib.Path(folder))
    check_instructions(cpu)
    check_platform(cpu, wheel)


main()
