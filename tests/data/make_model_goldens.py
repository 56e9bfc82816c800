"""Writes model_goldens.json: logits of ResNet variants and of LeNet-5.

The networks are written out here a second time, plainly and in float64;
weights and pixels are make_torchvision_goldens.py's formulas.
README.models.md has the details.
Usage: python3 make_model_goldens.py OUT.json
"""

import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from make_torchvision_goldens import noise, weight

CLASSES = 10
BATCH = 2
BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


def images(side, channels=3):
    values = noise("images", BATCH * channels * side * side) * 4
    return values.reshape(BATCH, channels, side, side)


def conv(name, x, out, kernel, stride=1, bias=False, padding=None):
    padding = kernel // 2 if padding is None else padding
    w = weight(name + ".weight", (out, x.shape[1], kernel, kernel))
    b = weight(name + ".bias", (out,)) if bias else None
    return F.conv2d(x, w, b, stride, padding)


def norm(name, x):
    c = (x.shape[1],)
    return F.batch_norm(x, weight(name + ".running_mean", c),
                        weight(name + ".running_var", c),
                        weight(name + ".weight", c), weight(name + ".bias", c),
                        False, 0.1, 1e-5)


def linear(name, x, out):
    return F.linear(x, weight(name + ".weight", (out, x.shape[1])),
                    weight(name + ".bias", (out,)))


def same_max_pool(x):
    """TensorFlow's: what is odd of the padding comes after."""
    side = x.shape[2]
    out = math.ceil(side / 2)
    total = max((out - 1) * 2 + 3 - side, 0)
    before, after = total // 2, total - total // 2
    x = F.pad(x, (before, after, before, after), value=-math.inf)
    return F.max_pool2d(x, 3, 2)


class ResNet:
    def __init__(self, depth, variant="torchvision", pre=False, d_stem=False,
                 d_shortcut=False, replace=False, small=False, se=0):
        self.__dict__.update(locals())
        self.bottleneck = depth >= 50
        self.bias = variant == "xla_jl"

    def stem(self, x):
        if self.d_stem:
            x = F.relu(norm("conv1.1", conv("conv1.0", x, 32, 3, 2)))
            x = F.relu(norm("conv1.4", conv("conv1.3", x, 32, 3)))
            x = conv("conv1.6", x, 64, 3)
        elif self.small:
            x = conv("conv1", x, 64, 3)
        else:
            x = conv("conv1", x, 64, 7, 2, self.bias)
        if not self.pre and self.variant != "xla_jl":
            x = F.relu(norm("bn1", x))
        if self.small:
            return x
        if self.replace:
            return F.relu(norm("maxpool.1", conv("maxpool.0", x, 64, 3, 2)))
        if self.variant == "tpu":
            return same_max_pool(x)
        return F.max_pool2d(x, 3, 2, 1)

    def shortcut(self, name, x, out, stride, first):
        everywhere = first and self.variant == "tpu"
        if stride == 1 and x.shape[1] == out and not everywhere:
            return x
        place = 0
        if self.d_shortcut:
            place = 1
            if stride == 2:  # As SAME has it: the padding does not count.
                side = x.shape[2]
                ones = F.pad(torch.ones_like(x), (0, side % 2, 0, side % 2))
                x = F.pad(x, (0, side % 2, 0, side % 2))
                x = F.avg_pool2d(x, 2) / F.avg_pool2d(ones, 2)
                stride = 1
        x = conv(f"{name}.downsample.{place}", x, out, 1, stride, self.bias)
        return x if self.pre else norm(f"{name}.downsample.{place + 1}", x)

    def squeeze_excite(self, name, x):
        if self.se == 0:
            return x
        out = x.shape[1]
        s = x.mean((2, 3), keepdim=True)
        s = F.relu(conv(name + ".se.fc1", s, max(1, int(out * self.se)), 1,
                        bias=True))
        return x * torch.sigmoid(conv(name + ".se.fc2", s, out, 1, bias=True))

    def shapes(self, width, stride):
        """(out, kernel, stride) of a branch's convolutions."""
        if not self.bottleneck:
            return [(width, 3, stride), (width, 3, 1)]
        if self.variant == "xla_jl":
            return [(width, 1, 1), (width, 3, 1), (4 * width, 1, stride)]
        return [(width, 1, 1), (width, 3, stride), (4 * width, 1, 1)]

    def block(self, name, x, width, stride, first):
        shapes = self.shapes(width, stride)
        out = shapes[-1][0]
        if self.pre:
            return self.pre_block(name, x, shapes, out, stride, first)
        y = x
        for i, (channels, kernel, s) in enumerate(shapes, 1):
            y = norm(f"{name}.bn{i}",
                     conv(f"{name}.conv{i}", y, channels, kernel, s, self.bias))
            if i < len(shapes):
                y = F.relu(y)
        y = self.squeeze_excite(name, y)
        return F.relu(y + self.shortcut(name, x, out, stride, first))

    def pre_block(self, name, x, shapes, out, stride, first):
        y = F.relu(norm(name + ".bn1", x))
        projected = self.shortcut(name, y, out, stride, first)
        shortcut = x if projected is y else projected
        for i, (channels, kernel, s) in enumerate(shapes, 1):
            if i > 1:
                y = F.relu(norm(f"{name}.bn{i}", y))
            y = conv(f"{name}.conv{i}", y, channels, kernel, s)
        return y + shortcut

    def __call__(self, x):
        x = self.stem(x)
        for group, count in enumerate(BLOCKS[self.depth], 1):
            for i in range(count):
                x = self.block(f"layer{group}.{i}", x, 32 << group,
                               2 if group > 1 and i == 0 else 1, i == 0)
        if self.pre:
            x = F.relu(norm("norm", x))
        return linear("fc", x.mean((2, 3)), CLASSES)


