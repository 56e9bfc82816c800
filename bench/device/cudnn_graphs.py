#!/usr/bin/env python3
"""Asks cuDNN's graph API (cudnn_graph.h) which neighbours of a convolution it
computes in the same kernel on this card. Prints one JSON object: for how many
kinds of ResNet-50's convolutions (kernel and stride) it has each pattern.

usage: cudnn_graphs.py [--batch N] [--image_size N]
"""

import argparse
import ctypes
import json

import roofline

# Values of cudnnBackendDescriptorType_t.
(POINTWISE, CONVOLUTION, CONFIG, HEURISTICS, PLAN, FORWARD, WEIGHTS, INPUTS,
 ELEMENTWISE, STATISTICS, GRAPH, TENSOR, NORM_BACKWARD) = (
     0, 1, 3, 4, 5, 10, 11, 12, 13, 14, 15, 17, 23)
# Values of cudnnBackendAttributeType_t. Attributes of other types are
# enumerations.
HANDLE, ENUM, BOOLEAN, INT64, FLOAT, DESCRIPTOR = 0, 1, 2, 3, 4, 15
CONVOLUTION_MODE, HEURISTIC_MODE, POINTWISE_MODE, STATISTICS_MODE = 7, 8, 14, 16
VALUES = {HANDLE: ctypes.c_void_p, BOOLEAN: ctypes.c_bool,
          INT64: ctypes.c_int64, FLOAT: ctypes.c_float,
          DESCRIPTOR: ctypes.c_void_p}
ADD, MULTIPLY, SUBTRACT, RELU, RELU_BACKWARD = 0, 1, 9, 100, 200
# An element-wise operation's tensors.
X, OTHER, Y, INPUT_GRADIENT, GRADIENT = 751, 752, 753, 756, 757
FLOAT32 = 0
TYPES = {"float16": 2, "bfloat16": 9}
MODES = [3, 2]  # preferred by the heuristics; the fallback
MOST_CONFIGS = 100
PATTERNS = ["conv", "conv, ReLU", "conv, statistics",
            "norm, ReLU, conv, statistics", "norm, ReLU, weights' gradient",
            "input's gradient, ReLU's, sums of the norm's"]


class Rejected(Exception):
    """cuDNN's status."""


