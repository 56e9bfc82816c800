#include "preprocess/resize/sink.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "preprocess/resize/antialias.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"

namespace infeed {
namespace {

// The ResizeSink of the antialiased kernels. Rows come in pairs, 2n and 2n + 1:
// a pair is resized to the output's width when both rows have arrived, and
// waits in a ring of pairs that is large enough for an output row's taps. Owns
// that ring. One thread at a time.
class AntialiasSink final : public ResizeSink {
 public:
  // Requires: IsAntialiased(kernel), and both sides > 0.
  AntialiasSink(ResizeKernel kernel, const ImageSize& size);

  void Begin(int width, int height) override;
  void Filled() override;

 private:
  // Processes a pair of rows, and writes the output rows that this completes.
  // If the image ends with the upper row, the lower row is the upper row again.
  void TakePair(const std::uint8_t* upper, const std::uint8_t* lower);
  void NextTaps();
  void WriteRow();
  [[nodiscard]] RowPairGroup* RingPair(int pair);

  int groups_;  // in a row between the passes
  AntialiasColumns taps_of_columns_;
  // A band's last row, if it waits for its partner.
  std::vector<std::uint8_t> upper_;

  AntialiasAxis axis_;       // the vertical one
  AntialiasTaps taps_ = {};  // of the destination's next row
  int ring_pairs_ = 0;
  std::vector<RowPairGroup> ring_;
  std::vector<WeightedPair> weighted_;  // of one output row
};

AntialiasSink::AntialiasSink(ResizeKernel kernel, const ImageSize& size)
    : ResizeSink(size),
      groups_(CeilDiv(size.width, kUnitPixels) * kGroups),
      taps_of_columns_(kernel),
      axis_(kernel) {}

void AntialiasSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  ResizeSink::Begin(width, height);
  taps_of_columns_.Set(used_.horizontal, columns_.count, flip_);
  band_.SetRow(width * std::ptrdiff_t{kPixelBytes}, taps_of_columns_.slack());
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
    if (!is_complete()) {
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
  SumRows(weighted_, NextRow());
  RowIsWritten();
}

}  // namespace

ResizeSink::ResizeSink(const ImageSize& size) : size_(size) {
  Check(size.shorter() > 0, "an image has pixels");
}

void ResizeSink::Aim(std::span<std::uint32_t> destination, bool flip,
                     const std::optional<ResizeSides>& sides,
                     PixelStores stores) {
  Check(destination.size() == size_.pixels(),
        "the destination has the given size");
  destination_ = destination;
  flip_ = flip;
  sides_ = sides;
  stores_ = stores;
  rows_ = {.first = 0, .count = size_.height};
  columns_ = {.first = 0, .count = size_.width};
  if (sides) {
    rows_ = PlaceOfOutputs(sides->vertical, size_.height);
    columns_ = PlaceOfOutputs(sides->horizontal, size_.width);
    if (flip) {
      columns_.first = size_.width - columns_.count - columns_.first;
    }
  }
  const bool is_filled =
      rows_.count == size_.height && columns_.count == size_.width;
  if (!is_filled) {
    std::ranges::fill(destination, sides->fill);
  }
  hashes_rows_ =
      stores == PixelStores::kHashed && is_filled &&
      size_.width * sizeof(std::uint32_t) % PixelHash::kPartBytes == 0;
  busy_ = {};
  out_y_ = 0;
}

void ResizeSink::Begin(int width, int height) {
  width_ = width;
  height_ = height;
  used_ = sides_.value_or(
      ResizeSides{.vertical = {.in_size = height, .out_size = size_.height},
                  .horizontal = {.in_size = width, .out_size = size_.width}});
  in_y_ = 0;
  out_y_ = 0;
  if (hashes_rows_) {
    hash_ = PixelHash();
  }
}

PixelRow ResizeSink::NextRow() {
  const std::int64_t first =
      std::int64_t{rows_.first + out_y_} * size_.width + columns_.first;
  return {
      .pixels = destination_.subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(columns_.count)),
      .cached = stores_ != PixelStores::kPastCaches && !hashes_rows_,
      .hash = hashes_rows_ ? &hash_ : nullptr};
}

