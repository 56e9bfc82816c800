"""The XLA.jl article's loop: its raw files, its model, all steps in one loop,
64 images learned by heart with SGD and with Adam."""

import struct

import programs

IMAGES = 64
SIDE = 224
# Image size of the training. The article's is 224; the loss falls at 64 as
# well.
SIZE = 64
BATCH = 32
RUNS = {"sgd": {"optimizer": "momentum", "base_learning_rate": 0.05,
                "train_steps": 300},
        "adam": {"optimizer": "adam", "base_learning_rate": 0.001,
                 "train_steps": 150}}
LEAST_LOSS = 0.1


def raw_files(data, out, python):
    """X_train.raw and Y_train.raw as the article's program wrote them."""
    folder = out / "xla_jl-raw"
    if not (folder / "Y_train.raw").exists():
        folder.mkdir(parents=True, exist_ok=True)
        programs.run([python or "python3", __file__, data / "imagenet-sample",
                      folder])
    return folder


def measure(data, out, python):
    shards = programs.convert(out / "xla_jl", "--raw_data_dir",
                              raw_files(data, out, python), "--raw_format",
                              "xla_jl")
    found = {}
    for name, values in RUNS.items():
        flags = ",".join(f"{key}={value}" for key, value in {
            "image_size": SIZE, "train_batch_size": BATCH,
            "num_label_classes": 1000, **values,
            "iterations_per_loop": values["train_steps"]}.items())
        model = out / f"xla_jl-{name}"
        programs.train(model, shards, "--preset", "xla_jl", "--mode", "train",
                       "--params_override", flags)
        found[name] = [(line["step"], line["loss"], line["time"])
                       for line in programs.events(model, "train")]
    lines = [f"{IMAGES} images, {SIZE} px, batches of {BATCH}, one loop:", "",
             "| | steps | first loss | last loss | lines arrived over |",
             "|---|---|---|---|---|"]
    lines += [f"| {name} | {len(run)} | {run[0][1]:.3f} | {run[-1][1]:.3f} | "
              f"{run[-1][2] - run[0][2]:.1f} s |"
              for name, run in found.items()]
    programs.write_report(out, "parity-xla_jl", found, lines)
    return all(min(loss for _, loss, _ in run[-10:]) < LEAST_LOSS
               for run in found.values())


def write_raw(photographs, folder):
    """Needs Pillow: the shorter side to 256, the middle 224; planes of red,
    green and blue, each column by column; labels from 1, 16 bits."""
    from PIL import Image
    paths = sorted(photographs.glob("*/*"))[:IMAGES]
    with open(folder / "X_train.raw", "wb") as pixels:
        for path in paths:
            with Image.open(path) as image:
                image = image.convert("RGB")
            scale = 256 / min(image.size)
            image = image.resize([max(256, round(side * scale))
                                  for side in image.size], Image.BILINEAR)
            left, top = [side // 2 - SIDE // 2 for side in image.size]
            image = image.crop((left, top, left + SIDE, top + SIDE))
            for plane in image.split():
                pixels.write(plane.transpose(Image.TRANSPOSE).tobytes())
    with open(folder / "Y_train.raw", "wb") as labels:
        labels.write(struct.pack(f"<{len(paths)}H",
                                 *range(1, len(paths) + 1)))


if __name__ == "__main__":
    import pathlib
    import sys
    write_raw(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
