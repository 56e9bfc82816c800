"""Damaged shards: frames, checksums, Examples and what is in them."""

import gzip
import zlib

import damage
import pictures
import tfrecord

SHORT_CASES = 24


def raw(case, good):
    """Checksums no longer hold. Returns the shard; its good frames still do."""
    return damage.some(case.random, good)


def spliced(case, good):
    other = case.random.choice(case.inputs.shards_of_data).read_bytes()
    at = damage.place(case.random, good)
    return good[:at] + other[damage.place(case.random, other):]


def lengths(case, good):
    """The lengths' checksums hold, the lengths do not."""
    frames = [tfrecord.frame(one) for one in tfrecord.payloads(good)]
    at = case.random.randrange(len(frames))
    payload = tfrecord.payloads(good)[at]
    lie = case.random.choice([0, 1, len(payload) - 1, len(payload) + 1,
                              *damage.NUMBERS])
    frames[at] = tfrecord.frame(payload, lie)
    return b"".join(frames)


def records(case, good):
    """Good frames of bad records."""
    found = tfrecord.payloads(good)
    for _ in range(case.random.choice([1, 1, 3, len(found)])):
        at = case.random.randrange(len(found))
        found[at] = payload(case, found[at])
    return b"".join(map(tfrecord.frame, found))


def payload(case, good):
    if case.random.randrange(4) == 0:
        return damage.some(case.random, good)
    try:
        found = tfrecord.features(good)
    except (IndexError, KeyError, ValueError, UnicodeDecodeError):
        found = []
    if not found:  # It is damaged already.
        return damage.some(case.random, good)
    return tfrecord.example(case.pick([image, label, value, keys, many,
                                       sizes])(found) or found)


def set_feature(found, key, feature):
    for entry in found:
        if entry[0] == key:
            entry[1] = feature
            return
    found.append([key, feature])


def image(case):
    data, _ = pictures.one(case.random, case.inputs)
    return lambda found: set_feature(found, "image/encoded",
                                     tfrecord.bytes_feature(data))


def label(case):
    number = case.random.choice([-1, -2, 0, 11, 100_000, 100_002, 1 << 31,
                                 1 << 32, (1 << 63) - 1, -(1 << 63)])
    return lambda found: set_feature(found, "image/class/label",
                                     tfrecord.int64_feature(number))


def value(case):
    """Another kind of list, none, many values, or damaged bytes of it."""
    def change(found):
        entry = case.random.choice(found)
        entry[1] = case.random.choice([
            b"", tfrecord.bytes_feature(), tfrecord.int64_feature(),
            tfrecord.float_feature(float("nan"), 1e30),
            tfrecord.int64_feature(*range(3000)),
            tfrecord.bytes_feature(b"\xff\n\0", b"../../../x"),
            tfrecord.bytes_feature(b"x" * 300_000),
            entry[1] + entry[1], damage.some(case.random, entry[1])])
    return change


def keys(case):
    def change(found):
        entry = case.random.choice(found)
        entry[0] = case.random.choice(["", "a\nb", "../../x", "image/packed",
                                       "image/seek_index", "\udcff", "k" * 9000])
    return change


def many(case):
    count = case.random.choice([300, 5000])
    return lambda found: found.extend(
        [f"key{i}", tfrecord.int64_feature(i)] for i in range(count))


def sizes(case):
    def change(found):
        for key in ("image/height", "image/width"):
            set_feature(found, key, tfrecord.int64_feature(
                case.random.choice(damage.NUMBERS)))
        set_feature(found, "image/format", tfrecord.bytes_feature(
            case.random.choice([b"packed", b"PNG", b"\0", b""])))
    return change


def packed(case, good):
    """As a whole, by gzip or zlib, and that damaged."""
    whole = case.random.choice([gzip.compress, zlib.compress])(
        records(case, good) if case.random.random() < 0.5 else good)
    if case.random.randrange(8) == 0:
        whole = gzip.compress(tfrecord.frame(bytes(1 << 26)))  # A bomb.
    return damage.some(case.random, whole) if case.random.random() < 0.6 \
        else whole


