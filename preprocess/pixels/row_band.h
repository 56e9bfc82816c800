#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preprocess/pixels/row_sink.h"

namespace infeed {

// Memory into which a decoder writes a band of rows for a sink. Rows are
// aligned, with room before each for a copy of a pixel and behind it for
// vectors that read beyond the end. Its memory is reused. One thread at a time.
class RowBand {
 public:
  static constexpr std::ptrdiff_t kMargin = 64;  // in front of a row

  // slack: bytes that may be read behind a row's last pixel.
  void SetWidth(int width, std::ptrdiff_t slack) {
    stride_ = (kMargin + width * std::ptrdiff_t{3} + slack + kMargin - 1) /
              kMargin * kMargin;
  }

  // Makes room for `rows` rows; earlier rows become invalid.
  [[nodiscard]] RgbRows Take(int rows) {
    rows_ = rows;
    const auto bytes = static_cast<std::size_t>(rows * stride_);
    if (bytes_.size() < bytes) {
      bytes_.resize(bytes);
    }
    return {bytes_.data() + kMargin, stride_};
  }

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] std::uint8_t* row(int y) {
    return bytes_.data() + kMargin + y * stride_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::ptrdiff_t stride_ = 0;
  int rows_ = 0;
};

}  // namespace infeed
