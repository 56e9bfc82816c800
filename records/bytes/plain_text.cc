#include "records/bytes/plain_text.h"

#include <algorithm>

#include "base/shown_text.h"

namespace infeed {
bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = Utf8CharacterBytes(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

std::string AsUtf8(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = Utf8CharacterBytes(bytes);
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

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    letter = letter >= 'A' && letter <= 'Z'
                 ? static_cast<char>(letter - 'A' + 'a')
                 : letter;
  }
  return lower;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F;
  });
}

}  // namespace infeed
