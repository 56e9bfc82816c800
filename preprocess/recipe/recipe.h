#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/random.h"
#include "preprocess/augment/augment.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/geometry.h"
#include "preprocess/recipe/interpolation.h"
#include "preprocess/recipe/options.h"
#include "preprocess/recipe/pair.h"
#include "preprocess/resize/sink.h"

namespace infeed {

// Returns the boxes of a record as x1, y1, x2, y2 in pixels of an image of that
// size. Throws DataError.
using BoxSource = std::function<std::span<const float>(const ImageSize&)>;

// Work and result of Preprocessor::Fill() for one image.
struct FillCounts {
  // Pixels of the requested window, at the decoded size.
  std::int64_t decoded_pixels = 0;
  // An estimate of the other decoded pixels: OutsidePixels(); for a PNG, the
  // rest of the image.
  std::int64_t outside_pixels = 0;
  std::chrono::steady_clock::duration decode{};  // excludes the times below
  // For a window that is not resized here: the time of packing it.
  std::chrono::steady_clock::duration resize{};
  std::chrono::steady_clock::duration augment{};
  JpegIndexUse index_use = JpegIndexUse::kNone;
  // Rows of MCUs of a JPEG that can have a seek index, and how many of them the
  // index passed in, or the one found, covers; 0 and 0: of another image.
  int index_rows = 0;
  int covered_rows = 0;
  int found_rows = 0;  // of the covered ones, those that this decode found
  std::string warning = {};  // libjpeg's first tolerated warning
  // As planned: scaled_decode may move pixels by half of its denominator.
  Geometry geometry;
  // A hash of how the pixels were made of the encoded image: its length,
  // geometry, resize, augmentation; and of them, if PixelUse says so. Not 0.
  std::uint64_t made = 0;

  // Adds the pixels, times and hash of another image, and takes its warning if
  // it has none.
  void Add(const FillCounts& other);
  // Adds HashPixels() of what was made to the hash.
  void AddPixels(std::uint64_t hash);
};

// Whether the sample is mirrored: in training, where images may be mirrored, as
// drawn from its flip stream; in an evaluation of ten crops the last five.
[[nodiscard]] bool IsFlipped(const PreprocessOptions& options, bool training,
                             const SampleKey& key);

// FillCounts::made of packed pixels of that size, neither moved nor augmented.
[[nodiscard]] std::uint64_t HashOfPacked(const ImageSize& size,
                                         bool is_mirrored);

// Turns one encoded image (JPEG, or PNG and others through OpenCV, detected by
// content) into packed pixels in one pass: the decoder's rows are resized,
// flipped and packed directly into the destination while they are in cache. The
// result depends on (bytes, options, training, key) alone; the object only
// keeps buffers. One thread at a time: each worker has its own.
class Preprocessor {
 public:
  // training=false: nothing is random. Throws UsageError for a size or a limit
  // below 1, or crops or augmentation out of range. The bytes are the same for
  // any use.
  Preprocessor(const PreprocessOptions& options, bool training,
               PixelUse use = {});
  // Uses another resize than the recipe's, for measurements.
  Preprocessor(const PreprocessOptions& options, bool training,
               Resizers resizers, PixelUse use = {});

  // Chooses the window (crop stream of key), decodes it and fills destination,
  // [height, width], mirrored as drawn from key's flip stream, and augmented
  // with its augmentation stream. seek_index: SerializeSeekIndex()'s bytes of
  // this JPEG, or none; any bytes are safe and affect only speed and index_use.
  // found: may be null; receives the index extended by what the decode read
  // beyond it, as such bytes; empty if that was nothing. boxes: called once, in
  // training with iou_crop; absent: none. followed: may be null; an output of
  // which this one shows the same part: its framing is taken, or a window is
  // drawn for its source, and scaled to this image. Throws DataError, also
  // where that is not exact: the image is cropped, and its sides are not those
  // of the other one times a whole number; destination is then unspecified, and
  // the preprocessor stays usable. Requires: destination.size() ==
  // image_size.pixels(), and IsExactPair() of what gives its framing.
  FillCounts Fill(std::span<const std::byte> encoded, const SampleKey& key,
                  std::span<std::uint32_t> destination,
                  std::span<const std::byte> seek_index = {},
                  std::string* found = nullptr, const BoxSource& boxes = {},
                  const FollowedOutput* followed = nullptr);

