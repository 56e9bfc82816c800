#include "bench/decoder/outcome.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

// "", or the place of the first different pixel.
std::string PixelDifference(const RgbView& pixels, const RgbView& expected) {
  if (pixels.width != expected.width || pixels.height != expected.height) {
    return "another size";
  }
  for (int y = 0; y < pixels.height; ++y) {
    const std::uint8_t* const row = pixels.row(y);
    const std::uint8_t* const end = row + std::ptrdiff_t{3} * pixels.width;
    const auto [at, other] = std::mismatch(row, end, expected.row(y));
    if (at != end) {
      return fmt::format("row {}, column {}, channel {}: {} is not {}", y,
                         (at - row) / 3, (at - row) % 3, *at, *other);
    }
  }
  return "";
}

std::string Quoted(const std::string& error) {
  return error.empty() ? "pixels" : "'" + error + "'";
}

}  // namespace

std::string DifferenceOf(const DecodeOutcome& outcome,
                         const DecodeOutcome& expected) {
  if (outcome.error != expected.error) {
    return Quoted(outcome.error) + " is not " + Quoted(expected.error);
  }
  if (outcome.warning != expected.warning) {
    return "warning '" + outcome.warning + "' is not '" + expected.warning +
           "'";
  }
  return PixelDifference(outcome.pixels, expected.pixels);
}

std::uint64_t HashOf(const DecodeOutcome& outcome) {
  const RgbView& pixels = outcome.pixels;
  std::uint32_t crc = Crc32c(std::as_bytes(std::span(outcome.error)));
  for (int y = 0; y < pixels.height; ++y) {
    const std::span row(pixels.row(y), std::size_t{3} * pixels.width);
    crc = ExtendCrc32c(crc, std::as_bytes(row));
  }
  // Spread over 64 bits, so that a sum of many hashes stays distinctive.
  std::uint64_t hash = crc + 0x9E3779B97F4A7C15U;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EBU;
  return hash ^ hash >> 31;
}

}  // namespace infeed
