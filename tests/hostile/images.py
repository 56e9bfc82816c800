"""Damaged JPEGs, PNGs and others: to be converted, and to be predicted."""

import pictures

SHORT_CASES = 12


def folder_of(case):
    """A class of good images, and some damaged ones among them."""
    folder = case.work / "raw"
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        (folder / name / "good.jpg").write_bytes(
            case.random.choice(case.inputs.jpegs[:8]))
    for i in range(case.random.choice([1, 2, 8])):
        data, ending = pictures.one(case.random, case.inputs)
        (folder / "cat" / f"{i}.{ending}").write_bytes(data)
    return folder


def convert(case, folder):
    out = case.work / "out"
    words = ["--on_bad_image", case.random.choice(["fail", "skip", "skip",
                                                   "reencode"])]
    words += case.random.choice([[], ["--keep_png"], ["--max_size", "40"],
                                 ["--exif_rotate"], ["--seek_index", "4"],
                                 ["--format", "pixels", "--image_size", "24"],
                                 ["--report_duplicates"], ["--no_verify_images"]])
    ended = case.run("imagenet_to_records", "--raw_data_dir", folder,
                     "--local_scratch_dir", out, "--threads", "2", *words)
    if ended.code != 0:
        case.expect(not (out / "dataset.json").exists(),
                    "a conversion failed and left a dataset.json")
        return
    verified = case.run("records", "verify", "--decode", out)
    case.expect(verified.code == 0 or "--no_verify_images" in words,
                f"a bad image was written: {verified.output[-300:]}")


def read(case, folder):
    case.run("pipeline_throughput", "--data_dir", folder, "--hash", "2",
             "--batch_size", "4", "--image_size", "32", "--threads", "2",
             "--on_bad_record",
             case.random.choice(["fail", "replace", "skip"]))


def predict(case, folder):
    case.protect(case.inputs.model)
    model = case.copy(case.inputs.model, "model")
    words = case.random.choice([
        [], ["--predictions_page", case.work / "page.html"],
        ["--on_bad_record", "skip"]])
    case.run("train_resnet", "--mode", "predict", "--device", "cpu",
             "--model_dir", model, "--input", folder, *words)


def run(case):
    folder = folder_of(case)
    case.protect(folder)
    way = case.random.randrange(8)
    (convert if way < 5 else read if way < 7 else predict)(case, folder)
