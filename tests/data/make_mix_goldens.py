"""Writes mix_goldens.json: what MixUp and CutMix draw, by numpy's twin.

Draws are the words of philox.py in stream 5, the formulas those of the papers,
in float64. Usage: python3 make_mix_goldens.py OUT.json
"""

import json
import math
import sys

from philox import SampleRandom

MIX = 5  # stream
SIDE = 96


def open_real(random):
    return (random.word() + 0.5) * 2.0**-32


def normal(random):
    radius = math.sqrt(-2 * math.log(open_real(random)))
    return radius * math.cos(2 * math.pi * open_real(random))


def log_gamma(alpha, random):
    """Marsaglia and Tsang's Gamma(alpha + 1), and the power for Gamma(alpha)."""
    d = alpha + 1 - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(random)
        v = (1 + c * x) ** 3
        if v > 0 and math.log(open_real(random)) < (
                x * x / 2 + d - d * v + d * math.log(v)):
            return math.log(d * v) + math.log(open_real(random)) / alpha


def beta(alpha, random):
    a, b = log_gamma(alpha, random), log_gamma(alpha, random)
    return 1 / (1 + math.exp(b - a))


def cutmix(alpha, random):
    half = int(SIDE * math.sqrt(1 - beta(alpha, random))) // 2
    x, y = random.below(SIDE), random.below(SIDE)
    left, right = max(0, x - half), min(SIDE, x + half)
    top, bottom = max(0, y - half), min(SIDE, y + half)
    share = 1 - (right - left) * (bottom - top) / SIDE**2
    return [1, 0, left, top, right, bottom, share]


def mixup(alpha, random):
    share = beta(alpha, random)
    return [share, 1, 0, 0, 0, 0, share]


def mix(seed, step, mixup_alpha, cutmix_alpha):
    random = SampleRandom(seed, 0, step, MIX)
    cut = cutmix_alpha > 0
    if cut and mixup_alpha > 0:
        cut = random.real() < 0.5
    return cutmix(cutmix_alpha, random) if cut else mixup(mixup_alpha, random)


def main():
    cases = [
        {"seed": seed, "step": step, "mixup": a, "cutmix": b,
         "mix": [float(x) for x in mix(seed, step, a, b)]}
        for seed in (0, 0x123456789ABCDEF)
        for step in (0, 1, 2, 1 << 33)
        for a, b in ((0.2, 0), (0, 1), (0.2, 1), (3, 0))
    ]
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")


if __name__ == "__main__":
    main()
