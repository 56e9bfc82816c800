#!/usr/bin/env python3
"""Times cuDNN's convolutions of ResNet-50 through PyTorch, bfloat16 in
channels_last, with and without its trial of algorithms (benchmark), and looks
for cuDNN's graph library and headers. Prints one JSON object.

usage: cudnn_probe.py [--batch N] [--image_size N] [--device cuda]

Milliseconds are those of a whole step: each convolution as often as it occurs.
"""

import argparse
import collections
import ctypes
import dataclasses
import json
import pathlib

import torch
from torch.nn import functional

import ceilings
import roofline


def convolutions(image_size):
    """How often each occurs. The stem's fourth channel is of zeros; without it
    it is only timed."""
    stem, blocks = roofline.plan(50, image_size)
    padded = dataclasses.replace(stem, inputs=4)
    counts = collections.Counter(
        dataclasses.replace(conv, relu=False, residual=False)
        for conv in [padded] + [conv for block in blocks for conv in block])
    counts[dataclasses.replace(stem, relu=False)] = 0
    return counts


def numbers(device, *shape):
    return torch.randn(*shape, device=device, dtype=torch.bfloat16).contiguous(
        memory_format=torch.channels_last)


def milliseconds(conv, batch, device):
    """Of the forward pass, and of the gradients: the pixels have none."""
    side, pad = conv.side * conv.stride, conv.kernel // 2
    x = numbers(device, batch, conv.inputs, side, side)
    weight = numbers(device, conv.outputs, conv.inputs, conv.kernel,
                     conv.kernel)
    gradient = numbers(device, batch, conv.outputs, conv.side, conv.side)

    def forward():
        functional.conv2d(x, weight, None, conv.stride, pad)

    def backward():
        torch.ops.aten.convolution_backward(
            gradient, x, weight, None, [conv.stride] * 2, [pad] * 2, [1, 1],
            False, [0, 0], 1, [conv.inputs > 4, True, False])

    return [1e3 * ceilings.median_seconds(work, device)
            for work in (forward, backward)]


def timed(counts, batch, device, benchmark):
    torch.backends.cudnn.benchmark = benchmark
    rows = [{"conv": f"{conv.inputs}>{conv.outputs} {conv.kernel}x"
                     f"{conv.kernel}/{conv.stride} to {conv.side}",
             "count": count, "milliseconds": milliseconds(conv, batch, device)}
            for conv, count in counts.items()]
    forward, backward = (sum(row["count"] * row["milliseconds"][way]
                             for row in rows) for way in (0, 1))
    return {"forward": forward, "backward": backward, "rows": rows}


def can_make_graphs(library):
    try:
        return hasattr(ctypes.CDLL(str(library)),
                       "cudnnBackendCreateDescriptor")
    except OSError:
        return False


def graph_api():
    """Of the wheels: libraries that make cuDNN graphs, and cuDNN's headers."""
    wheels = pathlib.Path(torch.__file__).parent.parent
    headers = wheels.glob("nvidia/*/include/cudnn_*.h")
    return {"libraries": [library.name for library in
                          wheels.glob("nvidia/*/lib/libcudnn_graph.so*")
                          if can_make_graphs(library)],
            "headers": sorted(header.name for header in headers)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--image_size", type=int, default=224)
    parser.add_argument("--device", default="cuda")
    flags = parser.parse_args()
    counts = convolutions(flags.image_size)
    device = torch.device(flags.device)
    print(json.dumps({
        "cudnn": torch.backends.cudnn.version(), "batch": flags.batch,
        "graph_api": graph_api(),
        **{name: timed(counts, flags.batch, device, benchmark) for
           name, benchmark in (("chosen", False), ("benchmark", True))}}))


if __name__ == "__main__":
    main()
