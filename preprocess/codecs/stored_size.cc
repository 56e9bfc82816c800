#include "preprocess/codecs/stored_size.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/pnm_codec.h"
#include "preprocess/codecs/tiff_directory.h"

namespace infeed {
namespace {

constexpr std::string_view kCodestreamStart = "\xff\x4f\xff\x51";

bool HasAt(std::span<const std::byte> bytes, std::size_t place,
           std::string_view text) {
  return place <= bytes.size() && text.size() <= bytes.size() - place &&
         std::equal(text.begin(), text.end(), bytes.begin() + place,
                    [](char expected, std::byte found) {
                      return static_cast<std::byte>(expected) == found;
                    });
}

StoredSize PngSize(std::span<const std::byte> bytes) {
  const ByteFields fields(bytes, true);
  return {fields.At(16, 4), fields.At(20, 4)};
}

// The oldest header has 16-bit sizes; in the others a negative height means
// rows from top to bottom.
StoredSize BmpSize(std::span<const std::byte> bytes) {
  const ByteFields fields(bytes, false);
  if (fields.At(14, 4) == 12) {
    return {fields.At(18, 2), fields.At(20, 2)};
  }
  const auto height = static_cast<std::int32_t>(fields.At(22, 4));
  return {fields.At(18, 4), std::abs(std::int64_t{height})};
}

// Lossy, lossless and extended files have the size in different places.
StoredSize WebpSize(std::span<const std::byte> bytes) {
  const ByteFields fields(bytes, false);
  if (HasAt(bytes, 12, "VP8 ")) {
    return {fields.At(26, 2) & 0x3FFF, fields.At(28, 2) & 0x3FFF};
  }
  if (HasAt(bytes, 12, "VP8L") && bytes.size() >= 25) {
    const std::int64_t bits = fields.At(21, 4);
    return {(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1};
  }
  if (HasAt(bytes, 12, "VP8X") && bytes.size() >= 30) {
    return {fields.At(24, 3) + 1, fields.At(27, 3) + 1};
  }
  return {};
}

// A decoder may take either of two entries of a tag.
StoredSize TiffSize(std::span<const std::byte> bytes) {
  const TiffDirectory directory(bytes);
  const auto largest = [&](int tag) {
    const std::vector<std::int64_t> values = directory.Integers(tag);
    return values.empty() ? 0 : *std::ranges::max_element(values);
  };
  return {largest(256), largest(257)};
}

// A codestream's first segment has the image's far and near corners.
StoredSize CodestreamSize(std::span<const std::byte> bytes, std::size_t place) {
  const ByteFields fields(bytes, true);
  if (!HasAt(bytes, place, kCodestreamStart) || bytes.size() - place < 24) {
    return {};
  }
  return {fields.At(place + 8, 4) - fields.At(place + 16, 4),
          fields.At(place + 12, 4) - fields.At(place + 20, 4)};
}

// A chain of boxes. The image header has the displayed size, the codestream the
// size that a decoder allocates for; returns the larger one.
StoredSize Jp2Size(std::span<const std::byte> bytes) {
  const ByteFields fields(bytes, true);
  StoredSize shown;
  for (std::size_t box = 0; box < bytes.size();) {
    const bool is_long = fields.At(box, 4) == 1;
    const std::size_t header = is_long ? 16 : 8;
    const std::size_t content = box + header;
    const std::int64_t length =
        is_long ? fields.At(box + 8, 8) : fields.At(box, 4);
    if (HasAt(bytes, box + 4, "jp2c")) {
      const StoredSize real = CodestreamSize(bytes, content);
      return real.width <= 0 || real.height <= 0
                 ? StoredSize{}
                 : StoredSize{std::max(shown.width, real.width),
                              std::max(shown.height, real.height)};
    }
    if (HasAt(bytes, box + 4, "jp2h") && HasAt(bytes, content + 4, "ihdr")) {
      shown = {fields.At(content + 12, 4), fields.At(content + 8, 4)};
    }
    if (length < static_cast<std::int64_t>(header) ||
        length > static_cast<std::int64_t>(bytes.size())) {
      break;
    }
    box += static_cast<std::size_t>(length);
  }
  return {};
}

StoredSize SizeOfFormat(std::span<const std::byte> bytes) {
  using std::string_view_literals::operator""sv;
  if (HasAt(bytes, 0, "\x89PNG\r\n\x1a\n") && HasAt(bytes, 12, "IHDR")) {
    return PngSize(bytes);
  }
  if (HasAt(bytes, 0, "BM")) {
    return BmpSize(bytes);
  }
  if (HasAt(bytes, 0, "RIFF") && HasAt(bytes, 8, "WEBP")) {
    return WebpSize(bytes);
  }
  if (HasAt(bytes, 0, "II*\0"sv) || HasAt(bytes, 0, "MM\0*"sv)) {
    return TiffSize(bytes);
  }
  if (HasAt(bytes, 4, "jP  \r\n\x87\n")) {
    return Jp2Size(bytes);
  }
  if (HasAt(bytes, 0, kCodestreamStart)) {
    return CodestreamSize(bytes, 0);
  }
  const std::optional<PnmHeader> pnm = ReadPnmHeader(bytes);
  return pnm ? StoredSize{pnm->width, pnm->height} : StoredSize{};
}

}  // namespace

std::string WidthAndHeight(const StoredSize& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::optional<StoredSize> ReadStoredSize(std::span<const std::byte> bytes) {
  const StoredSize size = SizeOfFormat(bytes);
  if (size.width <= 0 || size.height <= 0) {
    return std::nullopt;
  }
  return size;
}

void CheckPixelLimit(const StoredSize& size, std::int64_t max_pixels,
                     std::string_view name) {
  // Divides, as the product of 32-bit sizes may need 64 bits.
  if (size.width > max_pixels / size.height) {
    throw DataError(std::string(name) + " of " + WidthAndHeight(size) +
                    " pixels is over the limit of " +
                    std::to_string(max_pixels));
  }
}

}  // namespace infeed
