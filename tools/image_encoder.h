#pragma once

#include <string>

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
  std::string bytes;
  int width = 0;
  int height = 0;
  std::string reencoded;  // why it is not the file's bytes; empty: it is
};

// Turns the bytes of an image file into the JPEG of its record: a gray or
// colour JPEG stays as it is, byte for byte; a CMYK one and every other format
// become an RGB JPEG of quality 100. Formats are told by content, never by the
// file's name.
//
// One thread at a time. Throws DataError for an image that cannot be decoded;
// the encoder is usable after that.
class ImageEncoder {
 public:
  explicit ImageEncoder(const ImageEncoderOptions& options = {});

  [[nodiscard]] EncodedImage Encode(std::string file);

 private:
  [[nodiscard]] EncodedImage Reencode(std::string why);

  ImageEncoderOptions options_;
  JpegDecoder decoder_;
  RgbImage image_;
};

}  // namespace infeed
