#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace infeed {

// Reads the bytes of one segment, behind its length field, in order. Reading
// past the end gives zeros and sets ok() to false.
class JpegSegment {
 public:
  explicit JpegSegment(std::span<const std::byte> bytes) : bytes_(bytes) {}

  int Byte() {
    if (bytes_.empty()) {
      ok_ = false;
      return 0;
    }
    const int value = std::to_integer<int>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return value;
  }
  int Two() {
    const int high = Byte();
    return high << 8 | Byte();
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }
  // Whether all bytes were read, and none beyond the end.
  [[nodiscard]] bool consumed() const { return ok_ && bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool StartsWith(std::string_view text) const {
    return bytes_.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes_.begin(),
                      [](char a, std::byte b) {
                        return static_cast<std::byte>(a) == b;
                      });
  }
  [[nodiscard]] int At(std::size_t i) const {
    return std::to_integer<int>(bytes_[i]);
  }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace infeed
