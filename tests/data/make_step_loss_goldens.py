"""Writes step_loss_goldens.json: class weights and distillation.

Losses and gradients of two images of ten classes, by torch's CrossEntropyLoss,
timm's BinaryCrossEntropy and timm's LogitDistillationTask; hard distillation by
DeiT's formula. Then the losses of three steps of torchvision's ResNet-18, the
teacher with weights of other names. Logits, weights and pixels are formulas of
names and indices, as in make_torchvision_goldens.py.
Usage: python3 make_step_loss_goldens.py OUT.json
"""

import json
import sys

import timm
import torch
from timm.data.mixup import mixup_target
from timm.loss import BinaryCrossEntropy
from timm.task.distillation import LogitDistillationTask
from torch.nn.functional import cross_entropy

import make_torchvision_goldens as model_goldens
from make_torchvision_goldens import noise

CLASSES = 10
LABELS = torch.tensor([3, 7])
SHARE = 0.7  # of the own label where images are mixed
STEPS = 3
RATE = 0.01


def class_weights(classes):
    """The first one is 0."""
    weights = noise("class weights", classes) + 0.5
    weights[0] = 0
    return weights


def logits(name):
    return (8 * noise(name, 2 * CLASSES)).reshape(2, CLASSES)


class Fixed(torch.nn.Module):
    """A network whose outputs are given."""

    num_classes, in_chans = CLASSES, 1
    pretrained_cfg = {"mean": (0.0,), "std": (1.0,)}

    def __init__(self, outputs):
        super().__init__()
        self.outputs = outputs

    def forward(self, _):
        return self.outputs


def hard_loss(outputs, teacher, base, weight):
    """DistillationLoss of facebookresearch/deit, distillation_type='hard'."""
    return base * (1 - weight) + weight * cross_entropy(
        outputs, teacher.argmax(dim=1))


def soft_loss(outputs, teacher, criterion, targets, weight, temperature):
    task = LogitDistillationTask(
        Fixed(outputs), Fixed(teacher), criterion, task_loss_weight=1 - weight,
        temperature=temperature, dtype=torch.float64, verbose=False)
    return task(torch.zeros(2, 1, 1, 1).double(), targets)["loss"]


def case(loss="softmax", smoothing=0.0, mixed=False, weighted=False, distill="",
         temperature=1.0, weight=0.5, threshold=None):
    outputs = logits("logits").requires_grad_()
    weights = class_weights(CLASSES) if weighted else None
    if loss == "softmax":
        # Of class probabilities where images are mixed.
        targets = (mixup_target(LABELS, CLASSES, SHARE).double() if mixed
                   else LABELS)
        criterion = torch.nn.CrossEntropyLoss(weights,
                                              label_smoothing=smoothing)
    else:
        targets = (mixup_target(LABELS, CLASSES, SHARE, smoothing).double()
                   if mixed else LABELS)
        criterion = BinaryCrossEntropy(
            smoothing=smoothing, target_threshold=threshold, weight=weights)
    if distill == "soft":
        value = soft_loss(outputs, logits("teacher"), criterion, targets,
                          weight, temperature)
    else:
        value = criterion(outputs, targets)
        if distill == "hard":
            value = hard_loss(outputs, logits("teacher"), value, weight)
    value.backward()
    return {"loss": loss, "smoothing": smoothing, "mixed": mixed,
            "weighted": weighted, "distill": distill,
            "temperature": temperature, "weight": weight,
            "threshold": threshold or 0, "value": value.item(),
            "gradient": outputs.grad.flatten().tolist()}


def train(weighted=False, distill="", temperature=1.0):
    """The losses of the steps of plain SGD; the last image does not count."""
    counted = model_goldens.COUNTED
    model = model_goldens.model_with_weights()
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    images = model_goldens.normalised()
    labels = (torch.arange(model_goldens.BATCH) * 3 % CLASSES)[:counted]
    criterion = torch.nn.CrossEntropyLoss(
        class_weights(CLASSES) if weighted else None,
        label_smoothing=model_goldens.SMOOTHING)
    with torch.no_grad():
        teacher = model_goldens.model_with_weights("teacher ").eval()
        taught = teacher(images)[:counted]
    losses = []
    for _ in range(STEPS):
        outputs = model(images)[:counted]
        if distill == "soft":
            value = soft_loss(outputs, taught, criterion, labels, 0.5,
                              temperature)
        else:
            value = criterion(outputs, labels)
            if distill == "hard":
                value = hard_loss(outputs, taught, value, 0.5)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return {"weighted": weighted, "distill": distill,
            "temperature": temperature, "losses": losses}


def main():
    cases = [
        case(weighted=True),
        case(weighted=True, smoothing=0.1),
        case(weighted=True, smoothing=0.1, mixed=True),
        case(loss="bce", weighted=True, smoothing=0.1),
        case(loss="bce", weighted=True, smoothing=0.1, mixed=True,
             threshold=0.2),
        case(distill="soft", smoothing=0.1),
        case(distill="soft", temperature=4.0, weight=0.9),
        case(distill="soft", temperature=2.0, weighted=True, smoothing=0.1),
        case(distill="soft", loss="bce", mixed=True),
        case(distill="hard", temperature=0.0, smoothing=0.1),
        case(distill="hard", temperature=0.0, weighted=True, weight=1.0),
    ]
    training = [
        train(weighted=True),
        train(distill="soft", temperature=3.0),
        train(distill="hard", temperature=0.0),
        train(distill="soft", weighted=True),
    ]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "timm": timm.__version__,
                   "cases": cases, "training": training}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
