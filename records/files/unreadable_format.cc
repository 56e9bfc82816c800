#include "records/files/unreadable_format.h"

#include <algorithm>
#include <array>

#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

constexpr std::string_view kReason =
    " images cannot be read: convert them to PNG or JPEG first";

struct KnownName {
  std::string_view extension;
  std::string_view format;
};
constexpr std::array<KnownName, 19> kExtensions = {{{"gif", "GIF"},
                                                    {"avif", "AVIF"},
                                                    {"heic", "HEIC"},
                                                    {"heif", "HEIF"},
                                                    {"hif", "HEIC"},
                                                    {"jxl", "JPEG XL"},
                                                    {"svg", "SVG"},
                                                    {"ico", "ICO"},
                                                    {"psd", "PSD"},
                                                    {"exr", "OpenEXR"},
                                                    {"dng", "camera raw"},
                                                    {"cr2", "camera raw"},
                                                    {"cr3", "camera raw"},
                                                    {"nef", "camera raw"},
                                                    {"arw", "camera raw"},
                                                    {"orf", "camera raw"},
                                                    {"raf", "camera raw"},
                                                    {"rw2", "camera raw"},
                                                    {"tga", "TGA"}}};

struct Magic {
  std::size_t place;
  std::string_view bytes;
  std::string_view format;
};
constexpr std::array<Magic, 12> kMagics = {
    {{0, "GIF8", "GIF"},
     {4, "ftypavif", "AVIF"},
     {4, "ftypavis", "AVIF"},
     {4, "ftypheic", "HEIC"},
     {4, "ftypheix", "HEIC"},
     {4, "ftyphevc", "HEIC"},
     {4, "ftypmif1", "HEIF"},
     {4, "ftypmsf1", "HEIF"},
     {0, "\xFF\x0A", "JPEG XL"},
     {0, {"\0\0\0\x0CJXL ", 8}, "JPEG XL"},
     {0, "8BPS", "PSD"},
     {0, "\x76\x2F\x31\x01", "OpenEXR"}}};

}  // namespace

std::string_view FindUnreadableFormatByName(std::string_view name) {
  const auto* const known = std::ranges::find(
      kExtensions, LowerCase(Extension(name)), &KnownName::extension);
  return known == kExtensions.end() ? "" : known->format;
}

std::string_view FindUnreadableFormat(std::span<const std::byte> bytes) {
  const std::string_view text = AsChars(bytes);
  const auto* const known =
      std::ranges::find_if(kMagics, [&](const Magic& magic) {
        return text.size() > magic.place &&
               text.substr(magic.place).starts_with(magic.bytes);
      });
  return known == kMagics.end() ? "" : known->format;
}

std::string UnreadableReason(std::string_view format) {
  return std::string(format) + std::string(kReason);
}

std::string_view FindFormatInReason(std::string_view reason) {
  return reason.ends_with(kReason)
             ? reason.substr(0, reason.size() - kReason.size())
             : "";
}

}  // namespace infeed
