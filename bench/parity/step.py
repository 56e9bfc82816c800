"""Whole training steps on the CPU, from shards to updated weights, beside
PyTorch, by turns: an epoch of LeNet on MNIST, and ResNet-50 at 224 pixels."""

import pathlib
import statistics
import sys

import programs

sys.path.insert(0, str(programs.ROOT / "bench/peers"))
import quiet  # noqa: E402

ROUNDS = 3
BATCH = 16
WARM, STEPS = 2, 6
# A ratio above this counts as equally fast: the difference is noise.
EQUAL = 0.97


def lenet(shards, out, _):
    """Images a second of the second epoch, with its evaluation."""
    lines = programs.epoch_lines(programs.train(
        out / "step-lenet", shards, "--preset", "x10_lenet",
        "--params_override", "train_epochs=2"))
    return 60000 / lines[-1][1]


def lenet_twin(python, source, _):
    found = programs.twin(python, "train_mnist.py", source, "--epochs", 2,
                          "--threads", programs.threads())
    return 60000 / found[-1]["seconds"]


def resnet(shards, out, precision):
    model = out / "step-resnet"
    programs.train(model, shards, "--mode", "train", "--params_override",
                   f"recipe=torchvision,train_batch_size={BATCH},"
                   f"train_steps={STEPS},iterations_per_loop={STEPS},"
                   f"num_label_classes=1001,precision={precision}")
    return programs.images_per_second(model, BATCH, WARM)


def resnet_twin(python, source, precision):
    flags = ["--batch", BATCH, "--steps", STEPS, "--warm", WARM, "--threads",
             programs.threads()]
    if precision == "bfloat16":
        flags.append("--bfloat16")
    return programs.twin(python, "train_photographs.py", *flags,
                         *sorted(source.glob("train-*")))[0]


def precisions():
    """bfloat16 only where the processor multiplies it."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    has_units = "avx512_bf16" in cpu or "amx_bf16" in cpu
    return ["float32"] + (["bfloat16"] if has_units else [])


def by_turns(python, ours, twin):
    """Rates of each side; the side that begins changes."""
    found = {"train_resnet": [], "torch": []}
    sides = [("train_resnet", ours)] + ([("torch", twin)] if python else [])
    for turn in range(ROUNDS):
        for name, rate in sides if turn % 2 == 0 else reversed(sides):
            found[name].append(rate())
    return found


def measure(data, out, python):
    digits = programs.convert(out / "mnist", "--raw_data_dir", data / "mnist",
                              "--format", "pixels", "--image_size", "28")
    photographs = programs.convert(
        out / "photographs", "--raw_data_dir", data / "imagenet-sample",
        "--shards", "8")
    cases = [("LeNet, MNIST", lenet, lenet_twin, digits, data / "mnist", "")]
    cases += [(f"ResNet-50, 224 px, {precision}", resnet, resnet_twin,
               photographs, photographs, precision)
              for precision in precisions()]
    found = {}
    watch = quiet.Watch()
    for name, ours, twin, shards, source, precision in cases:
        with watch:
            found[name] = by_turns(
                python, lambda: ours(shards, out, precision),
                lambda: twin(python, source, precision))
    lines = ["| images/s, shards to update | train_resnet | PyTorch | ratio |",
             "|---|---|---|---|"]
    lines += [row(name, rates) for name, rates in found.items()]
    programs.write_report(out, "parity-step", found,
                          lines + ["", watch.text()])
    return not python or all(ratio(rates) >= EQUAL for rates in found.values())


def ratio(rates):
    """The median of the rounds' own ratios."""
    return statistics.median(
        ours / theirs
        for ours, theirs in zip(rates["train_resnet"], rates["torch"]))


def row(name, rates):
    own = f"{statistics.median(rates['train_resnet']):.1f}"
    if not rates["torch"]:
        return f"| {name} | {own} | | |"
    return (f"| {name} | {own} | {statistics.median(rates['torch']):.1f} | "
            f"{ratio(rates):.2f} |")
