#!/usr/bin/env python3
"""What a training step of a ResNet costs in bytes and operations, and how fast
a card of a given bandwidth and matrix rate can run it.

usage: roofline.py --gb_per_second N --tflops N [--depth 50] [--batch 256]
                   [--image_size 224]

Each operation of the forward and the backward pass reads and writes whole
tensors of bfloat16; a card takes for it the longer of bytes / bandwidth and
operations / rate. Caches, launches and idle units are left out, so no run is
faster. Variants:

  separate  convolution, norm, sum and ReLU are kernels of their own
  fused     norm, residual sum and ReLU are one kernel (fused_batch_norm)
  mask      and ReLU's gradient is found from x, without reading y, where there
            is no residual
  sums      and the norm's kernels take both gradients of a block's input,
            instead of autograd's sum of them; not in the first block, whose
            input is that of a pool
  pool      and the max pool keeps a byte of each result, not eight
  stem      and the stem's norm, ReLU and max pool are one pass each way, which
            stores neither the normalised images nor their gradient
  trainer   and pixels have a fourth channel, of zeros: a few more bytes, in
            whole vectors; what train_resnet does on a GPU
  depth     and the stem reads squares of 2x2 pixels, with zeros around the
            image (stem_layout=space_to_depth): a few more bytes
  epilogue  as trainer, and convolutions sum their results for the norms, which
            read them once less (conv_statistics=epilogue)
  normed    as epilogue, in float16, and a block's second and third convolution
            compute norm and ReLU while they read, as do their gradients, which
            sum for the norm's (conv_statistics=fused)
"""

import argparse
import dataclasses

BYTES = 2  # of a bfloat16
BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
CLASSES = 1000
VARIANTS = ("separate", "fused", "mask", "sums", "pool", "stem", "trainer",
            "depth", "epilogue", "normed")
WITH_EPILOGUE = ("epilogue", "normed")
# From which variant on each of them is so.
WITH_SUMS = VARIANTS[VARIANTS.index("sums"):]
WITH_POOL = VARIANTS[VARIANTS.index("pool"):]
WITH_STEM = VARIANTS[VARIANTS.index("stem"):]

# Bytes that a step moves for each weight: float32 weight and average read and
# written, gradient written and read; the bfloat16 copy written and read twice.
BYTES_OF_WEIGHT = 4 * 6 + 2 * 3


@dataclasses.dataclass(frozen=True)
class Conv:
    """A convolution and its batch norm. residual: a sum follows the norm."""
    inputs: int
    outputs: int
    kernel: int
    side: int  # of the output
    stride: int = 1
    relu: bool = True
    residual: bool = False

    @property
    def read(self):
        return self.inputs * (self.side * self.stride) ** 2

    @property
    def written(self):
        return self.outputs * self.side ** 2

    @property
    def weights(self):
        return self.inputs * self.outputs * self.kernel ** 2

    @property
    def multiplications(self):
        return self.weights * self.side ** 2


@dataclasses.dataclass(frozen=True)
class Operation:
    """Numbers of an image that it reads and writes, and its operations."""
    kind: str
    moved: float
    flops: float = 0


def bottleneck(inputs, width, stride, side):
    """A block's convolutions, the one of its shortcut last; torchvision's."""
    convs = [Conv(inputs, width, 1, side * stride),
             Conv(width, width, 3, side, stride),
             Conv(width, 4 * width, 1, side, residual=True)]
    if stride != 1 or inputs != 4 * width:
        convs.append(Conv(inputs, 4 * width, 1, side, stride, relu=False))
    return convs


