"""The parts of a measurement, the most important first; runs them."""

import dataclasses
import functools
import json
import pathlib
import time
import traceback
import typing

import building
import life
import life_verdict
import ncu
import outcome
import pack
import prebuild
import report
import speed
import work

HERE = pathlib.Path(__file__).resolve().parent
# A part does not start with fewer seconds left in total.
LEAST_SECONDS = 20


@dataclasses.dataclass(frozen=True)
class Part:
    group: str
    name: str
    seconds: int  # time limit
    what: str
    measure: typing.Callable[[work.Work], dict]


def torch_script(place, name, script, *flags):
    """The JSON in the last line that a script of this folder prints."""
    work.card()
    return json.loads(work.last_line(place.run(
        [place.python, HERE / script, *flags], log=name)))


def peer(place, name, kind):
    """PyTorch's training with the batch of our fastest."""
    ours = report.ours(outcome.results(place))
    return torch_script(place, name, "peer_torch.py", "--compile", kind,
                        "--batch", ours["batch"] if ours else speed.BATCH)


def fed(place):
    """PyTorch's training fed by the Python package, beside resident images."""
    made = place.load("data") or {}
    if "jpeg" not in made:
        raise work.NotRun("part data has made none")
    return torch_script(place, "fed", "fed.py", made["jpeg"])


def checks():
    words = {True: "with", False: "without"}
    for name, (fused, graph) in speed.CHECKS.items():
        yield Part("check", name, 65, f"fake images, {words[fused]} fused "
                   f"batch norm, {words[graph]} CUDA graphs",
                   functools.partial(speed.check, name=name))


def speeds():
    for batch in speed.BATCHES:
        for kind in report.KINDS:
            # cuDNN compiles kernels that sum.
            seconds = 150 if kind in ("epilogue", "normed") else 65
            yield Part("speed", f"{kind}-{batch}", seconds,
                       f"images/s from {report.KINDS[kind]}, "
                       f"batches of {batch}",
                       functools.partial(speed.speed, kind=kind, batch=batch))


def test(group, name, seconds, what, program, only="*"):
    return Part(group, name, seconds, what, functools.partial(
        speed.run_test, name=name, test=program, only=only))


def sanitizer(tool):
    return Part("compare", tool, 150, f"compute-sanitizer's {tool} over the "
                "tests of kernels", functools.partial(
                    speed.sanitized, test="cuda_kernels_test", tool=tool))


PACK = Part("pack", "pack", 560, "one file with sources and libraries, for a "
            "machine without either", pack.pack)
PREBUILD = Part("prebuild", "prebuild", 2 * 3600, "programs for a machine with "
                "the same PyTorch", prebuild.prebuild)
LIFE = Part("life", "life", 300, "what long trainings meet, in short ones",
            life.measure)
BUILD = Part("build", "build", 560, "what trains and its tests: takes the "
             "prebuilt programs, or compiles", building.build_training)
PARTS = [
    BUILD,
    Part("check", "doctor", 40, "train_resnet --mode doctor", speed.doctor),
    test("check", "kernels", 80, "kernels against the CPU",
         "cuda_kernels_test"),
    test("check", "loop", 130, "the loop on the card, but for its longest test",
         "cuda_loop_test", "-" + speed.LONGEST),
    *checks(),
    Part("check", "ceilings", 40, "the card's copy and matrix product",
         functools.partial(torch_script, name="ceilings",
                           script="ceilings.py")),
    Part("speed", "data", 240, "JPEG and packed shards of made photographs",
         building.make_data),
    *speeds(),
    Part("compare", "eager", 90, "the same training in PyTorch, eager",
         functools.partial(peer, name="eager", kind="none")),
    Part("compare", "compile", 150, "and by torch.compile",
         functools.partial(peer, name="compile", kind="default")),
    Part("compare", "fed", 240, "and fed by the Python package, which must be "
         "installed", fed),
    sanitizer("memcheck"), sanitizer("racecheck"),
    Part("compare", "profile", 200, "the costliest kernels, by Nsight "
         "Compute", ncu.profile),
    test("compare", "longest", 60, "the longest test of the loop",
         "cuda_loop_test", speed.LONGEST),
]


def measured(place, part):
    """A part's result, or why there is none: whatever fails in a part must not
    stop the next."""
    try:
        return work.attempt(part.measure, place)
    except Exception as error:
        traceback.print_exc()
        return {"not_run": f"{type(error).__name__}: {error}"}


def run_part(place, part, seconds=None):
    work.say(f"== {part.name}")
    place.begin_part(seconds or part.seconds)
    start = time.monotonic()
    result = measured(place, part)
    if "not_run" in result:
        work.say(f"not run: {result['not_run']}")
    # It may have run out of time: --resume runs it again.
    cut = "not_run" in result and place.seconds_left < LEAST_SECONDS
    result = {**result, "took": round(time.monotonic() - start, 1),
              **({"cut": True} if cut else {})}
    place.save(part.name, result)
    return result


def is_done(place, part):
    """Whether --resume leaves it out: it ran, and no check of a life failed."""
    result = place.load(part.name)
    return (result is not None and not result.get("cut")
            and not life_verdict.failed(result.get("rows", [])))


def run_parts(place, parts, seconds=None):
    """Runs parts in turn; after each, writes the report and the file of
    results. Whether all had a result, in a rehearsal all that need no card, and
    no check of a life failed.
    """
    ran = []
    for part in parts:
        if place.seconds_left < LEAST_SECONDS:
            work.say(f"{part.name} and what follows: no time is left")
            return False
        result = run_part(place, part, seconds)
        why = result.get("not_run")
        ran.append(why is None or (place.rehearsed and why == work.NO_CARD))
        ran += [row["ok"] is not False for row in result.get("rows", [])]
        outcome.hand_over(place)
    return all(ran)
