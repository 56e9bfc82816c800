r"""Whether train_resnet starts from torchvision's own files.

Run by hand:
  python3 tests/interop/torchvision_weights.py build/release/bin/train_resnet \
    [DEPTH...]

Saves torchvision's ResNets with random weights by torch.save() and, where the
package is installed, safetensors; starts a training of one step at
next to no learning rate from each file, on made-up images, and
compares every parameter of the checkpoint that it leaves with torchvision's.
"""

import pathlib
import subprocess
import sys
import tempfile

import read_checkpoint
import torch
import torchvision

LEARNT = 1e-20  # More than a step at that learning rate changes.


def train(program, folder, weights, depth):
    subprocess.run(
        [program, "--data_dir", "null", "--model_dir", str(folder),
         "--mode", "train", "--device", "cpu", "--params_override",
         f"resnet_depth={depth},resnet_checkpoint={weights},image_size=32,"
         "train_batch_size=2,train_steps=1,base_learning_rate=1e-30,"
         "num_label_classes=1000"],
        check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def saved_parameters(folder, names):
    path = folder / "checkpoint-00000001" / "model.safetensors"
    data = path.read_bytes()
    entries = read_checkpoint.read_header(path)
    start = 8 + int.from_bytes(data[:8], "little")
    for name in names:
        begin, end = entries[name]["data_offsets"]
        yield name, torch.frombuffer(
            bytearray(data[start + begin:start + end]), dtype=torch.float32)


def compare(program, model, weights, folder, depth):
    train(program, folder, weights, depth)
    parameters = dict(model.named_parameters())
    for name, values in saved_parameters(folder, parameters):
        difference = values - parameters[name].detach().flatten()
        assert difference.abs().max() < LEARNT, name
    print(f"ResNet-{depth} from {weights.name}: {len(parameters)} equal")


def main():
    program = sys.argv[1]
    for depth in map(int, sys.argv[2:] or ("18", "50")):
        torch.manual_seed(depth)
        model = getattr(torchvision.models, f"resnet{depth}")()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            torch.save(model.state_dict(), folder / "weights.pth")
            compare(program, model, folder / "weights.pth", folder / "a", depth)
            try:
                from safetensors.torch import save_file
            except ImportError:
                print("the safetensors package is not installed")
                continue
            save_file(model.state_dict(), folder / "weights.safetensors")
            compare(program, model, folder / "weights.safetensors",
                    folder / "b", depth)


if __name__ == "__main__":
    main()
