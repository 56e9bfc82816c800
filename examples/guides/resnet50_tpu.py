"""The ResNet-50 on TPU guide: flowers, from folders to predictions, with all
that a run reads and leaves in a bucket."""

import collections
import json
import re
import time

import flowers
import slow_input
from bucket import Bucket
from place import Wrong

SPLITS = {"train": 2934, "validation": 364, "test": 372}
STEPS, LOOP = 42, 6
# The model, as two cores can train it; what differs from the guide's line.
SHORT = {"image_size": 32, "recipe": "plain", "train_batch_size": 16,
         "rate": 0.1, "warmup": 0.05, "pretrain": 12, "pretrain_batch": 16}
FULL = {"image_size": 48, "recipe": "torchvision", "train_batch_size": 1024,
        "rate": 0.2, "warmup": 1.5, "pretrain": 900, "pretrain_batch": 64}


def replay(place):
    sizes = SHORT if place.short else FULL
    with Bucket(place, "flowers") as bucket:
        convert(place, bucket)
        large = pretrain(place, bucket, sizes)
        small = train(place, bucket, sizes)
        predict(place)
        show_profiles(place, bucket)
        show_use(place, small, large)
    slow_input.replay(place)


def convert(place, bucket):
    """The folders, from a disk and from the bucket, into shards there."""
    if place.short:
        flowers.draw(place.out / "data")
    else:
        flowers.link(place.data / "flowers128", place.out / "data")
    place.run("imagenet_to_records", "--project=guide",
              "--gcs_output_path=gs://flowers/data", "--raw_data_dir=data",
              "--local_scratch_dir=tf-records", "--split=reference")
    info = json.loads((bucket.folder / "data/dataset.json").read_text("utf-8"))
    counts = {split["name"]: split["records"] for split in info["splits"]}
    place.check("images of the three splits", counts == SPLITS,
                " / ".join(str(count) for count in counts.values()))
    labels = (bucket.folder / "data/labels.txt").read_text("utf-8").split()
    place.check("labels 1 to 5", labels == [name for name, _, _ in
                                            flowers.CLASSES],
                ", ".join(labels))
    shards = [name for name in bucket.names("data") if "-of-" in name and
              not name.startswith(".infeed")]
    kinds = collections.Counter(name.split("-")[0] for name in shards)
    place.check("shards in gs://flowers/data", set(kinds) == set(SPLITS),
                ", ".join(f"{kind}-*: {kinds[kind]}" for kind in SPLITS))
    convert_from_bucket(place, bucket, shards)


def convert_from_bucket(place, bucket, shards):
    """One class may stand for all in the short form."""
    (bucket.folder / "raw").mkdir()
    names = ("tulips",) if place.short else [name for name, _, _ in
                                             flowers.CLASSES]
    for name in names:
        (bucket.folder / "raw" / name).mkdir()
        for path in (place.out / "data" / name).iterdir():
            (bucket.folder / "raw" / name / path.name).write_bytes(
                path.read_bytes())
    place.run("imagenet_to_records", "--raw_data_dir=gs://flowers/raw",
              "--local_scratch_dir=from-bucket", "--split=reference")
    local = "tf-records"
    if place.short:
        (place.out / "one").mkdir()
        (place.out / "one/tulips").symlink_to(place.out / "data/tulips")
        local = "from-disk"
        place.run("imagenet_to_records", "--raw_data_dir=one",
                  f"--local_scratch_dir={local}", "--split=reference")
        shards = [path.name for path in (place.out / local).glob("*-of-*")]
    same = [(place.out / local / name).read_bytes() ==
            (place.out / "from-bucket" / name).read_bytes()
            for name in shards]
    place.check("shards made from gs:// equal those made from the disk",
                all(same) and same, f"{sum(same)} of {len(same)}")


def model(sizes):
    return (f"resnet_depth=18,image_size={sizes['image_size']},"
            f"precision=float32,recipe={sizes['recipe']},weight_decay=0.0005,"
            "learning_rate_scaling=none,learning_rate_schedule=cosine")


