#!/usr/bin/env python3
"""Decodes with one decoder in a process of its own, for `run`.

usage: worker.py DECODER LIST

LIST has the path of a JPEG on each line; all are read into memory first, and
decoded once: the first line of the output has version and instruction set, and of
each JPEG the CRC of its pixels and its height and width, or null where it cannot be decoded to
RGB. Then each line of the input, {"work": "whole" or "crop", "round": N,
"files": [numbers in LIST]}, is a turn over these JPEGs, which is answered with
{"seconds": S, "cpu_seconds": S}.
"""

import json
import pathlib
import random
import sys
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

import decoders  # noqa: E402
import windows  # noqa: E402


def described(whole, data):
    try:
        image = whole(data)
    except Exception:  # Of a library of any kind.
        return None
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != "uint8":
        return None
    return [zlib.crc32(image.tobytes()), *image.shape[:2]]


def turn(decoder, data, sizes, order):
    """The time of one turn. Windows are drawn before; the same for everyone."""
    files = order["files"]
    if order["work"] == "whole":
        calls = [(decoder.whole, (data[i],)) for i in files]
    else:
        calls = [(decoder.crop, (data[i], windows.drawn(
            random.Random(f"{order['round']} {i}"), *sizes[i]))) for i in files]
    wall, cpu = time.perf_counter(), time.process_time()
    for call, arguments in calls:
        call(*arguments)
    return {"seconds": time.perf_counter() - wall,
            "cpu_seconds": time.process_time() - cpu}


def main():
    name, paths = sys.argv[1:]
    decoder = decoders.named(name).open()
    data = [pathlib.Path(path).read_bytes()
            for path in pathlib.Path(paths).read_text().splitlines()]
    found = [described(decoder.whole, jpeg) for jpeg in data]
    print(json.dumps({"version": decoder.version, "simd": decoder.simd,
                      "images": found}), flush=True)
    sizes = [image and image[1:] for image in found]
    for line in sys.stdin:
        print(json.dumps(turn(decoder, data, sizes, json.loads(line))),
              flush=True)


if __name__ == "__main__":
    main()
