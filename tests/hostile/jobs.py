"""Work that writes a result: interrupted in one way or another, then done
again. What comes out has to be what comes out of an undisturbed run."""

import dataclasses
import functools
import pathlib

import trees


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    program: str
    words: tuple  # with OUT where the folder of results goes
    undone: int   # exit code of an interrupted run; -1: begins anew

    def command(self, out):
        return [str(word).replace("OUT", str(out)) for word in self.words]


def all_of(inputs):
    data = inputs.data
    return [
        Job("convert", "imagenet_to_records",
            ("--raw_data_dir", inputs.images, "--local_scratch_dir", "OUT",
             "--shards", "6", "--threads", "2"), 75),
        Job("reshard", "records",
            ("reshard", data, "--output", "OUT", "--shards", "4", "--shuffle",
             "global"), 75),
        Job("repair", "records",
            ("repair", "--decode", data, "--output", "OUT"), 75),
        Job("split", "records",
            ("split", data, "--output", "OUT", "--by_label"), 75),
        Job("extract", "records",
            ("extract", data, "--output", "OUT", "--resume"), 75),
        Job("train", "train_resnet",
            tuple(inputs.training(data, "OUT", 8)), 75)]


# What tells of a run itself: times, speeds, process numbers.
OF_A_RUN = {"train": ("metrics.jsonl", "events.out", "report.html", "eval/",
                      "params.yaml")}


class Reference:
    """The undisturbed results of a job, made at the first use."""

    def __init__(self, inputs):
        self.inputs = inputs
        self._made = {}

    def of(self, job):
        if job.name not in self._made:
            out = self.inputs.folder / "undisturbed" / job.name
            self.inputs._run(job.program, *job.command(out))
            self._made[job.name] = results(job, out)
        return self._made[job.name]


@functools.lru_cache
def reference_of(inputs):
    return Reference(inputs)


def results(job, out):
    found = trees.results(out, OF_A_RUN.get(job.name, ()))
    if job.name == "train":
        # Others are kept, or deleted, with each save.
        last = "checkpoint-00000008/"
        return {name: value for name, value in found.items()
                if name.startswith(last)}
    return found


def check_half_done(case, job, out):
    """No file of a result's name that is not the result's."""
    if not pathlib.Path(out).exists():
        return
    whole = reference_of(case.inputs).of(job)
    for name, value in results(job, out).items():
        if name in whole:
            case.expect(value == whole[name],
                        f"{job.name}: half-written, with its name: {name}")


def finish(case, job, out):
    """The same command again: the same bytes."""
    words = job.command(out)
    ended = case.run(job.program, *words)
    if ended.code == 2 and job.program == "records":
        # It is there already: the interruption came too late.
        case.expect("--overwrite" in ended.errors or "empty" in ended.errors,
                    f"{job.name}: refused: {ended.tail}")
    else:
        case.expect(ended.code == 0, f"{job.name}: not done: {ended.tail}")
    change = trees.first_change(reference_of(case.inputs).of(job),
                                results(job, out))
    case.expect(change is None, f"{job.name}: other results: {change}")
