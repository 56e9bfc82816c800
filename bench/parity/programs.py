"""Runs our programs and reads what they leave."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/release/bin"
TWINS = ROOT / "tests/interop"
# The first steps of a run are its warm-up.
WARM_STEPS = 10


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command):
    """Runs a command; its stdout. What it says on stderr is shown."""
    words = [str(word) for word in command]
    say("$ " + " ".join(words))
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {done.returncode}")
    return done.stdout


def convert(output, *flags):
    """Shards in a folder of its own, made once."""
    if not (output / "dataset.json").exists():
        run([BIN / "imagenet_to_records", "--local_scratch_dir", output,
             *flags])
    return output


def train(model, data, *flags, fresh=True):
    """Trains; stdout. A model folder of an earlier run is removed first."""
    if fresh and model.exists():
        run(["rm", "-r", model])
    return run([BIN / "train_resnet", "--data_dir", data, "--model_dir", model,
                "--device", "cpu", *flags])


def events(model, kind):
    """The lines of metrics.jsonl of one event."""
    with open(model / "metrics.jsonl", encoding="utf-8") as lines:
        parsed = [json.loads(line) for line in lines]
    return [line for line in parsed if line["event"] == kind]


def accuracy(model):
    """Of the last evaluation."""
    return events(model, "eval")[-1]["top_1"]


def images_per_second(model, batch, warm=WARM_STEPS):
    """Over all steps but the first ones, by the clock."""
    steps = events(model, "train")
    first, last = steps[warm - 1], steps[-1]
    return (last["step"] - first["step"]) * batch / (last["time"] -
                                                     first["time"])


EPOCH = re.compile(r"\[Epoch (\d+)\].* Test Accuracy: (\d+)/(\d+) .*"
                   r"seconds per epoch: ([0-9.]+)")


def epoch_lines(text):
    """(test accuracy, seconds) of each epoch."""
    return [(int(right) / int(images), float(seconds))
            for _, right, images, seconds in EPOCH.findall(text)]


def twin(python, script, *flags):
    """The lines of JSON that a PyTorch twin prints."""
    text = run([python, TWINS / script, *flags])
    return [json.loads(line) for line in text.splitlines()]


def is_bfloat16(model):
    """What precision=auto was for a run."""
    text = (model / "params.yaml").read_text(encoding="utf-8")
    return re.search(r"^precision: bfloat16\b", text, re.MULTILINE) is not None


def mean(values):
    return sum(values) / len(values)


def spread(values):
    return f"{100 * min(values):.1f} to {100 * max(values):.1f} %"


def threads():
    return len(os.sched_getaffinity(0))


def write_report(out, name, numbers, lines):
    """NAME.json and NAME.md; shows the latter."""
    (out / f"{name}.json").write_text(json.dumps(numbers, indent=1) + "\n",
                                      encoding="utf-8")
    text = "\n".join(lines) + "\n"
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    print(text, flush=True)
