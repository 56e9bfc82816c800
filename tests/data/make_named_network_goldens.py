"""Writes named_networks.json: the published networks that `model` names.

Layouts and logits are torchvision's, or timm's for the networks that
torchvision has not; weights and pixels are make_torchvision_goldens.py's
formulas. README.models.md has the details.
Usage: python3 make_named_network_goldens.py OUT.json
"""

import json
import sys

import timm
import torch
import torchvision
from make_model_goldens import BATCH, CLASSES, images
from make_torchvision_goldens import fnv1a, weight

SIDE = 64
TORCHVISION = (
    "resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d "
    "resnext101_32x8d resnext101_64x4d wide_resnet50_2 wide_resnet101_2").split()
TIMM = (
    "resnet26 resnet200 resnet26d resnet50d resnet101d resnet152d resnet200d "
    "resnext101_32x4d resnext50d_32x4d seresnet50 seresnet101 seresnet152 "
    "seresnet152d seresnet200d seresnext50_32x4d seresnext101_32x4d "
    "seresnext101_32x8d seresnext101_64x4d resnet26t resnet50t seresnet50t "
    "seresnext26d_32x4d seresnext26t_32x4d ecaresnet26t ecaresnet50t "
    "ecaresnet50d ecaresnet101d ecaresnet200d ecaresnext26t_32x4d "
    "ecaresnext50t_32x4d resnetblur18 resnetblur50 resnetblur50d "
    "resnetblur101d resnetrs50 resnetrs101 resnetrs152 "
    "resnetrs200 resnetrs270 resnetrs350 resnetrs420").split()
WITH_LOGITS = (
    "resnext50_32x4d resnext101_32x8d resnext101_64x4d wide_resnet50_2 "
    "wide_resnet101_2 resnet26 resnet50d resnext50d_32x4d seresnet50 "
    "seresnext50_32x4d resnet26t resnet50t ecaresnet26t ecaresnet50d "
    "resnetblur18 resnetblur50 resnetblur50d").split()


def make(name, classes):
    if name in TORCHVISION:
        return getattr(torchvision.models, name)(num_classes=classes)
    return timm.create_model(name, num_classes=classes)


def layout(name):
    """The state dict's lines "NAME DIMxDIM", sorted, as one number."""
    with torch.device("meta"):
        model = make(name, 1000)
    lines = [
        f"{entry} {'x'.join(map(str, tensor.shape))}"
        for entry, tensor in sorted(model.state_dict().items())
    ]
    parameters = sum(p.numel() for p in model.parameters())
    return {"parameters": parameters, "entries": len(lines),
            "fnv1a": fnv1a("\n".join(lines))}


def logits(name):
    model = make(name, CLASSES).double().eval()
    for entry, tensor in model.state_dict().items():
        if tensor.dtype.is_floating_point:
            tensor.copy_(weight(entry, tuple(tensor.shape)))
    values = model(images(SIDE))
    assert values.shape == (BATCH, CLASSES)
    return [round(x, 6) for x in values.flatten().tolist()]


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    golden = {}
    for name in TORCHVISION + TIMM:
        golden[name] = layout(name)
        golden[name]["library"] = (
            "torchvision" if name in TORCHVISION else "timm")
        if name in WITH_LOGITS:
            golden[name]["logits"] = logits(name)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(golden, out, indent=0)
        out.write("\n")


if __name__ == "__main__":
    main()
