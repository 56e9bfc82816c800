"""Builds here what the parts run, for a machine with the same PyTorch."""

import datetime
import json
import os
import pathlib
import shutil

import building
import pack
import prebuilt
import work

PROGRAMS = [*building.TRAINING, *building.TESTS, *building.TOOLS,
            "pipeline_throughput"]
MOST_BYTES = 40 << 20
# The objects of a unity build have many functions that a program never calls.
SECTIONS = "-ffunction-sections -fdata-sections"


def link_flags(target):
    """Has programs find libraries beside them and in the machine's PyTorch, of
    which `target` is one. Old-style paths count for libraries of libraries."""
    folders = ["lib", f"{prebuilt.WHEELS}/torch/lib", *sorted(
        f"{prebuilt.WHEELS}/{path.relative_to(target)}"
        for path in target.glob("nvidia/*/lib"))]
    paths = ":".join(f"$ORIGIN/../{folder}" for folder in folders)
    # CMake would reserve empty run-time paths for the installed program, and an
    # empty path is the current folder. The shell that links must not expand
    # $ORIGIN.
    return ["-DCMAKE_SKIP_BUILD_RPATH=ON", "-DCMAKE_SKIP_INSTALL_RPATH=ON",
            "-DCMAKE_EXE_LINKER_FLAGS="
            f"-Wl,--gc-sections -Wl,--disable-new-dtags -Wl,-rpath,'{paths}'"]


def build(place, target):
    folder = place.folder / "prebuild"
    building.configure(place, folder, [building.torch_prefix(place)], [
        "-DCMAKE_UNITY_BUILD=ON", f"-DCMAKE_CXX_FLAGS={SECTIONS}",
        *link_flags(target)])
    # Test suites are listed by running the test programs.
    prebuilt.link(folder, target)
    building.ninja(place, folder, *PROGRAMS)
    return folder


def copy_programs(place, built, where):
    (where / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        path = next(path for path in (built / "bin" / name,
                                      built / "tests" / name) if path.exists())
        place.run(["strip", "-o", where / "bin" / name, path], log="strip")


def copy_libraries(place, where):
    """Those of the programs that are not the system's own or the wheels'."""
    (where / "lib").mkdir()
    wheels = (where / prebuilt.WHEELS).resolve()
    libraries = {path for program in (where / "bin").iterdir()
                 for _, path in prebuilt.loaded(place, program) if path and
                 not pathlib.Path(path).resolve().is_relative_to(wheels)}
    for path in libraries:
        place.run(["strip", "--strip-unneeded", "-o",
                   where / "lib" / os.path.basename(path), path], log="strip")


def size(where):
    return sum(path.stat().st_size for path in where.glob("*/*")
               if not path.is_symlink() and prebuilt.WHEELS not in path.parts)


def prebuild(place):
    """Writes WORK/prebuilt; what it holds."""
    version, target = prebuilt.wheels(place)
    architectures = building.architectures()
    facts = {"commit": pack.commit(), "date": str(datetime.date.today()),
             "sources": prebuilt.sources(work.ROOT),
             "architectures": architectures,
             "versions": {**building.versions(place), "pytorch": version}}
    built = build(place, target)
    where = place.folder / prebuilt.NAME
    shutil.rmtree(where, ignore_errors=True)
    copy_programs(place, built, where)
    prebuilt.link(where, target)
    copy_libraries(place, where)
    (where / prebuilt.FACTS).write_text(json.dumps(facts, indent=2) + "\n")
    prebuilt.check(place, where, facts, architectures)
    bytes_of_all = size(where)
    if bytes_of_all > MOST_BYTES:
        raise work.NotRun(f"{where} has {bytes_of_all / 2**20:.1f} MiB, more "
                          f"than {MOST_BYTES >> 20}")
    work.say(f"{where}: {bytes_of_all / 2**20:.1f} MiB, for PyTorch {version}, "
             f"{architectures}; ./dev bench device pack takes it along")
    return {**facts, "bytes": bytes_of_all}
