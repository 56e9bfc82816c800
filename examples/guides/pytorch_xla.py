"""The PyTorch/XLA guide: eight processes, each with its part of every batch."""

import dataclasses
import json
import pathlib
import re
import statistics

import charts
import failing_ranks
import rank_metrics
import sampler

RANKS = 8


@dataclasses.dataclass(frozen=True)
class Size:
    classes: tuple
    rows: int      # of each class; a fifth is validation
    rank_batch: int
    epochs: int

    @property
    def batch(self):
        return RANKS * self.rank_batch

    @property
    def batches(self):
        """Of an epoch, the last part dropped."""
        return len(self.classes) * self.rows * 4 // 5 // self.batch


# The guide's: 4,000 rows, 32 a rank.
FULL = Size(("cat", "dog"), 2000, 32, 15)
SHORT = Size(("cross", "star"), 200, 4, 2)


def parameters(**more):
    """The model, and what the guide's loop has for it. LeNet is one that eight
    ranks can train on two cores, and has no batch norm: what ranks compute is
    then the same as what one process does, but for rounding."""
    values = {"model": "lenet", "image_size": 28, "recipe": "plain",
              "optimizer": "adamw", "base_learning_rate": 0.002,
              "learning_rate_scaling": "none",
              "learning_rate_schedule": "constant", "weight_decay": 0.001,
              "weight_decay_scope": "weights", "precision": "float32", **more}
    return ",".join(f"{name}={value}" for name, value in values.items())


def flags(size, model, **more):
    """Of train_resnet, for one model folder."""
    return ["--data_dir", "records", "--model_dir", model, "--device", "cpu",
            "--train_batch_size", size.batch, "--eval_batch_size",
            2 * size.batch, "--shuffle", "torch", "--rank_share", "strided",
            "--params_override", parameters(**more)]


def convert(place, size):
    """records/: a stratified split; few/: 23 of its images."""
    if place.short:
        place.run("make_demo_images", "--output", "images", "--train",
                  10 * size.rows, "--validation", 0)
        images = place.out / "images/train"
    else:
        images = pathlib.Path(place.data).resolve() / "cifar10/train"
    rows = [f"{images / name / file},{name}" for name in size.classes
            for file in sorted(path.name for path in
                               (images / name).iterdir())[:size.rows]]
    for name, chosen in (("rows", rows), ("few", rows[:23])):
        table = "\n".join(["path,label", *chosen, ""])
        (place.out / f"{name}.csv").write_text(table, encoding="utf-8")
    place.run("imagenet_to_records", "--manifest", "rows.csv", "--split",
              "0.8/0.2", "--shards", 1, "--local_scratch_dir", "records")
    place.run("imagenet_to_records", "--manifest", "few.csv", "--shards", 1,
              "--local_scratch_dir", "few")
    splits = json.loads((place.out / "records/dataset.json").read_text())
    place.show("### Rows", "",
               f"{len(rows)} rows of two classes, {' and '.join(size.classes)}, "
               "stratified into training and validation: " +
               counts(splits) + ".")
    place.check("rows, split by classes", counts(splits) ==
                f"{len(rows) * 4 // 5} and {len(rows) // 5}", counts(splits))


def counts(dataset):
    return " and ".join(str(split["records"]) for split in dataset["splits"])


def train(place, size):
    """Eight ranks; returns their steps' losses, and what they said."""
    place.run("train_resnet", *flags(
        size, "model", train_epochs=size.epochs, keep_best="auc",
        keep_last=size.epochs, num_parallel_calls=1, batches_in_pool=12),
        "--local_ranks", RANKS)
    steps = place.events("model", "train")
    place.check("batches of an epoch, as trunc(rows / batch / ranks)",
                len(steps) == size.epochs * size.batches, size.batches)
    return [step["loss"] for step in steps], place.said.splitlines()


def show_lines(place, size, said):
    """Their report every ten batches beside ours."""
    progress = [line for line in said if re.match(r"step \d", line)]
    step = place.events("model", "train")[9]
    place.show("### Lines", "", "The guide's line of the first epoch's tenth batch, with our "
               "numbers, our progress line (on stderr, every few seconds) and "
               "that step's line of `metrics.jsonl`:", "", "```",
               f"Epoch [1/{size.epochs}], bi[10/{size.batches}], "
               f"Loss: {step['loss']:.4f}", *progress[-1:], json.dumps(step),
               "```", "")


def compare_losses(place, size, losses):
    """One process with the whole batch makes the same updates; bfloat16 makes
    nearly the same ones."""
    place.run("train_resnet", *flags(size, "one", train_epochs=1))
    alone = [step["loss"] for step in place.events("one", "train")]
    far = max(abs(one / eight - 1) for one, eight in zip(alone, losses))
    place.check("8 ranks have the losses of one process: gradients are averaged",
                len(alone) == size.batches and far < 1e-4, f"{far:.1e} apart")
    # Each rank takes a second to start: the short form has eight only above.
    place.run("train_resnet", *flags(size, "bfloat16", train_epochs=1,
                                     precision="bfloat16"),
              "--local_ranks", 2 if place.short else RANKS)
    narrow = [step["loss"] for step in place.events("bfloat16", "train")]
    far = max(abs(a - b) for a, b in zip(narrow, losses))
    place.check("bfloat16: losses differ slightly", 0 < far < 0.1,
                f"{far:.4f} apart at most")
    place.show("### Gradients and precision", "", "Losses of the first epoch:")
    place.table(("step", "8 ranks", "1 process", "8 ranks, bfloat16"),
                *((i + 1, f"{losses[i]:.6f}", f"{alone[i]:.6f}",
                   f"{narrow[i]:.6f}") for i in range(0, size.batches, 3)))


def plot_losses(place, size, losses):
    """Why the best checkpoint need not be the last."""
    epochs = [losses[i:i + size.batches]
              for i in range(0, len(losses), size.batches)]
    place.plot("losses.svg", charts.curves(
        "Loss of eight ranks", "step", "loss",
        {"training, mean of an epoch":
         [(size.batches * (i + 1), statistics.mean(epoch))
          for i, epoch in enumerate(epochs)],
         "validation": [(found["step"], found["loss"])
                        for found in place.events("model", "eval")]}))


def show_waits(place, said):
    """What ParallelLoader is there for."""
    loops = [loop for loop in place.events("model", "loop")
             if not loop["warm_up"]]
    worst = statistics.median(loop["input_wait_of_worst_rank"]
                              for loop in loops)
    if not place.short:  # Its loops are too short to measure.
        place.check("longest input wait of a rank, median of the epochs", worst < 0.05,
                    f"{100 * worst:.2f} % of the time")
    place.show("", "### Input", "", "A rank's part of `memory_limit`, and the "
               "rank with the slowest input:", "", "```",
               *(line for line in said
                 if re.match(r"of 8 ranks|input: ", line)), "```", "")


def replay(place):
    size = SHORT if place.short else FULL
    convert(place, size)
    sampler.compare(place, size.batch, size.batches)
    losses, said = train(place, size)
    show_lines(place, size, said)
    show_waits(place, said)
    compare_losses(place, size, losses)
    rank_metrics.compare(place, RANKS)
    plot_losses(place, size, losses)
    failing_ranks.show(place, flags(size, "failed", train_epochs=1),
                       flags(size, "killed", train_epochs=1000),
                       4 if place.short else RANKS)
