"""The XLA.jl article: its raw files, its infeed, one loop of all batches."""

import hashlib
import json
import math
import re
import struct

import charts
import raw_arrays
import refusals

IMAGES = 128
RAW = "raw"
# What the article and its notebook print.
PARAMETERS, VECTOR = 25583464, 6422528
THEIR_LOSSES = {100: 7.009, 1000: 6.422, 3000: 5.124, 10000: 3.858}


def replay(place):
    make_raw(place)
    place.run("imagenet_to_records", "--raw_data_dir", RAW, "--raw_format",
              "xla_jl", "--format", "pixels", "--local_scratch_dir", "shards")
    show_packing(place)
    counts = show_counts(place)
    if not place.short:
        learn_as_the_article(place)
    learn_by_heart(place)
    refusals.show(place, RAW)
    compare(place, *counts)


def make_raw(place):
    """X_train.raw and Y_train.raw: of photographs, or drawn."""
    if place.short:
        images = map(raw_arrays.drawn, range(IMAGES))
    else:
        images = photographs(place)
    raw_arrays.write(place.out / RAW, images, raw_arrays.labels_for(IMAGES))
    sizes = [(place.out / RAW / name).stat().st_size
             for name in ("X_train.raw", "Y_train.raw")]
    place.check("X_train.raw and Y_train.raw, bytes",
                sizes == [IMAGES * 3 * 224 * 224, 2 * IMAGES],
                f"{sizes[0]} and {sizes[1]}")


def photographs(place):
    """The middle of each, from our converter's pixels of 256 x 256."""
    folder = place.out / "photographs"
    chosen = sorted((place.data / "imagenet-sample").glob("*/*"))[:IMAGES]
    for path in chosen:
        (folder / path.parent.name).mkdir(parents=True)
        (folder / path.parent.name / path.name).symlink_to(path.resolve())
    place.run("imagenet_to_records", "--raw_data_dir", folder, "--format",
              "pixels", "--image_size", 256, "--local_scratch_dir", "p256")
    listed = place.run("records", "cat", "--keys", "image/packed",
                       "--bytes_to", "words256", "p256")
    for line in listed.splitlines():
        words = json.loads(line)["features"]["image/packed"]["file"]
        yield raw_arrays.middle((place.out / words).read_bytes(), 256)


