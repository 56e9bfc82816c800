"""What was measured: medians, the table and the goals."""

import statistics
from typing import NamedTuple


class Results:
    """The measures of all rounds, and why rows have none."""

    def __init__(self, watch=None):
        self.watch = watch  # quiet.Watch of all measurements
        self.measures = {}  # (key, cores) -> one for each round
        self.reasons = {}   # key -> text

    def add(self, key, cores, measure):
        self.measures.setdefault((key, cores), []).append(measure)

    def fail(self, key, reason):
        self.reasons.setdefault(key, reason)

    def values(self, key, cores, name):
        return [measure[name] for measure in self.measures.get((key, cores), [])
                if name in measure]

    def median(self, key, cores, name="images_per_second"):
        """None where nothing was measured."""
        values = self.values(key, cores, name)
        return statistics.median(values) if values else None

    def spread(self, key, cores):
        """From the slowest round to the fastest, of the median."""
        values = self.values(key, cores, "images_per_second")
        if not values:
            return None
        return (max(values) - min(values)) / statistics.median(values)

    def simd_target(self, key):
        """Of ours, by Highway's name; the others choose their own."""
        for (found, _), measures in self.measures.items():
            if found == key and "simd_target" in measures[0]:
                return measures[0]["simd_target"]
        return "–"

    def version(self, key):
        """"tf.data 2.21.0"; None for ours, which is the commit's."""
        for (found, _), measures in self.measures.items():
            if found == key and "version" in measures[0]:
                return "{system} {version}".format(**measures[0])
        return None


class Goal(NamedTuple):
    what: str
    ours: str
    theirs: str
    needed: float


GOALS = [
    Goal("reference recipe to tf.data", "tpu", "tf_reference", 4),
    Goal("reference recipe, row index, to tf.data", "tpu_rows",
         "tf_reference", 6),
    Goal("antialiased recipe to DALI", "torchvision", "dali_antialias", 2.5),
    Goal("antialiased recipe to torch, decode_jpeg", "torchvision",
         "torch_tensor", 2.5),
    Goal("antialiased recipe to torch, Pillow", "torchvision", "torch_pillow",
         2.5),
    Goal("TrivialAugment to torchvision v2's", "trivial", "torch_trivial", 3),
    Goal("A1's augmentations to torchvision v2's", "rand", "torch_rand", 3),
    Goal("a folder to torchvision's ImageFolder", "folder", "image_folder", 3),
    Goal("tars to webdataset", "tars", "webdataset", 3),
    Goal("shrunk records to FFCV's of the same images", "as_ffcv",
         "ffcv_shrunk", 1.5),
    Goal("records of token ids to tf.data", "texts", "texts_tf", 2.5),
    # Which has no threads either.
    Goal("records of token ids to tfrecord", "texts_inline", "texts_tfrecord",
         20),
    Goal("records of 30 features to tf.data", "mixed", "mixed_tf", 2.5),
    Goal("records of 30 features to tfrecord", "mixed_inline",
         "mixed_tfrecord", 20),
    *(Goal(f"{what} to torchvision v2, {how}", data, f"{data}_{key}", 4)
      for data, what in (("raccoon", "raccoons and their boxes"),
                         ("coco_like", "photographs with 7 boxes"))
      for key, how in (("tensor", "decode_jpeg"),
                       ("tensor_inline", "decode_jpeg, no worker process"),
                       ("pillow", "Pillow"),
                       ("pillow_inline", "Pillow, no worker process"))),
]
SCALING, OVERHEAD = 1.9, 0.03


def number(value, form):
    return "–" if value is None else format(value, form)


def row_cells(row, cores, results):
    cells = [row.system, row.work]
    for count in cores:
        cells += [number(results.median(row.key, count), ",.0f"),
                  number(results.spread(row.key, count), ".0%")]
    first = cores[0]
    peak = results.median(row.key, first, "peak_rss_bytes")
    cells += [
        number(results.median(row.key, first, "cpu_seconds_per_1000"), ".2f"),
        number(peak and peak / 1e6, ",.0f"),
        number(results.median(row.key, first, "first_batch_seconds"), ".2f"),
        results.simd_target(row.key)]
    return cells


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def cores_text(count):
    return "1 core" if count == 1 else f"{count} cores"


def tables(rows, cores, results):
    """One for each unit."""
    made = []
    for unit in dict.fromkeys(row.unit for row in rows):
        head = ["system", "work"]
        for count in cores:
            head += [f"{unit}, {cores_text(count)}", "spread"]
        head += ["CPU s per 1,000", "peak MB", "first batch, s", "SIMD target"]
        made.append(markdown(head, [row_cells(row, cores, results)
                                    for row in rows if row.unit == unit]))
    return "\n".join(made)


class Outcome(NamedTuple):
    what: str
    cores: int
    measured: str
    needed: str
    met: bool
    by_cpu: str = "–"  # the same ratio of CPU time: steady on a busy machine


def ratio(ours, theirs):
    return ours / theirs if ours and theirs else None


def ratio_goal(goal, count, results):
    measured = ratio(results.median(goal.ours, count),
                     results.median(goal.theirs, count))
    if measured:
        name = "cpu_seconds_per_1000"
        by_cpu = ratio(results.median(goal.theirs, count, name),
                       results.median(goal.ours, count, name))
        yield Outcome(goal.what, count, f"{measured:.2f}x", f"{goal.needed}x",
                      measured >= goal.needed,
                      number(by_cpu, ".2f") + ("x" if by_cpu else ""))


def own_goals(key, what, cores, results):
    scaling = ratio(results.median(key, 2), results.median(key, 1))
    if scaling:
        yield Outcome(f"two threads to one, {what}", 2, f"{scaling:.2f}x",
                      f"{SCALING}x", scaling >= SCALING)
    for count in cores:
        share = results.median(key, count, "overhead")
        if share is not None:
            yield Outcome(f"beside decode and resize, {what}", count,
                          f"{share:.1%}", f"{OVERHEAD:.0%}", share <= OVERHEAD)


def outcomes(cores, results):
    """Of the goals whose rows were measured."""
    for goal in GOALS:
        for count in cores:
            yield from ratio_goal(goal, count, results)
    for key, what in (("tpu", "no index"), ("tpu_rows", "row index")):
        yield from own_goals(key, what, cores, results)


def goals(cores, results):
    rows = [[goal.what, str(goal.cores), goal.measured, goal.needed,
             "yes" if goal.met else "**no**", goal.by_cpu]
            for goal in outcomes(cores, results)]
    return markdown(["goal", "cores", "measured", "needed", "met",
                     "by CPU time"], rows)


def reasons(rows, results):
    """A line for each row that was not measured in every round."""
    return "".join(f"- {row.system}, {row.work}: {results.reasons[row.key]}\n"
                   for row in rows if row.key in results.reasons)


def as_json(rows, results):
    return [{"key": row.key, "system": row.system, "work": row.work,
             "version": results.version(row.key),
             "reason": results.reasons.get(row.key),
             "cores": {str(count): measures
                       for (key, count), measures in results.measures.items()
                       if key == row.key}} for row in rows]
