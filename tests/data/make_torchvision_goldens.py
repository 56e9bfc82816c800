"""Writes torchvision_goldens.json: what torchvision's ResNets compute.

Weights and pixels are formulas of names and indices that a test in another
language can repeat exactly; README.torchvision.md has them in words.
Usage: python3 make_torchvision_goldens.py OUT.json
"""

import json
import math
import sys

import numpy as np
import torch
import torchvision

DEPTHS = (18, 34, 50, 101, 152)
CLASSES = 10
BATCH = 8
SIZE = 64
COUNTED = 7  # The last image has weight 0.
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-3
SMOOTHING = 0.1
RATES = (0.04, 0.06)


def fnv1a(text, value=2166136261):
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def noise(name, count):
    """Multiples of 2^-16 in [-0.5, 0.5)."""
    index = np.arange(count, dtype=np.uint64)
    mixed = (index * 2654435761 + fnv1a(name)) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 2246822519) & 0xFFFFFFFF
    return torch.from_numpy((mixed >> 16).astype(np.float64) / 65536 - 0.5)


def weight(name, shape, prefix=""):
    values = noise(prefix + name, math.prod(shape)).reshape(shape)
    if name == "fc.weight":
        return values / 64
    if len(shape) > 1:  # A power of two near a standard deviation of He's.
        fan_in = math.prod(shape[1:])
        return values * 2.0 ** round(math.log2(math.sqrt(24 / fan_in)))
    if name.endswith(("running_var", "weight")):
        return 1 + values / 2
    return values / 4


def pixels():
    """[N, H, W, 3] from 0 to 255."""
    values = (noise("pixels", BATCH * SIZE * SIZE * 3) + 0.5) * 256
    return values.floor().reshape(BATCH, SIZE, SIZE, 3)


def normalised():
    mean = torch.tensor([123.675, 116.28, 103.53], dtype=torch.float64)
    std = torch.tensor([58.395, 57.12, 57.375], dtype=torch.float64)
    return ((pixels() - mean) / std).permute(0, 3, 1, 2).contiguous()


def model_with_weights(prefix=""):
    """prefix: of the names in the weights' formulas."""
    model = torchvision.models.resnet18(num_classes=CLASSES).double()
    state = model.state_dict()
    for name, tensor in state.items():
        if tensor.dtype.is_floating_point:
            tensor.copy_(weight(name, tuple(tensor.shape), prefix))
    model.load_state_dict(state)
    return model


def layout(depth):
    """A line "NAME DIMxDIM" for each entry of the state dict, sorted by name."""
    model = getattr(torchvision.models, f"resnet{depth}")()
    return [
        f"{name} {'x'.join(map(str, tensor.shape))}"
        for name, tensor in sorted(model.state_dict().items())
    ], sum(p.numel() for p in model.parameters())


def train(model):
    """Two steps; returns the losses."""
    norms = {
        name
        for module_name, module in model.named_modules()
        if isinstance(module, torch.nn.BatchNorm2d)
        for name in (module_name + ".weight", module_name + ".bias")
    }
    named = dict(model.named_parameters())
    decayed = [p for n, p in named.items() if n not in norms]
    optimizer = torch.optim.SGD(
        named.values(), lr=1, momentum=MOMENTUM, nesterov=True)
    labels = torch.arange(BATCH) * 3 % CLASSES
    losses = []
    model.train()
    for rate in RATES:
        logits = model(normalised())
        loss = torch.nn.functional.cross_entropy(
            logits[:COUNTED], labels[:COUNTED], label_smoothing=SMOOTHING)
        loss = loss + WEIGHT_DECAY / 2 * sum(p.square().sum() for p in decayed)
        optimizer.zero_grad()
        loss.backward()
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    model = model_with_weights()
    model.eval()
    with torch.no_grad():
        logits = model(normalised())
    losses = train(model)
    layouts = {depth: layout(depth) for depth in DEPTHS}
    golden = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "layouts": {
            str(depth): {
                "parameters": parameters,
                "entries": len(lines),
                "fnv1a": fnv1a("\n".join(lines)),
            }
            for depth, (lines, parameters) in layouts.items()
        },
        "layout_18": layouts[18][0],
        "logits": logits.flatten().tolist(),
        "losses": losses,
        # After both steps: the mean of the absolute values of each tensor.
        "trained": {
            name: tensor.abs().mean().item()
            for name, tensor in model.state_dict().items()
            if tensor.dtype.is_floating_point
        },
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
