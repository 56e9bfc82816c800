#include "tools/inspect/payload_check.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxSide = 65536;

// The bytes of image/packed.
std::optional<std::string_view> FindPacked(std::span<const std::byte> payload) {
  for (const ExampleFeature& feature : ListFeatures(payload)) {
    const auto* values =
        std::get_if<std::vector<std::string_view>>(&feature.values);
    if (feature.key == "image/packed" && values != nullptr &&
        values->size() == 1) {
      return values->front();
    }
  }
  return std::nullopt;
}

// The packed pixels of a record; their number matches its size.
struct PackedPixels {
  std::string_view bytes;
  int width = 0;
  int height = 0;
};

std::optional<PackedPixels> CheckedPixels(std::span<const std::byte> payload) {
  const std::optional<std::string_view> packed = FindPacked(payload);
  if (!packed) {
    return std::nullopt;
  }
  const ImagenetExampleView example = ParseImagenetExample(payload);
  const bool possible = example.width > 0 && example.width <= kMaxSide &&
                        example.height > 0 && example.height <= kMaxSide;
  if (!possible || packed->size() != static_cast<std::size_t>(
                                         example.width * example.height * 4)) {
    throw DataError("image/packed holds " + std::to_string(packed->size()) +
                    " bytes, not 4 for each pixel of " +
                    std::to_string(example.width) + "x" +
                    std::to_string(example.height));
  }
  return PackedPixels{*packed, static_cast<int>(example.width),
                      static_cast<int>(example.height)};
}

}  // namespace

bool HoldsPixels(std::span<const std::byte> payload) {
  return CheckedPixels(payload).has_value();
}

std::optional<RgbImage> UnpackRecord(std::span<const std::byte> payload) {
  const std::optional<PackedPixels> packed = CheckedPixels(payload);
  if (!packed) {
    return std::nullopt;
  }
  RgbImage image;
  image.Resize(packed->width, packed->height);
  // Little-endian R << 24 | G << 16 | B << 8.
  for (std::size_t i = 0; i < packed->bytes.size() / 4; ++i) {
    for (const std::size_t channel : {0, 1, 2}) {
      image.pixels()[i * 3 + channel] =
          static_cast<std::uint8_t>(packed->bytes[i * 4 + 3 - channel]);
    }
  }
  return image;
}

}  // namespace infeed
