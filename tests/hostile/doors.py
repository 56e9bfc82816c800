"""One data set, as people have it: as a folder, a zip, a tar and shards, with
names and splits as others write them. All forms give the same images, labels
and order, and a split that is not there is an error."""

import io
import struct
import tarfile
import unicodedata
import zipfile

import tfrecord

SHORT_CASES = 6
# Names of splits: what people write, what it is.
SPLITS = {"train": ["train", "training", "Train", "TRAINING"],
          "validation": ["val", "valid", "validation", "dev", "eval", "Val",
                         "Validation"],
          "test": ["test", "testing", "Test"]}
NAMES = ["cat", "dog", "Zebra", "n01440764", "golden retriever", "käse",
         "日本", "0", "10", "9", "a.b", "a,b", "[v1]", "{x}", "train set",
         "images of cats", "it's", 'say "x"', "%41", "a#b", "-dash", "été"]
# Beside images: nobody's samples.
OTHERS = ["README.txt", ".DS_Store", "Thumbs.db", "notes.md"]


def drawn_tree(case):
    """{split: {class: [(path within the class, bytes)]}}, the paths' splits as
    they are written, and what stands between class and image."""
    random = case.random
    classes = random.sample(NAMES, random.randrange(2, 6))
    splits = random.choice([["train"], ["train", "validation"],
                            ["train", "test"],
                            ["train", "validation", "test"]])
    tree = {}
    for split in splits:
        # A class may have no images of a split, but of training.
        of_split = [one for one in classes
                    if split == "train" or random.random() < 0.8]
        tree[split] = {one: images(case, random.randrange(1, 4))
                       for one in of_split or classes[:1]}
    return tree


def images(case, count):
    """Distinct photographs, so that an exchanged one is another hash."""
    inside = case.random.choice(["", "", "images/", "a/b/"])
    ending = case.random.choice(["jpg", "JPG", "jpeg", "JPEG"])
    return [(f"{inside}{number:03}.{ending}", unique(case))
            for number in range(count)]


def unique(case):
    data = case.random.choice(case.inputs.jpegs[:8])
    comment = case.random.randbytes(8)
    return (data[:2] + b"\xff\xfe" + struct.pack(">H", 2 + len(comment)) +
            comment + data[2:])


def files_of(case, tree):
    """(path, bytes) of all files, with a word for each split where there is
    more than one."""
    words = {split: case.random.choice(SPLITS[split]) + "/" for split in tree}
    if len(tree) == 1 and case.random.random() < 0.7:
        words = {"train": ""}
    files = [(f"{words[split]}{one}/{name}", data)
             for split, classes in tree.items()
             for one, found in classes.items() for name, data in found]
    top = words[next(iter(tree))]
    for name in case.random.sample(OTHERS, case.random.randrange(3)):
        files.append((top + name, b"nobody's\n"))
    return files


def as_folder(case, files):
    folder = case.work / "folder"
    for name, data in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def shuffled(case, files):
    """Archives keep their members in any order."""
    return case.random.sample(files, len(files))


def as_zip(case, files):
    path = case.work / "photos.zip"
    top = case.random.choice(["", "photos/"])
    slash = case.random.choice(["/", "/", "\\"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in shuffled(case, files):
            entry = zipfile.ZipInfo((top + name).replace("/", slash))
            entry.filename = entry.filename.replace("/", slash)
            archive.writestr(entry, data)
    return path


def as_tar(case, files):
    path = case.work / "photos.tar"
    top = case.random.choice(["", "./", "photos/"])
    with tarfile.open(path, "w", format=case.random.choice(
            [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as archive:
        for name, data in shuffled(case, files):
            entry = tarfile.TarInfo(top + name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def as_shards(case, folder):
    out = case.work / "shards"
    case.run("imagenet_to_records", "--raw_data_dir", folder,
             "--local_scratch_dir", out, "--threads", "1",
             "--shards", case.random.choice(["1", "2"]), codes={0})
    return out


def hash_of(case, data, split, count):
    """Of the whole split, in the order of the records."""
    ended = case.run("pipeline_throughput", "--data_dir", data,
                     "--split", split, "--eval", "--batch_size", "1", "--hash",
                     count, "--image_size", "16", "--recipe", "plain",
                     "--threads", "1", "--on_bad_record", "fail", codes={0})
    return ended.output.strip()


def check_missing(case, data, tree):
    """A split that is not there is refused, and those that are are named."""
    for split in SPLITS:
        if split in tree:
            continue
        ended = case.run("pipeline_throughput", "--data_dir", data, "--split",
                         split, "--eval", "--hash", "1", "--batch_size", "1",
                         codes={2})
        case.expect(ended.code == 2,
                    f"{data.name}: took the split {split}, which is not there")
        case.expect("train" in ended.errors,
                    f"{data.name}: names no split: {ended.tail}")


def key(name):
    """How classes are ordered: by their bytes."""
    return unicodedata.normalize("NFC", name).encode()


def labels_of(tree):
    names = sorted({one for classes in tree.values() for one in classes},
                   key=key)
    return {name: number + 1 for number, name in enumerate(names)}


def samples_of_shards(shards, split):
    """Sorted (class, label, image) of TFRecords, read without the library."""
    found = []
    for shard in sorted(shards.glob(f"{split}-*")):
        for payload in tfrecord.payloads(shard.read_bytes()):
            features = dict(tfrecord.features(payload))
            label = tfrecord.int64_in(features["image/class/label"])
            found.append((tfrecord.bytes_in(features["image/class/synset"])
                          .decode(), label,
                          tfrecord.bytes_in(features["image/encoded"])))
    return sorted(found)


def check_shards(case, shards, tree):
    """Against what was drawn: no form is right because all are wrong."""
    numbers = labels_of(tree)
    for split, classes in tree.items():
        expected = sorted((one, numbers[one], data)
                          for one, found in classes.items()
                          for _, data in found)
        case.expect(samples_of_shards(shards, split) == expected,
                    f"shards: other samples in {split}")


def run(case):
    tree = drawn_tree(case)
    files = files_of(case, tree)
    forms = [as_folder(case, files), as_zip(case, files), as_tar(case, files)]
    shards = as_shards(case, forms[0])
    if case.faults:
        return
    check_shards(case, shards, tree)
    for split, classes in tree.items():
        count = sum(map(len, classes.values()))
        hashes = {form.name: hash_of(case, form, split, count)
                  for form in forms}
        if split != "train":  # Training images are shuffled into shards.
            hashes["shards"] = hash_of(case, shards, split, count)
        case.expect(len(set(hashes.values())) == 1,
                    f"{split}: the forms differ: {hashes}")
    for form in [*forms, shards]:
        check_missing(case, form, tree)
