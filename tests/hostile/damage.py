"""Ways to damage bytes, all drawn from one source of random numbers."""

import json
import struct

NUMBERS = [0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 1 << 20,
           0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, 1 << 63,
           (1 << 64) - 1]


def place(random, data):
    return random.randrange(len(data)) if data else 0


def flip(random, data):
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8, 64])):
        if data:
            data[place(random, data)] ^= 1 << random.randrange(8)
    return bytes(data)


def overwrite(random, data):
    at = place(random, data)
    new = random.randbytes(random.choice([1, 2, 4, 8, 32]))
    return data[:at] + new + data[at + len(new):]


def truncate(random, data):
    return data[:place(random, data)]


def append(random, data):
    return data + random.choice([b"\0" * 64, random.randbytes(200), data[:300]])


def insert(random, data):
    at = place(random, data)
    return data[:at] + random.randbytes(random.randrange(1, 40)) + data[at:]


def remove(random, data):
    at = place(random, data)
    return data[:at] + data[at + random.randrange(1, 200):]


def repeat(random, data):
    at = place(random, data)
    return data[:at] + data[at:at + random.randrange(1, 500)] + data[at:]


def zero(random, data):
    at = place(random, data)
    length = min(len(data) - at, random.randrange(1, 600))
    return data[:at] + bytes(length) + data[at + length:]


def number(random, data):
    """A number of 2, 4 or 8 bytes somewhere becomes an extreme one."""
    width, order = random.choice(
        [("H", "<"), ("H", ">"), ("I", "<"), ("I", ">"), ("Q", "<"),
         ("Q", ">")])
    size = struct.calcsize(width)
    value = random.choice(NUMBERS) & ((1 << 8 * size) - 1)
    at = place(random, data)
    return data[:at] + struct.pack(order + width, value) + data[at + size:]


def empty(_, data):
    return data[:0]


def garbage(random, data):
    return random.randbytes(min(len(data), 2000))


ALL = [flip, flip, overwrite, truncate, append, insert, remove, repeat, zero,
       number, number, empty, garbage]
# Those that leave most of it in its place.
LIGHT = [flip, flip, overwrite, number, number, zero, truncate]


def some(random, data, ways=None):
    """One to three of them, one after the other."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        data = random.choice(ways or ALL)(random, data)
    return data


def damage_file(random, path, ways=None):
    path.write_bytes(some(random, path.read_bytes(), ways))


VALUES = [None, True, -1, 0, 1, 2, 1 << 31, 1 << 32, 1 << 53, (1 << 63) - 1,
          1 << 63, 1 << 64, -(1 << 63), 0.5, -0.0, 1e308, 1e400, "", "x", "\0",
          "a\nb", "../../elsewhere/x", "/etc/passwd", "\u202e", "x" * 70_000,
          [], {}, [[]], [None], "0", "-1", "nan", ["x"] * 5000]


def places(value, path=()):
    """Of every value within a value of JSON."""
    yield path
    items = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, inner in items:
        yield from places(inner, (*path, key))


def change_value(random, value):
    """Another value at one place of it, or a key more or less."""
    path = random.choice(list(places(value)))
    if not path:
        return random.choice(VALUES)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    way = random.randrange(8)
    if way == 0:
        del holder[path[-1]]
    elif way == 1 and isinstance(holder, list):
        holder.extend([holder[path[-1]]] * random.choice([1, 2, 3000]))
    elif way == 2 and isinstance(holder, dict):
        holder[random.choice(["", "x", "format", "a\nb"])] = 1
    else:
        holder[path[-1]] = random.choice(VALUES)
    return value


def json_text(random, text):
    """Damaged JSON: mostly still JSON, with other values in it."""
    if random.randrange(4) == 0:
        return some(random, text)
    if random.randrange(12) == 0:
        deep = random.choice([b"[", b'{"a":'])
        return text[:-2] + deep * random.choice([10, 40, 200_000])
    try:
        value = json.loads(text)
    except ValueError:
        return some(random, text)
    for _ in range(random.choice([1, 1, 2, 4])):
        value = change_value(random, value)
        if not isinstance(value, (dict, list)):
            break
    text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    return text.encode(errors="surrogatepass")


def text(random, content):
    """Damaged lines of text."""
    lines = content.split(b"\n")
    for _ in range(random.choice([1, 1, 3])):
        at = random.randrange(len(lines))
        lines[at] = random.choice([
            b"", b"\xff\xfe", b"k\xe4se", b"\0", b"\x1b[2J", b"x" * 100_000,
            lines[at] * 2, lines[at] + b"\r", b"../../elsewhere/x",
            b",".join([lines[at]] * 3), b'"' + lines[at], b"-1", b"nan",
            lines[at].replace(b"1", b"99999999999999999999")])
        if random.randrange(6) == 0:
            lines = lines * random.choice([2, 200])
    return b"\n".join(lines)
