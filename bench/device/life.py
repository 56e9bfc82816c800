"""A day in five minutes: short trainings that meet what long ones meet, as
rotated checkpoints, kills, resumes, full disks and losses that are not finite.
"""

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import time

import building
import life_run
import life_scale
import life_verdict as verdict
import work

PROGRAMS = ["train_resnet", "imagenet_to_records", "make_demo_images"]
COMMON = {"learning_rate_schedule": "constant", "warmup_epochs": 0,
          "moving_average_decay": 0.99, "keep_best": "top_1",
          "use_async_checkpointing": "true"}


class Life:
    """The folder of all lives: data, model directories."""

    def __init__(self, place):
        self.place = place
        self.scale = (life_scale.CPU if place.rehearsed else life_scale.CARD)
        self.folder = place.folder / "life"
        self.on_card = self.scale.device == "cuda"
        self.environment = dict(os.environ)
        if not self.on_card:
            # The bits depend on the number of threads.
            self.environment["OMP_NUM_THREADS"] = "2"

    def model(self, name):
        return life_run.Model(self.folder / name)

    def make_data(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        train, validation = self.scale.images
        images = self.make_images("images", train, validation)
        self.jpeg = self.convert(images, "jpeg")
        self.packed = self.convert(images, "packed", "--format", "pixels",
                                   "--image_size", self.scale.packed)

    def make_images(self, name, train, validation):
        path = self.folder / name
        self.place.run([self.place.programs / "make_demo_images", "--output",
                        path, "--train", train, "--validation", validation],
                       log="life-images")
        return path

    def convert(self, images, name, *flags):
        path = self.folder / name
        self.place.run([self.place.programs / "imagenet_to_records",
                        "--raw_data_dir", images, "--local_scratch_dir", path,
                        *flags], log="life-convert")
        return path

    def program(self, mode, model, *flags):
        return [self.place.programs / "train_resnet", "--device",
                self.scale.device, "--mode", mode, "--model_dir", model.path,
                *flags]

    def training(self, model, data, /, mode="train_and_eval", **changed):
        """Its command; changed: parameters."""
        scale = self.scale
        parameters = {
            **COMMON, **scale.parameters, "iterations_per_loop": scale.loop,
            "steps_per_eval": scale.eval, "train_steps": scale.steps,
            "steps_per_checkpoint": scale.checkpoint,
            "keep_last": life_scale.KEEP, **changed}
        return self.program(mode, model, "--data_dir", data, *(
            f"--{name}={value}" for name, value in parameters.items()))

    def start(self, name, command, **options):
        return life_run.Process(
            command, self.place.folder / "results" / f"life-{name}",
            self.environment, **options)

    def run(self, name, command, watch=lambda process: None, **options):
        return self.start(name, command, **options).end(self.place.deadline,
                                                        watch)


def day(life):
    """A training with all that a day brings."""
    scale, model = life.scale, life.model("day")
    ended = life.run("day", life.training(model, life.jpeg, **scale.streamed))
    rows = [verdict.ended("a training to its end", ended.code, 0, ended.last)]
    if ended.code != 0:
        return rows
    loops = model.events("loop")
    return rows + [
        *folder(model),
        verdict.each_once("each step once in metrics.jsonl",
                          [step for step, _ in model.losses()], scale.steps),
        verdict.host_waits(loops, scale.captures) if life.on_card else
        verdict.left_out("host waits of a loop", "it needs a card"),
        verdict.at_least("top-1 at the end", model.events("eval")[-1]["top_1"],
                         scale.top_1)]


def folder(model):
    """The checkpoints after several were deleted."""
    written = [event["step"] for event in model.events("checkpoint")]
    return [verdict.kept(model.checkpoints(), written,
                         model.best().get("step"), life_scale.KEEP),
            verdict.nothing_left("nothing left behind", model.names())]


def sizes(life):
    """On a CPU the image size changes, and many checkpoints are deleted."""
    if life.on_card:
        return []
    images = life.make_images("few", *life_scale.CPU_SIZES_IMAGES)
    data, model = life.convert(images, "few-jpeg"), life.model("sizes")
    ended = life.run("sizes", life.training(model, data,
                                            **life_scale.CPU_SIZES))
    rows = [verdict.ended("ResNet-18 to its end", ended.code, 0,
                          ended.last)]
    return rows + (folder(model) if ended.code == 0 else [])


def three_lives(life, name, data, reference, **changed):
    """Killed while a checkpoint may be in writing, stopped, resumed."""
    scale, model = life.scale, life.model(name)

    def live(part, step, number):
        return life.run(f"{name}-{part}", command, life_run.SignalAt(
            model, step, number))

    command = life.training(model, data, train_steps=scale.resumed, **changed)
    killed = live("killed", scale.kill, signal.SIGKILL)
    stopped = live("stopped", scale.stop, signal.SIGTERM)
    last = life.run(f"{name}-resumed", command)
    rows = [verdict.ended("kill -9", killed.code, -signal.SIGKILL, killed.last),
            verdict.ended("resumed, and SIGTERM", stopped.code, 75,
                          stopped.last),
            verdict.ended("resumed to the end", last.code, 0, last.last)]
    if last.code != 0:
        return rows
    return rows + [
        verdict.longer_loop(model.loops_of_last_life(), scale.first_loop,
                            scale.loop),
        verdict.same_losses("losses as without an interruption",
                            dict(reference.losses()), model.losses(),
                            scale.resumed),
        verdict.same_files(f"weights and optimizer of step {scale.resumed}",
                           reference.tensors(scale.resumed),
                           model.tensors(scale.resumed)),
        verdict.nothing_left("nothing left behind", model.names())]


def resume(life):
    """Beside the same steps of the day."""
    return three_lives(life, "resumed", life.jpeg, life.model("day"),
                       **life.scale.streamed)


def resume_resident(life):
    """As resume(), with images in the device's memory."""
    scale, model = life.scale, life.model("resident")
    ended = life.run("resident", life.training(
        model, life.packed, train_steps=scale.resumed, **scale.resident))
    rows = [verdict.ended("a training to its end", ended.code, 0,
                          ended.last),
            verdict.row("images are in the device's memory",
                        f"{scale.images[0]} images", any(
                            line.startswith("data_on_device: "
                                            f"{scale.images[0]:,} images")
                            for line in ended.lines))]
    return rows + three_lives(life, "resident-resumed", life.packed, model,
                              **scale.resident)


class MemoryWatch:
    """Samples of what a training holds, by its evaluations so far."""

    def __init__(self, life, model):
        self.life, self.model = life, model
        self.samples = {}  # name to a list of (evaluations, MiB)

    def __call__(self, process):
        count = self.model.count("eval")
        held = life_run.held_mib(process.pid)
        if held and self.life.on_card:
            held["device"] = life_run.device_mib()
        for name, mib in (held or {}).items():
            self.samples.setdefault(name, []).append((count, mib))


def memory(life):
    """Many evaluations, each with a pool of batches of its own."""
    each, last = life.scale.steps_of_each, life.scale.evaluations
    model = life.model("memory")
    watch = MemoryWatch(life, model)
    ended = life.run("memory", life.training(
        model, life.jpeg, **{
            **life.scale.streamed, "iterations_per_loop": each,
            "steps_per_eval": each, "steps_per_checkpoint": last * each,
            "train_steps": last * each, "keep_last": 1}), watch)
    ranges = (5, last // 3), (last - last // 3, last)
    names = {"VmRSS": "resident memory", "VmLck": "locked memory",
             "VmPin": "pinned memory", "device": "the card's memory in use"}
    rows = [verdict.ended(f"{last} evaluations", ended.code, 0, ended.last)]
    rows += [verdict.flat(f"{said}, early and late",
                          watch.samples.get(name, []), *ranges)
             for name, said in names.items()
             if life.on_card or name == "VmRSS"]
    if not life.on_card:
        return rows + [verdict.left_out("pinned and the card's memory",
                                        "it needs a card")]
    return rows + [verdict.none(
        "batches that are not pinned",
        [line for line in ended.lines if "not pinned" in line])]


def diverged(life):
    """A learning rate with which the loss is not finite."""
    scale, model = life.scale, life.model("diverged")
    loop = scale.short_loop

    def train(name, steps, **changed):
        return life.run(f"diverged-{name}", life.training(
            model, life.jpeg, "train", **{
                **scale.streamed, "iterations_per_loop": loop,
                "steps_per_checkpoint": loop, "train_steps": steps,
                **changed}))

    def newest():
        step = (model.checkpoints() or [0])[-1]
        return verdict.finite(f"the newest checkpoint, of step {step}",
                              model.sums(step))

    before = train("before", 2 * loop)
    ended = train("rate", 6 * loop, base_learning_rate=1e30)
    rows = [verdict.ended("some good steps", before.code, 0, before.last),
            verdict.ended("a loss that is not finite", ended.code, 5,
                          ended.last), newest()]
    # The rate is infinite as a float: the loss of that step is finite, and its
    # update makes weights that are not.
    ended = train("update", 6 * loop, base_learning_rate=1e40,
                  iterations_per_loop=1, steps_per_checkpoint=1)
    rows += [verdict.ended("weights that are not finite", ended.code, 5,
                           ended.last), newest()]
    after = train("after", 4 * loop)
    return rows + [verdict.ended("resumed with a lower rate", after.code, 0,
                                 after.last)]


@contextlib.contextmanager
def small_disk(path, mib):
    """A function that makes room there; None where nothing can be mounted."""
    def mount(size, *options):
        return subprocess.run(
            ["mount", "-t", "tmpfs", "-o",
             ",".join([*options, f"size={size}m"]), "tmpfs", path],
            capture_output=True, check=False).returncode == 0

    path.mkdir(exist_ok=True)
    if not mount(mib):
        yield None
        return
    try:
        yield lambda: mount(8 * mib, "remount")
    finally:
        subprocess.run(["umount", "--lazy", path], check=False)


def full_disk(life):
    """The disk is full while checkpoints are written, then it has room."""
    tensors = life.model("day").tensors(life.scale.steps) or {}
    sizes_of_one = [len(content) for content in tensors.values()]
    if not sizes_of_one:
        return [verdict.row("full disk", "no checkpoint of the day", False)]
    loop = life.scale.short_loop
    mib = 1 + int(4.5 * sum(sizes_of_one)) // 2**20
    with small_disk(life.folder / "disk", mib) as make_room:
        model = life.model("disk/model")
        command = life.training(model, life.jpeg, "train", **{
            **life.scale.streamed, "iterations_per_loop": loop,
            "steps_per_checkpoint": loop, "train_steps": 10 * loop,
            "keep_last": 100})
        options = {} if make_room else {"largest_file": max(sizes_of_one) // 2}
        ended = life.run("full", command, **options)
        rows = [verdict.one_line(
            f"a tmpfs of {mib} MiB is full" if make_room else
            "no write into larger files (no tmpfs without root)",
            ended.code, ended.lines, ["No space left", "File too large"]),
            verdict.nothing_left("nothing left behind", model.names())]
        after = (life.run("room", command) if not make_room or make_room() else
                 None)
    return rows + [verdict.ended("resumed where there is room", after.code, 0,
                                 after.last) if after else
                   verdict.row("resumed where there is room", "no room", False)]


def use(life):
    """What follows a training, with its best checkpoint."""
    model, best = life.model("day"), life.model("day").best()
    flags = ["--checkpoint", "best", "--data_dir", life.jpeg]
    images = life.folder / "images/validation"
    evaluated = life.run("eval", life.program("eval", model, *flags))
    predicted = life.run("predict", life.program(
        "predict", model, *flags, "--input", images))
    exported = life.run("export", life.program(
        "export", model, *flags, "--export_dir", life.folder / "export"))
    top_1 = model.events("eval")[-1]["top_1"]
    files = sorted(path.name for path in life.folder.glob("export/*/*"))
    lines = predicted.out.count("\n")
    return [verdict.ended("evaluation of the best", evaluated.code, 0,
                          evaluated.last),
            verdict.row("its top-1, as in training",
                        f"{top_1:.4f}, {best.get('value'):.4f}",
                        top_1 == best.get("value")),
            verdict.ended("prediction", predicted.code, 0, predicted.last),
            verdict.row("a line for each image", lines,
                        lines == life.scale.images[1]),
            verdict.ended("export", exported.code, 0, exported.last),
            verdict.row("files of the export", ", ".join(files), files)]


def beside(life):
    """Two trainings at a time, beside the day's first steps."""
    short = life.scale.short
    reference = {step: loss for step, loss in life.model("day").losses()
                 if step <= short}
    models = [life.model(f"beside-{i}") for i in range(2)]
    running = [life.start(model.path.name, life.training(
        model, life.jpeg, "train", train_steps=short, **life.scale.streamed))
        for model in models]
    try:
        ends = [process.end(life.place.deadline) for process in running]
    finally:
        for process in running:
            process.kill()
    rows = []
    for i, (model, ended) in enumerate(zip(models, ends), 1):
        rows += [verdict.ended(f"number {i} to its end", ended.code, 0,
                               ended.last),
                 verdict.same_losses(f"losses of number {i}", reference,
                                     model.losses(), short)]
    return rows


def out_of_memory(life):
    """A batch for which no card has the memory."""
    name = "a batch of 4,096"
    if not life.on_card:
        return [verdict.left_out(name, "it needs a card")]
    ended = life.run("large", life.training(
        life.model("large"), "null", "train", resnet_depth=152, image_size=224,
        train_batch_size=4096, train_steps=20, cuda_graph="true",
        deterministic="false"))
    return [verdict.one_line(name, ended.code, ended.lines, ["memory"])]


# Later ones read what the day left.
CHECKS = [day, sizes, resume, use, diverged, full_disk, resume_resident, memory,
          beside, out_of_memory]


def attempt(check, life):
    """A check's rows; one that could not be made has not passed."""
    try:
        rows = check(life)
    except (work.NotRun, OSError, ValueError, LookupError, TypeError,
            struct.error, subprocess.SubprocessError) as why:
        rows = [verdict.row("could be made", f"{type(why).__name__}: {why}",
                            False)]
    title = check.__name__.replace("_", " ")
    return [{**row, "check": f"{title}: {row['check']}"} for row in rows]


def measure(place):
    life = Life(place)
    if life.on_card:
        work.card()
    if not place.given:
        building.build(place, PROGRAMS)
    life.make_data()
    rows, took = [], {}
    for check in CHECKS:
        start = time.monotonic()
        rows += attempt(check, life)
        took[check.__name__] = round(time.monotonic() - start, 1)
        work.say(f"{check.__name__}: {took[check.__name__]} s; failed so far: "
                 f"{', '.join(verdict.failed(rows)) or 'none'}")
    shutil.rmtree(life.folder, ignore_errors=True)
    return {"rows": rows, "failed": verdict.failed(rows), "seconds": took}
