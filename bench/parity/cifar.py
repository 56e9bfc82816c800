"""ResNet-18 with a small stem on CIFAR-10 for a fixed short budget, beside its
PyTorch twin: three seeds of each, by turns."""

import statistics

import programs

SEEDS = 3
STEPS = 200
BATCH = 32
# Images per class, the first ones by name.
TRAIN_LIMIT = 1000
TEST_LIMIT = 200

# The twin's flags have the same values.
RECIPE = {"resnet_depth": 18, "small_stem": "true", "image_size": 32,
          "recipe": "cifar", "train_batch_size": BATCH, "eval_batch_size": 250,
          "train_steps": STEPS, "iterations_per_loop": 100,
          "steps_per_eval": STEPS, "base_learning_rate": 0.05,
          "learning_rate_scaling": "none", "learning_rate_schedule": "cosine",
          "warmup_epochs": 0.1, "weight_decay": 5e-4}
TWIN = ["--steps", STEPS, "--batch", BATCH, "--rate", 0.05, "--warmup_epochs",
        0.1, "--weight_decay", 5e-4, "--train_limit", TRAIN_LIMIT,
        "--test_limit", TEST_LIMIT]


def manifest(folder, path):
    """A table of the images that both read."""
    lines = ["path,label,split"]
    for split, limit in (("train", TRAIN_LIMIT), ("test", TEST_LIMIT)):
        for label in sorted(p.name for p in (folder / split).iterdir()):
            files = sorted(p.name for p in (folder / split / label).iterdir())
            lines += [f"{split}/{label}/{name},{label},{split}"
                      for name in files[:limit]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ours(shards, out, seed):
    model = out / f"cifar-{seed}"
    flags = ",".join(f"{name}={value}" for name, value in RECIPE.items())
    programs.train(model, shards, "--params_override", flags, "--seed", seed)
    return {"bfloat16": programs.is_bfloat16(model),
            "accuracy": programs.accuracy(model),
            "images_per_second": programs.images_per_second(model, BATCH)}


def torch(folder, python, seed, bfloat16):
    flags = ["--seed", seed, "--threads", programs.threads(), *TWIN]
    if bfloat16:
        flags.append("--bfloat16")
    return programs.twin(python, "train_cifar.py", folder, *flags)[0]


def measure(data, out, python):
    folder = data / "cifar10"
    out.mkdir(parents=True, exist_ok=True)
    shards = programs.convert(
        out / "cifar", "--raw_data_dir", folder, "--manifest",
        manifest(folder, out / "cifar.csv"), "--shards", "2")
    found = {"train_resnet": [], "torch": []}
    for seed in range(SEEDS):
        found["train_resnet"].append(ours(shards, out, seed))
        if python:
            found["torch"].append(torch(
                folder, python, seed, found["train_resnet"][-1]["bfloat16"]))
    lines = [f"ResNet-18, 3x3 stem, 32 px, {STEPS} steps of {BATCH}:", "",
             "| | test accuracy | mean | images/s, JPEG to update |",
             "|---|---|---|---|"]
    lines += [row(name, runs) for name, runs in found.items() if runs]
    programs.write_report(out, "parity-cifar", found, lines)
    return not python or is_equal(found)


def row(name, runs):
    accuracies = [run["accuracy"] for run in runs]
    rates = [run["images_per_second"] for run in runs]
    return (f"| {name} | {programs.spread(accuracies)} | "
            f"{100 * programs.mean(accuracies):.1f} % | "
            f"{statistics.median(rates):.1f} |")


def accuracies_agree(found):
    """The means are no further apart than the larger spread, and at least a
    point."""
    accuracies = {name: [run["accuracy"] for run in runs]
                  for name, runs in found.items()}
    room = max(0.01, *(max(a) - min(a) for a in accuracies.values()))
    return abs(programs.mean(accuracies["train_resnet"]) -
               programs.mean(accuracies["torch"])) <= room


def is_equal(found):
    """Accuracies agree, and so do the medians of speed: 3 % are noise."""
    rates = {name: statistics.median(run["images_per_second"] for run in runs)
             for name, runs in found.items()}
    return (accuracies_agree(found) and
            rates["train_resnet"] >= 0.97 * rates["torch"])
