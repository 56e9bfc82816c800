#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "preprocess/jpeg_entropy/scan.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/jpeg_pixels/window.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

// Decodes windows of plain JPEGs (preprocess/jpeg_entropy/scan.h) to exactly
// the pixels that libjpeg-turbo gives: its own entropy decoder, inverse DCT,
// upsampling and colour conversion, row of MCUs by row of MCUs, without a
// buffer of the image's size. It reports no errors: images that are not plain
// and regular are left to libjpeg-turbo.
//
// Keeps its memory from image to image. One thread at a time.
class PlainJpegDecoder {
 public:
  PlainJpegDecoder();
  ~PlainJpegDecoder();
  PlainJpegDecoder(const PlainJpegDecoder&) = delete;
  PlainJpegDecoder& operator=(const PlainJpegDecoder&) = delete;
  PlainJpegDecoder(PlainJpegDecoder&&) noexcept;
  PlainJpegDecoder& operator=(PlainJpegDecoder&&) noexcept;

  // Begins an image; the bytes must stay unchanged for its decodes. Returns
  // false if the image is not plain.
  [[nodiscard]] bool ReadHeader(std::span<const std::byte> bytes);

  // The scan of the image whose header was read last. Requires: ReadHeader()
  // returned true.
  [[nodiscard]] const JpegScan& scan() const;

  // Decodes a window of the image at 1 / denominator of its size, sides rounded
  // up; may be called repeatedly. Unless the result is kDone, the sink may have
  // received rows that are void. index and found may be null, and are as in
  // DecodePlainWindow(). Requires: as scan(), denominator is 1, 2, 4 or 8, and
  // the window lies inside the image at that size.
  [[nodiscard]] PlainResult DecodeWindow(int denominator, const Window& window,
                                         const JpegSeekIndex* index,
                                         RowSink& sink,
                                         JpegSeekIndex* found = nullptr);

  // MakeSeekIndex() of the image. Requires: as scan(), run >= 0.
  [[nodiscard]] std::optional<JpegSeekIndex> MakeIndex(int run);
  // Extends a partial index of the image to all its rows; false, and index
  // unspecified, if that cannot be. Requires: as scan(), and at least one row
  // is covered.
  [[nodiscard]] bool CompleteIndex(JpegSeekIndex& index);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infeed
