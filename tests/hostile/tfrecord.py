"""TFRecord frames and Examples, to take shards apart and join them again.

Written apart from the library, so that what it makes is not made by what it
tests (docs/formats.md).
"""

import struct

POLYNOMIAL = 0x82F63B78


def _table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload, length=None):
    """A frame whose checksums hold, also where its length is a lie."""
    head = struct.pack("<Q", len(payload) if length is None else length)
    return (head + struct.pack("<I", masked(head)) + payload +
            struct.pack("<I", masked(payload)))


def payloads(shard):
    """Of a good shard."""
    found = []
    at = 0
    while at < len(shard):
        length, = struct.unpack_from("<Q", shard, at)
        found.append(shard[at + 12:at + 12 + length])
        at += 16 + length
    return found


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, content) of the fields of so many bytes of a good message."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        length, at = read_varint(data, at)
        yield tag >> 3, data[at:at + length]
        at += length


def features(payload):
    """[key, Feature's bytes] of each feature of an Example."""
    found = []
    for _, all_of_them in fields(payload):
        for _, entry in fields(all_of_them):
            parts = dict(fields(entry))
            found.append([parts[1].decode(), parts.get(2, b"")])
    return found


def example(found):
    entries = b"".join(field(1, field(1, key.encode(errors="surrogateescape"))
                             + field(2, value)) for key, value in found)
    return field(1, entries)


def bytes_feature(*values):
    return field(1, b"".join(field(1, value) for value in values))


def int64_feature(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def float_feature(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def bytes_in(feature):
    """The one value of a good feature of bytes."""
    (_, values), = fields(feature)
    (_, value), = fields(values)
    return value


def int64_in(feature):
    """The one value of a good feature of int64."""
    (_, values), = fields(feature)
    (_, packed), = fields(values)
    return read_varint(packed, 0)[0]
