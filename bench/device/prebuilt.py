"""Programs that another machine has built: whether they run here, in place of
a build."""

import hashlib
import json
import pathlib

import work

NAME = "prebuilt"
FACTS = "prebuilt.json"
# Folder of the machine's PyTorch; lib/ beside it has Debian's libraries.
WHEELS = "wheels"
# Libraries that every Linux with a compiler has; a program must load only the
# system's version.
SYSTEMS = ("ld-linux", "libc.so", "libdl.so", "libgcc_s", "libm.so",
           "libpthread", "libresolv", "librt.so", "libstdc++", "libutil",
           "linux-vdso")
OF_DRIVER = "libcuda.so.1"
TOPS = ["base", "bench", "cmake", "pipeline", "preprocess", "records", "tests",
        "tools", "trainer"]
KINDS = {".cc", ".cmake", ".cu", ".h", ".proto"}


def folder(place):
    """Beside the pack's sources, or in the work folder."""
    return (work.ROOT.parent if work.PACKED.exists() else place.folder) / NAME


def facts(where):
    """What is known of the programs in a folder; None where there are none."""
    path = where / FACTS
    return json.loads(path.read_text()) if path.exists() else None


def sources(root):
    """A hash of all that the programs are made of."""
    made_of = [root / "CMakeLists.txt"] + [
        path for top in TOPS for path in (root / top).rglob("*.*")
        if path.suffix in KINDS or path.name == "CMakeLists.txt"]
    found = hashlib.sha256()
    for path in sorted(made_of):
        content = path.read_bytes()
        found.update(f"{path.relative_to(root)} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def wheels(place):
    """The version of PyTorch, and the folder where its wheel is."""
    version, path = work.last_line(place.run(
        [place.python, "-c", "import torch; print(torch.__version__, "
         "torch.__file__)"], log="torch")).split()
    return version, pathlib.Path(path).parent.parent


def link(where, target):
    path = where / WHEELS
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def loaded(place, program):
    """(name, path) of every library that a program loads beside the system's;
    no path where there is none."""
    for line in place.run(["ldd", program], log="ldd").splitlines():
        words = line.split()
        if "=>" in words and not words[0].startswith((*SYSTEMS, OF_DRIVER)):
            yield words[0], None if words[2] == "not" else words[2]


def check_libraries(place, where):
    """Raises NotRun where a program lacks a library, or would load another than
    the one that came along."""
    for program in sorted((where / "bin").iterdir()):
        for name, path in loaded(place, program):
            if not path:
                raise work.NotRun(f"{program.name} needs {name}")
            own = where / "lib" / name
            if own.exists() and not own.samefile(path):
                raise work.NotRun(f"{program.name} loads {path}")


def check(place, where, known, architectures):
    """Raises NotRun where the programs are not for this machine or these
    sources; joins them with its PyTorch."""
    if known["sources"] != sources(work.ROOT):
        raise work.NotRun("they are made of other sources")
    if known["architectures"] != architectures:
        raise work.NotRun(f"they are for {known['architectures']}, the card "
                          f"is {architectures}")
    version, target = wheels(place)
    if version != known["versions"]["pytorch"]:
        raise work.NotRun(f"they are for PyTorch "
                          f"{known['versions']['pytorch']}, here is {version}")
    link(where, target)
    check_libraries(place, where)
    place.run([where / "bin/train_resnet", "--version"], log="version")


def use(place, architectures):
    """Has the parts run the programs that were built beforehand: what is known
    of them. None where there are none for this machine."""
    place.chosen.unlink(missing_ok=True)
    where = folder(place)
    known = facts(where)
    if known is None:
        return None
    try:
        check(place, where, known, architectures)
    except work.NotRun as why:
        work.say(f"prebuilt programs are not used: {why}")
        return None
    place.chosen.symlink_to(where)
    return known
