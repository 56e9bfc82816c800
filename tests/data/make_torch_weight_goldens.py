"""Writes small files of weights with PyTorch and the safetensors package.

Run by hand:  python3 tests/data/make_torch_weight_goldens.py tests/data/weights

pth_file_test.cc says what a reader must find in them.
"""

import collections
import pathlib
import sys

import torch
from safetensors.torch import save_file


def numbers():
    """One tensor of each type, views among them."""
    base = torch.arange(24, dtype=torch.float32)
    return collections.OrderedDict([
        ("plain", base[:6].clone().reshape(1, 2, 3)),
        ("transposed", base[:6].clone().reshape(2, 3).t()),
        ("offset", base[4:8]),
        ("channels_last", base.clone().reshape(1, 2, 3, 4)
         .to(memory_format=torch.channels_last)),
        ("half", torch.tensor([1.5, -2.0, 6.1035e-5, 5.9605e-8, 65504.0,
                               float("inf")], dtype=torch.half)),
        ("bfloat16", torch.tensor([1.5, -2.0, 3.0e38], dtype=torch.bfloat16)),
        ("double", torch.tensor([0.1, -1e300], dtype=torch.double)),
        ("long", torch.tensor([-7, 1 << 40])),
        ("scalar", torch.tensor(7)),
        ("empty", torch.empty(0, 3)),
    ])


def network():
    """A state_dict() with _metadata and a batch norm's counter."""
    torch.manual_seed(0)
    return torch.nn.Sequential(collections.OrderedDict([
        ("conv", torch.nn.Conv2d(1, 2, 3)), ("norm", torch.nn.BatchNorm2d(2)),
        ("fc", torch.nn.Linear(2, 2))]))


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.save(numbers(), folder / "numbers.pth")
    save_file({k: v.contiguous() for k, v in numbers().items()},
              folder / "numbers.safetensors")
    net = network()
    torch.save(net.state_dict(), folder / "network.pth")
    torch.save({"epoch": 3, "best": 0.5, "lr": [0.1, None, True, (1, 2)],
                "state_dict": torch.nn.DataParallel(net).state_dict()},
               folder / "wrapped.pth")
    torch.save({"model": {"weight": torch.nn.Parameter(torch.ones(2))}},
               folder / "parameter.pth")
    torch.save(net, folder / "module.pth")
    torch.save(net.state_dict(), folder / "legacy.pth",
               _use_new_zipfile_serialization=False)
    print("torch", torch.__version__)


if __name__ == "__main__":
    main()
