"""Writes loss_goldens.json: timm's binary cross-entropy and its gradient.

Two images of ten classes; logits are formulas of names and indices, as in
make_torchvision_goldens.py. Usage: python3 make_loss_goldens.py OUT.json
"""

import json
import sys

import torch
from timm.data.mixup import mixup_target
from timm.loss import BinaryCrossEntropy

from make_torchvision_goldens import noise

CLASSES = 10
LABELS = torch.tensor([3, 7])
SHARE = 0.7  # of the own label where images are mixed


def case(smoothing=0.0, mixed=False, **options):
    logits = (8 * noise("logits", 2 * CLASSES)).reshape(2, CLASSES)
    logits = logits.double().requires_grad_()
    # Mixed targets are smoothed before the loss, as in timm's train.py.
    target = (mixup_target(LABELS, CLASSES, SHARE, smoothing).double()
              if mixed else LABELS)
    loss = BinaryCrossEntropy(smoothing=smoothing, **options)(logits, target)
    loss.backward()
    return {"smoothing": smoothing, "mixed": mixed,
            "threshold": options.get("target_threshold", 0),
            "loss": loss.item(),
            "gradient": logits.grad.flatten().tolist()}


def main():
    cases = [
        case(),
        case(smoothing=0.1),
        case(smoothing=0.1, target_threshold=0.2),
        case(smoothing=0.1, mixed=True),
        case(smoothing=0.1, mixed=True, target_threshold=0.2),
        case(mixed=True, target_threshold=0.5),
    ]
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")


if __name__ == "__main__":
    main()
