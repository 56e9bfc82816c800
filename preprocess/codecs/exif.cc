#include "preprocess/codecs/exif.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "preprocess/codecs/tiff_directory.h"
#include "preprocess/jpeg_entropy/scan.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kUpright = 1;
constexpr int kOrientationTag = 0x0112;
// Precedes the TIFF structure in a JPEG, and in some WebP files.
constexpr std::string_view kExif{"Exif\0\0", 6};

bool StartsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char expected, std::byte found) {
                      return static_cast<std::byte>(expected) == found;
                    });
}

int OrientationIn(Bytes tiff) {
  const std::vector<std::int64_t> values =
      TiffDirectory(tiff).Integers(kOrientationTag);
  return !values.empty() && values.front() >= 1 && values.front() <= 8
             ? static_cast<int>(values.front())
             : kUpright;
}

Bytes JpegExif(Bytes jpeg) {
  constexpr int kApp1 = 0xe1;
  JpegHeader header(jpeg);
  while (const std::optional<JpegMarker> marker = header.Next()) {
    if (marker->code == kApp1 && StartsWith(marker->data, kExif)) {
      return marker->data;
    }
    if (marker->code == kStartOfScan) {
      break;
    }
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
  const ByteFields fields(bytes, format.big_endian);
  std::size_t place = format.first;
  while (const auto found = fields.Find(place + format.length_at, 4)) {
    const auto length = static_cast<std::size_t>(*found);
    const std::size_t data = place + kHead;
    if (data > bytes.size() || length > bytes.size() - data) {
      break;
    }
    if (StartsWith(bytes.subspan(place + format.name_at), format.exif)) {
      return bytes.subspan(data, length);
    }
    place =
        data + RoundUp<std::size_t>(length, format.alignment) + format.checksum;
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
