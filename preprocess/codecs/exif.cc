#include "preprocess/codecs/exif.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/rounding.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kUpright = 1;
constexpr int kOrientationTag = 0x0112;
constexpr int kShort = 3;  // the entry's type: 16 bits
constexpr std::size_t kEntryBytes = 12;
// Precedes the TIFF structure in a JPEG, and in some WebP files.
constexpr std::string_view kExif{"Exif\0\0", 6};

int ByteAt(Bytes bytes, std::size_t place) {
  return std::to_integer<int>(bytes[place]);
}

// Reads numbers at any place, never beyond the end.
class ExifFields {
 public:
  ExifFields(Bytes bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  [[nodiscard]] std::optional<std::uint32_t> At(std::size_t place,
                                                std::size_t count) const {
    if (place > bytes_.size() || count > bytes_.size() - place) {
      return std::nullopt;
    }
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t next = big_endian_ ? i : count - 1 - i;
      value =
          value << 8 | static_cast<std::uint32_t>(ByteAt(bytes_, place + next));
    }
    return value;
  }

 private:
  Bytes bytes_;
  bool big_endian_;
};

bool StartsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char expected, std::byte found) {
                      return static_cast<std::byte>(expected) == found;
                    });
}

// The orientation in the first directory of EXIF data, which is a TIFF
// structure.
int OrientationIn(Bytes tiff) {
  using std::string_view_literals::operator""sv;
  const bool big_endian = StartsWith(tiff, "MM\0*"sv);
  if (!big_endian && !StartsWith(tiff, "II*\0"sv)) {
    return kUpright;
  }
  const ExifFields fields(tiff, big_endian);
  const std::size_t directory = fields.At(4, 4).value_or(0);
  const std::size_t entries = fields.At(directory, 2).value_or(0);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    const std::optional<std::uint32_t> tag = fields.At(entry, 2);
    if (!tag) {
      return kUpright;  // The directory is cut short.
    }
    if (*tag == kOrientationTag) {
      const std::uint32_t value = fields.At(entry + 8, 2).value_or(0);
      return fields.At(entry + 2, 2) == kShort && value >= 1 && value <= 8
                 ? static_cast<int>(value)
                 : kUpright;
    }
  }
  return kUpright;
}

Bytes JpegExif(Bytes jpeg) {
  constexpr int kMarker = 0xff;
  constexpr int kApp1 = 0xe1;
  constexpr int kStartOfScan = 0xda;
  const ExifFields fields(jpeg, true);
  std::size_t place = 2;  // behind the start marker
  while (jpeg.size() >= 4 && place <= jpeg.size() - 4 &&
         ByteAt(jpeg, place) == kMarker) {
    const int code = ByteAt(jpeg, place + 1);
    if (code == kMarker) {  // Fill bytes before a marker.
      ++place;
      continue;
    }
    const std::size_t length = fields.At(place + 2, 2).value_or(0);
    if (code == kStartOfScan || length < 2 ||
        length > jpeg.size() - place - 2) {
      break;
    }
    const Bytes segment = jpeg.subspan(place + 4, length - 2);
    if (code == kApp1 && StartsWith(segment, kExif)) {
      return segment;
    }
    place += 2 + length;
  }
  return {};
}

// The layout of a file format made of named chunks with lengths.
struct ChunkFormat {
  std::size_t first;      // where the first chunk begins
  bool big_endian;        // of the lengths
  std::size_t length_at;  // within a chunk's eight bytes of head
  std::size_t name_at;    // likewise
  std::size_t checksum;   // bytes behind a chunk's data
  std::size_t alignment;  // of the data's length
  std::string_view exif;  // the name of the chunk with the EXIF data
};
constexpr ChunkFormat kPng = {8, true, 0, 4, 4, 1, "eXIf"};
constexpr ChunkFormat kWebp = {12, false, 4, 0, 0, 2, "EXIF"};

Bytes ChunkExif(Bytes bytes, const ChunkFormat& format) {
  constexpr std::size_t kHead = 8;
  const ExifFields fields(bytes, format.big_endian);
  std::size_t place = format.first;
  while (const auto length = fields.At(place + format.length_at, 4)) {
    const std::size_t data = place + kHead;
    if (data > bytes.size() || *length > bytes.size() - data) {
      break;
    }
    if (StartsWith(bytes.subspan(place + format.name_at), format.exif)) {
      return bytes.subspan(data, *length);
    }
    place = data + RoundUp<std::size_t>(*length, format.alignment) +
            format.checksum;
  }
  return {};
}

Bytes FindExif(Bytes image) {
  if (StartsWith(image, "\x89PNG\r\n\x1a\n")) {
    return ChunkExif(image, kPng);
  }
  if (StartsWith(image, "RIFF")) {
    return ChunkExif(image, kWebp);
  }
  return JpegExif(image);
}

}  // namespace

int ReadExifOrientation(std::span<const std::byte> image) {
  const Bytes exif = FindExif(image);
  return OrientationIn(StartsWith(exif, kExif) ? exif.subspan(kExif.size())
                                               : exif);
}

void TurnUpright(const RgbView& source, int orientation, RgbImage& image) {
  Check(orientation >= 1 && orientation <= 8, "there are eight orientations");
  const bool transposed = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation >= 7;
  const bool from_bottom = orientation == 3 || orientation == 4 ||
                           orientation == 6 || orientation == 7;
  image.Resize(transposed ? source.height : source.width,
               transposed ? source.width : source.height);
  for (int y = 0; y < image.height(); ++y) {
    std::uint8_t* to = image.row(y);
    for (int x = 0; x < image.width(); ++x, to += 3) {
      const int column = transposed ? y : x;
      const int row = transposed ? x : y;
      const std::uint8_t* const from =
          source.row(from_bottom ? source.height - 1 - row : row) +
          std::ptrdiff_t{3} * (from_right ? source.width - 1 - column : column);
      std::copy_n(from, 3, to);
    }
  }
}

}  // namespace infeed
