"""Fine-tuning on flowers from weights that learned CIFAR-10, beside training
from scratch: the same steps for both, both curves in one plot."""

import sys

import programs

sys.path.append(str(programs.ROOT / "examples/guides"))
import charts  # noqa: E402

SIZE = 64
BATCH = 32
PRETRAIN_STEPS = 1500
STEPS = 430  # four epochs of 80 % of the flowers
EVALS = 86
RECIPE = {"resnet_depth": 18, "image_size": SIZE, "recipe": "torchvision",
          "train_batch_size": BATCH, "eval_batch_size": 125,
          "learning_rate_scaling": "none", "learning_rate_schedule": "cosine",
          "weight_decay": 5e-4}


def override(**more):
    return ",".join(f"{name}={value}"
                    for name, value in {**RECIPE, **more}.items())


def pretrain(data, out):
    shards = programs.convert(out / "cifar-whole", "--raw_data_dir",
                              data / "cifar10")
    model = out / "pretrained"
    programs.train(model, shards, "--mode", "train", "--params_override",
                   override(train_steps=PRETRAIN_STEPS, recipe="cifar",
                            warmup_epochs=0.03,
                            base_learning_rate=0.05))
    return model


def flowers(shards, model, *flags):
    """The curve of a training on the flowers: (step, top-1)."""
    programs.train(model, shards, "--params_override",
                   override(train_steps=STEPS, steps_per_eval=EVALS,
                            iterations_per_loop=EVALS, warmup_epochs=0.25,
                            base_learning_rate=0.02), *flags)
    return [(line["step"], line["top_1"])
            for line in programs.events(model, "eval")]


def measure(data, out, _python):
    shards = programs.convert(out / "flowers", "--raw_data_dir",
                              data / "flowers128", "--split", "0.8/0.1/0.1")
    weights = pretrain(data, out)
    found = {"fine-tuned": flowers(shards, out / "fine-tuned",
                                   "--resnet_checkpoint", weights),
             "from scratch": flowers(shards, out / "from-scratch")}
    (out / "parity-finetune.svg").write_text(
        charts.curves(f"Flowers, ResNet-18, {SIZE} px", "step",
                      "validation top-1, %",
                      {name: [(step, 100 * top_1) for step, top_1 in curve]
                       for name, curve in found.items()}), encoding="utf-8")
    ends = {name: curve[-1][1] for name, curve in found.items()}
    lines = [f"Five kinds of flowers, {STEPS} steps of {BATCH}:", "",
             "| | validation top-1 |", "|---|---|"]
    lines += [f"| {name} | {100 * end:.1f} % |" for name, end in ends.items()]
    programs.write_report(out, "parity-finetune", found, lines)
    return ends["fine-tuned"] > ends["from scratch"]
