"""What the programs in this folder share: their flags, how a system is measured
and what they print.

Each of them drives one system over some TFRecord shards and prints one line of
JSON: system, version, work, cores, images_per_second, cpu_seconds_per_1000,
peak_rss_bytes, first_batch_seconds. Whoever starts it gives it its cores
(taskset). The window and the flip are drawn for each image: an area of 8 to
100 %, 3:4 to 4:3, half of them mirrored. Batches are uint8 in host memory; of
each image one byte is read. Of records without images (record_forms.py) the line
has the numbers of records, under the same names.
"""

import argparse
import json
import os
import pathlib
import sys
import time

BATCH, SIDE = 128, 224
AREA, ASPECT, ATTEMPTS = (0.08, 1.0), (3 / 4, 4 / 3), 10
BUILT = pathlib.Path(__file__).resolve().parents[2] / "build/release/python"
TICKS = os.sysconf("SC_CLK_TCK")


def parser(doc, works):
    flags = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawTextHelpFormatter)
    flags.add_argument("--work", choices=works, default=works[0],
                       help=f"what is done to an image [{works[0]}]")
    flags.add_argument("--cores", type=int, default=1,
                       help="threads or processes that work [1]")
    flags.add_argument("--seconds", type=float, default=10,
                       help="of the measurement, after a fifth of it [10]")
    flags.add_argument("shards", nargs="+", metavar="SHARD")
    return flags


def package():
    """This engine's Python package, of the build."""
    if str(BUILT) not in sys.path:
        sys.path.insert(0, str(BUILT))
    import infeed
    return infeed


def process_tree(root):
    """The process and all that come of it."""
    tree = [root]
    for pid in tree:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                tree += [int(child) for child in task.read_text().split()]
            except OSError:  # The thread has ended.
                pass
    return tree


def cpu_seconds():
    """CPU time of this process and its workers so far."""
    ticks = 0
    for pid in process_tree(os.getpid()):
        # After the name in brackets: utime, stime, and those of ended children.
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        ticks += sum(map(int, stat.rsplit(")", 1)[1].split()[11:15]))
    return ticks / TICKS


def peak_rss_bytes():
    """The sum over processes: what they share counts for each."""
    kibibytes = 0
    for pid in process_tree(os.getpid()):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        kibibytes += int(status.split("VmHWM:")[1].split()[0])
    return kibibytes * 1024


def touched(batch):
    """Reads a byte of each image; how many there are."""
    assert batch.shape[0] == BATCH and batch.dtype == "uint8", batch.shape
    assert sorted(batch.shape[1:]) == [3, SIDE, SIDE], batch.shape
    batch[:, 100, 2, 2].sum() if batch.shape[3] == 3 else batch[:, 2, 100, 2].sum()
    return batch.shape[0]


def consume(batches, seconds, touch):
    """Takes batches for a while: images or records, and seconds."""
    start, images = time.monotonic(), 0
    while time.monotonic() < start + seconds:
        images += touch(next(batches))
    return images, time.monotonic() - start


def measure(system, version, flags, start, touch=touched):
    """Measures start(), which returns an endless iterator of batches as arrays
    (NHWC or NCHW), or of what touch() takes, and prints the line."""
    began = time.monotonic()
    batches = start()
    touch(next(batches))
    first = time.monotonic() - began
    consume(batches, flags.seconds / 5, touch)
    cpu = cpu_seconds()
    images, seconds = consume(batches, flags.seconds, touch)
    print(json.dumps({
        "system": system, "version": version, "work": flags.work,
        "cores": flags.cores, "images_per_second": images / seconds,
        "cpu_seconds_per_1000": (cpu_seconds() - cpu) / images * 1000,
        "peak_rss_bytes": peak_rss_bytes(), "first_batch_seconds": first}),
        flush=True)