  // Completes the seek index that Fill(encoded, ...) found or was passed, by
  // reading the rest of the JPEG; returns it as Fill() does, empty if it was
  // complete or cannot be completed. Requires: that Fill() returned, and was
  // the last call.
  [[nodiscard]] std::string CompleteIndex(std::span<const std::byte> encoded);

  // Fill() for an already packed image, height * width little-endian uint32:
  // copies it into destination, then flips, moves (kCifar) and augments it as
  // Fill() does. Throws DataError unless the image has image_size, and if it
  // follows a part of one. on_piece is called with all of packed, in order,
  // piece by piece, each just before it is copied. Requires: destination.size()
  // == image_size.pixels().
  FillCounts CopyPacked(
      std::span<const std::byte> packed, std::int64_t height,
      std::int64_t width, const SampleKey& key,
      std::span<std::uint32_t> destination,
      const std::function<void(std::span<const std::byte>)>& on_piece = {},
      const FollowedOutput* followed = nullptr);

 private:
  // A sample, the kernel of its resize, its destination, its boxes, and the
  // output that it follows.
  struct Target;
  [[nodiscard]] Framing ChooseFraming(const ImageSize& source, int components,
                                      const Target& target) const;
  [[nodiscard]] Framing DrawFraming(const ImageSize& source, int components,
                                    const Target& target) const;
  [[nodiscard]] DecodePlan Plan(const Framing& framing, ResizeKernel kernel,
                                bool is_scaled) const;

  // Returns the sample's resize, aimed at the target.
  RowSink& Aim(const DecodePlan& plan, bool is_mirrored, const Target& target);

  // Decode the framing into the target and return the counts without the times.
  FillCounts DecodeJpeg(std::span<const std::byte> encoded,
                        std::span<const std::byte> seek_index,
                        const Target& target, std::string* found);
  FillCounts DecodeOther(std::span<const std::byte> encoded,
                         const Target& target);

  // Returns the geometry of a framing, but for Finish().
  [[nodiscard]] Geometry Describe(const Framing& framing,
                                  const ImageSize& source,
                                  const SampleKey& key) const;
  // The steps of a training recipe that follow the resize; adds them to the
  // geometry.
  void Finish(const Target& target, Geometry& geometry) const;
  // Throws DataError if packed pixels would have to be cut.
  void CheckShowsAll(const Target& target) const;
  [[nodiscard]] bool IsMoved() const {
    return training_ && options_.recipe == Recipe::kCifar;
  }
  [[nodiscard]] bool IsAugmented() const {
    return training_ && options_.augment.is_any_on();
  }
  // Completes counts.made, which is a hash of the resize; 0: there was none.
  void HashResult(FillCounts& counts) const;
  // Adds the finished image's pixels to it; resize: how they were made, if not
  // copied. Counts as resize.
  void HashPixelsOf(std::span<const std::uint32_t> pixels,
                    const ResizeSink* resize, FillCounts& counts) const;
  [[nodiscard]] bool IsReadAgain() const {
    return use_.read || IsMoved() || IsAugmented();
  }
  // Returns the time it took, 0 if augmentation is off.
  std::chrono::steady_clock::duration Augment(const SampleKey& key,
                                              std::span<std::uint32_t> pixels);

  PreprocessOptions options_;
  bool training_;
  Interpolation interpolation_;  // UsedInterpolation()'s
  PixelUse use_;
  JpegDecoder decoder_;
  JpegSeekIndex index_;
  JpegSeekIndex found_;
  JpegSeekIndex* known_ = nullptr;  // of the last image: the better of the two
  RgbImage image_;                  // a whole image, if not a JPEG
  Resizers resizers_;
  Augmenter augmenter_;
};

}  // namespace infeed
