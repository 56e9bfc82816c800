"""How the XLA.jl guide's programs reject data of a wrong shape."""

import struct


def show(place, raw):
    """Each ends with its exit code and a message with the remedy."""
    place.show("")
    for what, code, words, command in cases(place, raw):
        place.run(*command, exit_code=code)
        said = place.said.strip().splitlines()[-1]
        place.check(f"refused: {what}", words in said, f"exit code {code}")
        place.show(f"- {what[0].upper()}{what[1:]}; exit code {code}: `{said}`")
    place.show("")


def cases(place, raw):
    """(what, exit code, words of the message, command) of each."""
    pixels = (place.out / raw / "X_train.raw").read_bytes()
    labels = (place.out / raw / "Y_train.raw").read_bytes()
    yield ("a byte of the pixels is missing", 3, "each of 224 x 224 pixels",
           converted(place, "cut", pixels[:-1], labels))
    yield ("more labels than images", 3, "make both files",
           converted(place, "more", pixels, labels + b"\1\0"))
    count = len(labels) // 2
    yield ("labels that count from 0", 3, "label 0 is none of 1 to 1000",
           converted(place, "from-0", pixels,
                     struct.pack(f"<{count}H", *range(count))))
    yield ("no labels", 2, "Y_train.raw is missing",
           converted(place, "no-labels", pixels, None))
    yield ("images of 224 for a loop of 64", 3, "convert again with "
           "--image_size 64",
           trained("none", "shards", "image_size=64,train_batch_size=16"))
    yield ("a batch larger than the data set", 2, "train_batch_size=129",
           trained("none", "shards", f"train_batch_size={count + 1}"))
    yield ("weights of another network", 2, "model_dir=sgd",
           trained("sgd", "small", "num_label_classes=1001,train_batch_size="
                   "8,image_size=" + ("32" if place.short else "64")))


def converted(place, name, pixels, labels):
    folder = place.out / name
    folder.mkdir()
    (folder / "X_train.raw").write_bytes(pixels)
    if labels is not None:
        (folder / "Y_train.raw").write_bytes(labels)
    return ("imagenet_to_records", "--raw_data_dir", name, "--raw_format",
            "xla_jl", "--local_scratch_dir", "never")


def trained(model, data, parameters):
    return ("train_resnet", "--preset", "xla_jl", "--data_dir", data,
            "--model_dir", model, "--mode", "train", "--params_override",
            parameters)
