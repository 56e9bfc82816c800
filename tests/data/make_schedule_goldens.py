"""Writes schedule_goldens.json: learning rates of PyTorch's and timm's schedules.

Nine epochs of ten steps, the scheduler called after each step.
Usage: python3 make_schedule_goldens.py OUT.json
"""

import json
import sys

import timm.scheduler as timm
import torch
import torch.optim.lr_scheduler as lr

BASE = 0.5
EPOCH = 10  # steps
STEPS = 90
LOWEST = 0.002


def optimizer():
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=BASE)


def by_torch(make):
    sgd = optimizer()
    scheduler = make(sgd)
    rates = []
    for _ in range(STEPS):
        rates.append(sgd.param_groups[0]["lr"])
        sgd.step()
        scheduler.step()
    return rates


def warmed(make, start):
    """Two epochs from a fraction of the rate on, as torchvision's recipe."""
    return lambda sgd: lr.SequentialLR(
        sgd, [lr.LinearLR(sgd, start, total_iters=2 * EPOCH), make(sgd)],
        [2 * EPOCH])


def by_timm(kind, **options):
    scheduler = kind(optimizer(), t_in_epochs=False, warmup_t=2 * EPOCH,
                     warmup_lr_init=BASE / 50, **options)
    return [scheduler._get_lr(step)[0] for step in range(STEPS)]


def by_plateau(mode, **options):
    """A rate after each of 60 evaluations, which improve ever less."""
    draws = torch.Generator().manual_seed(5)
    noise = torch.rand(60, generator=draws).tolist()
    values = [round(1 / (1 + i / 4) + 0.2 * noise[i], 3) for i in range(60)]
    if mode == "max":
        values = [round(1 - value / 2, 3) for value in values]
    sgd = optimizer()
    scheduler = lr.ReduceLROnPlateau(sgd, mode, **options)
    rates = []
    for value in values:
        scheduler.step(value)
        rates.append(sgd.param_groups[0]["lr"])
    return {"mode": mode, **options, "values": values, "rates": rates}


def plateaus():
    return [by_plateau("min", factor=0.1, patience=3),
            by_plateau("max", factor=0.5, patience=2),
            by_plateau("min", factor=0.3, patience=0, min_lr=0.004),
            by_plateau("max", factor=0.2, patience=1)]


def main():
    torch.set_default_dtype(torch.float64)
    results = {
        "step": by_torch(lambda sgd: lr.StepLR(sgd, 3 * EPOCH, 0.2)),
        "step_warmed": by_torch(warmed(
            lambda sgd: lr.StepLR(sgd, 3 * EPOCH, 0.2), 0.02)),
        "multistep": by_torch(lambda sgd: lr.MultiStepLR(
            sgd, [2 * EPOCH, 25, 8 * EPOCH], 0.1)),
        "exponential_warmed": by_torch(warmed(
            lambda sgd: lr.ExponentialLR(sgd, 0.6 ** (1 / EPOCH)), 0.02)),
        "cosine_warmed": by_torch(warmed(
            lambda sgd: lr.CosineAnnealingLR(sgd, STEPS - 2 * EPOCH, LOWEST),
            0.01)),
        "onecycle": by_torch(lambda sgd: lr.OneCycleLR(
            sgd, BASE, total_steps=STEPS, cycle_momentum=False)),
        "onecycle_given": by_torch(lambda sgd: lr.OneCycleLR(
            sgd, BASE, total_steps=STEPS, cycle_momentum=False,
            pct_start=2 * EPOCH / STEPS, div_factor=10,
            final_div_factor=BASE / 10 / LOWEST)),
        "linear": by_torch(lambda sgd: lr.LinearLR(
            sgd, 1, LOWEST / BASE, total_iters=STEPS)),
        "timm_cosine": by_timm(timm.CosineLRScheduler, t_initial=STEPS,
                               lr_min=LOWEST, warmup_prefix=False),
        "timm_step": by_timm(timm.StepLRScheduler, decay_t=3 * EPOCH,
                             decay_rate=0.2, warmup_prefix=False),
    }
    with open(sys.argv[1], "w") as file:
        lines = (json.dumps(name) + ": " + json.dumps(
            [float(f"{rate:.9g}") for rate in rates], separators=(",", ":"))
                 for name, rates in results.items())
        lines = [*lines, '"plateau": ' + json.dumps(plateaus())]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
