"""licences.py WHEEL FOLDER: puts the wheel into the folder, with the licences
of what it brings along; fails where a library is new to it."""

import glob
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CURL = "build/wheel/curl"
# Libraries whose licences were checked and permit redistribution: an Apache
# wheel must not contain GPL code.
LIBRARIES = {"libcrypto", "libcurl", "libfmt", "libhwy", "libisal", "libjpeg",
             "libpng16", "libpugixml", "libssl", "libtbb", "libutf8proc",
             "libwebp"}
# Header-only libraries that are compiled in, by their Debian packages.
HEADERS = ["libcli11-dev", "nlohmann-json3-dev"]
# Archives of which the plugin of input workers is linked, which are gRPC (with
# upb and address_sorting), Abseil and c-ares; and xxHash, of which gRPC has a
# copy that its licences leave out.
ARCHIVES = ["libabsl-dev", "libc-ares-dev", "libgrpc-dev", "libxxhash0"]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def package_of(library):
    """Debian's package of a library in the wheel, whose name has a hash."""
    name = re.sub(r"-[0-9a-f]{8,}(?=\.so)", "", library.name)
    return run("dpkg-query", "--search", "*/" + name).split(":")[0]


def debian_copyright(package):
    return pathlib.Path("/usr/share/doc") / package / "copyright"


def licences(libraries):
    """The licence files by the names they get."""
    files = {package: debian_copyright(package)
             for package in HEADERS + ARCHIVES}
    for library in libraries:
        if library.name.startswith("libcurl"):
            files["curl"] = pathlib.Path(glob.glob(f"{CURL}/curl-*/COPYING")[0])
        else:
            package = package_of(library)
            files[package] = debian_copyright(package)
    for file in importlib.metadata.files("nanobind"):
        if file.name == "LICENSE":
            files["nanobind"] = pathlib.Path(file.locate())
    return files


def main():
    wheel, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", place, wheel)
        root = next(pathlib.Path(place).iterdir())
        libraries = sorted((root / "infeed.libs").iterdir())
        unknown = [library.name for library in libraries
                   if re.split(r"[-.]", library.name)[0] not in LIBRARIES
                   and "-".join(library.name.split("-")[:2]) not in LIBRARIES]
        if unknown:
            sys.exit(f"{wheel}: look at the licences of {unknown} first")
        target = next(root.glob("*.dist-info")) / "licenses" / "libraries"
        target.mkdir(parents=True)
        for name, source in sorted(licences(libraries).items()):
            shutil.copyfile(source, target / name)
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, root)


main()