class Asker:
    """graph, heuristics, plan: attributes of theirs that name the card."""

    def __init__(self, library, graph=(), heuristics=(), plan=()):
        self.library = library
        self.graph, self.heuristics, self.plan = graph, heuristics, plan
        self.tensors = 0

    def call(self, function, *arguments):
        status = getattr(self.library, "cudnnBackend" + function)(*arguments)
        if status != 0:
            raise Rejected(status)

    def create(self, kind):
        made = ctypes.c_void_p()
        self.call("CreateDescriptor", kind, ctypes.byref(made))
        return made

    def make(self, kind, *attributes):
        """A finalized descriptor of attributes (name, type, values...)."""
        made = self.create(kind)
        for name, its_type, *values in attributes:
            array = (VALUES.get(its_type, ctypes.c_int) * len(values))(*values)
            self.call("SetAttribute", made, name, its_type,
                      ctypes.c_int64(len(values)), array)
        self.call("Finalize", made)
        return made.value

    def tensor(self, shape, its_type, is_virtual=False):
        """In channels_last; a virtual one is never in memory."""
        self.tensors += 1
        _, channels, height, width = shape
        strides = [channels * height * width, 1, channels * width, channels]
        return self.make(
            TENSOR, (900, INT64, 16), (901, ENUM, its_type),
            (902, INT64, *shape), (903, INT64, *strides),
            (906, INT64, self.tensors), (907, BOOLEAN, is_virtual))

    def between(self, shape):
        return self.tensor(shape, FLOAT32, is_virtual=True)

    def elementwise(self, mode, tensors):
        kind = self.make(POINTWISE, (0, POINTWISE_MODE, mode),
                         (1, ENUM, FLOAT32))
        return self.make(ELEMENTWISE, (750, DESCRIPTOR, kind), *[
            (name, DESCRIPTOR, tensor) for name, tensor in tensors.items()])

    def chain(self, x, shape, steps):
        """The operations of x with a value of each channel, and the result."""
        found = []
        for mode, value in steps:
            made = self.between(shape)
            found.append(self.elementwise(mode, {X: x, OTHER: value, Y: made}))
            x = made
        return found, x

    def convolve(self, kind, first, conv, *tensors):
        """first: the attribute alpha, before beta, the convolution, tensors."""
        pad = conv.kernel // 2
        how = self.make(
            CONVOLUTION, (100, ENUM, FLOAT32), (101, CONVOLUTION_MODE, 1),
            (102, INT64, 1, 1), (103, INT64, conv.stride, conv.stride),
            (104, INT64, pad, pad), (105, INT64, pad, pad), (106, INT64, 2))
        return self.make(
            kind, (first, FLOAT, 1), (first + 1, FLOAT, 0), *[
                (first + 2 + place, DESCRIPTOR, value)
                for place, value in enumerate([how, *tensors])])

    def statistics(self, y, channels):
        """Of each channel, the sum and the sum of squares."""
        return self.make(
            STATISTICS, (770, STATISTICS_MODE, 0), (771, ENUM, FLOAT32),
            (772, DESCRIPTOR, y), *[
                (name, DESCRIPTOR, self.tensor((1, channels, 1, 1), FLOAT32))
                for name in (773, 774)])

    def norm_backward(self, x, gradient, mean, deviation, scale):
        """What the gradients of scale and bias are, and the factors and the
        constant of x's gradient."""
        shape = (1, x[1][1], 1, 1)
        return self.make(
            NORM_BACKWARD, (1620, ENUM, FLOAT32), *[
                (1621 + place, DESCRIPTOR, tensor) for place, tensor in
                enumerate([mean, deviation, scale, x[0], gradient, *[
                    self.tensor(shape, FLOAT32) for _ in range(5)]])])

    def backward(self, conv, batch, its_type, x, y, weights):
        before = (batch, conv.inputs, *[conv.side * conv.stride] * 2)
        mean, deviation, scale, bias = (
            self.tensor((1, conv.inputs, 1, 1), FLOAT32) for _ in range(4))
        made, gradient = self.between(before), self.tensor(before, its_type)
        norm, moved = self.chain(x, before, [
            (SUBTRACT, mean), (MULTIPLY, deviation), (MULTIPLY, scale),
            (ADD, bias)])
        return [self.convolve(INPUTS, 706, conv, weights, made, y), *norm,
                self.elementwise(RELU_BACKWARD, {
                    X: moved, GRADIENT: made, INPUT_GRADIENT: gradient}),
                self.norm_backward((x, before), gradient, mean, deviation,
                                   scale)]

    def operations(self, pattern, conv, batch, its_type):
        side = conv.side * conv.stride
        before = (batch, conv.inputs, side, side)
        after = (batch, conv.outputs, conv.side, conv.side)
        x, y = self.tensor(before, its_type), self.tensor(after, its_type)
        weights = self.tensor(
            (conv.outputs, conv.inputs, conv.kernel, conv.kernel), its_type)
        if pattern == "conv":
            return [self.convolve(FORWARD, 700, conv, weights, x, y)]
        if pattern == "conv, ReLU":
            made = self.between(after)
            return [self.convolve(FORWARD, 700, conv, weights, x, made),
                    self.elementwise(RELU, {X: made, Y: y})]
        if pattern == "conv, statistics":
            return [self.convolve(FORWARD, 700, conv, weights, x, y),
                    self.statistics(y, conv.outputs)]
        if pattern.startswith("input's gradient"):
            return self.backward(conv, batch, its_type, x, y, weights)
        norm, moved = self.chain(x, before, [
            (mode, self.tensor((1, conv.inputs, 1, 1), its_type))
            for mode in (MULTIPLY, ADD)])
        rectified = self.between(before)
        norm.append(self.elementwise(RELU, {X: moved, Y: rectified}))
        if pattern.endswith("gradient"):
            return [*norm, self.convolve(WEIGHTS, 712, conv, weights,
                                         rectified, y)]
        return [*norm, self.convolve(FORWARD, 700, conv, weights, rectified, y),
                self.statistics(y, conv.outputs)]

    def configs(self, graph):
        """Those of engines that may run a graph."""
        for mode in MODES:
            found = (ctypes.c_void_p * MOST_CONFIGS)(
                *[self.create(CONFIG).value for _ in range(MOST_CONFIGS)])
            count = ctypes.c_int64()
            try:
                heuristics = self.make(
                    HEURISTICS, (200, HEURISTIC_MODE, mode),
                    (201, DESCRIPTOR, graph), *self.heuristics)
                self.call("GetAttribute", ctypes.c_void_p(heuristics), 202,
                          DESCRIPTOR, ctypes.c_int64(MOST_CONFIGS),
                          ctypes.byref(count), found)
            except Rejected:
                continue
            yield from found[:count.value]

    def can(self, *pattern_of):
        """Whether an engine has a plan for the operations of these."""
        try:
            graph = self.make(GRAPH, (801, DESCRIPTOR,
                                      *self.operations(*pattern_of)),
                              *self.graph)
        except Rejected:
            return False
        for config in self.configs(graph):
            try:
                self.make(PLAN, (401, DESCRIPTOR, config), *self.plan)
                return True
            except Rejected:
                pass
        return False


def kinds(image_size):
    """The last convolution of each kernel and stride, but the first of all,
    which has no norm before it."""
    _, blocks = roofline.plan(50, image_size)
    return list({(conv.kernel, conv.stride): conv
                 for block in blocks for conv in block}.values())


def support(asker, convolutions, batch):
    """By data type and pattern, for how many of the convolutions."""
    return {name: {pattern: sum(asker.can(pattern, conv, batch, its_type)
                                for conv in convolutions)
                   for pattern in PATTERNS} for name, its_type in TYPES.items()}


def on_card():
    import torch  # which loads cuDNN

    torch.zeros(1, device="cuda")
    library, handle = ctypes.CDLL("libcudnn.so.9"), ctypes.c_void_p()
    if library.cudnnCreate(ctypes.byref(handle)) != 0:
        raise SystemExit("cudnnCreate failed")
    return Asker(library, graph=[(800, HANDLE, handle.value)],
                 plan=[(400, HANDLE, handle.value)])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--image_size", type=int, default=224)
    flags = parser.parse_args()
    asker, convolutions = on_card(), kinds(flags.image_size)
    print(json.dumps({"kinds": len(convolutions), "can": support(
        asker, convolutions, flags.batch)}))


if __name__ == "__main__":
    main()