WAYS = [raw, raw, spliced, lengths, records, records, records, packed]


def shard_of(case):
    """A folder with one damaged shard; its path, and what was good in it."""
    folder = case.work / "in"
    folder.mkdir()
    sources = case.inputs.shards_of_data
    if case.random.randrange(5) == 0:
        sources = case.inputs.packed_shards
    good = case.random.choice(sources).read_bytes()
    way = case.random.choice(WAYS)
    path = folder / "train-00000-of-00001"
    path.write_bytes(way(case, good))
    intact = 0
    if way in (raw, spliced):
        bad = path.read_bytes()
        intact = sum(tfrecord.frame(one) in bad
                     for one in tfrecord.payloads(good))
    return path, intact


def read(case, path):
    verb = case.random.choice([
        ("verify",), ("verify", "--decode"), ("verify", "--frames_only"),
        ("ls",), ("count",), ("cat",), ("head",), ("stats",),
        ("cat", "--record", "3", "--bytes_to", case.work / "bytes"),
        ("stats", "--html", case.work / "stats.html"),
        ("index",), ("index", "--seek"), ("index", "--dali"),
        ("diff", case.inputs.shards_of_data[0]),
        ("extract", "--output", case.work / "images")])
    case.run("records", *verb, path)


def write(case, path):
    bad = case.random.choice(["fail", "skip"])
    verb = case.random.choice([
        ("reshard", "--shards", "2"),
        ("reshard", "--shuffle", "global", "--memory_limit", "16MiB"),
        ("split", "--parts", "2"), ("split", "--by_label")])
    out = case.work / "out"
    ended = case.run("records", *verb, path, "--output", out,
                     "--on_bad_record", bad)
    if ended.code == 0 and out.exists():
        kept = case.run("records", "verify", "--frames_only", out)
        case.expect(kept.code == 0, "what was written is no good shard")
    elif ended.code != 0:
        case.expect(not list(out.glob("train-*")) if out.exists() else True,
                    f"records {verb[0]} failed and left shards")


def repair(case, path, intact):
    out = case.work / "out"
    more = case.random.choice([(), ("--decode",), ("--frames_only",)])
    case.run("records", "repair", path, "--output", out, *more)
    if not list(out.glob("train-*")):
        case.expect(intact == 0 or more == ("--decode",),
                    f"{intact} good records, none repaired")
        return
    verified = case.run("records", "verify", *more, out)
    # A wrong seek index costs no pixels: its record is a good one.
    case.expect(verified.code == 0 or " 0 bad," in verified.output,
                f"repaired, and still: {verified.output}")
    count = case.run("records", "count", out)
    kept = sum_of(count.output)
    case.expect(kept >= intact or more == ("--decode",),
                f"{intact} good records, {kept} repaired")


def sum_of(table):
    """The last number of `records count`: the total."""
    numbers = [int(word) for word in table.replace(",", "").split()
               if word.isdigit()]
    return numbers[-1] if numbers else 0


def train(case, path):
    if not (case.inputs.programs / "pipeline_throughput").exists():
        return read(case, path)
    return case.run("pipeline_throughput", "--shards", path, "--hash", "2",
                    "--batch_size", "8", "--image_size", "32", "--threads", "2",
                    "--on_bad_record",
                    case.random.choice(["fail", "replace", "skip"]))


def images_again(case, path):
    """Shards as the converter's input: it has to leave them out."""
    return case.run("imagenet_to_records", "--raw_data_dir", path.parent,
                    "--local_scratch_dir", case.work / "again")


def run(case):
    path, intact = shard_of(case)
    case.protect(path)
    way = case.random.randrange(10)
    if way < 4:
        read(case, path)
    elif way < 6:
        write(case, path)
    elif way < 8:
        repair(case, path, intact)
    elif way < 9 or case.random.randrange(3):
        train(case, path)
    else:
        images_again(case, path)
