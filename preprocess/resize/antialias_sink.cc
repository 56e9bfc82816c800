#include "preprocess/resize/antialias_sink.h"

#include <cstddef>
#include <cstring>

#include "base/rounding.h"
#include "preprocess/resize/groups.h"
#include "preprocess/resize/kernels.h"

namespace infeed {

AntialiasSink::AntialiasSink(ResizeKernel kernel, const ImageSize& size)
    : ResizeSink(size),
      groups_(CeilDiv(size.width, kGroupPixels * kGroups) * kGroups),
      taps_of_columns_(kernel),
      axis_(kernel) {}

void AntialiasSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  ResizeSink::Begin(width, height);
  taps_of_columns_.Set(used_.horizontal, columns_.count, flip_);
  band_.SetWidth(width, taps_of_columns_.slack());
  upper_.resize(static_cast<std::size_t>(width) * kPixelBytes +
                static_cast<std::size_t>(taps_of_columns_.slack()));
  axis_.Set(used_.vertical.in_size, used_.vertical.out_size);
  // Taps that begin with a pair's lower row need one more pair.
  ring_pairs_ = axis_.max_taps() / 2 + 1;
  const std::size_t ring =
      static_cast<std::size_t>(ring_pairs_) * static_cast<std::size_t>(groups_);
  if (ring_.size() < ring) {
    ring_.resize(ring);
  }
  NextTaps();
  busy_ += Clock::now() - start;
}

void AntialiasSink::Filled() {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < band_.rows(); ++i, ++in_y_) {
    const std::uint8_t* const row = band_.row(i);
    if (in_y_ % 2 == 1) {
      TakePair(i == 0 ? upper_.data() : band_.row(i - 1), row);
    } else if (in_y_ == height_ - 1) {
      TakePair(row, row);
    } else if (i == band_.rows() - 1) {
      std::memcpy(upper_.data(), row,
                  static_cast<std::size_t>(width_) * kPixelBytes);
    }
  }
  busy_ += Clock::now() - start;
}

void AntialiasSink::TakePair(const std::uint8_t* upper,
                             const std::uint8_t* lower) {
  if (is_complete()) {
    return;
  }
  BlendTaps(upper, lower, taps_of_columns_, RingPair(in_y_ / 2));
  while (!is_complete() &&
         taps_.first + static_cast<int>(taps_.weights.size()) <= in_y_ + 1) {
    WriteRow();
    ++out_y_;
    if (is_complete()) {
      FinishPixels();
    } else {
      NextTaps();
    }
  }
}

RowPairGroup* AntialiasSink::RingPair(int pair) {
  return ring_.data() + std::ptrdiff_t{pair % ring_pairs_} * groups_;
}

void AntialiasSink::NextTaps() {
  taps_ = axis_.At(used_.vertical.out_first + out_y_);
  taps_.first -= used_.vertical.in_first;
}

void AntialiasSink::WriteRow() {
  const int end = taps_.first + static_cast<int>(taps_.weights.size());
  const auto weight = [&](int row) {
    return row < taps_.first || row >= end ? 0
                                           : taps_.weights[row - taps_.first];
  };
  weighted_.clear();
  for (int pair = taps_.first / 2; 2 * pair < end; ++pair) {
    const std::int32_t upper = weight(2 * pair);
    const std::int32_t lower = weight(2 * pair + 1);
    weighted_.push_back({.rows = RingPair(pair),
                         .high = {HighPart(upper), HighPart(lower)},
                         .low = {LowPart(upper), LowPart(lower)}});
  }
  SumRows(weighted_, columns_.count, next_row());
}

}  // namespace infeed