def timed(place, *flags):
    """Trains; seconds from the program's start to its end."""
    start = time.monotonic()
    place.run("train_resnet", *flags)
    return time.monotonic() - start


def pretrain(place, bucket, sizes):
    """Where the guide has weights of a ResNet-50 that learned ImageNet."""
    if place.short:
        place.run("make_demo_images", "--output", "others", "--train", 300,
                  "--validation", 10)
        images = "others/train"
    else:
        images = place.data.resolve() / "cifar10/train"
    place.run("imagenet_to_records", "--raw_data_dir", images, "--max_size",
              32, "--local_scratch_dir", "others-records")
    seconds = timed(
        place, "--data_dir=others-records", "--mode=train",
        "--model_dir=gs://flowers/pretrained", "--local_scratch_dir=scratch",
        f"--params_override={model(sizes)},train_steps={sizes['pretrain']},"
        f"train_batch_size={sizes['pretrain_batch']},warmup_epochs=0.03,"
        "base_learning_rate=0.05,"
        f"iterations_per_loop={max(6, sizes['pretrain'] // 10)}")
    return run_of(place, bucket, "pretrained", seconds)


def train(place, bucket, sizes):
    """The guide's own line; what is behind the first comma list is ours."""
    seconds = timed(
        place, "--data_dir=gs://flowers/data",
        f"--param_overrides=train_steps={STEPS},iterations_per_loop={LOOP},"
        f"num_parallel_calls=64,train_batch_size={sizes['train_batch_size']}",
        "--model_dir=gs://flowers/model",
        "--resnet_checkpoint=gs://flowers/pretrained", "--mode=train_and_eval",
        f"--steps_per_eval={STEPS}", "--profile_every_n_steps=1",
        "--tpu_profile_duration=15000", "--export_dir=gs://flowers/export",
        "--local_scratch_dir=scratch",
        f"--params_override={model(sizes)},keep_best=top_1,"
        f"base_learning_rate={sizes['rate']},"
        f"warmup_epochs={sizes['warmup']}")
    taken = re.search(r"checkpoint of step (\d+) in .*: (\d+) tensors taken",
                      place.said)
    place.check("starts from the weights of the pre-training",
                taken and int(taken.group(1)) == sizes["pretrain"],
                f"{taken.group(2)} tensors of step {taken.group(1)}"
                if taken else "not printed")
    loops = place.events("store/flowers/model", "loop")
    place.check("42 steps in loops of 6",
                loops[-1]["step"] == STEPS and
                [line["step"] for line in loops] ==
                list(range(LOOP, STEPS + 1, LOOP)),
                f"{len(loops)} loops, {loops[-1]['step']} steps")
    evals = place.events("store/flowers/model", "eval")
    place.check("validation images", evals[-1]["images"] == 364,
                evals[-1]["images"])
    left = bucket.names("model")
    for what, name in (("checkpoint", "/MANIFEST"), ("report", "report.html"),
                       ("metrics", "metrics.jsonl"), ("events", "tfevents")):
        found = [path for path in left if name in path]
        place.check(f"{what} in gs://flowers/model", found,
                    found[-1] if found else "none")
    exported = bucket.names("export")
    place.check("exported model in gs://flowers/export", exported,
                ", ".join(exported) or "none")
    run = run_of(place, bucket, "model", seconds)
    run["top_1"] = evals[-1]["top_1"]
    return run


def run_of(place, bucket, name, seconds):
    """What a run used: all its time, and the operations that it was for."""
    end = place.events(f"store/flowers/{name}", "end")[-1]
    start = place.events(f"store/flowers/{name}", "start")[-1]
    images = end["step"] * start["batch_size"]
    work = end["tflops"] / end["images_per_second"]  # 1e12 an image
    return {"seconds": seconds, "steps": end["step"], "images": images,
            "steady": end["images_per_second"], "work": work,
            "batch": start["batch_size"], "training": end["seconds"]}


