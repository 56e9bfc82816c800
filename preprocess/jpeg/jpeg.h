#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/row_sink.h"

namespace infeed {

// What a JPEG may ask for; checked before anything is allocated for it.
struct JpegLimits {
  std::int64_t max_pixels = 178956970;  // 2^29 / 3: half a gigabyte as RGB
  int max_scans = 100;                  // of a progressive image
  // Of an image that is decoded as a whole: libjpeg's own memory.
  std::int64_t max_memory_bytes = std::int64_t{1} << 30;
};

// What libjpeg's warnings are: they mean damaged data.
enum class JpegWarnings {
  kErrors,     // a DataError
  kTolerated,  // the decode goes on with what there is
};

// What became of a seek index that a decode was given.
enum class JpegIndexUse {
  kNone,  // there was none, or nothing could use it
  kUsed,
  kRefused,  // it is not of this JPEG: decoded without it
};

// What a JPEG's header says.
struct JpegInfo {
  int width = 0;
  int height = 0;
  int components = 0;  // 1 gray, 3 colour, 4 CMYK or YCCK
  bool progressive = false;
};

// Decodes JPEGs to the RGB that libjpeg-turbo gives by default (accurate
// integer DCT, fancy upsampling): plain ones by a decoder of our own, whose
// pixels are the same, the others by libjpeg-turbo, whose errors are all there
// are. Gray becomes RGB; CMYK and YCCK, with and without Adobe's
// marker, become RGB as TensorFlow's decoder makes them (docs/formats.md).
//
// An image never depends on the one before. Copies of the bytes are not taken:
// they must stay as they are from ReadHeader() to the end of the decode that
// follows. One thread at a time. Throws DataError with
// libjpeg's message for broken bytes, its warnings included unless they are
// tolerated, and for an image over a limit; the decoder is usable after that.
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

  // Decodes one window of it: exactly the pixels that a crop of the whole
  // decode would have. Less is decoded than that: rows below are never read.
  // Requires: as Decode(), and the window lies inside the image.
  void DecodeWindow(const Window& window, RgbImage& image);
  // index: where the scan can be entered; may be null, and makes no difference
  // but speed.
  void DecodeWindow(const Window& window, RowSink& sink,
                    const JpegSeekIndex* index = nullptr);

  // The same of the image at 1 / denominator of its size, sides rounded up: the
  // crop of libjpeg's scaled decode. Requires: denominator is 1, 2, 4 or 8, and
  // the window lies inside the image at that size.
  void DecodeScaledWindow(int denominator, const Window& window, RowSink& sink,
                          const JpegSeekIndex* index = nullptr);

  // Decodes the image to eighths / 8 of its size, sides rounded up, in the
  // domain of the DCT: a fraction of the work of a whole decode. Requires: as
  // Decode(), and eighths is in 1..8.
  void DecodeScaled(int eighths, RgbImage& image);

  // About the last decode: whether it was this project's own (plain.h),
  // else libjpeg-turbo's; and what became of the index.
  [[nodiscard]] bool was_plain() const;
  [[nodiscard]] JpegIndexUse index_use() const;

  // The first warning about the last image, its header included; empty: none.
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
// has its own) at 300 dots an inch. Throws UsageError for a quality that there
// is not, DataError for an image of more than 65,500 pixels a side.
[[nodiscard]] std::string EncodeJpeg(const RgbView& image,
                                     const JpegEncodeOptions& options = {});

}  // namespace infeed
