"""The guide's 3,670 flowers: five classes of its sizes."""

import random

# Class, images, what the folder of real images calls it.
CLASSES = (("daisy", 633, "daisy"), ("dandelion", 898, "dandelion"),
           ("roses", 641, "rose"), ("sunflowers", 699, "sunflower"),
           ("tulips", 799, "tulip"))
SIDE = 32
COLOURS = {"daisy": (240, 240, 235), "dandelion": (240, 220, 40),
           "roses": (200, 30, 60), "sunflowers": (230, 150, 20),
           "tulips": (170, 60, 190)}
GRASS = bytes(40 + value // 3 for value in range(256))  # dark, with noise


def link(images, folder):
    """The first photographs of each class in `images`, by name."""
    for name, count, source in CLASSES:
        (folder / name).mkdir(parents=True)
        for path in sorted((images / source).iterdir())[:count]:
            (folder / name / path.name).symlink_to(path.resolve())


def draw(folder, seed=1):
    """Discs of a class's colour, more or less, on something like grass."""
    dice = random.Random(seed)
    for name, count, _ in CLASSES:
        (folder / name).mkdir(parents=True)
        for number in range(count):
            (folder / name / f"{number:04}.ppm").write_bytes(
                b"P6 %d %d 255\n" % (SIDE, SIDE) + disc(COLOURS[name], dice))


def draw_large(folder, side=384, count=32, seed=2):
    """Two classes of what takes a while to decode."""
    dice = random.Random(seed)
    for name in ("dark", "light"):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            pixels = dice.randbytes(3 * side * side)
            (folder / name / f"{number:02}.ppm").write_bytes(
                b"P6 %d %d 255\n" % (side, side) +
                (pixels if name == "light" else pixels.translate(GRASS)))


def disc(colour, dice):
    """The pixels, R, G, B each."""
    pixels = bytearray(dice.randbytes(3 * SIDE * SIDE).translate(GRASS))
    shade = bytes(max(0, min(255, value + dice.randrange(-50, 15)))
                  for value in colour)
    radius = dice.randrange(5, 11)
    left = dice.randrange(radius, SIDE - radius)
    top = dice.randrange(radius, SIDE - radius)
    for row in range(-radius, radius + 1):
        half = int((radius * radius - row * row) ** 0.5)
        start = 3 * ((top + row) * SIDE + left - half) if top + row < SIDE else 0
        pixels[start:start + 6 * half] = shade * (2 * half)
    return bytes(pixels)
