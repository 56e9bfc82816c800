"""ResNet-18 on CIFAR-10 at 64 pixels with the settings of two published recipes,
beside the code of their libraries: the same initial weights, three seeds, by
turns."""

import cifar
import programs

SEEDS = 3
STEPS = 300
BATCH = 32
SIZE = 64
WARMUP_STEPS = 31
AVERAGE = 0.98

COMMON = {"resnet_depth": 18, "image_size": SIZE, "recipe": "torchvision",
          "train_batch_size": BATCH, "eval_batch_size": 250,
          "train_steps": STEPS, "iterations_per_loop": 100,
          "steps_per_eval": STEPS, "learning_rate_scaling": "none",
          # A hair more, since the steps are rounded down.
          "warmup_epochs": (WARMUP_STEPS + 1e-6) / (10000 // BATCH),
          "precision": "float32"}
# A preset's parameters for the length and size of its run are left out.
RECIPES = {
    "torchvision_v2": {
        # The preset's 0.5 of 1,024 images, for 32.
        "base_learning_rate": 0.015625, "image_size_schedule": "''",
        "eval_resize": 0, "moving_average_decay": AVERAGE,
        "moving_average_every": 1},
    "timm_a3": {
        "base_learning_rate": 0.002, "image_size_schedule": "''",
        "drop_connect_rate": 0},
}


def ours(shards, out, recipe, weights, seed):
    model = out / f"recipe-{recipe}-{seed}"
    values = {**COMMON, **RECIPES[recipe]}
    flags = ",".join(f"{name}={value}" for name, value in values.items())
    programs.train(model, shards, "--preset", recipe, "--params_override",
                   flags, "--resnet_checkpoint", weights, "--seed", seed)
    return {"accuracy": programs.accuracy(model),
            "images_per_second": programs.images_per_second(model, BATCH)}


def theirs(folder, python, recipe, weights, seed):
    return programs.twin(
        python, "train_recipes.py", recipe, folder, "--weights", weights,
        "--seed", seed, "--threads", programs.threads(), "--steps", STEPS,
        "--batch", BATCH, "--size", SIZE, "--warmup_steps", WARMUP_STEPS,
        "--rate", RECIPES[recipe]["base_learning_rate"], "--average", AVERAGE,
        "--train_limit", cifar.TRAIN_LIMIT, "--test_limit",
        cifar.TEST_LIMIT)[0]


def measure(data, out, python):
    if not python:
        programs.say("recipes: left out without --python")
        return True
    folder = data / "cifar10"
    shards = programs.convert(
        out / "cifar", "--raw_data_dir", folder, "--manifest",
        cifar.manifest(folder, out / "cifar.csv"), "--shards", "2")
    found = {recipe: {"train_resnet": [], "torch": []} for recipe in RECIPES}
    for seed in range(SEEDS):
        weights = out / f"recipe-weights-{seed}.pth"
        programs.twin(python, "train_recipes.py", "write_weights", folder,
                      "--weights", weights, "--seed", seed)
        for recipe, runs in found.items():
            runs["train_resnet"].append(
                ours(shards, out, recipe, weights, seed))
            runs["torch"].append(theirs(folder, python, recipe, weights, seed))
    lines = [f"ResNet-18, {SIZE} px, {STEPS} steps of {BATCH}:", "",
             "| | | test accuracy | mean | images/s, JPEG to update |",
             "|---|---|---|---|---|"]
    lines += [cifar.row(f"{recipe} | {name}", each) for recipe, runs in found.items()
              for name, each in runs.items()]
    programs.write_report(out, "parity-recipes", found, lines)
    return all(cifar.accuracies_agree(runs) for runs in found.values())