void ResizeSink::RowIsWritten() {
  ++out_y_;
  if (is_complete()) {
    FinishPixels();
  }
}

std::uint64_t ResizeSink::hash() const {
  Check(is_complete() && stores_ == PixelStores::kHashed,
        "a whole image was hashed");
  return hashes_rows_ ? hash_.hash() : HashPixels(std::as_bytes(destination_));
}

std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel,
                                           const ImageSize& size) {
  if (IsAntialiased(kernel)) {
    return std::make_unique<AntialiasSink>(kernel, size);
  }
  return std::make_unique<FourTapSink>(kernel, size);
}

FourTapSink::FourTapSink(ResizeKernel kernel, const ImageSize& size)
    : ResizeSink(size),
      kernel_(kernel),
      kept_(kernel == ResizeKernel::kBilinear ? 2 : 4) {
  kept_rows_.resize(CeilDiv<std::size_t>(size.width, kUnitPixels));
}

void FourTapSink::Begin(int width, int height) {
  const Clock::time_point start = Clock::now();
  ResizeSink::Begin(width, height);
  taps_of_columns_.Set(kernel_, used_.horizontal, columns_.count, flip_);
  band_.SetRow(width * std::ptrdiff_t{kPixelBytes}, 0);
  planes_.SetRow(width, kResizeRowSlack);
  const ResizeSide& side = used_.vertical;
  taps_of_rows_.resize(static_cast<std::size_t>(rows_.count));
  FourTapAxis(kernel_, side.in_size, side.out_size)
      .At(side.out_first, taps_of_rows_);
  for (FourTaps& taps : taps_of_rows_) {
    taps.first -= side.in_first;
  }
  busy_ += Clock::now() - start;
}

RgbRows FourTapSink::Next(int rows) {
  NextPlanes(rows);
  takes_apart_ = true;
  return ResizeSink::Next(rows);
}

std::optional<PlaneRows> FourTapSink::NextPlanes(int rows) {
  const RgbRows memory = planes_.Take(3 * rows);
  arriving_ = {.planes = {memory.row(0), memory.row(1), memory.row(2)},
               .stride = 3 * memory.stride};
  takes_apart_ = false;
  return arriving_;
}

void FourTapSink::Filled() {
  const Clock::time_point start = Clock::now();
  const int count = planes_.rows() / 3;
  for (int i = 0; i < count; ++i, ++in_y_) {
    // Rows that no destination row uses are skipped.
    if (is_complete() || in_y_ < NextSupport().first) {
      continue;
    }
    const PlanesRow row = arriving_.row(i);
    if (takes_apart_) {
      SplitRow(band_.row(i), width_, row);
    }
    Take(row);
  }
  busy_ += Clock::now() - start;
}

ResizeSpan FourTapSink::NextSupport() const {
  const FourTaps& taps = taps_of_rows_[static_cast<std::size_t>(out_y_)];
  // The outer two taps of a bilinear kernel are 0.
  return {.first = taps.first + (kTaps - kept_) / 2, .count = kept_};
}

void FourTapSink::Take(const PlanesRow& row) {
  for (std::uint8_t* const samples : row) {
    samples[-1] = samples[0];
    samples[width_] = samples[width_ + 1] = samples[width_ - 1];
  }
  BlendColumns(row, taps_of_columns_, in_y_ % kept_, kept_rows_.data());
  while (!is_complete()) {
    const auto [first, count] = NextSupport();
    if (std::min(first + count, height_) - 1 > in_y_) {
      break;
    }
    WriteRow();
  }
}

void FourTapSink::WriteRow() {
  // A row's slot follows from its number. An edge row that replaces rows beyond
  // the edge has the sum of their weights.
  const FourTaps& taps = taps_of_rows_[static_cast<std::size_t>(out_y_)];
  FourTapWeights weights{};
  for (int i = 0; i < kTaps; ++i) {
    std::int16_t& weight =
        weights[std::clamp(taps.first + i, 0, height_ - 1) % kept_];
    weight = static_cast<std::int16_t>(weight + taps.weight[i]);
  }
  BlendRows(kept_rows_.data(), weights, NextRow());
  RowIsWritten();
}

}  // namespace infeed
