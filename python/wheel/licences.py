"""licences.py CPU ENVIRONMENT WHEEL FOLDER: puts the wheel into the folder, with
the licences of what is in it."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import ziglang

# Of the sources of Debian's packages. They were read: an Apache wheel must not
# contain GPL code.
KNOWN = {"cli11", "curl", "fmtlib", "highway", "libisal", "libjpeg-turbo",
         "libpng1.6", "libwebp", "nlohmann-json3", "onetbb", "openssl",
         "pugixml", "utf8proc", "yaml-cpp", "zlib",
         # Input workers.
         "abseil", "c-ares", "grpc", "re2", "utf8_range", "xxhash"}


def licences(cpu, environment):
    """The licence files by the names they get."""
    zig = pathlib.Path(ziglang.__file__).parent
    nanobind = next(pathlib.Path(environment).glob(
        "lib/python*/site-packages/nanobind-*.dist-info/licenses/LICENSE"))
    files = {path.name: path for path in
             pathlib.Path("build/wheel", cpu, "licences").iterdir()}
    unknown = files.keys() - KNOWN
    if unknown:
        sys.exit(f"look at the licences of {unknown} first")
    return {**files, "nanobind": nanobind, "zig": zig / "LICENSE",
            "libc++": zig / "lib/libcxx/LICENSE.TXT",
            "libc++abi": zig / "lib/libcxxabi/LICENSE.TXT",
            "libunwind": zig / "lib/libunwind/LICENSE.TXT",
            "libgcc": pathlib.Path("/usr/share/doc/gcc-12-base/copyright")}


def main():
    cpu, environment, wheel, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest",
                        place, wheel], check=True, stdout=subprocess.DEVNULL)
        root = next(pathlib.Path(place).iterdir())
        target = next(root.glob("*.dist-info")) / "licenses" / "libraries"
        target.mkdir(parents=True)
        for name, source in sorted(licences(cpu, environment).items()):
            shutil.copyfile(source, target / name)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir",
                        folder, root], check=True, stdout=subprocess.DEVNULL)


main()
