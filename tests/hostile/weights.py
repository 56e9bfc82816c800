"""Damaged files of weights, as others publish them, to begin from."""

import io
import zipfile

import checkpoints
import damage
import tfrecord
from inputs import ROOT

SHORT_CASES = 6
DATA = ROOT / "tests/data/weights"


def safetensors(case):
    good = (case.inputs.export / "model.safetensors").read_bytes()
    path = case.work / "model.safetensors"
    path.write_bytes(checkpoints.tensors(case.random, good))
    return path


def pth(case):
    """The archive's members damaged, and the archive whole around them."""
    source = case.random.choice(sorted(DATA.glob("*.pth")))
    data = source.read_bytes()
    path = case.work / "weights.pth"
    if case.random.random() < 0.6 and zipfile.is_zipfile(source):
        data = rewritten(case, data)
    else:
        data = damage.some(case.random, data)
    path.write_bytes(data)
    return path


def rewritten(case, data):
    old = zipfile.ZipFile(io.BytesIO(data))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename.endswith("data.pkl") or \
                    case.random.randrange(4) == 0:
                content = damage.some(case.random, content, damage.LIGHT)
            name = member.filename
            if case.random.randrange(12) == 0:
                name = case.random.choice(["../" + name, "/" + name, name * 50,
                                           name + "x"])
            new.writestr(name, content, case.random.choice(
                [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    return out.getvalue()


def bundle(case):
    """TensorFlow's two files."""
    folder = case.copy(DATA / "saver")
    path = case.random.choice([one for one in folder.iterdir()])
    whole = path.read_bytes()
    path.write_bytes(damage.some(case.random, whole))
    return case.random.choice([folder, folder / "model.ckpt-1251"])


def block_checksum(case):
    """A TensorBundle's index whose blocks' checksums are right again."""
    folder = case.copy(DATA / "saver")
    path = next(folder.glob("*.index"))
    data = bytearray(path.read_bytes())
    for start, end in blocks(bytes(data)):
        if case.random.random() < 0.6 and end > start:
            at = case.random.randrange(start, end)
            data[at] = case.random.randrange(256)
        block = bytes(data[start:end + 1])
        data[end + 1:end + 5] = tfrecord.masked(block).to_bytes(4, "little")
    path.write_bytes(data)
    return folder / "model.ckpt-1251"


def blocks(data):
    """(start, end) of the index's blocks that its footer names."""
    at = len(data) - 48
    found = []
    for _ in range(2):
        start, at = tfrecord.read_varint(data, at)
        size, at = tfrecord.read_varint(data, at)
        found.append((start, start + size))
    first = found[1][0]
    return [(0, min(one[0] for one in found) - 5), *found] if first else found


def run(case):
    case.protect(case.inputs.data)
    path = case.pick([safetensors, safetensors, pth, pth, bundle,
                      block_checksum])
    words = case.inputs.training(case.inputs.data, case.work / "model", 2)
    words[-1] += f",resnet_checkpoint={path}"
    if path.suffix != ".safetensors" or case.random.random() < 0.3:
        # Those of the tests are a ResNet's, or nothing's.
        words[-1] = words[-1].replace("model=lenet", "model=resnet,"
                                      "resnet_depth=18,small_stem=true")
    case.run("train_resnet", *words, *case.random.choice([[], ["--dry_run"]]))
