"""The X10 tutorial: LeNet on MNIST, five epochs, a line for each."""

import json
import re
import struct

import charts
import idx_files
from place import Wrong

# What the tutorial prints: training loss and images that were right, test loss
# and images that were right, seconds.
THEIRS = {
    "eager": [(0.503, 50308, 0.135, 9578, 14.1),
              (0.125, 57696, 0.104, 9665, 13.8),
              (0.088, 58376, 0.065, 9779, 14.3),
              (0.069, 58710, 0.061, 9802, 14.0),
              (0.057, 58930, 0.056, 9825, 13.6)],
    "X10": [(0.458, 51422, 0.140, 9577, 21.6),
            (0.127, 57673, 0.104, 9680, 15.8),
            (0.089, 58327, 0.073, 9759, 14.0),
            (0.072, 58640, 0.066, 9778, 14.1),
            (0.058, 58879, 0.079, 9746, 13.9)]}
IMAGES = (60000, 10000)
EPOCHS, BATCH = 5, 128
LINE = re.compile(
    r"\[Epoch (?P<epoch>\d+)\] Training Loss: (?P<loss>\d+\.\d{3}), "
    r"Training Accuracy: (?P<right>\d+)/(?P<images>\d+) "
    r"\((?P<percent>\d+\.\d)%\), Test Loss: (?P<test_loss>\d+\.\d{3}), "
    r"Test Accuracy: (?P<test_right>\d+)/(?P<test_images>\d+) "
    r"\((?P<test_percent>\d+\.\d)%\) seconds per epoch: (?P<seconds>\d+\.\d)")


def replay(place):
    make_raw(place)
    place.run("imagenet_to_records", "--raw_data_dir", "mnist", "--raw_format",
              "idx", "--format", "pixels", "--image_size", 28,
              "--local_scratch_dir", "shards")
    printed = place.run("train_resnet", "--data_dir", "shards", "--model_dir",
                        "lenet", "--preset", "x10_lenet")
    said = place.said
    lines = [line for line in printed.splitlines()
             if line.startswith("[Epoch")]
    place.show("```", *lines, "```")
    epochs = check_lines(place, lines)
    check_batches(place, epochs[0])
    place.check("parameters", "61706 parameters" in said,
                re.search(r"(\d+) parameters", said).group(1))
    ours = [(float(line["loss"]), int(line["right"]), float(line["test_loss"]),
             int(line["test_right"]), float(line["seconds"]))
            for line in epochs]
    sizes = [int(epochs[0][key]) for key in ("images", "test_images")]
    show_lines(place, ours, sizes)
    show_warm_up(place, ours, said)
    draw(place, ours, sizes)


def make_raw(place):
    """MNIST's four files: as they were, from PNGs; or of drawn digits."""
    for split, count, seed in (("train", 4960, 1), ("test", 400, 2)):
        idx_files.write(place.out / "mnist", split,
                        idx_files.drawn(count, seed) if place.short else
                        idx_files.read(place.data / "mnist" / split))


def check_lines(place, lines):
    """Each is the tutorial's, to the last space; their parts."""
    found = [LINE.fullmatch(line) for line in lines]
    if not all(found) or len(lines) != EPOCHS:
        raise Wrong("not the tutorial's lines:\n" + "\n".join(lines))
    place.check("lines in the tutorial's format",
                [int(line["epoch"]) for line in found] == [1, 2, 3, 4, 5],
                len(lines))
    good = all(line["percent"] == percent(line["right"], line["images"]) and
               line["test_percent"] == percent(line["test_right"],
                                               line["test_images"])
               for line in found)
    place.check("percentages computed in float32", good, len(found))
    last = found[-1]
    least = 90 if place.short else 97.5
    place.check(f"test accuracy after five epochs, at least {least} %",
                float(last["test_percent"]) >= least,
                f"{last['test_percent']} %")
    return found


def percent(right, images):
    """Float(right) / Float(images) * 100, with a digit behind the point."""
    return f"{single(single(int(right) / int(images)) * 100):.1f}"


def single(number):
    """Rounded to float32."""
    return struct.unpack("f", struct.pack("f", number))[0]


