"""The machine and the commit that were measured."""

import os
import pathlib
import platform

import environments

ROOT = pathlib.Path(__file__).resolve().parents[2]


def of_cpu(name):
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(name):
            return line.split(":", 1)[1].strip()
    return "unknown"


def described():
    simd = [flag for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16")
            if flag in of_cpu("flags").split()]
    return {"cpu": of_cpu("model name"), "family": of_cpu("cpu family"),
            "cores": os.cpu_count(), "simd": simd,
            "system": platform.freedesktop_os_release()["PRETTY_NAME"],
            "kernel": platform.release(), "python": platform.python_version()}


def text():
    host = described()
    return (f"{host['cpu']} (family {host['family']}, {host['cores']} cores, "
            f"{' '.join(host['simd'])}), {host['system']}, "
            f"Python {host['python']}; commit {commit()}")


def commit():
    try:
        return environments.run(["git", "-C", ROOT, "describe", "--always",
                                 "--dirty"], "git").strip()
    except environments.Unavailable:
        return "unknown"
