"""Builds the programs on this machine, and makes the data."""

import glob
import os
import pathlib
import re
import shutil
import subprocess

import prebuilt
import work

TRAINING = ["train_resnet"]
TESTS = ["cuda_kernels_test", "cuda_loop_test"]
# These make the data.
TOOLS = ["imagenet_to_records", "make_demo_images", "make_photographs"]
IMAGES = 4000
REHEARSED_IMAGES = 60
IMAGE_SIZE = 224
# Libraries that must come from the pack where there is one, by a file that
# each has among the headers.
PACKED_HEADERS = ("CLI/", "curl/", "fmt/", "google/protobuf/", "hwy/", "isa-l",
                  "jpeglib.h", "nlohmann/", "png.h", "pugixml.hpp",
                  "tbb/", "utf8proc.h", "webp/", "yaml-cpp/", "zip.h")


def torch_prefix(place):
    return place.run([place.python, "-c", "import torch; "
                      "print(torch.utils.cmake_prefix_path)"]).strip()


def architectures():
    """Of this machine's card; of the newest kind where there is none."""
    try:
        capability = work.card()["compute_capability"]
        return capability.replace(".", "") + "-real"
    except work.NotRun:
        return "90-real"


def packed_flags(deps):
    """Has CMake and the programs find the pack's libraries, and no system's."""
    usr = deps / "usr"
    arch = pathlib.Path(glob.glob(str(usr / "lib/*-linux-gnu"))[0])
    # Old-style run-time paths count for libraries of libraries as well.
    link = (f"-Wl,--disable-new-dtags -Wl,-rpath,{arch} "
            f"-Wl,-rpath-link,{arch}")
    return [f"-DCMAKE_LIBRARY_ARCHITECTURE={arch.name}",
            "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
            f"-DProtobuf_PROTOC_EXECUTABLE={usr / 'bin/protoc'}",
            f"-DCMAKE_EXE_LINKER_FLAGS={link}"]


def prefixes(place):
    torch = [torch_prefix(place)]
    if work.PACKED.exists():
        return [str(deps() / "usr"), *torch]
    return torch


def deps():
    return work.ROOT.parent / "deps"


def configure(place, folder, packages, flags):
    """packages: where CMake looks first."""
    place.run([
        "cmake", "-G", "Ninja", "-S", work.ROOT, "-B", folder,
        "-DCMAKE_BUILD_TYPE=Release",
        # CMake 4 rejects package files that require less than 3.5.
        "-DCMAKE_POLICY_VERSION_MINIMUM=3.5", "-DINFEED_CUDA=ON",
        "-DINFEED_IMAGE_CODECS=OFF", "-DINFEED_BENCHMARKS=OFF",
        f"-DINFEED_CUDA_ARCHITECTURES={architectures()}",
        f"-DCMAKE_PREFIX_PATH={';'.join(packages)}", *flags], log="configure")


def configure_here(place):
    flags = []
    if work.PACKED.exists():
        flags = packed_flags(deps())
        # pkg-config must not find the system's packages.
        os.environ["PKG_CONFIG_LIBDIR"] = str(deps() / "pkg-config")
    configure(place, place.folder / "build", prefixes(place), flags)


def ninja(place, folder, *arguments):
    return place.run(["ninja", "-C", folder, *arguments], log="ninja")


def check_origins(place, programs):
    """Nothing that the pack has may come from the system: the machine that it
    is for may have none, or another version. Raises NotRun."""
    for line in ninja(place, place.folder / "build", "-t",
                      "deps").splitlines():
        path = line.strip()
        if path.startswith("/usr/include/"):
            name = path.split("/usr/include/")[1].removeprefix(
                "x86_64-linux-gnu/")
            if name.startswith(PACKED_HEADERS):
                raise work.NotRun(f"the build read {path}")
    arch = glob.glob(str(deps() / "usr/lib/*-linux-gnu"))[0]
    packed = {pathlib.Path(path).name for path in glob.glob(arch + "/*.so*")}
    for name in programs:
        for line in place.run(["ldd", place.programs / name]).splitlines():
            words = line.split()
            if words[0] in packed and not words[2].startswith(str(deps())):
                raise work.NotRun(f"{name} loads {words[2]}")


def version(command, pattern):
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
    except OSError:
        return "not there"
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else "unknown"


def versions(place):
    return {
        "cmake": version(["cmake", "--version"], r"version (\S+)"),
        "compiler": version(["c++", "--version"], r"^(.+)"),
        "nvcc": version(["nvcc", "--version"], r"release (\S+?),"),
        "pytorch": version([place.python, "-c",
                            "import torch; print(torch.__version__)"],
                           r"(\S+)")}


def build(place, targets):
    """Nothing where the programs were built beforehand."""
    if place.chosen.exists():
        return
    ninja(place, place.folder / "build", *targets)
    if work.PACKED.exists():
        check_origins(place, [name for name in targets
                              if name in TOOLS + TRAINING])


def build_training(place):
    """Builds what trains, and the tests that need the card, unless programs
    for this machine were built beforehand."""
    known = prebuilt.use(place, architectures())
    if known:
        return {"prebuilt": known["date"], **known}
    configure_here(place)
    build(place, TRAINING + TESTS)
    return {"architectures": architectures(), "versions": versions(place)}


def converted(place, name, images, *flags):
    """Shards of made photographs, made once."""
    folder = place.folder / "data" / name
    if not (folder / "dataset.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        place.run([place.programs / "imagenet_to_records", "--raw_data_dir",
                   images, "--local_scratch_dir", folder, *flags],
                  log="convert")
    return folder


def make_data(place):
    """Shards of JPEGs and of pixels of made photographs."""
    build(place, TOOLS)
    count = REHEARSED_IMAGES if place.rehearsed else IMAGES
    images = place.folder / "data" / f"photographs-{count}"
    if not images.exists():
        # Renamed only when complete, since the part may be stopped.
        fresh = images.with_suffix(".new")
        place.run([place.programs / "make_photographs", "--output", fresh,
                   "--images", count], log="photographs")
        fresh.rename(images)
    return {"jpeg": str(converted(place, f"jpeg-{count}", images)),
            "packed": str(converted(place, f"packed-{count}", images,
                                    "--format", "pixels", "--image_size",
                                    IMAGE_SIZE))}
