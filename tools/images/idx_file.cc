#include "tools/images/idx_file.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {
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

// Reads the dimensions' sizes from a header.
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

// The number of bytes of the values.
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
  std::string bytes(reinterpret_cast<const char*>(header.data()),
                    header.size());
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
  try {
    return Open(std::move(source), dimensions);
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

}  // namespace infeed
