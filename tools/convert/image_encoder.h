#pragma once

#include <string>
#include <string_view>

#include "preprocess/codecs/stored_size.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/image_size.h"
#include "records/store/image_tree.h"
#include "tools/convert/converter_options.h"

namespace infeed {

// Prefix of EncodedImage::reencoded for a damaged image.
inline constexpr std::string_view kDamaged = "damaged: ";

// EncodedImage::reencoded of a PNG that --keep_png would have stored unchanged.
inline constexpr std::string_view kLossyPng = "PNG, without --keep_png";

// EncodedImage::format of a JPEG.
inline constexpr std::string_view kJpegFormat = "JPEG";

// An image file as its record stores it.
struct EncodedImage {
  std::string bytes = {};
  int width = 0;
  int height = 0;
  // kJpegFormat, PNG, or packed: little-endian uint32.
  std::string_view format = kJpegFormat;
  std::string reencoded = {};  // why it differs from the file; empty: no note
  bool mended = false;         // the file is damaged
  // The EXIF orientation (preprocess/codecs/exif.h) that was not applied.
  int ignored_orientation = 1;
};

// Turns the bytes of an image file into those of its record: a gray or colour
// JPEG stays unchanged, byte for byte, unless it is to be shrunk or turned; a
// CMYK JPEG and every other format become an RGB JPEG, except PNGs to be kept.
// If only the format changes, the JPEG has quality 100, as in the reference.
// Formats are recognized by content, never by the file's name. An image of a
// raw file becomes a lossless PNG.
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
  [[nodiscard]] bool IsTooLarge(const StoredSize& size) const;
  // The rectangle that the stored image must cover: a square for a limit of the
  // shorter side.
  [[nodiscard]] ImageSize Cover(const StoredSize& size) const;
  void Fit(const StoredSize& size);
  [[nodiscard]] EncodedImage Packed(const StoredSize& size);

  ImageEncoderOptions options_;
  JpegDecoder decoder_;
  RgbImage image_;
  RgbImage other_;  // the next state of image_
};

}  // namespace infeed
