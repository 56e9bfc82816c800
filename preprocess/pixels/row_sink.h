#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "preprocess/pixels/image.h"

namespace infeed {

// Memory for rows of R G B bytes, stride bytes apart.
struct RgbRows {
  std::uint8_t* pixels = nullptr;
  std::ptrdiff_t stride = 0;

  [[nodiscard]] std::uint8_t* row(int y) const { return pixels + y * stride; }
};

// The samples of a row: its red, its green and its blue ones.
using PlanesRow = std::array<std::uint8_t*, 3>;

// Memory for rows in planes, stride bytes apart.
struct PlaneRows {
  // Vectors may be written whole: so many bytes behind a row have no meaning.
  static constexpr std::ptrdiff_t kSlack = 63;

  PlanesRow planes{};
  std::ptrdiff_t stride = 0;

  [[nodiscard]] PlanesRow row(int y) const {
    return {planes[0] + y * stride, planes[1] + y * stride,
            planes[2] + y * stride};
  }
};

// Receives the rows of a window from a decoder, top to bottom, a band of rows
// at a time, while they are in cache. The decoder calls Begin(), then Next()
// and Filled() alternately until all rows are written. It may call Begin()
// again at any time to start over, which makes the rows so far invalid.
class RowSink {
 public:
  static constexpr int kMaxRows = 32;  // largest band

  virtual ~RowSink() = default;

  // Requires: both > 0.
  virtual void Begin(int width, int height) = 0;

  // Returns memory for the next `rows` rows, 1..kMaxRows, of exactly 3 * width
  // bytes each. Valid until Filled().
  virtual RgbRows Next(int rows) = 0;

  // As Next(), for a decoder that has rows in planes: memory for them, of width
  // bytes each and kSlack; none if the sink takes R G B bytes only.
  virtual std::optional<PlaneRows> NextPlanes(int /*rows*/) {
    return std::nullopt;
  }

  // Called when the rows of the last Next() or NextPlanes() are written.
  virtual void Filled() = 0;
};

// Writes the rows into an image, which must outlive the sink.
class ImageSink final : public RowSink {
 public:
  explicit ImageSink(RgbImage& image) : image_(image) {}

  void Begin(int width, int height) override {
    image_.Resize(width, height);
    next_ = 0;
  }
  RgbRows Next(int rows) override {
    const int first = next_;
    next_ += rows;
    return {image_.row(first), std::ptrdiff_t{3} * image_.width()};
  }
  void Filled() override {}

 private:
  RgbImage& image_;
  int next_ = 0;
};

// Writes a whole image into a sink, as a decoder does, `band` rows at a time.
inline void PutImage(const RgbView& image, RowSink& sink,
                     int band = RowSink::kMaxRows) {
  sink.Begin(image.width, image.height);
  for (int y = 0; y < image.height; y += band) {
    const int count = std::min(band, image.height - y);
    const RgbRows rows = sink.Next(count);
    for (int i = 0; i < count; ++i) {
      std::memcpy(rows.row(i), image.row(y + i), std::size_t{3} * image.width);
    }
    sink.Filled();
  }
}

// Memory into which a decoder writes a band of rows for a sink. Rows are
// aligned, with room before each for a copy of a pixel and behind it for
// vectors that read beyond the end. Its memory is reused. One thread at a time.
class RowBand {
 public:
  static constexpr std::ptrdiff_t kMargin = 64;  // in front of a row

  // slack: bytes that may be read or written behind a row's last byte.
  void SetRow(std::ptrdiff_t bytes, std::ptrdiff_t slack) {
    stride_ = (kMargin + bytes + slack + kMargin - 1) / kMargin * kMargin;
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
