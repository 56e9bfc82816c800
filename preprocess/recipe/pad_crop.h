#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

// torchvision's transforms.RandomCrop(size, padding=4) of an image of that
// size, which moves the image by up to four pixels each way and fills the rest
// with black.
namespace infeed {

// A move of an image in pixels.
struct Move {
  int down = 0;
  int right = 0;

  friend bool operator==(const Move&, const Move&) = default;
};

// Each is uniform in -4..4; the transform draws 4 - down, then 4 - right.
[[nodiscard]] Move DrawMove(RandomSource& random);

// Moves size x size packed pixels. Requires: pixels.size() == size * size.
void MovePixels(const Move& move, int size, std::span<std::uint32_t> pixels);

}  // namespace infeed
