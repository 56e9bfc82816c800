#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/recipe/label_image.h"

// Any bytes are a mask of the size in their header, within the limit, or a
// DataError; and the part of it that an output shows has the mask's values.
namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::int64_t kMaxPixels = 1 << 16;

std::optional<LabelImage> Decode(Bytes png) {
  LabelImage labels;
  try {
    DecodePngLabels(png, kMaxPixels, labels);
  } catch (const DataError& error) {
    Check(!error.reason().empty(), "an error says what is wrong");
    Check(labels.values.size() <= kMaxPixels, "the limit holds");
    return std::nullopt;
  }
  const std::optional<StoredSize> size = ReadStoredSize(png);
  Check(size && size->width == labels.width && size->height == labels.height,
        "the size is that of the header");
  Check(labels.values.size() == static_cast<std::size_t>(labels.width) *
                                    static_cast<std::size_t>(labels.height),
        "each pixel has a value");
  return labels;
}

// The right lower part, mirrored, with a margin above.
void CheckPart(Bytes png, const LabelImage& labels) {
  const ImageSize source(labels.height, labels.width);
  const ImageSize part(source.height - source.height / 2,
                       source.width - source.width / 2);
  const ImageSize output(part.height + 1, part.width);
  const Geometry geometry = {.source = source,
                             .window = {.y = source.height / 2,
                                        .x = source.width / 2,
                                        .height = part.height,
                                        .width = part.width},
                             .resized = part,
                             .y = -1,
                             .is_mirrored = true};
  LabelScratch scratch;
  std::vector<std::int32_t> wide(output.pixels());
  FillLabels(png, geometry, output, -1, kMaxPixels, scratch, std::span(wide));
  for (int y = 0; y < output.height; ++y) {
    for (int x = 0; x < output.width; ++x) {
      const int expected =
          y == 0 ? -1
                 : labels.row(source.height / 2 + y - 1)[source.width - 1 - x];
      Check(wide[static_cast<std::size_t>(y * output.width + x)] == expected,
            "a place has the value of its pixel");
    }
  }
  std::vector<std::uint8_t> narrow(output.pixels());
  try {
    FillLabels(png, geometry, output, 255, kMaxPixels, scratch,
               std::span(narrow));
  } catch (const DataError&) {
    Check(std::ranges::max(wide) > 255, "bytes hold values up to 255");
    return;
  }
  Check(std::ranges::equal(narrow, wide, {}, {},
                           [](std::int32_t value) {
                             return static_cast<std::uint8_t>(value);
                           }),
        "both types have the same values");
}

// With the checksums that its chunks should have, so that changes reach the
// code behind them.
std::vector<std::byte> Mended(Bytes png) {
  std::vector<std::byte> bytes(png.begin(), png.end());
  for (std::size_t chunk = 8;
       bytes.size() - std::min(bytes.size(), chunk) >= 12;) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | std::to_integer<std::size_t>(bytes[chunk + i]);
    }
    if (length > bytes.size() - chunk - 12) {
      break;
    }
    const std::size_t end = chunk + 8 + length;
    std::uint32_t sum = 0xFFFFFFFF;
    for (std::size_t i = chunk + 4; i < end; ++i) {
      sum ^= std::to_integer<std::uint32_t>(bytes[i]);
      for (int bit = 0; bit < 8; ++bit) {
        sum = (sum & 1) != 0 ? sum >> 1 ^ 0xEDB88320 : sum >> 1;
      }
    }
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[end + i] = static_cast<std::byte>(~sum >> (24 - 8 * i));
    }
    chunk = end + 4;
  }
  return bytes;
}

void CheckMask(Bytes png) {
  if (const std::optional<LabelImage> labels = Decode(png)) {
    CheckPart(png, *labels);
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  infeed::CheckMask(bytes);
  infeed::CheckMask(infeed::Mended(bytes));
  return 0;
}
