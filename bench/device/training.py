"""Runs train_resnet and reads what it tells of its loops."""

import json
import shutil
import statistics

import work

LOOPS = 4  # the first is warm-up
LEAST_STEPS = 10
# Parameters of a rehearsal, which a CPU without units for bfloat16 runs
# quickly.
REHEARSAL = {"resnet_depth": 18, "precision": "float32", "train_batch_size": 4,
             "conv_statistics": "pass",
             "iterations_per_loop": 1, "train_steps": LOOPS,
             "memory_limit": "512MiB"}


def events(model, kind):
    with open(model / "metrics.jsonl", encoding="utf-8") as lines:
        parsed = [json.loads(line) for line in lines]
    return [line for line in parsed if line["event"] == kind]


def command(place, model, data, batch, images, **parameters):
    """images: of a loop."""
    steps = max(LEAST_STEPS, images // batch)
    chosen = {"resnet_depth": 50, "precision": "bfloat16",
              "train_batch_size": batch, "iterations_per_loop": steps,
              "train_steps": LOOPS * steps, "steps_per_checkpoint": 10**9,
              "memory_limit": "50%", **parameters,
              **(REHEARSAL if place.rehearsed else {})}
    return [place.programs / "train_resnet", "--device",
            "cpu" if place.rehearsed else "cuda", "--mode", "train",
            "--data_dir", data, "--model_dir", model,
            *[f"--{name}={value}" for name, value in chosen.items()]]


def train(place, name, data, batch, images, **parameters):
    """The folder that a training left."""
    if not place.rehearsed:
        work.card()
    model = place.folder / "models" / name
    shutil.rmtree(model, ignore_errors=True)
    place.run(command(place, model, data, batch, images, **parameters),
              log=name)
    return model


def median(loops, key):
    values = [loop[key] for loop in loops if loop.get(key) is not None]
    return statistics.median(values) if values else None


def told(model):
    """What the loops after the first say: that one has the warm-up."""
    loops = events(model, "loop")[1:]
    if not loops:
        raise work.NotRun("no loop after the warm-up")
    rates = [loop["images_per_second"] for loop in loops]
    return {"batch": events(model, "start")[-1]["batch_size"],
            "images_per_second": statistics.median(rates),
            "slowest": min(rates), "fastest": max(rates),
            **{key: median(loops, key)
               for key in ("input_wait", "device_busy", "host_syncs", "tflops",
                           "gb_per_second")}}


def losses(model):
    return [line["loss"] for line in events(model, "train")]
