#!/usr/bin/env python3
"""Whether weights go from torchvision and timm to train_resnet and back.

usage: library_weights.py TRAIN_RESNET [NETWORK...]

NETWORK is a name that model= takes; without one, those of DEFAULT. For each:

- the library's network gets random weights, and batch norms random statistics;
  they are saved as .pth and .safetensors;
- made images are predicted from both, and the five greatest log-probabilities
  of each image compared with the library's;
- a training of one step at next to no rate begins with them, its export is
  loaded strictly by the library, and every parameter compared.

Prints the largest difference of a log-probability from the library's in double,
and the library's own in float; the limit is 1e-4, or three times the latter.
Needs torch, torchvision, timm and safetensors.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import timm
import torch
import torchvision
from PIL import Image
from safetensors.torch import load_file, save_file

# A network of each kind.
DEFAULT = """resnet18 wide_resnet50_2 wide_resnet101_2 resnext50_32x4d
    resnext101_32x8d resnext101_64x4d resnet26d seresnet50 seresnext50_32x4d
    ecaresnet26t ecaresnet50t ecaresnet50d resnet26t resnet50t resnetblur18
    resnetblur50 resnetrs50""".split()
SIDE, IMAGES, LIMIT = 96, 4, 1e-4
UNCHANGED = 1e-20  # More than a step at that rate changes.
MEAN = torch.tensor([123.675, 116.28, 103.53]).reshape(1, 3, 1, 1)
STD = torch.tensor([58.395, 57.12, 57.375]).reshape(1, 3, 1, 1)


def of_library(name):
    """The network, and the library's name."""
    if hasattr(torchvision.models, name):
        return getattr(torchvision.models, name)(weights=None), "torchvision"
    return timm.create_model(name, num_classes=1000), "timm"


def randomised(model):
    """With batch norms of random weights, and statistics of random images."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.8, 1.2)
            torch.nn.init.normal_(module.bias, std=0.1)
            module.momentum = None
    with torch.no_grad():
        model.train()(torch.randn(8, 3, SIDE, SIDE))
    return model.eval()


def made_images(folder):
    folder.mkdir()
    random = numpy.random.default_rng(1)
    pixels = random.integers(0, 256, (IMAGES, SIDE, SIDE, 3), numpy.uint8)
    for i, image in enumerate(pixels):
        Image.fromarray(image).save(folder / f"{i}.png")
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float()


def run(program, *flags):
    done = subprocess.run([program, "--device", "cpu", *map(str, flags)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def worst_of_predictions(program, folder, name, weights, expected):
    lines = run(program, "--mode", "predict", "--model_dir", folder / "none",
                "--input", folder / "images", "--params_override",
                f"model={name},precision=float32,recipe=plain,"
                f"image_size={SIDE},num_label_classes=1000,"
                f"resnet_checkpoint={weights}").splitlines()
    assert len(lines) == IMAGES, lines
    return max(abs(math.log(entry["probability"]) -
                   expected[i, entry["index"]].item())
               for i, line in enumerate(lines)
               for entry in json.loads(line)["top_5"])


def exported(program, folder, name, weights):
    run(program, "--data_dir", "null", "--model_dir", folder / "model",
        "--mode", "train", "--params_override",
        f"model={name},resnet_checkpoint={weights},image_size=32,"
        "train_batch_size=2,train_steps=1,base_learning_rate=1e-30,"
        "num_label_classes=1000")
    run(program, "--mode", "export", "--model_dir", folder / "model",
        "--export_dir", folder / "exports", "--format", "safetensors")
    return load_file(next((folder / "exports").glob("*/model.safetensors")))


def compare(program, name, folder):
    model, library = of_library(name)
    state = randomised(model).state_dict()
    images = made_images(folder / "images")
    torch.save(state, folder / "model.pth")
    save_file(state, folder / "model.safetensors")
    pixels = (images - MEAN) / STD
    with torch.no_grad():
        theirs = model(pixels).double().log_softmax(1)
        expected = model.double()(pixels.double()).log_softmax(1)
    rounding = (theirs - expected).abs().max().item()
    worst = max(worst_of_predictions(program, folder, name, folder / file,
                                     expected)
                for file in ("model.pth", "model.safetensors"))
    ours = exported(program, folder, name, folder / "model.pth")
    of_library(name)[0].load_state_dict(ours, strict=True)
    parameters = dict(model.named_parameters())
    for key, value in parameters.items():
        assert (ours[key] - value.detach()).abs().max() < UNCHANGED, key
    print(f"{name} ({library}): log-probabilities differ by at most "
          f"{worst:.1e} (the library's by {rounding:.1e}); {len(parameters)} "
          "parameters came back", flush=True)
    return worst <= max(LIMIT, 3 * rounding)


def main():
    torch.manual_seed(0)
    good = True
    for name in sys.argv[2:] or DEFAULT:
        with tempfile.TemporaryDirectory(prefix="infeed-weights-") as folder:
            good &= compare(sys.argv[1], name, pathlib.Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
