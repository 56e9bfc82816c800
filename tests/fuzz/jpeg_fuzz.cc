#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "preprocess/jpeg.h"

// Any bytes decode or throw DataError; and where both succeed, a window is the
// crop of the whole decode.
namespace infeed {
namespace {

std::uint64_t Hash(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
  }
  return hash;
}

// Draws a range of [0, size) that is not empty: its begin and its length.
std::pair<int, int> DrawRange(int size, SampleRandom& random) {
  const int begin = static_cast<int>(random.Below(size));
  return {begin, 1 + static_cast<int>(random.Below(size - begin))};
}

// The window where one is given, else the whole; nullopt for bad bytes.
std::optional<RgbImage> Decoded(JpegDecoder& decoder,
                                std::span<const std::byte> bytes,
                                const Window* window) {
  RgbImage image;
  try {
    std::ignore = decoder.ReadHeader(bytes);
    if (window != nullptr) {
      decoder.DecodeWindow(*window, image);
    } else {
      decoder.Decode(image);
    }
  } catch (const DataError&) {
    return std::nullopt;
  }
  return image;
}

void TryBytes(std::span<const std::byte> bytes) {
  JpegDecoder decoder(
      {.max_pixels = 1 << 18, .max_scans = 20, .max_memory_bytes = 1 << 24});
  const std::optional<RgbImage> whole = Decoded(decoder, bytes, nullptr);
  if (!whole) {
    return;
  }
  SampleRandom random({.seed = Hash(bytes)}, RandomStream::kMadeData);
  for (int i = 0; i < 3; ++i) {
    const auto [y, height] = DrawRange(whole->height(), random);
    const auto [x, width] = DrawRange(whole->width(), random);
    const Window window{y, x, height, width};
    const std::optional<RgbImage> part = Decoded(decoder, bytes, &window);
    Check(part.has_value(), "a window of a good image can be decoded");
    for (int row = 0; row < height; ++row) {
      const std::uint8_t* const pixels = part->view().row(row);
      Check(std::equal(pixels, pixels + std::ptrdiff_t{3} * width,
                       whole->view(window).row(row)),
            "a window is the crop of the whole decode");
    }
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  infeed::TryBytes(std::as_bytes(std::span(data, size)));
  return 0;
}
