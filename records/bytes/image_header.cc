#include "records/bytes/image_header.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::string_view kBlanksInPnm = " \t\r\n";

unsigned ByteAt(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;
}

std::uint32_t Big(std::string_view text, std::size_t place, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | ByteAt(text, place + static_cast<std::size_t>(i));
  }
  return value;
}

std::uint32_t Little(std::string_view text, std::size_t place, int bytes) {
  std::uint32_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | ByteAt(text, place + static_cast<std::size_t>(i));
  }
  return value;
}

bool IsFrameMarker(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
         marker != 0xCC;
}

// Whether the segments lead to a frame header with a size.
bool IsJpeg(std::string_view text) {
  if (!text.starts_with("\xFF\xD8")) {
    return false;
  }
  for (std::size_t at = text.find('\xFF', 2); at < text.size();
       at = text.find('\xFF', at)) {
    const unsigned marker = ByteAt(text, at + 1);
    if (marker == 0xFF) {
      ++at;  // A fill byte.
    } else if (IsFrameMarker(marker)) {
      return at + 9 < text.size() && Big(text, at + 2, 2) >= 11 &&
             Big(text, at + 7, 2) > 0;
    } else if (marker == 0xDA || marker == 0xD9) {
      return false;
    } else {
      at += 2 + Big(text, at + 2, 2);
    }
  }
  return false;
}

bool IsPng(std::string_view text) {
  return text.starts_with("\x89PNG\r\n\x1A\n") &&
         text.substr(std::min<std::size_t>(12, text.size()))
             .starts_with("IHDR") &&
         Big(text, 16, 4) > 0 && Big(text, 20, 4) > 0;
}

bool IsWebp(std::string_view text) {
  return text.starts_with("RIFF") && text.size() > 20 &&
         text.substr(8).starts_with("WEBPVP8");
}

bool IsBmp(std::string_view text) {
  constexpr std::array<std::uint32_t, 7> kHeaderBytes = {12, 40,  52, 56,
                                                         64, 108, 124};
  if (!text.starts_with("BM") || text.size() < 26) {
    return false;
  }
  const std::uint32_t header = Little(text, 14, 4);
  return std::ranges::find(kHeaderBytes, header) != kHeaderBytes.end() &&
         Little(text, header == 12 ? 22 : 26, 2) == 1;
}

bool IsTiff(std::string_view text) {
  using namespace std::string_view_literals;
  const bool is_little = text.starts_with("II*\0"sv);
  if (!is_little && !text.starts_with("MM\0*"sv)) {
    return false;
  }
  const std::uint32_t folder = is_little ? Little(text, 4, 4) : Big(text, 4, 4);
  return text.size() >= 8 && folder >= 8;
}

bool IsJpeg2000(std::string_view text) {
  using namespace std::string_view_literals;
  return text.starts_with("\0\0\0\x0CjP  \r\n\x87\n"sv) ||
         text.starts_with("\xFF\x4F\xFF\x51"sv);
}

bool IsPnm(std::string_view text) {
  if (text.size() < 2 || text[0] != 'P' || text[1] < '1' || text[1] > '6') {
    return false;
  }
  std::size_t at = 2;
  const int numbers = text[1] == '1' || text[1] == '4' ? 2 : 3;
  for (int i = 0; i < numbers; ++i) {
    const std::size_t begin = text.find_first_not_of(kBlanksInPnm, at);
    if (begin == text.npos || begin == at) {
      return false;
    }
    if (text[begin] == '#') {
      at = text.find('\n', begin);
      --i;
      continue;
    }
    at = text.find_first_of(kBlanksInPnm, begin);
    if (at == text.npos ||
        ParsePlainNumber<std::int32_t>(text.substr(begin, at - begin))
                .value_or(0) < 1) {
      return false;
    }
  }
  return true;
}

struct Decoder {
  bool (*is)(std::string_view);
  std::string_view format;
};
constexpr std::array<Decoder, 7> kDecoders = {{{IsJpeg, "JPEG"},
                                               {IsPng, "PNG"},
                                               {IsWebp, "WebP"},
                                               {IsBmp, "BMP"},
                                               {IsTiff, "TIFF"},
                                               {IsJpeg2000, "JPEG 2000"},
                                               {IsPnm, "PNM"}}};

}  // namespace

std::string_view FindImageFormat(std::span<const std::byte> bytes) {
  const std::string_view text = AsChars(bytes);
  const auto* const found = std::ranges::find_if(
      kDecoders, [&](const Decoder& decoder) { return decoder.is(text); });
  return found == kDecoders.end() ? "" : found->format;
}

}  // namespace infeed