def show_packing(place):
    """One image's words, and the whole vector of a batch, against the raw
    file's bytes."""
    line = json.loads(place.run(
        "records", "cat", "--limit", 1, "--keys", "image/packed,image/filename",
        "--bytes_to", "words", "shards"))
    name = line["features"]["image/filename"]
    file = line["features"]["image/packed"]["file"]
    number = int(name.split("#")[1])
    words = raw_arrays.packed(place.out / RAW, number)
    first = place.run("/usr/bin/od", "-A", "n", "-t", "x4", "-N", 32, file)
    place.show("The first eight pixels of `" + name + "` in the shards, and as "
               "computed from the raw file:", "", "```", first.rstrip(), "",
               *("".join(f" {word:08x}" for word in four)
                 for four in struct.iter_unpack("<4I", words[:32])), "```")
    place.check("words of one image equal to the raw file's",
                (place.out / file).read_bytes() == words, len(words) // 4)
    found = place.run("pipeline_throughput", "--data_dir", "shards", "--eval",
                      "--split", "train", "--recipe", "plain", "--batch_size",
                      IMAGES, "--hash", 1).strip()
    place.check(f"SHA-256 of a batch's {VECTOR} words and its labels",
                found == batch_hash(place), found[:16] + "...")


def batch_hash(place):
    """Of what the infeed is to get, in the shards' order: the words, then the
    labels, which count from 0 there."""
    digest = hashlib.sha256()
    labels = []
    for line in place.run("records", "cat", "--keys",
                          "image/filename,image/class/label",
                          "shards").splitlines():
        features = json.loads(line)["features"]
        number = int(features["image/filename"].split("#")[1])
        digest.update(raw_arrays.packed(place.out / RAW, number))
        labels.append(features["image/class/label"] - 1)
    digest.update(struct.pack(f"<{len(labels)}i", *labels))
    return digest.hexdigest()


def show_counts(place):
    """The network's parameters and the words of the infeed's vector, by a dry
    run."""
    place.run("train_resnet", "--preset", "xla_jl", "--data_dir", "shards",
              "--model_dir", "article", "--mode", "train", "--dry_run",
              # A test's machine may have little memory.
              *(["--gradient_accumulation_steps", 8] if place.short else []))
    parameters = int(re.search(r"(\d+) parameters", place.said).group(1))
    place.check("parameters", parameters == PARAMETERS, parameters)
    vector = int(re.search(r"pixels: (\d+) words", place.said).group(1))
    place.check("words of a batch", vector == VECTOR, vector)
    return parameters, vector


def learn_as_the_article(place):
    """Its images' size and its batch, for a few minutes."""
    place.run("train_resnet", "--preset", "xla_jl", "--data_dir", "shards",
              "--model_dir", "article", "--mode", "train", "--params_override",
              "base_learning_rate=0.01,train_steps=8,iterations_per_loop=8")
    losses = [line["loss"] for line in place.events("article", "train")]
    place.show("", "Batches of 128 images of 224 x 224, SGD at 0.01, losses of "
               "the first steps: " +
               ", ".join(f"{loss:.3f}" for loss in losses) + ".", "")
    place.check("first loss near ln 1000 = 6.908", abs(losses[0] - 6.908) < 1.5,
                f"{losses[0]:.3f}")


class Reader:
    """Another process's view of a run's metrics.jsonl while it lives."""

    def __init__(self, place, model):
        self._path = place.out / model / "metrics.jsonl"
        self.seen = []  # losses there, whenever there were more

    def look(self):
        if not self._path.exists():
            return
        text = self._path.read_text(encoding="utf-8")
        losses = text.count('"event":"train"')
        if '"event":"loop"' not in text and losses > 0 and (
                not self.seen or losses > self.seen[-1]):
            self.seen.append(losses)


def learn_by_heart(place):
    """SGD, then Adam: all batches in one loop each."""
    side, batch = (32, 8) if place.short else (64, 32)
    steps = {"sgd": 12, "adam": 10} if place.short else {
        "sgd": 120, "adam": 100}
    how = {"sgd": "optimizer=momentum,base_learning_rate=0.02",
           "adam": "optimizer=adam,base_learning_rate=0.001"}
    images = IMAGES
    few = RAW
    if place.short:
        images, few = batch, "few"
        raw_arrays.write(place.out / few, map(raw_arrays.drawn, range(images)),
                         raw_arrays.labels_for(images))
    place.run("imagenet_to_records", "--raw_data_dir", few, "--raw_format",
              "xla_jl", "--format", "pixels", "--image_size", side,
              "--local_scratch_dir", "small")
    curves, rows = {}, [("", "steps", "first loss", "mean of the last five",
                         "the loop took", "losses in metrics.jsonl while it "
                         "ran")]
    for name, count in steps.items():
        reader = Reader(place, name)
        place.run("train_resnet", "--preset", "xla_jl", "--data_dir", "small",
                  "--model_dir", name, "--mode", "train", "--params_override",
                  f"image_size={side},train_batch_size={batch},"
                  f"precision=float32,train_steps={count},"
                  f"iterations_per_loop={count},{how[name]}", look=reader.look)
        lines = place.events(name, "train")
        check_stream(place, name, lines, reader.seen)
        losses = [line["loss"] for line in lines]
        last = sum(losses[-5:]) / 5
        place.check(f"{name}: the loss falls", last < losses[0] / 2,
                    f"{losses[0]:.3f} to {last:.3f}")
        curves[name] = [(line["step"], line["loss"]) for line in lines]
        rows.append((name, count, f"{losses[0]:.3f}", f"{last:.3f}",
                     f"{place.events(name, 'loop')[0]['seconds']:.1f} s",
                     ", ".join(map(str, reader.seen[:3])) +
                     f", ... {reader.seen[-1]}"))
    place.table(*rows)
    place.plot("loss.svg", charts.curves(
        f"{images} images overfitted, {side} pixels, batches of {batch}",
        "step", "loss", curves))
    place.plot("arrival.svg", arrivals(place, steps))


def check_stream(place, name, lines, seen):
    """All in one loop, and the losses came out of it one by one."""
    loops = place.events(name, "loop")
    place.check(f"{name}: loops", len(loops) == 1 and
                loops[0]["steps"] == len(lines), len(loops))
    spread = lines[-1]["time"] - lines[0]["time"]
    place.check(f"{name}: losses were written over most of the loop",
                spread > loops[0]["seconds"] / 2,
                f"{spread:.1f} of {loops[0]['seconds']:.1f} s")
    place.check(f"{name}: losses read while the loop ran", len(seen) > 1,
                f"{seen[0]}, then ... {seen[-1]}" if seen else "none")


def arrivals(place, names):
    """When each loss was there, from each loop's first one on."""
    lines = {}
    for name in names:
        events = place.events(name, "train")
        lines[name] = [(line["time"] - events[0]["time"], line["step"])
                       for line in events]
    return charts.curves("Losses out of a running loop",
                         "seconds since the first", "losses", lines)


def compare(place, parameters, vector):
    first = place.events("sgd" if place.short else "article", "train")[0]
    place.table(
        ("", "the article", "here"),
        ("parameters", f"{PARAMETERS:,}", f"{parameters:,}"),
        ("infeed's vector, batch 128", f"{VECTOR:,} words",
         f"{vector:,} words"),
        ("a pixel", "R 31-24, G 23-16, B 15-8, 0", "the same bits"),
        ("order in an image", "column by column", "row by row"),
        ("labels on the device", "1 to 1000, one-hot from 0: 1000 has no row", "0 to 999"),
        ("first loss", f"ln 1000 = {math.log(1000):.3f}; "
         f"{THEIR_LOSSES[100]} at step 100",
         f"{first['loss']:.3f}"),
        ("one loop", "10,000 batches", f"{len(place.events('sgd', 'train'))} "
         "batches; any number"),
        ("losses", "one per batch, from the outfeed", "one per batch, from "
         "the outfeed, in metrics.jsonl while the loop runs"))
