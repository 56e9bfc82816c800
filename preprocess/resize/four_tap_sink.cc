#include "preprocess/resize/four_tap_sink.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/rounding.h"
#include "preprocess/resize/groups.h"

namespace infeed {
namespace {

constexpr int kRows = 4;  // kept between the passes

}  // namespace

FourTapSink::FourTapSink(ResizeKernel kernel, int size)
    : ResizeSink(size), kernel_(kernel), axis_(kernel, 1, 1) {
  constexpr std::size_t kUnit = kGroupPixels * kGroups;
  rows_.resize(CeilDiv(static_cast<std::size_t>(size), kUnit) * kGroups);
}

void FourTapSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  ResizeSink::Begin(width, height);
  columns_.Set(kernel_, used_.horizontal, size_, flip_);
  band_.SetWidth(width, kResizeRowSlack);
  axis_ = FourTapAxis(kernel_, used_.vertical.in_size, used_.vertical.out_size);
  taps_ = NextTaps(axis_);
  busy_ += Clock::now() - start;
}

void FourTapSink::Filled() {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < band_.rows(); ++i, ++in_y_) {
    Take(band_.row(i));
  }
  busy_ += Clock::now() - start;
}

// Skips rows that no destination row uses.
void FourTapSink::Take(std::uint8_t* row) {
  if (out_y_ == size_ || in_y_ < taps_.first) {
    return;
  }
  std::uint8_t* const end = row + width_ * kPixelBytes;
  std::memcpy(row - kPixelBytes, row, kPixelBytes);
  std::memcpy(end, end - kPixelBytes, kPixelBytes);
  std::memcpy(end + kPixelBytes, end - kPixelBytes, kPixelBytes);
  BlendColumns(row, columns_, in_y_ % kRows, rows_.data());
  while (out_y_ < size_ && std::min(taps_.first + 3, height_ - 1) <= in_y_) {
    WriteRow();
    if (++out_y_ < size_) {
      taps_ = NextTaps(axis_);
    } else {
      FinishPixels();
    }
  }
}

void FourTapSink::WriteRow() {
  // A row's slot follows from its number. An edge row that replaces rows beyond
  // the edge has the sum of their weights.
  std::array<std::int16_t, kRows> weights{};
  for (int i = 0; i < kRows; ++i) {
    std::int16_t& weight =
        weights[std::clamp(taps_.first + i, 0, height_ - 1) % kRows];
    weight = static_cast<std::int16_t>(weight + taps_.weight[i]);
  }
  BlendRows(rows_.data(), weights, size_,
            destination_.data() + std::ptrdiff_t{out_y_} * size_);
}

}  // namespace infeed
