"""The X10 tutorial's LeNet on MNIST, its PyTorch twin, and our best recipe."""

import programs

LEAST = {"x10_lenet": 0.975, "lenet_best": 0.99}


def measure(data, out, python):
    shards = programs.convert(out / "mnist", "--raw_data_dir", data / "mnist",
                              "--format", "pixels", "--image_size", "28")
    x10 = programs.epoch_lines(
        programs.train(out / "x10_lenet", shards, "--preset", "x10_lenet"))
    twin = programs.twin(python, "train_mnist.py", data / "mnist", "--threads",
                         programs.threads()) if python else []
    best = [programs.epoch_lines(programs.train(
        out / f"lenet_best-{seed}", shards, "--preset", "lenet_best",
        "--seed", seed))[-1][0] for seed in range(3)]
    lines = ["| LeNet on MNIST | test accuracy | seconds an epoch |",
             "|---|---|---|",
             row("`--preset x10_lenet`", x10[-1][0], [s for _, s in x10])]
    if twin:
        lines.append(row("PyTorch, the same recipe", twin[-1]["accuracy"],
                         [epoch["seconds"] for epoch in twin]))
    lines.append(f"| `--preset lenet_best`, three seeds | "
                 f"{programs.spread(best)} | |")
    programs.write_report(out, "parity-mnist",
                          {"x10_lenet": x10, "torch": twin,
                           "lenet_best": best}, lines)
    return (x10[-1][0] >= LEAST["x10_lenet"] and
            min(best) >= LEAST["lenet_best"])


def row(name, accuracy, seconds):
    """The first epoch has the warm-up in it."""
    return (f"| {name} | {100 * accuracy:.2f} % | {seconds[0]:.1f}, then "
            f"{programs.mean(seconds[1:]):.1f} |")
