#pragma once

#include <string>
#include <string_view>

#include "preprocess/codecs/image_size.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "tools/images/tree.h"

namespace infeed {

// What a record holds of an image.
enum class RecordFormat {
  kJpeg,    // an encoded image: nearly always a JPEG
  kPixels,  // pixels as batches hold them
};

struct ImageEncoderOptions {
  // Whether JPEGs that are stored as they are get decoded once, to find the
  // broken ones; otherwise only their header is read.
  bool verify = true;
  // Whether a damaged JPEG becomes a new one of what can still be decoded of
  // it; otherwise it is an error. Needs verify.
  bool mend = false;
  RecordFormat format = RecordFormat::kJpeg;
  // A larger image is shrunk until its shorter side has so many pixels, 32 or
  // more; 0: never.
  int max_size = 0;
  int quality = 95;       // of JPEGs that are shrunk, turned or mended, 1..100
  int image_size = 224;   // side of kPixels, pixels; > 0
  bool keep_png = false;  // store PNGs as they are
  // Turn images as their EXIF data says; otherwise it is ignored.
  bool exif_rotate = false;
  JpegLimits limits = {};
};

// How EncodedImage::reencoded begins for a damaged image.
inline constexpr std::string_view kDamaged = "damaged: ";

// EncodedImage::reencoded of a PNG that could have stayed as it is.
inline constexpr std::string_view kLossyPng = "PNG, without --keep_png";

// EncodedImage::format of a JPEG.
inline constexpr std::string_view kJpegFormat = "JPEG";

// What stands in a record for an image file.
struct EncodedImage {
  std::string bytes = {};
  int width = 0;
  int height = 0;
  std::string_view format =
      kJpegFormat;  // or PNG; packed: little-endian uint32
  std::string reencoded =
      {};               // why it is not the file's bytes; empty: no matter
  bool mended = false;  // the file is damaged
  // What its EXIF data says of turning it (preprocess/codecs/exif.h), and was
  // not done.
  int ignored_orientation = 1;
};

// Turns the bytes of an image file into those of its record: a gray or colour
// JPEG stays as it is, byte for byte, unless it is to be shrunk or turned; a
// CMYK one and every other format become an RGB JPEG, but for PNGs to be kept.
// What is decoded is encoded with quality 100, as the reference does it, where
// only the format changes. Formats are told by content, never by the file's
// name. An image of a raw file becomes a PNG, which loses nothing.
//
// One thread at a time. Throws DataError for an image that cannot be decoded;
// the encoder is usable after that.
class ImageEncoder {
 public:
  explicit ImageEncoder(const ImageEncoderOptions& options = {});

  [[nodiscard]] EncodedImage Encode(std::string file);
  [[nodiscard]] EncodedImage EncodeRaw(const RawImages& raw,
                                       const ImageFile& image);

 private:
  [[nodiscard]] EncodedImage EncodeJpegFile(std::string file, int turn);
  [[nodiscard]] EncodedImage EncodeOtherFile(std::string file, int turn);
  void DecodeJpeg(const JpegInfo& info);
  void Turn(int orientation);
  [[nodiscard]] bool IsTooLarge(const ImageSize& size) const;
  // The shorter side that an image will have.
  [[nodiscard]] int ShorterSide(const ImageSize& size) const;
  void Fit(const ImageSize& size);
  [[nodiscard]] EncodedImage Packed(const ImageSize& size);

  ImageEncoderOptions options_;
  JpegDecoder decoder_;
  RgbImage image_;
  RgbImage other_;  // the next state of image_
};

}  // namespace infeed
