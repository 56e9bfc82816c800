#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "preprocess/image.h"
#include "preprocess/jpeg.h"

namespace infeed {

struct ImageEncoderOptions {
  // Whether JPEGs that are stored as they are get decoded once, to find the
  // broken ones; otherwise only their header is read.
  bool verify = true;
  JpegLimits limits = {};
};

// The JPEG that stands in a record for an image file.
struct EncodedImage {
  std::string_view jpeg;
  int width = 0;
  int height = 0;
  bool reencoded = false;
};

// Turns the bytes of an image file into the JPEG of its record: a gray or
// colour JPEG stays as it is, byte for byte; a CMYK one and every other format
// become an RGB JPEG of quality 100. Formats are told by content, never by the
// file's name.
//
// What it returns is a view of the bytes given or of the encoder's own buffer,
// valid until the next call and while those bytes are. One thread at a time.
// Throws DataError for an image that cannot be decoded; the encoder is usable
// after that.
class ImageEncoder {
 public:
  explicit ImageEncoder(const ImageEncoderOptions& options = {});

  [[nodiscard]] EncodedImage Encode(std::span<const std::byte> file);

 private:
  [[nodiscard]] EncodedImage Reencode();

  ImageEncoderOptions options_;
  JpegDecoder decoder_;
  RgbImage image_;
  std::string buffer_;
};

}  // namespace infeed
