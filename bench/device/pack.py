"""Brings sources, Debian's libraries and their headers into one file, for a
machine without a network and without these packages."""

import datetime
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tarfile

import prebuilt
import work

# Packages that the build on the device machine needs.
PACKAGES = [
    "libcli11-dev", "libcurl4-openssl-dev", "libfmt-dev", "libgmock-dev",
    "libgtest-dev", "libhwy-dev", "libisal-dev", "libjpeg62-turbo-dev",
    "libpng-dev", "libprotobuf-dev", "libpugixml-dev", "libssl-dev",
    "libtbb-dev", "libutf8proc-dev", "libwebp-dev", "libyaml-cpp-dev",
    "nlohmann-json3-dev", "protobuf-compiler", "zlib1g-dev",
]
# Programs that are packed with the libraries that they need.
PROGRAMS = ["/usr/bin/protoc"]
SYSTEMS = (*prebuilt.SYSTEMS, "libgomp")
MOST_BYTES = 60 << 20
# A protoc that finds its libraries in any folder.
PROTOC = """#!/bin/sh
here="$(cd "$(dirname "$0")" && pwd)"
LD_LIBRARY_PATH="$here/../lib/{arch}" exec "$here/protoc.packed" "$@"
"""


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise work.NotRun(f"{command[0]}: {work.last_line(done.stderr)}")
    return done.stdout


def is_needed(path):
    """Headers, libraries and CMake's package files; no manuals, and nothing
    of pkg-config, whose files name /usr."""
    return "/pkgconfig/" not in path and path.startswith(
        ("/usr/include/", "/usr/lib/", "/usr/share/cmake",
         "/usr/share/nlohmann"))


def files_of_packages():
    """Archives only where a package file insists on them."""
    listed = output("dpkg-query", "-L", *PACKAGES).splitlines()
    files = {path for path in listed
             if is_needed(path) and not os.path.isdir(path)}
    package_files = "".join(pathlib.Path(path).read_text() for path in files
                            if path.endswith(".cmake"))
    return {path for path in files if not path.endswith(".a")
            or os.path.basename(path) in package_files}


def in_usr(path):
    """A library's path where files are: /lib is a link to /usr/lib."""
    return path if path.startswith("/usr/") else "/usr" + path


def libraries_of(path):
    """Every library that a program or library loads, but the system's own."""
    found = set()
    for line in output("ldd", path).splitlines():
        words = line.split()
        if "=>" in words and len(words) > 2 and not words[0].startswith(SYSTEMS):
            found.add(in_usr(words[2]))
    return found


def closure(files):
    libraries = {path for path in files if ".so" in os.path.basename(path)}
    for path in [*libraries, *PROGRAMS]:
        libraries |= libraries_of(path)
    return libraries


def copy(paths, folder):
    """Files under their own paths, links as links. Where one leads to another
    folder, as Debian's alternatives do, the file itself takes its name."""
    for path in sorted(paths):
        real = os.path.realpath(path)
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if real != path and os.path.dirname(real) == os.path.dirname(path):
            beside = target.parent / os.path.basename(real)
            if not beside.exists():
                shutil.copy2(real, beside)
            if not target.exists():
                target.symlink_to(beside.name)
        elif not target.exists():
            shutil.copy2(real, target)


def pack_dependencies(folder):
    files = files_of_packages()
    copy(files | closure(files), folder)
    arch = output("gcc", "-print-multiarch").strip()
    programs = folder / "usr/bin"
    programs.mkdir(parents=True, exist_ok=True)
    shutil.copy2("/usr/bin/protoc", programs / "protoc.packed")
    wrapper = programs / "protoc"
    wrapper.write_text(PROTOC.format(arch=arch))
    wrapper.chmod(0o755)


@functools.cache
def commit():
    try:
        return output("git", "-C", work.ROOT, "describe", "--always",
                      "--dirty").strip()
    except (work.NotRun, OSError):
        return "unknown"


def pack_sources(folder):
    """What is committed."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(work.ROOT), "archive", "HEAD"],
                             stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout,
                   check=True)


def pack_prebuilt(place, folder):
    """The programs that were built here beforehand, if they are of the packed
    sources; whether they are."""
    made = place.folder / prebuilt.NAME
    known = prebuilt.facts(made)
    if known is None:
        work.say("no prebuilt programs: ./dev bench device prebuild makes them")
        return False
    if known["sources"] != prebuilt.sources(folder / "source"):
        work.say(f"left out: {made}, which is made of other sources")
        return False
    shutil.copytree(made, folder / prebuilt.NAME, symlinks=True,
                    ignore=shutil.ignore_patterns(prebuilt.WHEELS))
    return True


def pack(place):
    """Writes WORK/infeed-device.tar.xz; what it holds."""
    folder = place.folder / "pack/infeed-device"
    shutil.rmtree(folder.parent, ignore_errors=True)
    pack_sources(folder / "source")
    pack_dependencies(folder / "deps")
    facts = {"commit": commit(), "date": str(datetime.date.today()),
             "prebuilt": pack_prebuilt(place, folder)}
    (folder / "pack.json").write_text(json.dumps(facts, indent=2) + "\n")
    path = place.folder / "infeed-device.tar.xz"
    with tarfile.open(path, "w:xz", preset=1) as tar:
        tar.add(folder, "infeed-device")
    shutil.rmtree(folder.parent)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise work.NotRun(f"{path} has {size / 2**20:.1f} MiB, more than "
                          f"{MOST_BYTES >> 20}")
    work.say(f"{path}: {size / 2**20:.1f} MiB. There: tar -xf "
             f"{path.name}, then infeed-device/source/bench/device/run")
    return {**facts, "file": path.name, "bytes": size}


def unpack(archive, folder):
    """The sources in an empty folder, as another machine has them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return pathlib.Path(folder) / "infeed-device/source"
