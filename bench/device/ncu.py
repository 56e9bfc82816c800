"""The costliest kernels of a training step, as Nsight Compute sees them."""

import csv
import io
import re
import shutil

import training
import work

BATCH = 256
LISTED = 20
TOP = 3  # kernels that are measured separately
LAUNCHES = 40  # that include that kernel
# Launches of a run without graphs: skip the steps in which libraries choose
# algorithms, and take about one whole step.
SKIPPED, TAKEN = 15_000, 1500
IMAGES_OF_LOOP = 20 * BATCH
TIME = "gpu__time_duration.sum"
MEASURES = {
    TIME: "time",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "compute_percent",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed":
        "memory_percent",
    "dram__bytes_read.sum": "bytes_read",
    "dram__bytes_write.sum": "bytes_written",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
}
SCALES = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6,
          "msecond": 1e-3, "ms": 1e-3, "second": 1, "s": 1, "byte": 1,
          "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1}


def rows(text):
    """The kernels of `ncu --csv --page raw`: one dictionary each, numbers in
    seconds, bytes and percent. Its second line has the units."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    table = list(csv.DictReader(io.StringIO("\n".join(lines))))
    if len(table) < 2:
        raise work.NotRun("ncu saw no kernel")
    units = table[0]
    found = []
    for row in table[1:]:
        kernel = {"name": row["Kernel Name"]}
        for metric, key in MEASURES.items():
            if row.get(metric):
                value = float(row[metric].replace(",", ""))
                kernel[key] = value * SCALES.get(units[metric], 1)
        found.append(kernel)
    return found


def costliest(kernels, count=LISTED):
    """The names with the most time in all, with their shares of it."""
    seconds, calls = {}, {}
    for kernel in kernels:
        name = kernel["name"]
        seconds[name] = seconds.get(name, 0) + kernel["time"]
        calls[name] = calls.get(name, 0) + 1
    whole = sum(seconds.values())
    names = sorted(seconds, key=seconds.get, reverse=True)[:count]
    return [{"name": name, "seconds": seconds[name], "calls": calls[name],
             "share": seconds[name] / whole} for name in names]


def base_name(name):
    """What --kernel-name takes: without namespaces, templates, parameters."""
    plain = re.sub(r"\(anonymous namespace\)|<unnamed>", "",
                   name).removeprefix("void ")
    return re.split(r"[<(]", plain)[0].split("::")[-1]


def profiled(place, metrics, *flags):
    if not shutil.which("ncu"):
        raise work.NotRun("no ncu")
    model = place.folder / "models/profile"
    shutil.rmtree(model, ignore_errors=True)
    # Do not lock the clocks: the machine may be shared.
    return rows(place.run(
        ["ncu", "--csv", "--page", "raw", "--clock-control", "none",
         "--metrics", ",".join(metrics), *flags,
         *training.command(place, model, "null", BATCH, IMAGES_OF_LOOP,
                           fused_batch_norm="true", cuda_graph="false")],
        log="ncu"))


def measured(place, name):
    """The first of some launches of a kernel: other kernels of a template have
    the same short name."""
    for kernel in profiled(place, MEASURES, "--kernel-name", base_name(name),
                           "--launch-skip", 20, "--launch-count", LAUNCHES):
        if kernel["name"] == name:
            return kernel
    raise work.NotRun(f"not among {LAUNCHES} launches of that name")


def profile(place):
    """The costliest kernels; how far the first are from the card's limits."""
    work.card()
    all_kernels = profiled(place, [TIME], "--launch-skip", SKIPPED,
                           "--launch-count", TAKEN)
    top = costliest(all_kernels)
    for kernel in top[:TOP]:
        kernel["measured"] = work.attempt(measured, place, kernel["name"])
    return {"batch": BATCH, "kernels_seen": len(all_kernels), "costliest": top}
