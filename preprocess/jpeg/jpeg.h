#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "preprocess/pixels/image.h"

namespace infeed {

struct JpegSeekIndex;
class RowSink;

// Limits of a JPEG, checked before anything is allocated for it.
struct JpegLimits {
  std::int64_t max_pixels = 178956970;  // 2^29 / 3: half a gigabyte as RGB
  int max_scans = 100;                  // of a progressive image
  // Limit of libjpeg's own memory, for an image that it holds as a whole.
  std::int64_t max_memory_bytes = std::int64_t{1} << 30;

  friend bool operator==(const JpegLimits&, const JpegLimits&) = default;
};

// How libjpeg's warnings about scans, which mean damaged pixels, are handled.
// Warnings about the header (an unknown version, bytes between its segments)
// concern no pixel and are ignored.
enum class JpegWarnings {
  kErrors,     // a DataError
  kTolerated,  // the decode continues
};

// How a decode used the seek index passed to it.
enum class JpegIndexUse {
  kNone,  // none was passed, or the decode cannot use one
  kUsed,
  kRefused,  // it does not match this JPEG: decoded without it
};

// The contents of a JPEG's header.
struct JpegInfo {
  int width = 0;
  int height = 0;
  int components = 0;  // 1 gray, 3 colour, 4 CMYK or YCCK
  bool progressive = false;
};

// Decodes JPEGs to the RGB that libjpeg-turbo gives by default (accurate
// integer DCT, fancy upsampling): plain JPEGs by our own decoder, with the same
// pixels, all others by libjpeg-turbo, which also makes all error messages.
// Gray becomes RGB; CMYK and YCCK, with and without Adobe's marker, are
// converted to RGB as TensorFlow's decoder does (docs/formats.md).
//
// A result never depends on earlier images. The bytes are not copied: they must
// stay unchanged from ReadHeader() to the end of the decode that follows. One
// thread at a time. Throws DataError with libjpeg's message for damaged bytes,
// including its warnings unless they are tolerated, and for an image over a
// limit; the decoder is usable after that.
class JpegDecoder {
 public:
  // Throws UsageError for a limit below 1.
  explicit JpegDecoder(const JpegLimits& limits = {},
                       JpegWarnings warnings = JpegWarnings::kErrors);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  JpegDecoder(JpegDecoder&&) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) noexcept;

  // Begins an image.
  [[nodiscard]] JpegInfo ReadHeader(std::span<const std::byte> bytes);

  // Decodes the image whose header was read last. Requires: ReadHeader()
  // returned, and no decode since.
  void Decode(RgbImage& image);

  // Decodes one window of the image, with exactly the pixels of a crop of the
  // whole decode, but with less work: rows below the window are never read.
  // Requires: as Decode(), and the window lies inside the image.
  void DecodeWindow(const Window& window, RgbImage& image);
  // index: places at which decoding can start; may be null; affects only speed.
  void DecodeWindow(const Window& window, RowSink& sink,
                    const JpegSeekIndex* index = nullptr);

  // Decodes a window of the image at 1 / denominator of its size, sides rounded
  // up: a crop of libjpeg's scaled decode. found: may be null; if the decode
  // reads rows of MCUs that the index does not cover, it becomes the index
  // extended by them, else it is left without entries. Requires: denominator is
  // 1, 2, 4 or 8, the window lies inside the image at that size, and found is
  // not index.
  void DecodeScaledWindow(int denominator, const Window& window, RowSink& sink,
                          const JpegSeekIndex* index = nullptr,
                          JpegSeekIndex* found = nullptr);

  // Decodes the image at eighths / 8 of its size, sides rounded up, by
  // libjpeg's scaled inverse DCT: a fraction of the work of a full decode.
  // Requires: as Decode(), and eighths is in 1..8.
  void DecodeScaled(int eighths, RgbImage& image);

  // Extends a partial index of a JPEG to all its rows, by decoding the rest of
  // the scan; false, and index unspecified, if that cannot be. Not between
  // ReadHeader() and its decode. Requires: at least one row is covered.
  [[nodiscard]] bool CompleteIndex(std::span<const std::byte> bytes,
                                   JpegSeekIndex& index);

  // About the last decode: whether our own decoder (plain.h) did it, else
  // libjpeg-turbo; and how it used the index.
  [[nodiscard]] bool was_plain() const;
  [[nodiscard]] JpegIndexUse index_use() const;

  // The first warning about the last image; empty: none.
  // Requires: warnings are tolerated.
  [[nodiscard]] const std::string& warning() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct JpegEncodeOptions {
  int quality = 100;      // 1..100
  bool subsample = true;  // 4:2:0, else 4:4:4
  bool progressive = false;
};

// Returns the image as a JPEG with standard Huffman tables (a progressive one
// has its own) at 300 dots per inch. Throws UsageError for an invalid quality,
// DataError for an image with a side of more than 65,500 pixels.
[[nodiscard]] std::string EncodeJpeg(const RgbView& image,
                                     const JpegEncodeOptions& options = {});

}  // namespace infeed
