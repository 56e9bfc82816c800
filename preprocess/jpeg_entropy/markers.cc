#include "preprocess/jpeg_entropy/markers.h"

namespace infeed {
namespace {

constexpr std::byte kPrefix{0xFF};
constexpr std::byte kStartOfImage{0xD8};

// TEM, the restarts, the start and the end of an image (ITU-T T.81, B.1.1.3).
bool HasSegment(int code) {
  return code > 0x01 && (code < 0xD0 || code > 0xD9);
}

}  // namespace

JpegHeader::JpegHeader(std::span<const std::byte> jpeg)
    : jpeg_(jpeg), position_(2) {
  if (jpeg.size() < 2 || jpeg[0] != kPrefix || jpeg[1] != kStartOfImage) {
    position_ = jpeg.size();
  }
}

std::optional<JpegMarker> JpegHeader::Next() {
  const int code = NextCode();
  if (!HasSegment(code) || jpeg_.size() - position_ < 2) {
    return std::nullopt;
  }
  const auto length = std::to_integer<std::size_t>(jpeg_[position_]) << 8 |
                      std::to_integer<std::size_t>(jpeg_[position_ + 1]);
  if (length < 2 || jpeg_.size() - position_ < length) {
    return std::nullopt;
  }
  const JpegMarker marker = {.code = code,
                             .data = jpeg_.subspan(position_ + 2, length - 2)};
  position_ += length;
  return marker;
}

// Moves behind the next marker and returns its code; 0: there is none. A zero
// byte behind the prefix makes it no marker.
int JpegHeader::NextCode() {
  std::byte before{};
  while (position_ < jpeg_.size()) {
    const std::byte next = jpeg_[position_++];
    if (before == kPrefix && next != kPrefix && next != std::byte{0}) {
      return std::to_integer<int>(next);
    }
    before = next;
  }
  return 0;
}

}  // namespace infeed
