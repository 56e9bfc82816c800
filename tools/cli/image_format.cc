#include "tools/cli/image_format.h"

#include "base/choices.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

using Names = Choices<ImageFormat, 6>;

constexpr Names kNames = {{{"JPEG", ImageFormat::kJpeg},
                           {"PNG", ImageFormat::kPng},
                           {"BMP", ImageFormat::kBmp},
                           {"WebP", ImageFormat::kWebp},
                           {"TIFF", ImageFormat::kTiff},
                           {"other", ImageFormat::kOther}}};
constexpr Names kExtensions = {{{"jpg", ImageFormat::kJpeg},
                                {"png", ImageFormat::kPng},
                                {"bmp", ImageFormat::kBmp},
                                {"webp", ImageFormat::kWebp},
                                {"tif", ImageFormat::kTiff},
                                {"bin", ImageFormat::kOther}}};

}  // namespace

ImageFormat DetectImageFormat(std::span<const std::byte> bytes) {
  using std::string_view_literals::operator""sv;
  const std::string_view text = AsChars(bytes);
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
  return ChoiceName(format, kNames);
}

std::string_view FileExtension(ImageFormat format) {
  return ChoiceName(format, kExtensions);
}

}  // namespace infeed
