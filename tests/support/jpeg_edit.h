#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

// Surgery on JPEGs, for tests.
namespace infeed {

[[nodiscard]] inline int ByteAt(std::string_view jpeg, std::size_t at) {
  return static_cast<unsigned char>(jpeg[at]);
}

// Bytes from numbers: Bytes(0xFF, 0xD9).
template <typename... Values>
[[nodiscard]] std::string BytesOf(Values... values) {
  return {static_cast<char>(values)...};
}

// The length of a segment, its marker included. Requires: it has a length.
[[nodiscard]] inline std::size_t SegmentSize(std::string_view jpeg,
                                             std::size_t at) {
  return 2U + static_cast<std::size_t>(ByteAt(jpeg, at + 2) << 8 |
                                       ByteAt(jpeg, at + 3));
}

// The offset of the first segment with this marker, up to the first scan's.
// Requires: there is one.
[[nodiscard]] inline std::size_t SegmentAt(std::string_view jpeg, int marker) {
  std::size_t at = 2;
  while (ByteAt(jpeg, at + 1) != marker) {
    Check(ByteAt(jpeg, at + 1) != 0xDA, "the JPEG has the segment");
    at += SegmentSize(jpeg, at);
  }
  return at;
}

// The offset of the first scan's first coded byte.
[[nodiscard]] inline std::size_t CodedAt(std::string_view jpeg) {
  const std::size_t scan = SegmentAt(jpeg, 0xDA);
  return scan + SegmentSize(jpeg, scan);
}

// The segment itself.
[[nodiscard]] inline std::string SegmentOf(std::string_view jpeg, int marker) {
  const std::size_t at = SegmentAt(jpeg, marker);
  return std::string(jpeg.substr(at, SegmentSize(jpeg, at)));
}

[[nodiscard]] inline std::string Inserted(std::string jpeg, std::size_t at,
                                          std::string_view bytes) {
  return jpeg.insert(at, bytes);
}

// Without the first segment with this marker.
[[nodiscard]] inline std::string Without(std::string jpeg, int marker) {
  const std::size_t at = SegmentAt(jpeg, marker);
  return jpeg.erase(at, SegmentSize(jpeg, at));
}

// With another byte in the first segment with this marker; its marker is at 0,
// its length at 2.
[[nodiscard]] inline std::string WithByte(std::string jpeg, int marker,
                                          std::size_t place, int value) {
  jpeg[SegmentAt(jpeg, marker) + place] = static_cast<char>(value);
  return jpeg;
}

}  // namespace infeed
