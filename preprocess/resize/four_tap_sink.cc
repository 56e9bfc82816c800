#include "preprocess/resize/four_tap_sink.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/rounding.h"
#include "preprocess/resize/groups.h"

namespace infeed {
namespace {

constexpr int kRows = 4;  // kept between the passes

}  // namespace

FourTapSink::FourTapSink(ResizeKernel kernel, const ImageSize& size)
    : ResizeSink(size), kernel_(kernel) {
  constexpr std::size_t kUnit = kGroupPixels * kGroups;
  kept_rows_.resize(CeilDiv(static_cast<std::size_t>(size.width), kUnit) *
                    kGroups);
}

void FourTapSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  ResizeSink::Begin(width, height);
  taps_of_columns_.Set(kernel_, used_.horizontal, columns_.count, flip_);
  band_.SetWidth(width, kResizeRowSlack);
  const ResizeSide& side = used_.vertical;
  taps_of_rows_.resize(static_cast<std::size_t>(rows_.count));
  FourTapAxis(kernel_, side.in_size, side.out_size)
      .At(side.out_first, taps_of_rows_);
  for (FourTaps& taps : taps_of_rows_) {
    taps.first -= side.in_first;
  }
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
  if (is_complete() || in_y_ < next_taps().first) {
    return;
  }
  std::uint8_t* const end = row + width_ * kPixelBytes;
  std::memcpy(row - kPixelBytes, row, kPixelBytes);
  std::memcpy(end, end - kPixelBytes, kPixelBytes);
  std::memcpy(end + kPixelBytes, end - kPixelBytes, kPixelBytes);
  BlendColumns(row, taps_of_columns_, in_y_ % kRows, kept_rows_.data());
  while (!is_complete() &&
         std::min(next_taps().first + 3, height_ - 1) <= in_y_) {
    WriteRow();
    ++out_y_;
    if (is_complete()) {
      FinishPixels();
    }
  }
}

void FourTapSink::WriteRow() {
  // A row's slot follows from its number. An edge row that replaces rows beyond
  // the edge has the sum of their weights.
  const FourTaps& taps = next_taps();
  std::array<std::int16_t, kRows> weights{};
  for (int i = 0; i < kRows; ++i) {
    std::int16_t& weight =
        weights[std::clamp(taps.first + i, 0, height_ - 1) % kRows];
    weight = static_cast<std::int16_t>(weight + taps.weight[i]);
  }
  BlendRows(kept_rows_.data(), weights, columns_.count, next_row());
}

}  // namespace infeed
