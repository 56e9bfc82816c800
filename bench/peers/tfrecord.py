"""Where the images lie in TFRecord shards, for systems that cannot read them.

Found once at the start, so that a system that reads by these places has no
parsing left to do: that favours it over those that parse.
"""

import mmap
import os
import struct
from typing import NamedTuple


class Place(NamedTuple):
    shard: str
    offset: int  # of the encoded image
    size: int
    label: int


class Damaged(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def fields(data, at, end):
    """The fields of a message: number, begin, end. A number's value stands for
    its begin."""
    while at < end:
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value, at
        elif key & 7 == 2:
            size, at = varint(data, at)
            yield key >> 3, at, at + size
            at += size
        else:
            raise Damaged(f"a field of wire type {key & 7} at byte {at}")


def first(data, span, *path):
    """Follows field numbers into a message: the first of each."""
    for number in path:
        span = next(((begin, end) for found, begin, end in fields(data, *span)
                     if found == number), None)
        if span is None:
            return None
    return span


def features(data, begin, end):
    """An Example's features: name -> span of the tf.train.Feature."""
    span = first(data, (begin, end), 1)
    for _, entry_begin, entry_end in fields(data, *span) if span else ():
        name = first(data, (entry_begin, entry_end), 1)
        value = first(data, (entry_begin, entry_end), 2)
        yield bytes(data[slice(*name)]).decode(), value


def label_of(data, feature):
    span = first(data, feature, 3)
    if span is None:
        return -1
    number = next(fields(data, *span), None)
    if number is None:
        return -1
    # Packed numbers are a field of bytes; a single number is the value itself.
    if data[span[0]] & 7 == 2:
        return varint(data, number[1])[0]
    return number[1]


def records(data):
    """The payloads of a file: begin, end."""
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        if at + 16 + size > len(data):
            raise Damaged(f"a record of {size} bytes at byte {at}")
        yield at + 12, at + 12 + size
        at += 16 + size


def places_in(shard):
    with open(shard, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for begin, end in records(data):
                found = dict(features(data, begin, end))
                image = first(data, found["image/encoded"], 1, 1)
                label = label_of(data, found["image/class/label"])
                yield Place(shard, image[0], image[1] - image[0], label)


def places(shards):
    return [place for shard in shards for place in places_in(shard)]


class Images:
    """The encoded images at some places. Usable from threads and, once it was
    copied into them, processes: files are opened at the first read."""

    def __init__(self, found):
        self.places = found
        self.files = {}

    def __len__(self):
        return len(self.places)

    def read(self, number):
        """The encoded image, and its label."""
        place = self.places[number]
        if place.shard not in self.files:
            self.files[place.shard] = os.open(place.shard, os.O_RDONLY)
        data = os.pread(self.files[place.shard], place.size, place.offset)
        return data, place.label


def has_feature(shard, name):
    """Whether the first record has that feature."""
    with open(shard, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return name in dict(features(data, *next(records(data))))
