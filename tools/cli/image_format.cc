#include "tools/cli/image_format.h"

#include <cstdlib>

namespace infeed {

ImageFormat DetectImageFormat(std::span<const std::byte> bytes) {
  using std::string_view_literals::operator""sv;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  if (text.starts_with("\xFF\xD8\xFF")) {
    return ImageFormat::kJpeg;
  }
  if (text.starts_with("\x89PNG\r\n\x1A\n")) {
    return ImageFormat::kPng;
  }
  if (text.starts_with("RIFF") && text.size() >= 12 &&
      text.substr(8, 4) == "WEBP") {
    return ImageFormat::kWebp;
  }
  if (text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv)) {
    return ImageFormat::kTiff;
  }
  return text.starts_with("BM") ? ImageFormat::kBmp : ImageFormat::kOther;
}

std::string_view FormatName(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kWebp:
      return "WebP";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kOther:
      return "other";
  }
  std::abort();
}

std::string_view FileExtension(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "jpg";
    case ImageFormat::kPng:
      return "png";
    case ImageFormat::kBmp:
      return "bmp";
    case ImageFormat::kWebp:
      return "webp";
    case ImageFormat::kTiff:
      return "tif";
    case ImageFormat::kOther:
      return "bin";
  }
  std::abort();
}

}  // namespace infeed
