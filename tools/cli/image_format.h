#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace infeed {

// The format of an image's bytes, recognized by its first bytes.
enum class ImageFormat { kJpeg, kPng, kBmp, kWebp, kTiff, kOther };

[[nodiscard]] ImageFormat DetectImageFormat(std::span<const std::byte> bytes);

// "JPEG", "PNG", ..., "other".
[[nodiscard]] std::string_view FormatName(ImageFormat format);

// Of a file: "jpg", "png", ..., "bin".
[[nodiscard]] std::string_view FileExtension(ImageFormat format);

}  // namespace infeed
