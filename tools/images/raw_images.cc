#include "tools/images/raw_images.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {
namespace {

// The offsets of a pixel's three values, and the distances to the next pixels.
struct Steps {
  std::int64_t right = 0;
  std::int64_t down = 0;
  std::int64_t channel = 0;
};

Steps StepsOf(const RawPart& part) {
  const std::int64_t plane = std::int64_t{part.width} * part.height;
  switch (part.layout) {
    case PixelLayout::kGray:
      return {.right = 1, .down = part.width, .channel = 0};
    case PixelLayout::kPlanes:
      return {.right = 1, .down = part.width, .channel = plane};
    case PixelLayout::kColumnwisePlanes:
      return {.right = part.height, .down = 1, .channel = plane};
  }
  return {};
}

void Spread(const std::vector<std::byte>& pixels, const RawPart& part,
            RgbImage& image) {
  const Steps steps = StepsOf(part);
  image.Resize(part.width, part.height);
  for (int y = 0; y < part.height; ++y) {
    std::uint8_t* destination = image.row(y);
    const std::byte* source = pixels.data() + y * steps.down;
    for (int x = 0; x < part.width; ++x, source += steps.right) {
      for (int c = 0; c < 3; ++c) {
        *destination++ =
            std::to_integer<std::uint8_t>(source[c * steps.channel]);
      }
    }
  }
}

}  // namespace

RawImages::RawImages(std::vector<RawPart> parts) : parts_(std::move(parts)) {
  std::int64_t end = 0;
  for (const RawPart& part : parts_) {
    end += part.count;
    ends_.push_back(end);
  }
}

RawImages::Place RawImages::PlaceOf(const ImageFile& file) const {
  Check(file.raw_index >= 0 && file.raw_index < size(), "there is this image");
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), file.raw_index);
  const RawPart& part = parts_[static_cast<std::size_t>(end - ends_.begin())];
  const std::int64_t number = file.raw_index - (*end - part.count);
  return {part, part.first + number * part.stride};
}

void RawImages::WillRead(const ImageFile& file) const {
  const auto [part, offset] = PlaceOf(file);
  part.bytes->WillRead(offset, part.image_bytes());
}

std::int64_t RawImages::VersionOf(const ImageFile& file) const {
  return PlaceOf(file).part.version;
}

void RawImages::Read(const ImageFile& file, RgbImage& image) const {
  const auto [part, offset] = PlaceOf(file);
  std::vector<std::byte> pixels(static_cast<std::size_t>(part.image_bytes()));
  if (part.bytes->ReadAt(offset, pixels) != pixels.size()) {
    throw IoError(part.bytes->path() +
                  ": became shorter while it was read (is it being written?)");
  }
  Spread(pixels, part, image);
}

namespace {

constexpr int kUnsignedBytes = 8;
constexpr std::int64_t kMaxIdxBytes = std::int64_t{1} << 40;
// The highest compression ratio of gzip.
constexpr std::int64_t kMaxRatio = 1032;
constexpr std::int64_t kMaxUnpackedBytes = std::int64_t{4} << 30;
constexpr std::size_t kUnpackStep = std::size_t{1} << 20;

std::int64_t BigEndian(std::span<const std::byte> bytes) {
  std::int64_t value = 0;
  for (const std::byte byte : bytes) {
    value = value << 8 | std::to_integer<int>(byte);
  }
  return value;
}

// Fills destination as far as there are bytes; returns how many.
std::size_t ReadFully(ByteStream& stream, std::span<std::byte> destination) {
  std::size_t filled = 0;
  while (filled < destination.size()) {
    const std::size_t got = stream.Read(destination.subspan(filled));
    if (got == 0) {
      break;
    }
    filled += got;
  }
  return filled;
}

std::vector<std::int64_t> ReadHeader(ByteStream& stream, int dimensions,
                                     std::vector<std::byte>& header) {
  header.resize(4 + static_cast<std::size_t>(dimensions) * 4);
  if (ReadFully(stream, header) != header.size() ||
      BigEndian(std::span(header).first(4)) !=
          (kUnsignedBytes << 8 | dimensions)) {
    throw DataError("not an IDX file of bytes with " +
                    std::to_string(dimensions) + " dimensions");
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t place = 4; place < header.size(); place += 4) {
    sizes.push_back(BigEndian(std::span(header).subspan(place, 4)));
  }
  return sizes;
}

// "60000x28x28"
std::string SizesText(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += (text.empty() ? "" : "x") + std::to_string(size);
  }
  return text;
}

std::int64_t ValueBytes(const std::vector<std::int64_t>& sizes) {
  std::int64_t bytes = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0 || size > kMaxIdxBytes / bytes) {
      throw DataError("its header says " + SizesText(sizes) +
                      " values, which is invalid");
    }
    bytes *= size;
  }
  return bytes;
}

[[noreturn]] void FailSize(const std::vector<std::int64_t>& sizes,
                           std::int64_t expected, const std::string& found) {
  throw DataError("its header says " + SizesText(sizes) + " values, " +
                  std::to_string(expected) + " bytes in all, but it has " +
                  found);
}

// Decompresses the bytes after the header.
std::string Unpack(ByteStream& stream, const std::vector<std::byte>& header,
                   const std::vector<std::int64_t>& sizes,
                   std::int64_t expected, std::int64_t packed_bytes) {
  if (expected / kMaxRatio > packed_bytes) {
    FailSize(sizes, expected, std::to_string(packed_bytes) + " packed ones");
  }
  if (expected > kMaxUnpackedBytes) {
    throw DataError("it has " + std::to_string(expected) +
                    " bytes unpacked, too many for memory: unpack it first");
  }
  std::string bytes(AsChars(header));
  // Grows step by step: memory is allocated only when there are bytes for it.
  const auto end = static_cast<std::size_t>(expected);
  while (bytes.size() < end) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + std::min(kUnpackStep, end - filled));
    const std::size_t got = ReadFully(
        stream, std::as_writable_bytes(std::span(bytes)).subspan(filled));
    if (filled + got < bytes.size()) {
      FailSize(sizes, expected, std::to_string(filled + got));
    }
  }
  std::byte more{};
  if (stream.Read({&more, 1}) > 0) {
    FailSize(sizes, expected, "more");
  }
  return bytes;
}

IdxFile Open(std::shared_ptr<const ByteSource> source, int dimensions) {
  const std::unique_ptr<ByteStream> stream = OpenStream(*source);
  std::vector<std::byte> header;
  IdxFile file;
  file.sizes = ReadHeader(*stream, dimensions, header);
  file.first = std::ssize(header);
  const std::int64_t expected = file.first + ValueBytes(file.sizes);
  if (stream->compression() != Compression::kNone) {
    file.bytes = std::make_shared<MemorySource>(
        source->path(),
        Unpack(*stream, header, file.sizes, expected, source->size()));
    return file;
  }
  if (source->size() != expected) {
    FailSize(file.sizes, expected, std::to_string(source->size()));
  }
  file.bytes = std::move(source);
  return file;
}

}  // namespace

IdxFile OpenIdx(std::shared_ptr<const ByteSource> source, int dimensions) {
  const std::string path = source->path();
  return InFile(path, [&] { return Open(std::move(source), dimensions); });
}

}  // namespace infeed