def check_batches(place, epoch):
    """Steps of an epoch and batches of a test: the last ones are smaller."""
    images, tests = int(epoch["images"]), int(epoch["test_images"])
    if not place.short:
        place.check("images", (images, tests) == IMAGES, f"{images}, {tests}")
    steps = len(place.events("lenet", "train"))
    full, rest = divmod(images, BATCH)
    place.check("steps an epoch", steps == EPOCHS * (full + 1) and rest == 96,
                f"{full} of {BATCH}, one of {rest}: {steps // EPOCHS}")
    place.run("train_resnet", "--data_dir", "shards", "--model_dir", "lenet",
              "--mode", "eval", "--trace", "test.json")
    trace = json.loads((place.out / "test.json").read_text(encoding="utf-8"))
    batches = sum(event.get("name") == "step" for event in trace["traceEvents"])
    full, rest = divmod(tests, BATCH)
    place.check("batches of the test", batches == full + 1 and rest == 16,
                f"{full} of {BATCH}, one of {rest}: {batches}")


def show_lines(place, ours, sizes):
    """Their ten lines and ours, epoch by epoch."""
    rows = [("epoch", "", "training loss", "training accuracy", "test loss",
             "test accuracy", "seconds")]
    for epoch in range(EPOCHS):
        for name, run, (images, tests) in (
                ("tutorial, eager", THEIRS["eager"], IMAGES),
                ("tutorial, X10", THEIRS["X10"], IMAGES),
                ("here", ours, sizes)):
            loss, right, test_loss, test_right, seconds = run[epoch]
            rows.append((epoch + 1, name, f"{loss:.3f}",
                         f"{right}/{images} ({percent(right, images)}%)",
                         f"{test_loss:.3f}",
                         f"{test_right}/{tests} "
                         f"({percent(test_right, tests)}%)",
                         f"{seconds:.1f}"))
    place.table(*rows)


def show_warm_up(place, ours, said):
    """The first epoch beside the later ones, and the warm-up we report."""
    rows = [("seconds", "first epoch", "mean of the later ones", "ratio")]
    for name, run in (*THEIRS.items(), ("here", ours)):
        first, *later = [epoch[-1] for epoch in run]
        mean = sum(later) / len(later)
        rows.append((name, f"{first:.1f}", f"{mean:.1f}",
                     f"{first / mean:.2f}" if mean else "-"))
    place.table(*rows)
    event = place.events("lenet", "warm_up")[0]
    place.check("the warm-up is reported separately", said.count("warm-up: ") == 1 and
                event["steps"] == 1 and event["seconds"] > 0,
                f"{event['steps']} step, {event['seconds']:.2f} s")
    steady = place.events("lenet", "end")[0]["images_per_second"]
    place.show("The program on stderr: `" + re.search(
        "^warm-up: .*$", said, re.MULTILINE).group(0) + "`. All steps after it "
        f"ran at {steady:.0f} images/s. Where the time went, from the report:")
    page = (place.out / "lenet/report.html").read_text(encoding="utf-8")
    rows = re.findall("<tr><td>(.*?)</td><td>([0-9.]+)</td><td>(.*?)</td></tr>",
                      page.split("Where the time of this run went")[1].split(
                          "</table>")[0])
    place.check("the report has a row for the warm-up",
                [row[0] for row in rows[:2]] == ["before the first loop",
                                                 "warm-up: the first step"],
                rows[1][1] + " s")
    place.table(("what", "seconds", "share"), *rows)


def draw(place, ours, sizes):
    runs = {"eager": (THEIRS["eager"], IMAGES), "X10": (THEIRS["X10"], IMAGES),
            "here": (ours, sizes)}
    epochs = range(1, EPOCHS + 1)
    place.plot("loss.svg", charts.curves(
        "LeNet on MNIST", "epoch", "loss", {
            f"{name}, {what}": [(epoch, run[epoch - 1][column])
                                for epoch in epochs]
            for name, (run, _) in runs.items() if name != "eager"
            for what, column in (("training", 0), ("test", 2))}))
    accuracy = {name: [(epoch, 100 * run[epoch - 1][3] / tests)
                       for epoch in epochs]
                for name, (run, (_, tests)) in runs.items()}
    lowest = min(y for line in accuracy.values() for _, y in line)
    place.plot("accuracy.svg", charts.curves(
        "LeNet on MNIST, test accuracy", "epoch", "%", accuracy,
        y_from=lowest // 5 * 5))
