#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pixel_hash.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/resize/columns.h"
#include "preprocess/resize/kernels.h"
#include "preprocess/resize/resize.h"
#include "preprocess/resize/side.h"

namespace infeed {

// How pixels are written: past the caches, which leaves these to the decoder;
// into them, for a caller that reads the pixels next; or as the first, but
// hashed on the way.
enum class PixelStores { kPastCaches, kInCaches, kHashed };

// Resizes an image to packed pixels as its rows arrive, with vector code and
// without holding the image in memory; gives exactly the bytes of Resize() with
// the same kernel (resize.h). Its memory is reused from image to image. Derived
// classes implement the kernels. One thread at a time.
class ResizeSink : public RowSink {
 public:
  // The size of the destinations. Requires: both sides > 0.
  explicit ResizeSink(const ImageSize& size);

  // Sets the destination of the next image, row by row, which must stay valid
  // until the image's last row is written; mirrored left to right if flip is
  // set. Without sides, it shows the whole image that arrives. With sides, it
  // shows the outputs of the resize that they describe, and the arriving image
  // must have exactly the samples of SupportOf() for them; if they are fewer
  // than the destination's pixels, the rest has the sides' fill. Requires:
  // destination.size() == size.pixels().
  void Aim(std::span<std::uint32_t> destination, bool flip,
           const std::optional<ResizeSides>& sides = std::nullopt,
           PixelStores stores = PixelStores::kPastCaches);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override { return band_.Take(rows); }

  // Whether all pixels are written, as after the image's last row.
  [[nodiscard]] bool is_complete() const { return out_y_ == rows_.count; }

  // HashPixels() of the destination. Requires: it is complete, and was aimed at
  // with kHashed.
  [[nodiscard]] std::uint64_t hash() const;

  // Time spent on this image.
  [[nodiscard]] std::chrono::steady_clock::duration busy() const {
    return busy_;
  }

 protected:
  using Clock = std::chrono::steady_clock;

  // Where to write the destination's next row that shows the image, until
  // RowIsWritten().
  [[nodiscard]] PixelRow NextRow();
  void RowIsWritten();

  ImageSize size_;
  std::span<std::uint32_t> destination_;
  bool flip_ = false;
  std::optional<ResizeSides> sides_;               // given to Aim()
  PixelStores stores_ = PixelStores::kPastCaches;  // the same
  Clock::duration busy_{};

  // The part of the destination that shows the image.
  ResizeSpan rows_;
  ResizeSpan columns_;
  int width_ = 0;
  int height_ = 0;
  ResizeSides used_;  // sides_, or the whole image's
  RowBand band_;      // Begin() of the derived class sets its width
  int in_y_ = 0;      // the image's next row
  int out_y_ = 0;     // the next of rows_

 private:
  PixelHash hash_;
  bool hashes_rows_ = false;  // hash_ takes them one by one
};

// Returns the sink of a kernel. Requires: both sides > 0.
[[nodiscard]] std::unique_ptr<ResizeSink> MakeResizeSink(ResizeKernel kernel,
                                                         const ImageSize& size);

// The ResizeSink of the four-tap kernels: bicubic, and bilinear, two of whose
// weights are 0. Owns the four rows between the passes. One thread at a time.
class FourTapSink final : public ResizeSink {
 public:
  // Requires: kernel has four taps, both sides > 0.
  FourTapSink(ResizeKernel kernel, const ImageSize& size);

  void Begin(int width, int height) override;
  RgbRows Next(int rows) override;
  std::optional<PlaneRows> NextPlanes(int rows) override;
  void Filled() override;

 private:
  // Rows of the image that the destination's next row shows; the first may be
  // -1, the last beyond the image. Requires: it is not complete.
  [[nodiscard]] ResizeSpan NextSupport() const;
  void Take(const PlanesRow& row);
  void WriteRow();

  ResizeKernel kernel_;
  ResizeColumns taps_of_columns_;
  std::vector<FourTaps> taps_of_rows_;  // first in the image that arrives
  int kept_;  // rows between the passes: as many as a kernel has taps
  std::vector<RowsGroup> kept_rows_;
  RowBand planes_;            // three rows of it are one of the image
  PlaneRows arriving_;        // in planes_
  bool takes_apart_ = false;  // they arrive as R G B bytes
};

}  // namespace infeed
