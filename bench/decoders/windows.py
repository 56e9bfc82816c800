"""Random windows as torchvision's RandomResizedCrop draws them."""

import math

import peer


def drawn(random, height, width):
    """(y, x, height, width) of peer.AREA and peer.ASPECT, inside the image."""
    low, high = (math.log(aspect) for aspect in peer.ASPECT)
    for _ in range(peer.ATTEMPTS):
        area = height * width * random.uniform(*peer.AREA)
        aspect = math.exp(random.uniform(low, high))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return (random.randint(0, height - h), random.randint(0, width - w),
                    h, w)
    # The greatest window in the middle whose aspect is allowed.
    w = min(width, round(height * peer.ASPECT[1]))
    h = min(height, round(width / peer.ASPECT[0]))
    return (height - h) // 2, (width - w) // 2, h, w
