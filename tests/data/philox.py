"""infeed's random numbers (base/random.h), for the scripts that make goldens."""

import numpy as np

CROP, FLIP, AUGMENTATION, INTERPOLATION = 1, 2, 3, 9  # streams


def philox4x32(key, counter):
    """One block of Philox 4x32-10."""
    (a, b, c, d), (k0, k1) = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = ((second >> 32) ^ b ^ k0, second & 0xFFFFFFFF,
                      (first >> 32) ^ d ^ k1, first & 0xFFFFFFFF)
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [a, b, c, d]


class Words:
    """The words of the blocks from a counter on."""

    def __init__(self, key, counter):
        self.key, self.counter, self.words = key, counter, []

    def word(self):
        if not self.words:
            self.words = philox4x32(self.key, self.counter)
            self.counter = (self.counter[0] + 1,) + tuple(self.counter[1:])
        return self.words.pop(0)


class SampleRandom(Words):
    """The draws of one sample in one stream, from a block on."""

    def __init__(self, seed, epoch, position, stream, block=0):
        super().__init__((seed & 0xFFFFFFFF, seed >> 32),
                         (block | stream << 24, epoch, position & 0xFFFFFFFF,
                          position >> 32))

    def real(self):
        return np.float32((self.word() >> 8) * 2.0 ** -24)

    def below(self, n):
        return self.word() * n >> 32
