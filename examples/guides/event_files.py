"""TensorBoard's event files, read without TensorFlow."""

import struct


def scalars(folder, tag):
    """[(step, value)] of a tag in a folder's event files, in their order."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in records(path.read_bytes()):
            fields = dict(parts(event))
            summary = fields.get(5, b"")
            for number, value in parts(summary):
                value = dict(parts(value)) if number == 1 else {}
                if value.get(1) == tag.encode() and 2 in value:
                    found.append((fields.get(2, 0), value[2]))
    return found


def records(data):
    """The payloads of TFRecord frames."""
    place = 0
    while place < len(data):
        length, = struct.unpack_from("<Q", data, place)
        yield data[place + 12:place + 12 + length]
        place += 16 + length


def parts(message):
    """(number, value) of a protobuf message's fields; floats are of 4 bytes."""
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        kind = key & 7
        if kind == 0:
            value, place = varint(message, place)
        elif kind == 2:
            length, place = varint(message, place)
            value, place = message[place:place + length], place + length
        else:
            width, letter = (8, "<d") if kind == 1 else (4, "<f")
            value, = struct.unpack_from(letter, message, place)
            place += width
        yield key >> 3, value


def varint(message, place):
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
