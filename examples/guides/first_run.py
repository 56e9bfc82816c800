"""The page docs/first_run.md: runs each command of the page, in its order, and
checks what it did. The page's ```sh blocks are the commands, one in each; a
```text block below one is what came out."""

import json
import re
import resource
import shlex
import time

from place import ROOT, Wrong

PAGE = ROOT / "docs/first_run.md"
WIDTH = 118
LEAST = 50  # percent of the test photographs, of five classes
# The short form trains on small drawings; a card is nowhere needed.
SHORT = {"image_size=64": "image_size=32,train_batch_size=16",
         "image_size=96": "image_size=48,train_batch_size=16",
         "train_epochs=15": "train_epochs=4",
         "train_epochs=4": "train_epochs=1", "train_steps=30": "train_steps=3"}
NO_CARD = {"--device cuda:0": "--device cpu --dry_run"}


def replay(place):
    steps = (look, try_folder, convert, verify, describe, train_and_stop, go_on,
             evaluate, predict, fine_tune, evaluate_tuned, export, plan_for_gpu)
    commands = re.findall(r"^```sh\n(.*?)\n```$",
                          PAGE.read_text(encoding="utf-8"),
                          re.MULTILINE | re.DOTALL)
    if len(commands) != len(steps):
        raise Wrong(f"the page has {len(commands)} commands, not {len(steps)}")
    classes = make_folder(place)
    tutorial = Tutorial(place, classes)
    for number, step in enumerate(steps):
        tutorial.number, tutorial.command = number, commands[number]
        tutorial.name = step.__name__.replace("_", " ")
        step(tutorial)
    tutorial.show_times()


def make_folder(place):
    """photographs/CLASS/*, and one more of each class in new/."""
    if place.short:
        place.run("make_demo_images", "--output", "drawn", "--train", 120,
                  "--validation", 10)
        source = place.out / "drawn/train"
    else:
        source = (place.data / "flowers128").resolve()
    (place.out / "new").mkdir()  # named like their class, in no folder of it
    for folder in sorted(source.iterdir()):
        (place.out / "photographs" / folder.name).mkdir(parents=True)
        first, *others = sorted(folder.iterdir())
        new = place.out / "new" / f"{folder.name}{first.suffix}"
        new.symlink_to(first)
        for path in others:
            (place.out / "photographs" / folder.name / path.name).symlink_to(
                path)
    return sorted(path.name for path in source.iterdir())


class Tutorial:
    """Runs the page's commands; what came out goes below them."""

    def __init__(self, place, classes):
        self.place = place
        self.classes = classes  # their names, sorted
        self.counts = {}        # split -> photographs
        self.stopped = None     # at which step
        self.number = None      # of the command at hand, from 0
        self.name = None        # what it is for
        self.command = None     # as it stands on the page
        self._times = []

    def run(self, **how):
        """stdout of the command at hand."""
        text = self.command.replace("\\\n", " ")
        short = SHORT if self.place.short else {}
        text = re.sub("|".join([*NO_CARD, *SHORT]), lambda found: {
            **NO_CARD, **short}.get(found[0], found[0]), text)
        start = time.monotonic()
        printed = self.place.run(*shlex.split(text), **how)
        self._times.append((self.name, time.monotonic() - start))
        return printed

    def show(self, printed, *patterns):
        """Puts the lines that match one of the patterns below the command."""
        lines = [line for line in printed.splitlines()
                 if any(re.search(pattern, line) for pattern in patterns)]
        self.place.answer(self.number, [
            line if len(line) <= WIDTH else line[:WIDTH - 4] + " ..."
            for line in lines])

    def show_times(self):
        total = sum(seconds for _, seconds in self._times)
        self.place.table(("command", "seconds"),
                         *((f"{number}: {name}", f"{seconds:.0f}") for
                           number, (name, seconds) in
                           enumerate(self._times, 1)),
                         ("all", f"{total:.0f}"))
        used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN,
                                                    resource.RUSAGE_SELF)]
        used = sum(usage.ru_utime + usage.ru_stime for usage in used)
        self.place.show(f"CPU time of all commands: {used:.0f} s.")


def look(tutorial):
    printed = tutorial.run()
    said = printed + tutorial.place.said
    tutorial.show(said, "^(data|labels|memory|disk):", "^model:  ",
                  "^would train", "^dry run")
    classes = len(tutorial.classes)
    tutorial.place.check("the dry run finds the classes, and no problem",
                         f"; {classes} classes" in said and
                         "0 problems found" in said, f"{classes} classes")


def try_folder(tutorial):
    tutorial.run()
    said = tutorial.place.said
    tutorial.show(said, "^step ", "^there are no data", "^trained at",
                  "^checkpoint")
    events = tutorial.place.events("tried", "end")
    tutorial.place.check("trains on the folder as it is",
                         events[-1]["state"] == "done" and "files" in said,
                         f"{events[-1]['step']} steps")


def convert(tutorial):
    printed = tutorial.run()
    tutorial.show(printed, ".")
    place = tutorial.place
    info = json.loads((place.out / "shards/dataset.json").read_text("utf-8"))
    counts = {split["name"]: split["records"] for split in info["splits"]}
    images = len(list((place.out / "photographs").glob("*/*")))
    place.check("every photograph is in one of three splits",
                set(counts) == {"train", "validation", "test"} and
                sum(counts.values()) == images,
                " / ".join(str(count) for count in counts.values()))
    tutorial.counts = counts
    labels = (place.out / "shards/labels.txt").read_text("utf-8").split("\n")
    place.check("the folders' names are the classes",
                labels[:-1] == tutorial.classes, ", ".join(tutorial.classes))


