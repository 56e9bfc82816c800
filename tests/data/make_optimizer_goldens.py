"""Writes optimizer_goldens.json: what PyTorch's optimizers do.

Weights and gradients are formulas of names and indices, as in
make_torchvision_goldens.py. LARS, which PyTorch does not have, is computed by
numpy from its definition in the reference driver (tf.contrib's later form).
LAMB and RMSprop with its epsilon under the root are timm's.
Usage: python3 make_optimizer_goldens.py OUT.json
"""

import json
import math
import sys

import numpy as np
import torch
from timm.optim import Lamb, RMSpropTF

from make_torchvision_goldens import noise

# The first is longer than what an optimizer updates in one piece.
SHAPES = {"conv1.weight": (64, 32, 3, 3), "bn1.weight": (37,)}
DECAYED = "conv1.weight"
WEIGHT_DECAY = 0.01
RATES = (0.1, 0.05, 0.2, 0.1)
EPSILON = 2.0**-23  # float32's
STRIDE = 401  # of the elements that are written down


def weights():
    return {name: noise(name, math.prod(shape)) for name, shape in
            SHAPES.items()}


def gradients(step):
    return {name: noise(f"{name}{step}", math.prod(shape)) / 8
            for name, shape in SHAPES.items()}


def by_pytorch(make):
    parameters = {name: torch.nn.Parameter(value) for name, value in
                  weights().items()}
    groups = [{"params": [value],
               "weight_decay": WEIGHT_DECAY if name == DECAYED else 0}
              for name, value in parameters.items()]
    optimizer = make(groups)
    for step, rate in enumerate(RATES):
        for name, value in gradients(step).items():
            parameters[name].grad = value
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    return {name: value.detach().numpy() for name, value in parameters.items()}


def by_numpy_lars():
    values = {name: value.numpy() for name, value in weights().items()}
    averages = {name: np.zeros_like(value) for name, value in values.items()}
    for step, rate in enumerate(RATES):
        for name, gradient in gradients(step).items():
            w, g, own_rate = values[name], gradient.numpy(), rate
            if name == DECAYED:
                length = np.linalg.norm(w)
                own_rate *= 0.001 * length / (
                    np.linalg.norm(g) + WEIGHT_DECAY * length)
                g = g + WEIGHT_DECAY * w
            averages[name] = 0.9 * averages[name] + own_rate * g
            values[name] = w - averages[name]
    return values


def clipped():
    """The gradients after clip_grad_norm_ to two lengths."""
    result = {}
    for longest in (1.0, 100.0):
        parameters = [torch.nn.Parameter(value) for value in
                      weights().values()]
        for parameter, gradient in zip(parameters, gradients(0).values()):
            parameter.grad = gradient.clone()
        torch.nn.utils.clip_grad_norm_(parameters, longest)
        result[str(int(longest))] = {
            name: parameter.grad.numpy() for name, parameter in
            zip(SHAPES, parameters)}
    return result


def thinned(values):
    return {name: value[::STRIDE if name == DECAYED else 1].tolist()
            for name, value in values.items()}


def main():
    optim = torch.optim
    results = {
        "nesterov": by_pytorch(lambda groups: optim.SGD(
            groups, lr=1, momentum=0.9, nesterov=True)),
        "momentum": by_pytorch(lambda groups: optim.SGD(
            groups, lr=1, momentum=0.9)),
        "sgd": by_pytorch(lambda groups: optim.SGD(groups, lr=1)),
        "adam": by_pytorch(lambda groups: optim.Adam(groups, eps=EPSILON)),
        "adamw": by_pytorch(lambda groups: optim.AdamW(groups, eps=1e-8)),
        "nadamw": by_pytorch(lambda groups: optim.NAdam(
            groups, eps=1e-8, decoupled_weight_decay=True)),
        "lamb": by_pytorch(lambda groups: Lamb(
            groups, eps=1e-6, max_grad_norm=None)),
        "rmsprop": by_pytorch(lambda groups: RMSpropTF(
            groups, alpha=0.9, eps=1e-3, momentum=0.9)),
        "lars": by_numpy_lars(),
    }
    golden = {name: thinned(values) for name, values in results.items()}
    golden["clipped"] = {length: thinned(values)
                         for length, values in clipped().items()}
    with open(sys.argv[1], "w") as file:
        json.dump(golden, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
