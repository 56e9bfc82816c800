#!/usr/bin/env python3
"""Whether a torchvision network's own weights give its logits in train_resnet.

usage: torchvision_logits.py TRAIN_RESNET [resnet50]

Saves random weights as .pth and as .safetensors, predicts made images with
both, and compares the five greatest log-probabilities of each image with
torchvision's: 1e-4 is the limit. Made with torch 2.15, torchvision 0.29.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision
from PIL import Image

SIDE, IMAGES, LIMIT = 224, 4, 1e-4
MEAN = torch.tensor([123.675, 116.28, 103.53]).reshape(1, 3, 1, 1)
STD = torch.tensor([58.395, 57.12, 57.375]).reshape(1, 3, 1, 1)


def save_safetensors(state, path):
    """The format by hand: the reader is what is tested."""
    header, data = {}, b""
    types = {torch.float32: "F32", torch.int64: "I64"}
    for name, tensor in state.items():
        raw = tensor.numpy().tobytes()
        header[name] = {"dtype": types[tensor.dtype],
                        "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def made_images(folder):
    folder.mkdir()
    random = numpy.random.default_rng(1)
    pixels = random.integers(0, 256, (IMAGES, SIDE, SIDE, 3), numpy.uint8)
    for i, image in enumerate(pixels):
        Image.fromarray(image).save(folder / f"{i}.png")
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float()


def predicted(program, folder, weights, depth):
    run = subprocess.run(
        [program, "--mode", "predict", "--model_dir", folder / "none",
         "--input", folder / "images", "--device", "cpu",
         "--params_override", f"resnet_depth={depth},precision=float32,"
         f"recipe=plain,image_size={SIDE},num_label_classes=1000,"
         f"resnet_checkpoint={weights}"],
        stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def main():
    program, name = sys.argv[1], (sys.argv[2:] + ["resnet50"])[0]
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(weights=None).eval()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="infeed-logits-"))
    images = made_images(folder / "images")
    torch.save(model.state_dict(), folder / "model.pth")
    save_safetensors(model.state_dict(), folder / "model.safetensors")
    with torch.no_grad():
        logits = model((images - MEAN) / STD)
    expected = torch.log_softmax(logits.double(), 1)
    worst = 0.0
    for weights in ("model.pth", "model.safetensors"):
        lines = predicted(program, folder, folder / weights, name[6:])
        assert len(lines) == IMAGES, lines
        for i, line in enumerate(lines):
            for entry in line["top_5"]:
                worst = max(worst, abs(math.log(entry["probability"]) -
                                       expected[i, entry["index"]].item()))
    print(f"{name}: log-probabilities differ by at most {worst:.2e}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
