"""What was measured: the table and the goals."""

import statistics
from typing import NamedTuple

import decoders
import results

WHOLE_GOAL, CROP_GOAL = 2, 3


class Row(NamedTuple):
    name: str
    version: str
    simd: str
    crop_work: str
    failed: int      # JPEGs that it cannot decode
    same: int        # decoded to infeed's pixels, which are libjpeg-turbo's
    whole: float     # images/s
    crop: float
    whole_cpu: float  # images per second of CPU time
    crop_cpu: float


def common(images):
    """The numbers of the files that every decoder has."""
    return [number for number, found in enumerate(zip(*images))
            if None not in found]


def rate(turns, count, name):
    return count / statistics.median(turn[name] for turn in turns)


def row(worker, turns, ours, count):
    found = worker.found
    decoder = decoders.named(worker.name)
    return Row(
        worker.name, found["version"], found["simd"], decoder.crop,
        sum(image is None for image in found["images"]),
        sum(image is not None and image == own
            for image, own in zip(found["images"], ours)),
        *(rate(turns[work], count, time) for time in ("seconds", "cpu_seconds")
          for work in ("whole", "crop")))


def rows(workers, turns, count):
    """Of decoders that were measured in a round at least, the fastest crop
    first."""
    ours = next(worker.found["images"] for worker in workers
                if worker.name == decoders.OURS)
    made = [row(worker, turns[worker.name], ours, count) for worker in workers
            if turns[worker.name]["crop"]]
    return sorted(made, key=lambda row: -row.crop)


def is_ours(row):
    return row.name.startswith(decoders.OURS)


def markdown(found):
    ours = next(row for row in found if row.name == decoders.OURS)
    head = ["decoder", "version", "SIMD target", "whole images/s",
            "infeed to it", "crops/s", "infeed to it", "crop by",
            "infeed's pixels", "cannot decode"]
    return results.markdown(head, [
        [row.name, row.version, row.simd, f"{row.whole:,.0f}",
         f"{ours.whole / row.whole:.2f}x", f"{row.crop:,.0f}",
         f"{ours.crop / row.crop:.2f}x", row.crop_work, str(row.same),
         str(row.failed)] for row in found])


def compared(ours, others, what, how, needed):
    """Beside the best of the others."""
    best = max(others, key=lambda row: getattr(row, what))
    measured = getattr(ours, what) / getattr(best, what)
    by_cpu = getattr(ours, f"{what}_cpu") / getattr(best, f"{what}_cpu")
    return [f"{ours.name} ({ours.simd}), {how}", best.name, f"{measured:.2f}x",
            f"{needed}x", "yes" if measured >= needed else "**no**",
            f"{by_cpu:.2f}x"]


def goals(found):
    """Each row of ours beside the best of the others, and an antialiased one
    also beside those whose crops are so, too: plain bilinear is less work."""
    others = [row for row in found if not is_ours(row)]
    alike = [row for row in others if "antialiased" in row.crop_work]
    lines = [compared(ours, group, what, how, needed)
             for ours in filter(is_ours, found)
             for group, what, how, needed in (
                 (others, "whole", "whole", WHOLE_GOAL),
                 (others, "crop", "crop", CROP_GOAL),
                 (alike if "antialiased" in ours.crop_work else [], "crop",
                  "crop, both antialiased", CROP_GOAL))
             if group]
    return results.markdown(["goal", "to the best of the others", "measured",
                             "needed", "met", "by CPU time"], lines)
