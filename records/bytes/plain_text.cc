#include "records/bytes/plain_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace infeed {
namespace {

// Returns the length in bytes of the first character; 0: not UTF-8.
std::size_t CharacterBytes(std::string_view bytes) {
  const auto at = [&](std::size_t i) {
    return static_cast<unsigned char>(bytes[i]);
  };
  if (at(0) < 0x80) {
    return 1;
  }
  const std::size_t length = at(0) >= 0xF0   ? 4
                             : at(0) >= 0xE0 ? 3
                             : at(0) >= 0xC2 ? 2
                                             : 0;
  if (length == 0 || at(0) > 0xF4 || bytes.size() < length) {
    return 0;
  }
  std::uint32_t code = at(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at(i) >> 6 != 0b10) {
      return 0;
    }
    code = code << 6 | (at(i) & 0x3FU);
  }
  const bool is_shortest = code >= (length == 4   ? 0x10000U
                                    : length == 3 ? 0x800U
                                                  : 0x80U);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_shortest && !is_surrogate && code <= 0x10FFFF ? length : 0;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = CharacterBytes(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

char32_t TakeCharacter(std::string_view& utf8) {
  const std::size_t length = CharacterBytes(utf8);
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(utf8[i]);
  };
  char32_t code = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6 | (byte(i) & 0x3FU);
  }
  utf8.remove_prefix(length);
  return code;
}

std::string AsUtf8(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = CharacterBytes(bytes);
    if (length > 0) {
      text += bytes.substr(0, length);
    } else {
      const auto byte = static_cast<unsigned char>(bytes.front());
      text.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 0xF]});
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string_view WithoutMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F;
  });
}

}  // namespace infeed
