"""Damaged model directories: to go on from, to evaluate, to predict, to
export."""

import json
import re

import damage
import tfrecord

SHORT_CASES = 5


def newest(model):
    return max(model.glob("checkpoint-*"))


def seal(folder):
    """A MANIFEST that is right about what the folder holds now."""
    step = int(folder.name.partition("-")[2])
    files = [{"file": name, "size": (folder / name).stat().st_size,
              "crc32c": f"{tfrecord.crc32c((folder / name).read_bytes()):08x}"}
             for name in ("model.safetensors", "optim.safetensors",
                          "state.json")]
    (folder / "MANIFEST").write_text(json.dumps(
        {"schema": 1, "step": step, "files": files},
        separators=(",", ":")) + "\n")


def tensors(random, data):
    """Safetensors whose header says something else."""
    length = int.from_bytes(data[:8], "little")
    header, rest = data[8:8 + length], data[8 + length:]
    way = random.randrange(4)
    if way == 0:
        return damage.some(random, data)
    if way == 1:
        lie = random.choice([*damage.NUMBERS, length + 1, length - 1])
        return (lie & (1 << 64) - 1).to_bytes(8, "little") + data[8:]
    if way == 2:  # Numbers of shapes and offsets.
        numbers = list(re.finditer(rb"\d+", header))
        found = random.choice(numbers)
        header = (header[:found.start()] +
                  b"%d" % random.choice([0, 1, 3, 1 << 31, 1 << 62, 1 << 70]) +
                  header[found.end():])
    else:
        header = damage.json_text(random, header)
    return len(header).to_bytes(8, "little") + header + rest


def damaged(case):
    model = case.copy(case.inputs.model, "model")
    folder = newest(model)
    name = case.random.choice(["model.safetensors", "optim.safetensors",
                               "state.json", "state.json", "MANIFEST",
                               "params.yaml"])
    path = (model if name == "params.yaml" else folder) / name
    good = path.read_bytes()
    way = (tensors if path.suffix == ".safetensors" else
           damage.json_text if name != "params.yaml" else damage.text)
    path.write_bytes(way(case.random, good))
    if name not in ("MANIFEST", "params.yaml") and case.random.random() < 0.7:
        seal(folder)
    if case.random.randrange(6) == 0:
        (model / "best.json").write_bytes(damage.json_text(
            case.random, b'{"schema":1,"metric":"top_1","step":2,"value":0.5}'))
    return model


def use(case, model):
    data = case.inputs.data
    way = case.random.randrange(6)
    if way < 2:
        case.run("train_resnet", *case.inputs.training(data, model, 6))
    elif way == 2:
        case.run("train_resnet", "--resume", newest(model),
                 *case.inputs.training(data, case.work / "other", 6))
    else:
        more = [["--mode", "eval", "--data_dir", data],
                ["--mode", "predict", "--input", data],
                ["--mode", "export", "--export_dir", case.work / "export"]]
        words = more[way - 3]
        if case.random.randrange(4) == 0:
            words += ["--checkpoint", case.random.choice(["best", "2", "3"])]
        case.run("train_resnet", "--device", "cpu", "--model_dir", model,
                 *words)


def run(case):
    for good in (case.inputs.data, case.inputs.model):
        case.protect(good)
    use(case, damaged(case))
