#!/usr/bin/env python3
"""Measures what a card can do at the most, through PyTorch: a copy within its
memory, bytes read and written counted, and a bfloat16 product of matrices of
random numbers. Prints one JSON object.

usage: ceilings.py [--device cuda] [--side 8192] [--mebibytes 2048]
"""

import argparse
import json
import statistics
import time

import torch

REPEATS = 20
WARM_UP = 3


def median_seconds(work, device):
    synchronize = (torch.cuda.synchronize if device.type == "cuda" else
                   lambda: None)
    times = []
    for _ in range(WARM_UP + REPEATS):
        synchronize()
        start = time.perf_counter()
        work()
        synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[WARM_UP:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--mebibytes", type=int, default=2048)
    flags = parser.parse_args()
    device = torch.device(flags.device)
    source = torch.randn(flags.mebibytes << 18, device=device)
    copy = torch.empty_like(source)
    copy_seconds = median_seconds(lambda: copy.copy_(source), device)
    a, b = (torch.randn(flags.side, flags.side, device=device).bfloat16()
            for _ in range(2))
    product = torch.empty_like(a)
    product_seconds = median_seconds(
        lambda: torch.matmul(a, b, out=product), device)
    print(json.dumps({
        "gb_per_second": 2 * source.nbytes / copy_seconds / 1e9,
        "tflops": 2 * flags.side**3 / product_seconds / 1e12,
        "copy_mebibytes": flags.mebibytes, "matrix_side": flags.side}))


if __name__ == "__main__":
    main()
