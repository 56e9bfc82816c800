"""Damaged files beside the data: descriptions, indexes, states, lists."""

import struct

import damage
import tfrecord

SHORT_CASES = 16


def hash_of(case, data, *words):
    return case.run("pipeline_throughput", "--shards", data / "train-*",
                    "--hash", "2", "--batch_size", "8", "--image_size", "32",
                    "--threads", "1", "--on_bad_record", "fail", *words)


def dataset_json(case):
    data = case.copy(case.inputs.data)
    path = data / "dataset.json"
    path.write_bytes(damage.json_text(case.random, path.read_bytes()))
    way = case.random.randrange(4)
    if way == 0:
        case.run("records", case.random.choice(["verify", "ls", "stats"]), data)
    elif way == 1:
        case.run("records", "reshard", data, "--output", case.work / "out",
                 "--shards", "2")
    elif way == 2:
        case.run("train_resnet", "--dry_run",
                 *case.inputs.training(data, case.work / "model", 2))
    else:
        hash_of(case, data)


def shard_json(case):
    """What an earlier conversion left: the next one believes none of it."""
    out = case.copy(case.inputs.data, "out")
    for path in (out / ".infeed").glob("*.json"):
        if case.random.random() < 0.6:
            path.write_bytes(damage.json_text(case.random, path.read_bytes()))
    ended = case.run("imagenet_to_records", "--raw_data_dir",
                     case.inputs.images, "--local_scratch_dir", out,
                     "--shards", "3", "--threads", "1")
    if ended.code == 0:
        case.expect(shards_in(out) == shards_in(case.inputs.data),
                    "another conversion's side files made other shards")


def shards_in(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*-of-*")}


def names(case):
    """Lists that people write beside their images."""
    raw = case.copy(case.inputs.images, "raw")
    classes = sorted(path.name for path in (raw / "train").iterdir())
    name = case.random.choice(["class_names.txt", "LOC_synset_mapping.txt",
                               "synset_labels.txt"])
    if name == "synset_labels.txt":
        images = sorted((raw / "validation").rglob("*.jp*g"))
        for number, image in enumerate(images):
            image.rename(raw / "validation" / f"{number:05}.JPEG")
        for folder in list((raw / "validation").iterdir()):
            if folder.is_dir():
                folder.rmdir()
        good = "\n".join(classes[i % len(classes)]
                         for i in range(len(images)))
    else:
        good = "\n".join(f"{one} a {one}, drawn" for one in classes)
    (raw / name).write_bytes(damage.text(case.random, good.encode()))
    case.run("imagenet_to_records", "--raw_data_dir", raw,
             "--local_scratch_dir", case.work / "out", "--threads", "1")


def manifest(case):
    images = sorted(case.inputs.images.rglob("*.jp*g"))[:12]
    good = "path,label,split,text\n" + "".join(
        f"{path},{path.parent.name},train,a {path.parent.name}\n"
        for path in images)
    path = case.work / case.random.choice(["m.csv", "m.tsv"])
    text = good.replace(",", "\t") if path.suffix == ".tsv" else good
    way = case.random.choice([damage.text, damage.some])
    path.write_bytes(way(case.random, text.encode()))
    case.run("imagenet_to_records", "--manifest", path, "--local_scratch_dir",
             case.work / "out", "--threads", "1")


def with_checksum(data, start=0):
    return data[:-4] + struct.pack("<I", tfrecord.crc32c(data[start:-4]))


def index_files(case):
    """Indexes, seek files and label files, their checksums right again."""
    data = case.copy(case.inputs.data)
    case.run("records", "index", "--seek", data)
    files = [path for path in (data / ".infeed").iterdir()
             if path.suffix in (".index", ".seek", ".labels")]
    good = hash_of(case, data)
    if case.faults or good.code != 0:
        return
    for path in case.random.sample(files, min(2, len(files))):
        whole = path.read_bytes()
        bad = damage.some(case.random, whole, damage.LIGHT)
        if case.random.random() < 0.7 and len(bad) > 60:
            bad = with_checksum(
                bad, len(bad) - 52 if path.suffix == ".seek" else 0)
        path.write_bytes(bad)
    ended = hash_of(case, data)
    # A damaged side file counts as absent; one that lies makes bad records.
    if ended.code == 0:
        case.expect(ended.output == good.output,
                    "a damaged side file changed a batch")
    case.run("records", "verify", data)


def labels(case):
    """A model's labels.txt."""
    case.protect(case.inputs.model)
    model = case.copy(case.inputs.model, "model")
    path = model / "labels.txt"
    path.write_bytes(damage.text(case.random, path.read_bytes()))
    way = case.random.choice([
        ["export", "--export_dir", case.work / "export"],
        ["predict", "--input", case.inputs.data],
        ["eval", "--data_dir", case.inputs.data]])
    case.run("train_resnet", "--device", "cpu", "--model_dir", model, "--mode",
             *way)


def state(case):
    """A stream's state for --restore."""
    path = case.work / "state.json"
    hash_of(case, case.inputs.data, "--save_state", path)
    if path.exists():
        path.write_bytes(damage.json_text(case.random, path.read_bytes()))
    hash_of(case, case.inputs.data, "--restore", path)


YAML = b"""train_steps: 4
train_batch_size: 16
image_size: 28
model: lenet
base_learning_rate: 0.1
label_smoothing: 0.1
"""
BAD_YAML = [b"&a [*a, *a]\n", b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
            b"? [x]\n: y\n", b"[" * 5000, b"{" * 5000, b"- " * 5000,
            b"!!binary x\n", b"\t\n", b"\xff\xfe", b"seed: " + b"9" * 5000,
            b"---\n---\n", b"x: |\n" + b" y\n" * 9000, b"'", b"%YAML 9.9\n---\n",
            b"train_steps: {a: b}\n", b"seed: .nan\n", b"train_steps: 1e400\n"]


def config(case):
    path = case.work / "run.yaml"
    way = case.random.randrange(3)
    path.write_bytes(damage.text(case.random, YAML) if way == 0 else
                     damage.some(case.random, YAML) if way == 1 else
                     YAML + case.random.choice(BAD_YAML))
    case.run("train_resnet", "--config_file", path, "--print_config",
             *(["--dry_run", "--data_dir", case.inputs.data, "--model_dir",
                case.work / "model"] if case.random.random() < 0.3 else []))


def run(case):
    for good in (case.inputs.images, case.inputs.data):
        case.protect(good)
    case.pick([dataset_json, dataset_json, shard_json, names, names, manifest,
               manifest, index_files, index_files, labels, state, config,
               config])
