#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/rounding.h"
#include "preprocess/jpeg_entropy/window_plan.h"

namespace infeed {

// Memory in whole cache lines that grows and never shrinks. Its contents are
// unspecified after Grow().
template <typename T>
class AlignedBuffer {
 public:
  void Grow(std::size_t count) {
    if (count > count_) {
      const std::size_t bytes = RoundUp<std::size_t>(count * sizeof(T), kLine);
      data_.reset(static_cast<T*>(std::aligned_alloc(kLine, bytes)));
      count_ = data_ == nullptr ? 0 : count;
      if (data_ == nullptr) {
        throw std::bad_alloc();
      }
    }
  }
  [[nodiscard]] T* data() { return data_.get(); }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

// The samples of one component in two rows of MCUs, the current and the
// previous one, in alternating places. Rows have room for copies of their edges
// and for vectors that extend beyond them.
struct SamplePlane {
  static constexpr int kMargin = 64;

  AlignedBuffer<std::uint8_t> samples;
  std::ptrdiff_t stride = 0;
  int first = 0;  // column of the first sample
  int rows = 0;

  // Returns the address of a sample in one of the last two rows of MCUs.
  [[nodiscard]] std::uint8_t* At(int y, int x) {
    return samples.data() + (y % rows) * stride + kMargin + (x - first);
  }
};

// Memory of the places of a scan that are decoded together (ScanAhead).
struct AheadScratch {
  static constexpr std::size_t kLaneBlocks = 1152;  // room for one place

  AlignedBuffer<std::int16_t> coefficients;
  AlignedBuffer<std::uint64_t> block_ends;
  AlignedBuffer<std::uint8_t> ends;
};

// Working memory of a plain decode, kept from image to image: some rows of
// MCUs, never an image.
struct PlainScratch {
  WindowPlan plan;
  AlignedBuffer<std::uint8_t> coded;         // un-stuffed bytes of the scan
  AlignedBuffer<std::int16_t> coefficients;  // of some rows of MCUs
  AlignedBuffer<std::uint8_t> ends;
  AheadScratch ahead;
  std::array<SamplePlane, 3> planes;
  std::array<AlignedBuffer<std::uint8_t>, 2> chroma;  // one row at full width
  std::array<std::array<std::int16_t, 64>, 3> quantisers{};  // as stored
};

}  // namespace infeed
