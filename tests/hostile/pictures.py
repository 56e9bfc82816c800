"""Damaged images: deep inside, so that more than their first bytes is read."""

import struct
import zlib

import damage
from inputs import png_chunk


def jpeg_segments(data):
    """(start, end) of the segments before the scan, markers included."""
    found = []
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        length, = struct.unpack_from(">H", data, at + 2)
        found.append((at, at + 2 + length))
        if data[at + 1] == 0xDA:
            break
        at += 2 + length
    return found


def jpeg(random, data):
    way = random.randrange(6)
    segments = jpeg_segments(data)
    if way == 0 or not segments:
        return damage.some(random, data)
    start, end = random.choice(segments)
    if way == 1:  # A table, a size or a list of components.
        inner = damage.some(random, data[start + 4:end], damage.LIGHT)
        return (data[:start + 2] + struct.pack(">H", min(len(inner), 65533) + 2)
                + inner[:65533] + data[end:])
    if way == 2:
        return data[:start] + data[end:]
    if way == 3:
        return data[:end] + data[start:end] * random.choice([1, 2, 500]) + \
            data[end:]
    if way == 4:  # Its size.
        for at, _ in segments:
            if data[at + 1] in (0xC0, 0xC1, 0xC2):
                size = struct.pack(">HH", *(random.choice(
                    [0, 1, 7, 8, 300, 16384, 65535]) for _ in range(2)))
                return data[:at + 5] + size + data[at + 9:]
        return data
    scan = segments[-1][1]  # The compressed data.
    return data[:scan] + damage.some(random, data[scan:], damage.LIGHT)


def png_chunks(data):
    at = 8
    while at + 12 <= len(data):
        length, = struct.unpack_from(">I", data, at)
        yield data[at + 4:at + 8], data[at + 8:at + 8 + length]
        at += 12 + length


def png(random, data):
    if random.randrange(4) == 0:
        return damage.some(random, data)
    chunks = list(png_chunks(data))
    at = random.randrange(len(chunks))
    kind, content = chunks[at]
    way = random.randrange(6)
    if way == 0:
        del chunks[at]
    elif way == 1:
        chunks.insert(at, (random.choice([b"iCCP", b"tRNS", b"gAMA", b"PLTE",
                                          b"sBIT", b"eXIf", b"acTL", b"abcd"]),
                           random.randbytes(random.choice([0, 1, 4, 300]))))
    elif way == 2 and kind == b"IDAT":
        rows = damage.some(random, zlib.decompress(content))
        chunks[at] = (kind, zlib.compress(rows))
    elif way == 3:
        chunks[at] = (b"iCCP", b"bomb\0\0" + zlib.compress(bytes(1 << 24)))
    elif way == 4:
        chunks[0] = (b"IHDR", struct.pack(
            ">IIBBBBB", *(random.choice([0, 1, 5, 70_000, 0x7FFFFFFF])
                          for _ in range(2)),
            random.choice([1, 2, 4, 8, 16, 3]), random.choice([0, 2, 3, 4, 6]),
            0, 0, random.choice([0, 1])))
    else:
        chunks[at] = (kind, damage.some(random, content))
    return data[:8] + b"".join(png_chunk(*chunk) for chunk in chunks)


def other(random):
    """Of other formats, with sizes that lie."""
    side = random.choice([1, 4, 60_000, 0x7FFFFFFF])
    return damage.some(random, random.choice([
        b"BM" + struct.pack("<IIIIiiHHIIIIII", 200, 0, 54, 40, side, side, 1,
                            random.choice([1, 4, 8, 24, 32]), 0, 0, 0, 0, 0, 0)
        + bytes(200),
        b"P6\n%d %d\n255\n" % (side, side) + bytes(100),
        b"P5 4 4 65535 " + bytes(40),
        b"II*\0\x08\0\0\0" + random.randbytes(200),
        b"RIFF" + struct.pack("<I", 60) + b"WEBPVP8X" + random.randbytes(60),
        b"RIFF" + struct.pack("<I", 60) + b"WEBPVP8 " + random.randbytes(60),
        b"\xff\x4f\xff\x51" + struct.pack(">H", 41) + bytes(2) +
        struct.pack(">8I", side, side, 0, 0, side, side, 0, 0) + b"\0\x03" +
        random.randbytes(100),
        b"GIF89a" + random.randbytes(50), b"\0\0\0\x0cftypavif",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>"]))


def one(random, inputs):
    """A damaged image and an ending for its name, which may be a lie."""
    way = random.randrange(8)
    if way < 4:
        data, ending = jpeg(random, random.choice(inputs.jpegs)), "jpg"
    elif way < 7:
        data, ending = png(random, random.choice(inputs.pngs)), "png"
    else:
        data, ending = other(random), random.choice(["bmp", "tif", "webp",
                                                     "jp2", "jpg", "png"])
    if random.randrange(10) == 0:
        ending = random.choice(["jpg", "jpeg", "png", "JPEG"])
    return data, ending