def lenet(x):
    x = F.avg_pool2d(F.relu(conv("conv1", x[:, :1], 6, 5, bias=True)), 2)
    x = F.avg_pool2d(F.relu(conv("conv2", x, 16, 5, bias=True, padding=0)), 2)
    x = F.relu(linear("fc1", x.flatten(1), 120))
    return linear("fc3", F.relu(linear("fc2", x, 84)), CLASSES)


VARIANTS = {
    "tpu_18": (ResNet(18, "tpu"), 64),
    "tpu_18_odd": (ResNet(18, "tpu"), 66),  # The pool sees 33 pixels.
    "xla_jl": (ResNet(50, "xla_jl"), 64),
    "pre_18": (ResNet(18, pre=True), 64),
    "pre_tpu_50": (ResNet(50, "tpu", pre=True, d_stem=True, d_shortcut=True,
                          replace=True), 64),
    # At 72 pixels the averages see 18, 9 and 5.
    "rs_50": (ResNet(50, "tpu", d_stem=True, d_shortcut=True, replace=True,
                     se=0.25), 72),
    "small_18": (ResNet(18, small=True), 32),
    "lenet": (lenet, 28),
}


def drop_block_mask(side, size, rate):
    """The reference driver's: valid centres, then the windows' minima."""
    places = side - size + 1
    draws = noise(f"drop_block {side} {size}", 2 * 3 * places * places) + 0.5
    draws = draws.reshape(2, 3, places, places).numpy()
    before, after = (size - 1) // 2, size // 2
    centres = np.ones((2, 3, side, side), int)
    centres[:, :, after:after + places, after:after + places] = draws >= rate
    kept = np.ones_like(centres)
    for row in range(side):
        for column in range(side):
            window = centres[:, :, max(row - before, 0):row + after + 1,
                             max(column - before, 0):column + after + 1]
            kept[:, :, row, column] = window.min(axis=(2, 3))
    return "".join(str(value) for value in kept.flatten())


def main():
    torch.set_num_threads(1)
    golden = {"logits": {}, "drop_block": []}
    for name, (model, side) in VARIANTS.items():
        logits = model(images(side)).flatten().tolist()
        golden["logits"][name] = {"side": side,
                                  "values": [round(x, 6) for x in logits]}
    for side, size, rate in ((8, 3, 0.1), (8, 4, 0.1), (5, 5, 0.5),
                             (4, 1, 0.25), (7, 7, 0.5)):
        golden["drop_block"].append(
            {"side": side, "size": size, "rate": rate,
             "kept": drop_block_mask(side, size, rate)})
    with open(sys.argv[1], "w") as out:
        json.dump(golden, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
