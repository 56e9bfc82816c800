"""Lists the tensors of a checkpoint's safetensors files without our code.

Run by hand:  python3 tests/interop/read_checkpoint.py MODEL_DIR/checkpoint-N

Parses the files with the standard library alone and checks what the format
asks for; compares with the safetensors package where that is installed.
"""

import json
import math
import pathlib
import struct
import sys

ELEMENT_BYTES = {"F32": 4, "I64": 8}


def read_header(path):
    """Returns {name: entry}, sorted by place, of a file that is valid."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    assert length % 8 == 0, "the data is aligned"
    header = json.loads(data[8 : 8 + length])
    assert header.pop("__metadata__") == {"format": "pt"}
    place = 0
    entries = dict(sorted(header.items(), key=lambda e: e[1]["data_offsets"]))
    for name, entry in entries.items():
        begin, end = entry["data_offsets"]
        size = ELEMENT_BYTES[entry["dtype"]]
        assert begin == place and begin % size == 0, name
        assert end - begin == size * math.prod(entry["shape"]), name
        place = end
    assert place == len(data) - 8 - length, "the tensors are all there is"
    return entries


def compare_with_package(path, entries):
    try:
        from safetensors.numpy import load_file
    except ImportError:
        return "the safetensors package is not installed"
    tensors = load_file(path)
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    assert shapes == {n: e["shape"] for n, e in entries.items()}
    return "the safetensors package reads the same"


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ("model.safetensors", "optim.safetensors"):
        entries = read_header(folder / name)
        print(f"{name}: {len(entries)} tensors")
        for tensor, entry in entries.items():
            print(f"  {tensor}  {entry['dtype']}  {entry['shape']}")
        print(f"  {compare_with_package(folder / name, entries)}")


if __name__ == "__main__":
    main()
