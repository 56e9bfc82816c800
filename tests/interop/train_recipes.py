#!/usr/bin/env python3
"""Trains torchvision's ResNet-18 on image folders with the code of torchvision
or timm: the twin of ./dev parity recipes.

usage: train_recipes.py RECIPE FOLDER --weights FILE [--seed N] ...
       train_recipes.py write_weights FOLDER --weights FILE [--seed N]

RECIPE is torchvision_v2 or timm_a3. FOLDER has train/<class>/* and
test/<class>/*. Input is PyTorch's DataLoader with one worker process a thread.
Prints one line of JSON: the test accuracy, and images/s over all steps but the
first ten.
"""

import argparse
import json
import pathlib
import time

import torch
import torchvision
from PIL import Image

import torch_images

WARM_STEPS = 10


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, limit, transform):
        self.transform = transform
        self.classes = sorted(p for p in pathlib.Path(folder).iterdir())
        self.files = [(path, label)
                      for label, folder in enumerate(self.classes)
                      for path in sorted(folder.iterdir())[:limit]]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), label


class Repeated(torch.utils.data.Sampler):
    """Indexes for ever, each `times` in succession: both libraries' samplers
    on one device; an epoch has as many as the data has."""

    def __init__(self, images, times, seed):
        self.images, self.times = images, times
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            order = torch.randperm(self.images, generator=self.generator)
            yield from order.repeat_interleave(self.times)[:self.images].tolist()


class TorchvisionV2:
    """references/classification with the flags of IMAGENET1K_V2."""

    def __init__(self, given, classes):
        from torchvision.transforms import v2
        self.given = given
        normalize = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True),
                     v2.Normalize([m / 255 for m in torch_images.MEAN],
                                  [s / 255 for s in torch_images.STD])]
        self.train = v2.Compose([
            v2.RandomResizedCrop(given.size, antialias=True),
            v2.RandomHorizontalFlip(), v2.TrivialAugmentWide(), *normalize,
            v2.RandomErasing(0.1)])
        self.test = v2.Compose([
            v2.Resize(round(given.size * 256 / 224), antialias=True),
            v2.CenterCrop(given.size), *normalize])
        self.mix = v2.RandomChoice([v2.MixUp(alpha=0.2, num_classes=classes),
                                    v2.CutMix(alpha=1.0, num_classes=classes)])
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
        self.repeats = 4

    def optimizer(self, model):
        norms = [parameter for module in model.modules()
                 if isinstance(module, torch.nn.BatchNorm2d)
                 for parameter in module.parameters()]
        known = {id(parameter) for parameter in norms}
        rest = [parameter for parameter in model.parameters()
                if id(parameter) not in known]
        self.average = torch.optim.swa_utils.AveragedModel(
            model, use_buffers=True, multi_avg_fn=torch.optim.swa_utils.
            get_ema_multi_avg_fn(self.given.average))
        return torch.optim.SGD([{"params": norms, "weight_decay": 0},
                                {"params": rest, "weight_decay": 2e-5}],
                               lr=self.given.rate, momentum=0.9)

    def schedule(self, rule):
        schedules, warm = torch.optim.lr_scheduler, self.given.warmup_steps
        return schedules.SequentialLR(rule, [
            schedules.LinearLR(rule, start_factor=0.01, total_iters=warm),
            schedules.CosineAnnealingLR(rule, self.given.steps - warm)], [warm])

    def after_step(self, model, schedule, _):
        schedule.step()
        self.average.update_parameters(model)

    def tested(self, _):
        return self.average


class TimmA3:
    """timm's train.py with the flags of "ResNet strikes back", A3."""

    def __init__(self, given, classes):
        import timm.data
        import timm.loss
        self.given = given
        self.train = timm.data.create_transform(
            given.size, is_training=True, color_jitter=None,
            auto_augment="rand-m6-mstd0.5-inc1", interpolation="random")
        self.test = timm.data.create_transform(
            given.size, crop_pct=0.95, interpolation="bicubic")
        self.mix = timm.data.Mixup(mixup_alpha=0.1, cutmix_alpha=1.0,
                                   label_smoothing=0, num_classes=classes)
        self.loss = timm.loss.BinaryCrossEntropy(smoothing=0,
                                                 target_threshold=0.2)
        self.repeats = 1

    def optimizer(self, model):
        import timm.optim
        groups = timm.optim.param_groups_weight_decay(model, 0.02)
        return timm.optim.Lamb(groups, lr=self.given.rate)

    def schedule(self, rule):
        import timm.scheduler
        schedule = timm.scheduler.CosineLRScheduler(
            rule, t_initial=self.given.steps, lr_min=1e-6, t_in_epochs=False,
            warmup_t=self.given.warmup_steps, warmup_lr_init=0)
        return schedule

    def after_step(self, _, schedule, step):
        schedule.step_update(step + 1)

    def tested(self, model):
        return model


RECIPES = {"torchvision_v2": TorchvisionV2, "timm_a3": TimmA3}


def loader(given, data, **how):
    return torch.utils.data.DataLoader(data, batch_size=given.batch,
                                       num_workers=given.threads, **how)


def train(given, recipe, model, data):
    rule = recipe.optimizer(model)
    schedule = recipe.schedule(rule)
    batches = loader(given, data, drop_last=True, sampler=Repeated(
        len(data), recipe.repeats, given.seed))
    model.train()
    for step, (images, labels) in zip(range(given.steps), batches):
        if step == WARM_STEPS:
            start = time.perf_counter()
        images, targets = recipe.mix(images, labels)
        images = images.contiguous(memory_format=torch.channels_last)
        loss = recipe.loss(model(images), targets)
        rule.zero_grad(set_to_none=True)
        loss.backward()
        rule.step()
        recipe.after_step(model, schedule, step)
    seconds = time.perf_counter() - start
    return (given.steps - WARM_STEPS) * given.batch / seconds


@torch.no_grad()
def accuracy(given, model, data):
    model.eval()
    right = sum((model(images).argmax(1) == labels).sum().item()
                for images, labels in loader(given, data))
    return right / len(data)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", choices=[*RECIPES, "write_weights"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--average", type=float, default=0.98)
    parser.add_argument("--warmup_steps", type=int, default=31)
    parser.add_argument("--train_limit", type=int, default=1000)
    parser.add_argument("--test_limit", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main():
    given = parsed()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    classes = len(list((given.folder / "train").iterdir()))
    model = torchvision.models.resnet18(num_classes=classes)
    if given.recipe == "write_weights":
        torch.save(model.state_dict(), given.weights)
        return
    model.load_state_dict(torch.load(given.weights, weights_only=True))
    model = model.to(memory_format=torch.channels_last)
    recipe = RECIPES[given.recipe](given, classes)
    rate = train(given, recipe, model, Images(
        given.folder / "train", given.train_limit, recipe.train))
    tests = Images(given.folder / "test", given.test_limit, recipe.test)
    print(json.dumps({"accuracy": accuracy(given, recipe.tested(model), tests),
                      "images_per_second": rate}))


if __name__ == "__main__":
    main()
