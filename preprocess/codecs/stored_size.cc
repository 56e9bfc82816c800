#include "preprocess/codecs/stored_size.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace infeed {
namespace {

constexpr std::string_view kCodestreamStart = "\xff\x4f\xff\x51";
constexpr std::string_view kPnmBlanks = " \t\n\v\f\r";

// Reads integers at any place; what lies beyond the end reads as 0, which no
// format accepts as a size.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  [[nodiscard]] std::int64_t At(std::size_t place, std::size_t count) const {
    if (place > bytes_.size() || count > bytes_.size() - place) {
      return 0;
    }
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t next = big_endian_ ? i : count - 1 - i;
      value = value << 8 | std::to_integer<int>(bytes_[place + next]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

bool HasAt(std::span<const std::byte> bytes, std::size_t place,
           std::string_view text) {
  return place <= bytes.size() && text.size() <= bytes.size() - place &&
         std::equal(text.begin(), text.end(), bytes.begin() + place,
                    [](char expected, std::byte found) {
                      return static_cast<std::byte>(expected) == found;
                    });
}

StoredSize PngSize(std::span<const std::byte> bytes) {
  const Fields fields(bytes, true);
  return {fields.At(16, 4), fields.At(20, 4)};
}

// The oldest header has 16-bit sizes; in the others a negative height means
// rows from top to bottom.
StoredSize BmpSize(std::span<const std::byte> bytes) {
  const Fields fields(bytes, false);
  if (fields.At(14, 4) == 12) {
    return {fields.At(18, 2), fields.At(20, 2)};
  }
  const auto height = static_cast<std::int32_t>(fields.At(22, 4));
  return {fields.At(18, 4), std::abs(std::int64_t{height})};
}

// Lossy, lossless and extended files have the size in different places.
StoredSize WebpSize(std::span<const std::byte> bytes) {
  const Fields fields(bytes, false);
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

// The size is in two entries (tags 256 and 257) of the first directory, as 16-
// or 32-bit values.
StoredSize TiffSize(std::span<const std::byte> bytes, bool big_endian) {
  const Fields fields(bytes, big_endian);
  const auto directory = static_cast<std::size_t>(fields.At(4, 4));
  const std::size_t entries = std::min(
      static_cast<std::size_t>(fields.At(directory, 2)), bytes.size() / 12);
  StoredSize size;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * 12;
    const std::int64_t tag = fields.At(entry, 2);
    const bool is_short = fields.At(entry + 2, 2) == 3;
    const std::int64_t value = fields.At(entry + 8, is_short ? 2 : 4);
    if (tag == 256) {
      size.width = std::max(size.width, value);
    } else if (tag == 257) {
      size.height = std::max(size.height, value);
    }
  }
  return size;
}

// A codestream's first segment has the image's far and near corners.
StoredSize CodestreamSize(std::span<const std::byte> bytes, std::size_t place) {
  const Fields fields(bytes, true);
  if (!HasAt(bytes, place, kCodestreamStart) || bytes.size() - place < 24) {
    return {};
  }
  return {fields.At(place + 8, 4) - fields.At(place + 16, 4),
          fields.At(place + 12, 4) - fields.At(place + 20, 4)};
}

// A chain of boxes. The image header has the displayed size, the codestream the
// size that a decoder allocates for; returns the larger one.
StoredSize Jp2Size(std::span<const std::byte> bytes) {
  const Fields fields(bytes, true);
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

// Reads a number of a PNM header, which blanks and comments may precede, from
// `place` on. 0 if there is no number that fits 32 bits.
std::int64_t PnmNumber(std::string_view text, std::size_t& place) {
  const auto is_line_end = [](char c) { return c == '\n' || c == '\r'; };
  bool in_comment = false;
  while (place < text.size() &&
         (in_comment || kPnmBlanks.find(text[place]) != text.npos ||
          text[place] == '#')) {
    in_comment =
        (in_comment || text[place] == '#') && !is_line_end(text[place]);
    ++place;
  }
  std::int64_t value = 0;
  for (; place < text.size() && text[place] >= '0' && text[place] <= '9';
       ++place) {
    value = value * 10 + (text[place] - '0');
    if (value > std::numeric_limits<std::int32_t>::max()) {
      return 0;
    }
  }
  return value;
}

StoredSize PnmSize(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  std::size_t place = 2;
  StoredSize size;
  size.width = PnmNumber(text, place);
  size.height = PnmNumber(text, place);
  // Bitmaps have no largest value. OpenCV would print that it cannot read one.
  constexpr std::int64_t kMostValue = 65535;
  const bool has_bits = text[1] == '1' || text[1] == '4';
  const std::int64_t value = has_bits ? 1 : PnmNumber(text, place);
  return 0 < value && value <= kMostValue ? size : StoredSize{};
}

bool IsPnm(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && HasAt(bytes, 0, "P") &&
         bytes[1] >= std::byte{'1'} && bytes[1] <= std::byte{'6'};
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
  if (HasAt(bytes, 0, "II*\0"sv)) {
    return TiffSize(bytes, false);
  }
  if (HasAt(bytes, 0, "MM\0*"sv)) {
    return TiffSize(bytes, true);
  }
  if (HasAt(bytes, 4, "jP  \r\n\x87\n")) {
    return Jp2Size(bytes);
  }
  if (HasAt(bytes, 0, kCodestreamStart)) {
    return CodestreamSize(bytes, 0);
  }
  return IsPnm(bytes) ? PnmSize(bytes) : StoredSize{};
}

}  // namespace

std::optional<StoredSize> ReadStoredSize(std::span<const std::byte> bytes) {
  const StoredSize size = SizeOfFormat(bytes);
  if (size.width <= 0 || size.height <= 0) {
    return std::nullopt;
  }
  return size;
}

}  // namespace infeed
