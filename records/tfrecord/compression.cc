#include "records/tfrecord/compression.h"

#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// RFC 1950: deflate with a window of at most 32 KiB, and a check that makes the
// first two bytes a multiple of 31.
bool IsZlib(std::span<const std::byte> start) {
  const auto first = std::to_integer<unsigned>(start[0]);
  const auto second = std::to_integer<unsigned>(start[1]);
  return (first & 0x0F) == 8 && first >> 4 <= 7 &&
         (first << 8 | second) % 31 == 0;
}

// RFC 1952: magic and deflate.
bool IsGzip(std::span<const std::byte> start) {
  return start[0] == std::byte{0x1F} && start[1] == std::byte{0x8B};
}

}  // namespace

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZlib:
      return "zlib";
  }
  return "";
}

Compression DetectCompression(std::span<const std::byte> start) {
  if (start.size() < 2 || HasFrameHeader(start)) {
    return Compression::kNone;
  }
  return IsGzip(start)   ? Compression::kGzip
         : IsZlib(start) ? Compression::kZlib
                         : Compression::kNone;
}

}  // namespace infeed
