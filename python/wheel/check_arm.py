"""check_arm.py WHEEL: uses the wheel under emulation, as far as a Debian has the
CPython that it is for, and compares with this machine's programs."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import check

# Debian's CPython for Arm by the wheel's tag.
SUITES = {"cp311-cp311": ("bookworm", "3.11"), "cp312-abi3": ("trixie", "3.13")}


def unpack_numpy(version, site):
    check.run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
              "--only-binary", ":all:", "--platform", "manylinux_2_28_aarch64",
              "--platform", "manylinux_2_27_aarch64", "--python-version",
              version, "--dest", site, "numpy")
    zipfile.ZipFile(next(site.glob("numpy-*.whl"))).extractall(site)


def main():
    wheel = sys.argv[1]
    tag = re.search(r"cp\d+-\w+(?=-manylinux)", wheel)[0]
    if tag not in SUITES:
        print(f"{wheel}: not tried, since no Debian has its CPython")
        return
    suite, version = SUITES[tag]
    root = pathlib.Path("build/wheel/aarch64", suite).resolve()
    subprocess.run(["packaging/debian_root", "arm64", suite, root,
                    "libstdc++6", "python3"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        site = work / "site"
        zipfile.ZipFile(wheel).extractall(site)
        (site / "infeed/bin/package_programs").chmod(0o755)
        unpack_numpy(version, site)
        os.environ["PYTHONPATH"] = str(site)
        emulator = ["qemu-aarch64-static", "-L", root]
        python = [*emulator, root / f"usr/bin/python{version}"]
        programs = [*emulator, site / "infeed/bin/package_programs"]
        check.make_images(work / "images")
        check.pack_images(work / "images", work)
        check.run(*programs, "imagenet_to_records", "--raw_data_dir",
                  work / "images", "--local_scratch_dir", work / "shards",
                  "--shards", 2)
        commands = {"the wheel's program": [*programs, "pipeline_throughput"]}
        if (check.BUILD / "pipeline_throughput").exists():
            commands["build/release's"] = [check.BUILD / "pipeline_throughput"]
        for name in ("shards", "images", "images.zip", "images.tar"):
            check.check_batches(python, work / name, commands)
        check.check_images(python, work)
        shards = work / "shards"
        with check.running_worker([*programs, "input_worker"],
                                  shards) as address:
            check.check_worker(python, shards, address)
    print(f"{wheel}: good with CPython {version} under emulation")


main()