def predict(place):
    """The test shards: all 372, where the guide's input drops the last 12."""
    printed = place.run(
        "train_resnet", "--mode=predict", "--model_dir=gs://flowers/model",
        "--data_dir=gs://flowers/data", "--predict_batch_size=360",
        "--num_test_images=372", "--local_scratch_dir=scratch",
        "--predictions_page=gs://flowers/predictions.html")
    lines = [json.loads(line) for line in printed.splitlines()]
    right = sum(line["label"] == line["true_label"] for line in lines)
    share = 100 * right / len(lines)
    said = re.search(r"top-1 ([\d.]+) %.*\(of (\d+) with a label\)",
                     place.said)
    place.check("images predicted", len(lines) == SPLITS["test"], len(lines))
    if not said:
        raise Wrong("no accuracy: " + place.said)
    place.check("the printed accuracy is that of the lines",
                abs(share - float(said.group(1))) < 0.051 and
                said.group(2) == "372", f"{said.group(1)} %")
    least = 40  # of five classes; chance is 20
    place.check(f"test accuracy, at least {least} %", share >= least,
                f"{share:.1f} %")
    page = (place.out / "store/flowers/predictions.html").read_text("utf-8")
    shown = {kind: page.count(f'<figure class="{kind}">')
             for kind in ("right", "wrong")}
    place.check("predictions page, correct and wrong images",
                shown["right"] == min(48, right) and
                shown["wrong"] == min(48, len(lines) - right),
                f"{shown['right']} right, {shown['wrong']} wrong")
    validation = place.events("store/flowers/model", "eval")[-1]["top_1"]
    place.show("", "Accuracy:", "")
    place.table(("", "the guide", "here"),
                ("weights to start from", "ResNet-50, ImageNet",
                 "drawn shapes, a few steps" if place.short else
                 "ResNet-18, CIFAR-10 at 48 pixels"),
                ("validation, 364 images", "about 84 %",
                 f"{100 * validation:.1f} %"),
                ("test", "about 81 % of 360", f"{share:.1f} % of 372"))


def show_profiles(place, bucket):
    """--profile_every_n_steps=1: one profile after another."""
    found = [name for name in bucket.names("model")
             if re.fullmatch(r"plugins/profile/\d{8}/.*\.pt\.trace\.json", name)]
    named = [line["file"] for line in
             place.events("store/flowers/model", "profile")]
    place.check("profiles found, and named in metrics.jsonl",
                found and len(named) == len(found),
                ", ".join(found) or "none")


def show_use(place, small, large):
    """How much of what the device could do, from start to end."""
    found = json.loads(place.run("train_resnet", "--mode", "doctor", "--json"))
    said = next(line["value"] for line in found["findings"]
                if line["name"] == "ceilings")
    most = float(re.match(r"([\d.]+) TFLOP/s", said).group(1))
    rows = [("", "images seen", "steps", "batch", "steps/s overall",
             "images/s overall", "images/s, steady", "device use", "the guide")]
    uses = {}
    for name, run, theirs in (("small data, the flowers", small, "about 6 %"),
                              ("large data, the pre-training", large,
                               "about 60 %")):
        rate = run["images"] / run["seconds"]
        uses[name] = 100 * rate * run["work"] / most
        rows.append((name, run["images"], run["steps"], run["batch"],
                     f"{run['steps'] / run['seconds']:.2f}", f"{rate:.0f}",
                     f"{run['steady']:.0f}", f"{uses[name]:.0f} %", theirs))
    place.show("", "Training on small and large data; the time is the "
               "whole program's, with start, evaluations, checkpoints, export "
               "and uploads; device use is relative to the maximum that "
               f"`--mode doctor` measured ({said}):", "")
    place.table(*rows)
    place.check("device use of both runs is known",
                all(use > 0 for use in uses.values()),
                ", ".join(f"{use:.0f} %" for use in uses.values()))
