"""Reads a model directory's event files with TensorBoard's own reader.

Run by hand:  python3 tests/interop/read_events.py MODEL_DIR
Checks the tags, that scalars are the numbers of metrics.jsonl, that each
picture is a PNG of the size it claims, and that the plugin of hyperparameters
has them. Exits 77 without the tensorboard wheel.
"""

import json
import math
import pathlib
import struct
import sys

try:
    from tensorboard.backend.event_processing.event_accumulator import (
        IMAGES,
        SCALARS,
        TENSORS,
        EventAccumulator,
    )
    from tensorboard.plugins.hparams import metadata as hparams
except ImportError:
    print("the tensorboard package is not installed")
    sys.exit(77)

TRAIN = {"loss", "learning_rate", "current_epoch", "top_1_accuracy",
         "global_step/sec", "examples/sec", "input_wait"}
EVAL = {"top_1_accuracy", "top_5_accuracy", "loss"}


def load(folder):
    reader = EventAccumulator(str(folder), {SCALARS: 0, IMAGES: 0, TENSORS: 0})
    return reader.Reload()


def lines(model_dir, event):
    """The lines of one event by step; of a step run twice, the later one."""
    found = {}
    for text in (model_dir / "metrics.jsonl").read_text().splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue  # A killed run's last one.
        if line["event"] == event:
            found[line["step"]] = line
    return found


def check_scalars(reader, tag, expected, key):
    for event in reader.Scalars(tag):
        value = expected[event.step][key]
        if value is None:
            assert not math.isfinite(event.value), (tag, event)
        else:
            assert math.isclose(event.value, value, rel_tol=1e-6), (tag, event)
    print(f"  {tag}: {len(reader.Scalars(tag))} values")


def check_images(reader):
    tags = reader.Tags()["images"]
    for tag in tags:
        for image in reader.Images(tag):
            png = image.encoded_image_string
            assert png[:8] == b"\x89PNG\r\n\x1a\n", tag
            size = struct.unpack(">II", png[16:24])
            assert size == (image.width, image.height), (tag, size)
        print(f"  {tag}: {image.width} x {image.height}")
    return tags


def check_hparams(reader):
    """The newest run's, as the plugin of hyperparameters reads them."""
    def content(tag):
        return reader.SummaryMetadata(tag).plugin_data.content

    start = hparams.parse_session_start_info_plugin_data(
        content(hparams.SESSION_START_INFO_TAG))
    assert start.start_time_secs > 0
    values = start.hparams
    assert values["train_steps"].WhichOneof("kind") == "number_value", values
    assert values["use_nesterov"].bool_value, values
    assert values["model"].string_value, values
    if hparams.SESSION_END_INFO_TAG in reader.Tags()["tensors"]:
        end = hparams.parse_session_end_info_plugin_data(
            content(hparams.SESSION_END_INFO_TAG))
        assert end.status in (1, 2), end
    print(f"  hparams: {len(values)} values")


def main():
    model_dir = pathlib.Path(sys.argv[1])
    train = load(model_dir)
    print("train:")
    assert TRAIN <= set(train.Tags()["scalars"]), train.Tags()["scalars"]
    steps = lines(model_dir, "train")
    for tag, key in (("loss", "loss"), ("top_1_accuracy", "top_1"),
                     ("learning_rate", "learning_rate")):
        check_scalars(train, tag, steps or lines(model_dir, "loop"), key)
    assert "inputs/0" in check_images(train)
    (text,) = train.Tensors("configuration")[-1].tensor_proto.string_val
    assert b"train_steps" in text
    check_hparams(train)
    evaluations = lines(model_dir, "eval")
    if evaluations:
        print("eval:")
        evaluated = load(model_dir / "eval")
        assert EVAL <= set(evaluated.Tags()["scalars"])
        for tag, key in (("loss", "loss"), ("top_1_accuracy", "top_1"),
                         ("top_5_accuracy", "top_5")):
            check_scalars(evaluated, tag, evaluations, key)
        assert "confusion_matrix" in check_images(evaluated)


if __name__ == "__main__":
    main()