def verify(tutorial):
    printed = tutorial.run()
    tutorial.show(printed, ".")
    tutorial.place.check("no record is bad", ", 0 bad" in printed,
                         printed.strip())


def describe(tutorial):
    printed = tutorial.run()
    head = printed.split("\n\n")[0:2]
    tutorial.show("\n".join(head), ".")
    classes = len(tutorial.classes)
    tutorial.place.check("statistics name the classes",
                         f"classes     {classes}," in printed, classes)


def train_and_stop(tutorial):
    """SIGTERM in the third epoch; in the short form, after two steps."""
    place = tutorial.place
    steps = 2 if place.short else 5 * (tutorial.counts["train"] // 64) // 2

    def trained():
        try:
            return place.events("model", "train")[-1]["step"] >= steps
        except (FileNotFoundError, IndexError):
            return False

    tutorial.run(exit_code=75, stop_when=trained)
    lines = place.said.splitlines()
    first = [line for line in lines if line.startswith("step ")][:3]
    tutorial.show("\n".join([*first, "...", *(
        line for line in lines if not line.startswith("step "))]),
        "^step ", r"^\.\.\.$", "^stop", "^evaluation")
    stopped = place.events("model", "end")[-1]
    place.check("SIGTERM: a checkpoint, and exit code 75",
                stopped["state"] == "stopped", f"step {stopped['step']}")
    tutorial.stopped = stopped["step"]


def go_on(tutorial):
    place = tutorial.place
    tutorial.run()
    lines = place.said.splitlines()
    evaluations = [line for line in lines if line.startswith("evaluation")]
    last = [line for line in lines if line.startswith("best top_1")][-1:]
    place.answer(tutorial.number, [
        *(line for line in lines if "current step" in line), "...",
        *evaluations[-2:], *last,
        *(line for line in lines if line.startswith("trained at"))])
    begins = re.search(r"current step (\d+)", place.said)
    place.check("the same command goes on from there",
                begins and int(begins[1]) == tutorial.stopped,
                begins and f"step {begins[1]}")
    end = place.events("model", "end")[-1]
    start = place.events("model", "start")[-1]
    place.check("it trains to its end", end["state"] == "done" and
                end["step"] == start["total_steps"], f"step {end['step']}")
    report = place.out / "model/report.html"
    page = report.read_text("utf-8") if report.exists() else ""
    place.check("model/report.html has curves and a confusion matrix",
                "<svg" in page and "Confusion matrix" in page,
                f"{len(page)} characters")


def evaluate(tutorial):
    share = evaluated(tutorial, "the test photographs")
    tutorial.place.show("", f"Test top-1: {share:.1f} % at 64 pixels.", "")


def evaluated(tutorial, what):
    """Top-1 in percent."""
    place = tutorial.place
    printed = tutorial.run()
    tutorial.show(printed + place.said, "^evaluation")
    found = re.search(r"top-1 ([\d.]+) %.*\((\d+) images", printed + place.said)
    place.check(f"{what} are evaluated", found and
                int(found[2]) == tutorial.counts["test"], found and found[2])
    share = float(found[1])
    if not place.short:
        place.check(f"{what}: at least {LEAST} % are right", share >= LEAST,
                    f"{share} %")
    return share


def predict(tutorial):
    place = tutorial.place
    printed = tutorial.run()
    lines = [json.loads(line) for line in printed.splitlines()]
    tutorial.show(printed, "^{")
    place.check("a line for each photograph in new/",
                [line["file"] for line in lines] ==
                sorted(f"new/{path.name}" for path in
                       (place.out / "new").iterdir()) and
                all(line["label"] in tutorial.classes for line in lines),
                len(lines))
    page = (place.out / "predictions.html").read_text("utf-8")
    place.check("a page with their pictures", page.count("<figure") ==
                len(lines), page.count("<figure"))


def fine_tune(tutorial):
    place = tutorial.place
    tutorial.run()
    tutorial.show(place.said, "^starting from", "^evaluation", "^trained at")
    place.check("starts from the first model's weights",
                re.search(r"checkpoint of step \d+ in model: 122 tensors taken",
                          place.said), "122 tensors")


def evaluate_tuned(tutorial):
    share = evaluated(tutorial, "the test photographs at 96 pixels")
    tutorial.place.show("", f"Test top-1 after fine-tuning: {share:.1f} % at "
                        "96 pixels.", "")


def export(tutorial):
    place = tutorial.place
    printed = tutorial.run()
    tutorial.show(printed, "^exported")
    names = sorted(path.name for path in (place.out / "exported").glob("*/*"))
    place.check("exported files", names == [
        "model.onnx", "model.safetensors", "preprocessing.json"],
        ", ".join(names))


def plan_for_gpu(tutorial):
    """As a dry run on the CPU."""
    printed = tutorial.run()
    said = printed + tutorial.place.said
    tutorial.place.check("the GPU's command, as a dry run on the CPU",
                         "ResNet-50" in said and "0 problems found" in said,
                         "0 problems")