def plan(depth, image_size):
    """The stem's convolution, and each block's."""
    side = image_size // 4
    blocks, inputs = [], 64
    for group, count in enumerate(BLOCKS[depth]):
        width = 64 << group
        for block in range(count):
            stride = 2 if group > 0 and block == 0 else 1
            side //= stride
            blocks.append(bottleneck(inputs, width, stride, side))
            inputs = 4 * width
    return Conv(3, 64, 7, image_size // 2, 2), blocks


def convolution(conv, is_first):
    """Forward pass, gradient of the weights, gradient of the input."""
    flops = 2 * conv.multiplications
    moved = conv.read + conv.written
    passes = 2 if is_first else 3
    return [Operation("convolution", moved, flops)] * passes


def separate_norm(conv, is_summed):
    """Forward: x twice, or once where its sums are known, and y; backward: x
    and g twice, and x's gradient."""
    tensors = 3 + 5 - is_summed
    if conv.residual:
        tensors += 3
    if conv.relu:
        tensors += 2 + 3
    return [Operation("norm", tensors * conv.written)]


def fused_norm(conv, reads_y, is_summed):
    """As trainer/kernels/norm.h does it."""
    forward = (4 if conv.residual else 3) - is_summed
    if conv.residual:
        backward = 4 + 3  # x, g, y, the residual's g; then without y
    else:
        backward = 7 if reads_y else 5
    return [Operation("norm", (forward + backward) * conv.written)]


def normed_in_next(conv):
    """Of a norm within the next convolution, whose passes read x in place of
    the normalized images. That convolution's input gradient also reads x; then
    x and g are read, and x's gradient is written."""
    return [Operation("norm", (1 + 3) * conv.written)]


def norm(conv, variant):
    # A shortcut's norm has no ReLU. It is counted separately, which is an upper
    # bound: the kernel of the block's last norm does both.
    is_summed = variant in WITH_EPILOGUE
    if variant == "separate" or not conv.relu:
        return separate_norm(conv, is_summed)
    if variant == "normed" and not conv.residual:
        return normed_in_next(conv)
    return fused_norm(conv, variant == "fused", is_summed)


def gradient_sum(conv, is_in_norm):
    """The sum of both gradients of a block's input, conv's."""
    return [Operation("sum", (1 if is_in_norm else 3) * conv.read)]


def pixels(stem, variant):
    """Unpacks pixels, of 4 bytes; and what the stem reads in both passes
    beside its three channels."""
    channels = {"trainer": 4, "epilogue": 4, "normed": 4,
                "depth": 4 * (1 + 3 / stem.side) ** 2}.get(variant, 3)
    moved = 2 + channels + 2 * (channels - 3)
    return [Operation("unpack", stem.read / 3 * moved)]


def pool(stem, variant):
    """The max pool; its places take 8 bytes in LibTorch, 1 in
    trainer/kernels/max_pool.h."""
    places = (1 if variant in WITH_POOL else 8) / BYTES
    pooled = stem.written / 4
    return [Operation("pool", 2 * (stem.written + (1 + places) * pooled))]


def norm_and_pool(stem, variant):
    """The stem's. As one, x is read for the statistics, unless its sums are
    known, and for the result; backward x and the pooled gradient with its places twice, and x's gradient
    is written."""
    if variant not in WITH_STEM:
        return norm(stem, variant) + pool(stem, variant)
    pooled = (1 + 1 / BYTES) * stem.written / 4
    reads = 4 if variant in WITH_EPILOGUE else 5
    return [Operation("norm and pool", reads * stem.written + 3 * pooled)]


def operations(depth, image_size, variant):
    """Those of an image."""
    stem, blocks = plan(depth, image_size)
    found = (pixels(stem, variant) + convolution(stem, is_first=True)
             + norm_and_pool(stem, variant))
    for i, block in enumerate(blocks):
        for conv in block:
            found += convolution(conv, is_first=False) + norm(conv, variant)
        found += gradient_sum(
            block[0], is_in_norm=i > 0 and variant in WITH_SUMS)
    features = blocks[-1][2].outputs
    found.append(Operation("head", 4 * features * blocks[-1][2].side ** 2,
                           6 * features * CLASSES))
    return found


def weights(depth, image_size):
    """Trained numbers: convolutions, norms and the classifier."""
    stem, blocks = plan(depth, image_size)
    convs = [stem] + [conv for block in blocks for conv in block]
    features = blocks[-1][2].outputs
    return (sum(conv.weights + 2 * conv.outputs for conv in convs)
            + (features + 1) * CLASSES)


def bytes_of_image(depth, image_size, variant):
    return BYTES * sum(
        op.moved for op in operations(depth, image_size, variant))


def flops_of_image(depth, image_size):
    return sum(op.flops for op in operations(depth, image_size, "separate"))


def seconds_of(found, card):
    """The least that operations take; card: bytes and operations a second."""
    bandwidth, rate = card
    return sum(max(BYTES * op.moved / bandwidth, op.flops / rate)
               for op in found)


def images_per_second(depth, image_size, variant, batch, card):
    seconds = seconds_of(operations(depth, image_size, variant), card)
    of_weights = weights(depth, image_size) * BYTES_OF_WEIGHT / card[0]
    return batch / (batch * seconds + of_weights)


def of_card(card, batch, depth=50, image_size=224):
    """A row for each variant."""
    return [{"variant": variant,
             "megabytes_of_image": bytes_of_image(depth, image_size,
                                                  variant) / 1e6,
             "images_per_second": images_per_second(depth, image_size, variant,
                                                    batch, card)}
            for variant in VARIANTS]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gb_per_second", type=float, required=True)
    parser.add_argument("--tflops", type=float, required=True)
    parser.add_argument("--depth", type=int, default=50, choices=BLOCKS)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--image_size", type=int, default=224)
    flags = parser.parse_args()
    print(f"ResNet-{flags.depth}, {flags.image_size} x {flags.image_size}, "
          f"bfloat16, batch {flags.batch}: "
          f"{flops_of_image(flags.depth, flags.image_size) / 1e9:.1f} GFLOP "
          "an image")
    for row in of_card((flags.gb_per_second * 1e9, flags.tflops * 1e12),
                       flags.batch, flags.depth, flags.image_size):
        print(f"{row['variant']:9} {row['megabytes_of_image']:5.0f} MB an "
              f"image  {row['images_per_second']:7,.0f} images/s at most")


if __name__ == "__main__":
    main()
