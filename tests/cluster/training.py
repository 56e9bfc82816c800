"""The training that all launchers start, and what it left."""

import dataclasses
import json
import pathlib
import subprocess

# Small enough for seconds; batches that 2 and 4 ranks share. LeNet has no batch
# norm, whose statistics would be of each rank's own images.
MODELS = {
    "lenet": "model=lenet,image_size=28,recipe=plain,train_batch_size=16",
    "resnet18": "resnet_depth=18,image_size=64,train_batch_size=32",
}
# What one process and many may differ by: sums in another order.
TOLERANCE = 1e-5


@dataclasses.dataclass
class Training:
    """What is to be trained: the programs' folder, the data, the flags."""

    programs: pathlib.Path
    work: pathlib.Path
    model: str = "lenet"
    steps: int = 12
    loop: int = 4

    def command(self, model_dir, *more, steps=None):
        params = (f"{MODELS[self.model]},precision=float32,"
                  f"train_steps={steps or self.steps},"
                  f"iterations_per_loop={self.loop},log_step_count_steps=1,"
                  f"steps_per_checkpoint={self.loop}")
        return [str(self.programs / "train_resnet"), "--mode", "train",
                "--device", "cpu", "--data_dir", str(self.work / "shards"),
                "--model_dir", str(model_dir), "--params_override", params,
                *more]

    def make_data(self):
        shards = self.work / "shards"
        if (shards / "dataset.json").exists():
            return
        images = self.work / "images"
        for command in (
                ["make_demo_images", "--output", images, "--train", "200",
                 "--validation", "20"],
                ["imagenet_to_records", "--raw_data_dir", images,
                 "--local_scratch_dir", shards]):
            subprocess.run([self.programs / command[0], *command[1:]],
                           check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)


@dataclasses.dataclass
class Log:
    """What metrics.jsonl says of a run."""

    losses: dict  # by step
    seconds_per_step: float

    @classmethod
    def read(cls, model_dir, batch_size):
        losses, speed = {}, 0.0
        for line in (model_dir / "metrics.jsonl").read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "train":
                losses[event["step"]] = event["loss"]
            elif event["event"] == "end":
                speed = event["images_per_second"]
        return cls(losses, batch_size / speed if speed else float("nan"))

    def difference(self, other):
        """The largest one of any step, relative; None: other steps."""
        if not self.losses or self.losses.keys() != other.losses.keys():
            return None
        return max(abs(loss - other.losses[step]) / max(1.0, abs(loss))
                   for step, loss in self.losses.items())


def batch_size(model):
    return int(MODELS[model].rpartition("train_batch_size=")[2])
