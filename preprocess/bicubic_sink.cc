#include "preprocess/bicubic_sink.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::ptrdiff_t kPixel = 3;
// In front of a row, for the copy of its first pixel: keeps rows aligned.
constexpr std::ptrdiff_t kMargin = 64;
constexpr std::ptrdiff_t kGroupPixels = 4;
// BlendRows() takes this many groups at once.
constexpr std::ptrdiff_t kGroups = 4;
constexpr int kRows = 4;  // between the passes

constexpr std::ptrdiff_t RoundUp(std::ptrdiff_t value, std::ptrdiff_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

BicubicSink::BicubicSink(int size) : size_(size) {
  Check(size > 0, "an image has pixels");
  rows_.resize(static_cast<std::size_t>(RoundUp(size, kGroupPixels * kGroups) /
                                        kGroupPixels));
}

void BicubicSink::Aim(std::span<std::uint32_t> destination, bool flip) {
  Check(std::ssize(destination) == std::ptrdiff_t{size_} * size_,
        "the destination is a square of the given size");
  destination_ = destination;
  flip_ = flip;
  busy_ = {};
  out_y_ = 0;
}

void BicubicSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  width_ = width;
  height_ = height;
  columns_.Set(width, size_, flip_);
  stride_ = RoundUp(kMargin + width * kPixel + kResizeRowSlack, kMargin);
  in_y_ = 0;
  out_y_ = 0;
  axis_ = BicubicAxis(height_, size_);
  taps_ = axis_.At(0);
  busy_ += Clock::now() - start;
}

RgbRows BicubicSink::Next(int rows) {
  band_rows_ = rows;
  const auto bytes = static_cast<std::size_t>(rows * stride_);
  if (band_.size() < bytes) {
    band_.resize(bytes);
  }
  return {band_.data() + kMargin, stride_};
}

void BicubicSink::Filled() {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < band_rows_; ++i, ++in_y_) {
    Take(band_.data() + kMargin + i * stride_);
  }
  busy_ += Clock::now() - start;
}

// Passes over the rows that no row of the destination is made of.
void BicubicSink::Take(std::uint8_t* row) {
  if (out_y_ == size_ || in_y_ < taps_.first) {
    return;
  }
  std::uint8_t* const end = row + width_ * kPixel;
  std::memcpy(row - kPixel, row, kPixel);
  std::memcpy(end, end - kPixel, kPixel);
  std::memcpy(end + kPixel, end - kPixel, kPixel);
  BlendColumns(row, columns_, in_y_ % kRows, rows_.data());
  while (out_y_ < size_ && std::min(taps_.first + 3, height_ - 1) <= in_y_) {
    WriteRow(taps_);
    if (++out_y_ < size_) {
      taps_ = axis_.At(out_y_);
    } else {
      FinishPixels();
    }
  }
}

void BicubicSink::WriteRow(const BicubicTaps& taps) {
  // Rows lie where their number says; one that stands in for rows beyond the
  // edge has the sum of their weights.
  std::array<std::int16_t, kRows> weights{};
  for (int i = 0; i < kRows; ++i) {
    std::int16_t& weight =
        weights[std::clamp(taps.first + i, 0, height_ - 1) % kRows];
    weight = static_cast<std::int16_t>(weight + taps.weight[i]);
  }
  BlendRows(rows_.data(), weights, size_,
            destination_.data() + std::ptrdiff_t{out_y_} * size_);
}

}  // namespace infeed
